// SPDX-License-Identifier: BSD-3-Clause
// Whether a schema says what a parser says: the keys, which the parser lists when it meets an unknown one;
// and the types of values, with their bounds and words, which it gives when it meets a list instead.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <sstream>
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

struct Place {
  const char* definitions;  // in $defs, one or several that are one map together; empty: the root
  const char* text;         // with Z where the key goes that is tried
};

inline std::vector<std::string> names_of(const Place& place) {
  std::istringstream words(place.definitions);
  return std::vector<std::string>(std::istream_iterator<std::string>(words),
                                  std::istream_iterator<std::string>());
}

inline nlohmann::json keys_of(const nlohmann::json& json, const Place& place) {
  const auto names = names_of(place);
  if (names.empty()) return json.at("properties");
  nlohmann::json keys = nlohmann::json::object();
  for (const std::string& name : names) keys.update(json.at("$defs").at(name).at("properties"));
  return keys;
}

inline nlohmann::json schema(const std::string& path) {
  std::ifstream file(SURETY_SOURCE_DIR "/" + path);
  return nlohmann::json::parse(file);
}

inline Diagnostics parsed_with(Parser parser, const Place& place, const std::string& entry) {
  std::string text = place.text;
  return parser(text.replace(text.find('Z'), 1, entry));
}

inline void expect_keys_of_parser(const nlohmann::json& json, std::span<const Place> places, Parser parser) {
  for (const auto& place : places) {
    std::set<std::string> keys;
    const auto known = keys_of(json, place);
    for (const auto& item : known.items()) keys.insert(item.key());
    EXPECT_EQ(keys, of_parser(parsed_with(parser, place, std::string(kUnknown) + ": 1"))) << place.text;
  }
}

// `except`: definitions that are no map by themselves, or that another schema has.
inline void expect_every_map(const nlohmann::json& json, std::span<const Place> places,
                             const std::set<std::string>& except) {
  std::map<std::string, std::string> closed_by;  // by definition: what refuses unknown keys; empty: another
  for (const Place& place : places) {
    const auto names = names_of(place);
    for (const std::string& name : names) closed_by[name] = "";
    if (!names.empty())
      closed_by[names.front()] = names.size() == 1 ? "additionalProperties" : "unevaluatedProperties";
  }
  for (const auto& item : json.at("$defs").items()) {
    if (!item.value().contains("properties") || except.contains(item.key())) continue;
    const auto at = closed_by.find(item.key());
    ASSERT_NE(at, closed_by.end()) << item.key();
    if (!at->second.empty()) {
      EXPECT_EQ(item.value().at(at->second), false) << item.key();
    }
  }
}

// What the parser expects as a value of a type, with the bounds and words of the schema: its answer to a
// list. Empty: a type that has no such answer.
inline std::string expectation(const std::string& key, const nlohmann::json& node,
                               const nlohmann::json& definitions) {
  // clang-format off
  static const std::map<std::string, std::string> kTypes{
      {"rate", "a rate like"}, {"size", "a size like"}, {"duration", "a duration like"}, {"dscp", "a DSCP"},
      {"packets", "a number of packets like"}, {"depth", "a depth like"}, {"ratio", "a ratio like"},
      {"fraction", "a probability like"}, {"flag", "`on` or `off`"}, {"prefix", "a prefix like"},
      {"address", "an IPv4 or IPv6 address"}, {"mac", "a MAC address like"}};
  // clang-format on
  if (node.contains("$ref")) {
    const auto path = node.at("$ref").get<std::string>();
    const std::string name = path.substr(path.rfind('/') + 1);
    const auto type = kTypes.find(name);
    return type != kTypes.end() ? "expected " + type->second
                                : expectation(key, definitions.at(name), definitions);
  }
  if (node.contains("minimum") && node.contains("maximum"))
    return "expected a whole number from " + node.at("minimum").dump() + " to " + node.at("maximum").dump();
  if (!node.contains("enum")) return {};
  std::string words;
  for (const auto& word : node.at("enum"))
    if (word.is_string() && word != "yes" && word != "no")
      words += (words.empty() ? "" : ", ") + word.get<std::string>();
  return "`" + key + "` is one of: " + words;
}

inline void expect_values_of_parser(const nlohmann::json& json, std::span<const Place> places,
                                    Parser parser) {
  for (const auto& place : places) {
    const auto keys = keys_of(json, place);
    for (const auto& item : keys.items()) {
      const bool there = std::string_view(place.text).find(item.key() + ": ") != std::string_view::npos;
      if (there || !item.value().is_object()) continue;
      const std::string expected = expectation(item.key(), item.value(), json.at("$defs"));
      std::string said;
      for (const auto& d : parsed_with(parser, place, item.key() + ": []")) said += d.message + "\n";
      EXPECT_NE(said.find(expected), said.npos)
          << place.text << ", " << item.key() << ": no `" << expected << "` in\n"
          << said;
    }
  }
}

}  // namespace surety::config::schema_keys
