// SPDX-License-Identifier: BSD-3-Clause
// Whether a schema knows exactly the keys that a parser knows: the parser lists them
// when it meets an unknown one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/parse.h"

namespace surety::config::schema_keys {

constexpr std::string_view kUnknown = "zzzzzzzzz";

using Diagnostics = std::vector<Diagnostic>;
using Parser = Diagnostics (*)(const std::string& text);

// The keys in "unknown key `zzz..` in a port; there are: a, b".
inline std::set<std::string> of_parser(const Diagnostics& diagnostics) {
  const std::string_view marker = "; there are: ";
  for (const auto& d : diagnostics) {
    const auto at = d.message.find(marker);
    if (d.message.find(kUnknown) == d.message.npos || at == d.message.npos) continue;
    std::set<std::string> keys;
    std::string list = d.message.substr(at + marker.size()) + ", ";
    for (std::size_t end; (end = list.find(", ")) != list.npos; list.erase(0, end + 2))
      keys.insert(list.substr(0, end));
    return keys;
  }
  return {};
}

inline std::set<std::string> of_schema(const nlohmann::json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.at("properties").items()) keys.insert(key);
  return keys;
}

struct Place {
  const char* definition;  // in $defs; empty: the root
  const char* text;        // with Z where the unknown key goes
};

inline nlohmann::json schema(const std::string& path) {
  std::ifstream file(SURETY_SOURCE_DIR "/" + path);
  return nlohmann::json::parse(file);
}

inline void expect_keys_of_parser(const nlohmann::json& json, std::span<const Place> places, Parser parser) {
  for (const auto& place : places) {
    const std::string definition = place.definition;
    const auto& object = definition.empty() ? json : json.at("$defs").at(definition);
    std::string text = place.text;
    text.replace(text.find('Z'), 1, std::string(kUnknown) + ": 1");
    EXPECT_EQ(of_schema(object), of_parser(parser(text))) << place.text;
  }
}

// `chooses`: the definition that only says which other one it is.
inline void expect_every_map(const nlohmann::json& json, std::span<const Place> places,
                             const std::string& chooses) {
  for (const auto& item : json.at("$defs").items()) {
    const std::string name = item.key();
    const auto& definition = item.value();
    if (!definition.contains("properties") || name == chooses) continue;
    const bool compared =
        std::any_of(places.begin(), places.end(), [&](const Place& p) { return p.definition == name; });
    EXPECT_TRUE(compared) << name;
    EXPECT_EQ(definition.at("additionalProperties"), false) << name;
  }
}

}  // namespace surety::config::schema_keys
