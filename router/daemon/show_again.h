// SPDX-License-Identifier: BSD-3-Clause
// `surety show WHAT --watch [SECONDS]`: until SIGINT or SIGTERM, or until its output is closed.
#pragma once

#include <string>
#include <vector>

#include "router/operate/observe/show_command.h"

namespace surety {

// `words`: the arguments after --watch, seconds or a condition. On a terminal each table replaces the
// previous one. Exit status: that of show(), or 0 after a signal.
int show_again(ShowRequest request, const std::vector<std::string>& words);

}  // namespace surety
