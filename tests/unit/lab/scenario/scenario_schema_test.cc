// SPDX-License-Identifier: BSD-3-Clause
// The schema of scenarios knows exactly the keys that the parser knows (it lists them when it meets an
// unknown one), and says of routers and senders what their own schemas say.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/lab/scenario/scenario_schema.h"
#include "tests/unit/config/schema_keys.h"
#include "tests/unit/lab/scenario/scenario_text.h"

namespace surety::lab {
namespace {

using Json = nlohmann::json;
using Keys = std::set<std::string>;

using config::schema_keys::kUnknown;

Json schema(const std::string& path) {
  std::ifstream file(SURETY_SOURCE_DIR "/" + path);
  return Json::parse(file);
}
Json scenario_schema() {
  return Json::parse(kScenarioSchema);
}

Keys keys_of_parser(const std::string& text) {
  return config::schema_keys::of_parser(parse_scenario(text, "f").diagnostics);
}

void add_keys(const Json& object, Keys& keys) {
  for (const auto& [key, value] : object.at("properties").items()) keys.insert(key);
}

struct Place {
  std::vector<std::string> definitions;  // in $defs, all together; none: the root
  std::string text;                      // with Z where the unknown key goes
};
const std::vector<Place>& places() {
  static const std::vector<Place> all{
      {{}, "Z"},
      {{"router_inline"}, "routers: {r: {Z}}"},
      {{"router_file"}, "routers: {r: {config: none.yaml, Z}}"},
      {{"host"}, "hosts: [{Z}]"},
      {{"link"}, "links: [{Z}]"},
      {{"direction"}, "links: [{forth: {Z}}]"},
      {{"direction"}, "links: [{back: {Z}}]"},
      {{"sender", "gtfrc"}, "senders: [{protocol: gtfrc, Z}]"},
      {{"sender", "tfrc"}, "senders: [{protocol: tfrc, Z}]"},
      {{"sender", "tcp"}, "senders: [{protocol: gtcp, Z}]"},
      {{"sender", "tcp"}, "senders: [{protocol: newreno, Z}]"},
      {{"sender", "tcp"}, "senders: [{protocol: reno, Z}]"},
      {{"sender", "udp"}, "senders: [{protocol: udp, Z}]"},
      {{"route_change"}, "routes: [{Z}]"},
      {{"mark"}, "senders: [{protocol: udp, mark: {Z}}]"},
  };
  return all;
}

TEST(LabScenarioSchema, KnowsExactlyTheKeysOfTheParser) {
  const auto json = scenario_schema();
  for (const auto& place : places()) {
    Keys keys;
    if (place.definitions.empty()) add_keys(json, keys);
    for (const auto& d : place.definitions) add_keys(json.at("$defs").at(d), keys);
    std::string text = place.text;
    text.replace(text.find('Z'), 1, std::string(kUnknown) + ": 1");
    EXPECT_EQ(keys, keys_of_parser(text)) << place.text;
  }
}

TEST(LabScenarioSchema, SaysOfRoutersWhatTheirOwnSchemaSays) {
  const auto lab = scenario_schema(), router = schema("config/schema.json");
  for (const auto& [name, definition] : router.at("$defs").items())
    EXPECT_EQ(lab.at("$defs").value(name, Json()), definition) << name;
  const auto& sections = lab.at("$defs").at("router_inline").at("properties");
  for (const auto& [key, section] : router.at("properties").items()) {
    if (key == "signalling") continue;  // the lab's has `on` as well
    if (key == "include") continue;     // a scenario is one file
    EXPECT_EQ(sections.value(key, Json()), section) << key;
  }
}

TEST(LabScenarioSchema, SaysOfSendersWhatTheirOwnSchemaSays) {
  const auto lab = scenario_schema().at("$defs"),
             own = schema("endpoints/config/endpoints_schema.json").at("$defs");
  for (const auto* name : {"name", "target", "application_rate", "flows", "bytes", "udp_port",
                           "encapsulation", "mark", "start"}) {
    EXPECT_EQ(lab.at(name), own.at(name)) << name;
  }
  EXPECT_EQ(lab.at("sender_packet"), own.at("packet"));
  for (const auto* protocol : {"gtfrc", "tfrc", "tcp", "udp"}) {
    for (const auto& [key, option] : lab.at(protocol).at("properties").items())
      EXPECT_EQ(option, own.at(protocol).at("properties").value(key, Json())) << protocol << " " << key;
  }
}

TEST(LabScenarioSchema, EveryMapOfTheSchemaIsCompared) {
  const auto json = scenario_schema(), router = schema("config/schema.json");
  for (const auto& item : json.at("$defs").items()) {
    const std::string name = item.key();
    if (!item.value().contains("properties") || router.at("$defs").contains(name)) continue;
    const bool compared = std::any_of(places().begin(), places().end(), [&](const Place& p) {
      return std::find(p.definitions.begin(), p.definitions.end(), name) != p.definitions.end();
    });
    EXPECT_TRUE(compared) << name;
  }
}

}  // namespace
}  // namespace surety::lab
