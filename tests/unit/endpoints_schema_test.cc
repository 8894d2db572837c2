// endpoints_schema.json knows exactly the keys that the parser knows: the parser lists them when it meets an
// unknown one.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "config/endpoints.h"

namespace surety::config {
namespace {

constexpr std::string_view kUnknown = "zzzzzzzzz";

// The keys in "unknown key `zzz..` in a port; there are: a, b".
std::set<std::string> keys_of_parser(const std::string& text) {
  const std::string_view marker = "; there are: ";
  for (const auto& d : parse_endpoints(text, "f").diagnostics) {
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

std::set<std::string> keys_of_schema(const nlohmann::json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.at("properties").items()) keys.insert(key);
  return keys;
}

struct Place {
  const char* definition;  // in $defs; empty: the root
  const char* text;        // with Z where the unknown key goes
};
constexpr Place kPlaces[] = {
    {"", "Z"},
    {"port", "ports: {a: {Z}}"},
    {"sink", "sinks: [{Z}]"},
    {"gtfrc", "senders: [{protocol: gtfrc, Z}]"},
    {"tfrc", "senders: [{protocol: tfrc, Z}]"},
    {"tcp", "senders: [{protocol: gtcp, Z}]"},
    {"tcp", "senders: [{protocol: newreno, Z}]"},
    {"tcp", "senders: [{protocol: reno, Z}]"},
    {"udp", "senders: [{protocol: udp, Z}]"},
    {"mark", "senders: [{protocol: udp, mark: {Z}}]"},
    {"metrics", "metrics: {Z}"},
    {"dpdk", "dpdk: {Z}"},
};

nlohmann::json schema() {
  std::ifstream file(SURETY_SOURCE_DIR "/config/endpoints_schema.json");
  return nlohmann::json::parse(file);
}

TEST(EndpointsSchema, KnowsExactlyTheKeysOfTheParser) {
  const auto json = schema();
  for (const auto& place : kPlaces) {
    const std::string definition = place.definition;
    const auto& object = definition.empty() ? json : json.at("$defs").at(definition);
    std::string text = place.text;
    text.replace(text.find('Z'), 1, std::string(kUnknown) + ": 1");
    EXPECT_EQ(keys_of_schema(object), keys_of_parser(text)) << place.text;
  }
}

TEST(EndpointsSchema, EveryMapOfTheSchemaIsCompared) {
  const auto json = schema();
  for (const auto& item : json.at("$defs").items()) {
    const std::string name = item.key();
    const auto& definition = item.value();
    if (!definition.contains("properties") || name == "sender")
      continue;  // `sender` only chooses by protocol
    const bool compared = std::any_of(std::begin(kPlaces), std::end(kPlaces),
                                      [&](const Place& p) { return p.definition == name; });
    EXPECT_TRUE(compared) << name;
    EXPECT_EQ(definition.at("additionalProperties"), false) << name;
  }
}

}  // namespace
}  // namespace surety::config
