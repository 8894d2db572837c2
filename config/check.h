// SPDX-License-Identifier: BSD-3-Clause
// `surety check FILE`: what is wrong with a configuration, or what it holds; `surety diff OLD NEW`: how two
// differ.
#pragma once

#include <optional>
#include <string>

#include "config/config.h"

namespace surety::config {

// Committed rates of each customer in both directions, as `surety check` prints them.
//
// Upstream are the contracts' committed rates, and the queue of the uplinks that their IN packets go to;
// downstream the rate of the shaper, the part of what is shared with others, and the classes with their caps.

// A table: a line for each interface of a customer, one for all of a template; empty where there is none.
std::string sold(const Config& config);
// Another table: committed rates and capacity of ports, groups and queues (sales.h).
std::string sold_in_all(const Config& config);

struct Report {
  std::optional<Config> config;  // none: it has errors
  std::string text, sum;         // diagnostics and the customers' committed rates; the last line
};
Report check(const std::string& path);

// The exit status is diff(1)'s (0: nothing differs, 1: something does, 2: one has errors); the text to print
// is what differs (changes.h), or the errors.
int diff(const std::string& before, const std::string& after, std::string& report);

}  // namespace surety::config
