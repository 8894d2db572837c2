// SPDX-License-Identifier: BSD-3-Clause
// A configuration that a router has gone by, and how it came to that.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "router/observe/reading_json.h"

namespace surety {

struct Generation {
  static constexpr int kFormat = 1;
  static constexpr std::string_view kNotInEffect = "edited, not in effect";  // how: by hand, and not read
  int number = 0, parent = 0;    // parent: the one before it; 0: none
  std::int64_t when = 0;         // of the day, s since 1970
  std::string who, how, why;     // "alice", "apply --confirm", "more for gold"
  std::string main;              // the first of its files
  std::string installed;         // where the router reads it
  std::string hash;              // ConfigTree::hash()
  Json changes = Json::array();  // strings: what differs from the one before
};

// A generation that cannot be read: the others can.
struct DamagedGeneration : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Json to_json(const Generation& g);
// Throws DamagedGeneration, or std::runtime_error for one of a newer version. `where`: for the sentence.
Generation generation_of(const std::string& text, const std::filesystem::path& where);

}  // namespace surety
