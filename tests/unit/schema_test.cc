// schema.json knows exactly the keys that the parser knows: the parser lists them when it meets an unknown
// one.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "config/parse.h"

namespace surety::config {
namespace {

constexpr std::string_view kUnknown = "zzzzzzzzz";

// The keys in "unknown key `zzz..` in a port; there are: a, b".
std::set<std::string> keys_of_parser(const std::string& text) {
  const std::string_view marker = "; there are: ";
  for (const auto& d : parse(text, "f").diagnostics) {
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
    {"router", "router: {Z}"},
    {"workers", "workers: {Z}"},
    {"port", "ports: {a: {Z}}"},
    {"receive", "ports: {a: {receive: {Z}}}"},
    {"route", "routes: [{Z}]"},
    {"neighbor", "neighbors: [{Z}]"},
    {"class", "queues: {q: [{Z}]}"},
    {"precedences", "queues: {q: [{dscp: {Z}}]}"},
    {"rio", "queues: {q: [{rio: {Z}}]}"},
    {"red", "queues: {q: [{rio: {in: {Z}}}]}"},
    {"csa", "services: {s: {conditioner: csa, Z}}"},
    {"alpha", "services: {s: {conditioner: csa, alpha: {Z}}}"},
    {"token_bucket", "services: {s: {conditioner: token-bucket, Z}}"},
    {"police", "services: {s: {conditioner: police, Z}}"},
    {"srtcm", "services: {s: {conditioner: srtcm, Z}}"},
    {"trtcm", "services: {s: {conditioner: trtcm, Z}}"},
    {"none", "services: {s: {conditioner: none, Z}}"},
    {"mark_1", "services: {s: {conditioner: police, mark: {Z}}}"},
    {"mark_2", "services: {s: {conditioner: csa, mark: {Z}}}"},
    {"mark_3", "services: {s: {conditioner: trtcm, mark: {Z}}}"},
    {"rule", "classify: [{Z}]"},
    {"match", "classify: [{match: {Z}}]"},
    {"prefix_lengths", "classify: [{prefix: {Z}}]"},
    {"aggregate", "aggregates: {a: {Z}}"},
    {"mark_out", "aggregates: {a: {mark: {Z}}}"},
    {"signalling", "signalling: {Z}"},
    {"border", "signalling: {borders: [{Z}]}"},
    {"metrics", "metrics: {Z}"},
    {"flow_table", "flow_table: {Z}"},
    {"dpdk", "dpdk: {Z}"},
    {"kernel", "kernel: {Z}"},
};

nlohmann::json schema() {
  std::ifstream file(SURETY_SOURCE_DIR "/config/schema.json");
  return nlohmann::json::parse(file);
}

TEST(Schema, KnowsExactlyTheKeysOfTheParser) {
  const auto json = schema();
  for (const auto& place : kPlaces) {
    const std::string definition = place.definition;
    const auto& object = definition.empty() ? json : json.at("$defs").at(definition);
    std::string text = place.text;
    text.replace(text.find('Z'), 1, std::string(kUnknown) + ": 1");
    EXPECT_EQ(keys_of_schema(object), keys_of_parser(text)) << definition;
  }
}

TEST(Schema, EveryMapOfTheSchemaIsCompared) {
  const auto json = schema();
  for (const auto& item : json.at("$defs").items()) {
    const std::string name = item.key();
    const auto& definition = item.value();
    if (!definition.contains("properties") || name == "service")
      continue;  // `service` only chooses by conditioner
    const bool compared = std::any_of(std::begin(kPlaces), std::end(kPlaces),
                                      [&](const Place& p) { return p.definition == name; });
    EXPECT_TRUE(compared) << name;
    EXPECT_EQ(definition.at("additionalProperties"), false) << name;
  }
}

}  // namespace
}  // namespace surety::config
