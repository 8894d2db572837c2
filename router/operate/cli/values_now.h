// SPDX-License-Identifier: BSD-3-Clause
// Values of a command line's word that depend on running routers: their names, and the customers, ports,
// queues and so on of the selected one.
#pragma once

#include "router/process/command_line.h"

namespace surety {

// Takes at most 200 ms: values not known by then are left out, and the program ends.
std::optional<std::vector<std::string>> values_now(const Unknown& unknown);

}  // namespace surety
