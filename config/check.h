// SPDX-License-Identifier: BSD-3-Clause
// `surety check FILE`: what is wrong with a configuration, or what it holds.
#pragma once

#include <string>

namespace surety::config {

// The exit status (0: no error, 1: errors) and the text to print: the diagnostics, what is
// sold to each customer (sold.h), and a line that sums up.
int check(const std::string& path, std::string& report);

}  // namespace surety::config
