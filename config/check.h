// SPDX-License-Identifier: BSD-3-Clause
// `surety check FILE`: what is wrong with a configuration, or what it holds; `surety diff OLD NEW`: how two
// differ.
#pragma once

#include <optional>
#include <string>

#include "config/config.h"

namespace surety::config {

struct Report {
  std::optional<Config> config;  // none: it has errors
  std::string text, sum;         // diagnostics and the customers' committed rates (sold.h); the last line
};
Report check(const std::string& path);

// The exit status is diff(1)'s (0: nothing differs, 1: something does, 2: one has errors); the text to print
// is what differs (changes.h), or the errors.
int diff(const std::string& before, const std::string& after, std::string& report);

}  // namespace surety::config
