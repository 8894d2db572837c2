// SPDX-License-Identifier: BSD-3-Clause
// What a word of a command line may be that only running routers can tell: their names, and the customers,
// ports, queues and so on of the one that is meant.
#pragma once

#include "router/process/command_line.h"

namespace surety {

// Never takes more than 200 ms: what is not known by then is not offered, and the program ends.
std::optional<std::vector<std::string>> values_now(const Unknown& unknown);

}  // namespace surety
