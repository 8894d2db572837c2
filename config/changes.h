// SPDX-License-Identifier: BSD-3-Clause
// How two configurations differ, for an operator: in the words of the file, one change for each thing.
//
// What is written is compared, key by key, so no key can be forgotten here; a value that is written another
// way, or that is the default, is a change too. Entries of lists go by what tells them apart: a route by its
// prefix, a class by its name; those without a name (rules) by what they say, so that one that is put between
// them is one change. Nothing throws.
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
// `fixed`: what cannot change (reload.h); a router that runs knows it from what it was started with.
std::vector<Change> changes(const Config& before, const Config& after, std::vector<Fixed> fixed);

// A line for each: "service gold: rate 20 Mbit/s -> 30 Mbit/s; concerns contracts of service gold", and
// before whom it concerns "takes a restart" where it does.
std::string to_text(const std::vector<Change>& changes);
// On one line, of many the first few: "route 10.0.0.0/8: gone; service gold: gone; and 7 more changes".
// "nothing has changed".
std::string in_short(const std::vector<Change>& changes);

// Whom a change concerns of the entry `name` of a section, or of all of it where `name` is empty. `item`:
// what is written there.
std::string concern(std::string_view section, const std::string& name, const Outline& item,
                    const Config& config);

}  // namespace surety::config
