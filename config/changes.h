// SPDX-License-Identifier: BSD-3-Clause
// Differences between two configurations, for an operator: in the file's keys, one change for each item.
//
// The texts are compared, key by key, so no key can be forgotten here; a value that is written another way,
// or that is the default, is a change too. Entries of lists are matched by what identifies them: a route by
// its prefix, a class by its name; those without a name (rules) by their text, so that an entry inserted
// between them is one change. Nothing throws.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/reload.h"

namespace surety::config {

struct Outline;

struct Change {
  enum class Takes : std::uint8_t { at_once, restart };
  std::string what;  // "service gold: rate 20 Mbit/s -> 30 Mbit/s", "port lan1: new (device: null)"
  Takes takes = Takes::at_once;  // restart: a reload is refused because of it (reload.h)
  std::string whom;              // "contracts of service gold"
};

// Both as parse() returned them. Section by section.
std::vector<Change> changes(const Config& before, const Config& after);
// `fixed`: changes that need a restart (reload.h); a running router compares with its configuration at start.
std::vector<Change> changes(const Config& before, const Config& after, std::vector<Fixed> fixed);

// A line for each: "service gold: rate 20 Mbit/s -> 30 Mbit/s; affects contracts of service gold", with
// "takes a restart" before "affects" where it does.
std::string to_text(const std::vector<Change>& changes);
// On one line, of many the first few: "route 10.0.0.0/8: removed; service gold: removed; and 7 more changes".
// "nothing has changed".
std::string in_short(const std::vector<Change>& changes);

// Contracts, customers and the like that a change affects, for the entry `name` of a section, or for all of
// it where `name` is empty. `item`: the entry as written.
std::string concern(std::string_view section, const std::string& name, const Outline& item,
                    const Config& config);

}  // namespace surety::config
