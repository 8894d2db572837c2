// SPDX-License-Identifier: BSD-3-Clause
// A configuration that was in effect in a router, and its history.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "router/operate/observe/reading_json.h"

namespace surety {

struct Generation {
  static constexpr int kFormat = 1;
  static constexpr std::string_view kNotInEffect =
      "edited, not in effect";   // value of `how`: edited by hand, and not read
  int number = 0, parent = 0;    // parent: the previous one; 0: none
  std::int64_t when = 0;         // Unix seconds
  std::string who, how, why;     // "alice", "apply --confirm", "more for gold"
  std::string main;              // name of the main file
  std::string installed;         // path of the router's file
  std::string hash;              // ConfigTree::hash()
  Json changes = Json::array();  // strings: changes from the previous one
};

// A generation that cannot be read, while others can.
struct DamagedGeneration : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Json to_json(const Generation& g);
// Throws DamagedGeneration, or std::runtime_error for a newer format. `where`: for the message.
Generation generation_of(const std::string& text, const std::filesystem::path& where);

}  // namespace surety
