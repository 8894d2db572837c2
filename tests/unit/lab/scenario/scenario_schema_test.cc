// SPDX-License-Identifier: BSD-3-Clause
// The schema of scenarios knows exactly the keys that the parser knows (it lists them when it meets an
// unknown one), and says of routers and senders what their own schemas say.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/lab/scenario/scenario_schema.h"
#include "tests/unit/config/schema_keys.h"
#include "tests/unit/lab/scenario/scenario_text.h"

namespace surety::lab {
namespace {

using namespace config::schema_keys;
using Json = nlohmann::json;

Json scenario_schema() {
  return Json::parse(kScenarioSchema);
}

constexpr Place kPlaces[] = {
    {"", "Z"},
    {"router_inline", "routers: {r: {Z}}"},
    {"router_file", "routers: {r: {config: none.yaml, Z}}"},
    {"host", "hosts: [{Z}]"},
    {"link", "links: [{Z}]"},
    {"direction", "links: [{forth: {Z}}]"},
    {"direction", "links: [{back: {Z}}]"},
    {"sender gtfrc", "senders: [{protocol: gtfrc, Z}]"},
    {"sender tfrc", "senders: [{protocol: tfrc, Z}]"},
    {"sender tcp", "senders: [{protocol: gtcp, Z}]"},
    {"sender tcp", "senders: [{protocol: newreno, Z}]"},
    {"sender tcp", "senders: [{protocol: reno, Z}]"},
    {"sender udp", "senders: [{protocol: udp, Z}]"},
    {"route_change", "routes: [{Z}]"},
    {"mark", "senders: [{protocol: udp, mark: {Z}}]"},
};

Diagnostics diagnostics(const std::string& text) {
  return parse_scenario(text, "f").diagnostics;
}

TEST(LabScenarioSchema, KnowsExactlyTheKeysOfTheParser) {
  expect_keys_of_parser(scenario_schema(), kPlaces, diagnostics);
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
  const auto router = schema("config/schema.json");
  std::set<std::string> of_routers;
  for (const auto& item : router.at("$defs").items()) of_routers.insert(item.key());
  expect_every_map(scenario_schema(), kPlaces, of_routers);
}

}  // namespace
}  // namespace surety::lab
