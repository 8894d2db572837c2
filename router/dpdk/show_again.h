// SPDX-License-Identifier: BSD-3-Clause
// `surety show WHAT --watch [SECONDS]`: until SIGINT or SIGTERM, or until nobody reads.
#pragma once

#include <string>
#include <vector>

#include "router/observe/show_command.h"

namespace surety {

// `words`: what stood behind --watch, which may be a condition as well as the seconds. On a terminal each
// table takes the place of the one before. Exit status: that of show(), 0 where it is ended.
int show_again(ShowRequest request, const std::vector<std::string>& words);

}  // namespace surety
