// SPDX-License-Identifier: BSD-3-Clause
// `surety check FILE`: what is wrong with a configuration, or what it holds; `surety diff OLD NEW`: how two
// differ.
#pragma once

#include <string>

namespace surety::config {

// The exit status (0: no error, 1: errors) and the text to print: the diagnostics, what is
// sold to each customer (sold.h), and a line that sums up.
int check(const std::string& path, std::string& report);

// The exit status is diff(1)'s (0: nothing differs, 1: something does, 2: one has errors); the text to print
// is what differs (changes.h), or the errors.
int diff(const std::string& before, const std::string& after, std::string& report);

}  // namespace surety::config
