// SPDX-License-Identifier: BSD-3-Clause
// A scenario as a whole: the examples, the times, the names.
#include <gmock/gmock.h>

#include <filesystem>

#include "config/values.h"
#include "tests/unit/lab/scenario/scenario_text.h"

namespace surety::lab {
namespace {

using namespace surety::literals;
using testing::ElementsAre;
using testing::IsEmpty;

namespace fs = std::filesystem;
const fs::path kExamples = fs::path(SURETY_SOURCE_DIR) / "config/examples";

TEST(LabExamples, GiveNoErrorAndNoWarning) {
  int scenarios = 0;
  for (const auto& entry : fs::directory_iterator(kExamples)) {
    if (!entry.path().filename().string().starts_with("lab-")) continue;
    const auto result = parse_scenario_file(entry.path().string());
    EXPECT_TRUE(result.ok()) << entry.path();
    EXPECT_THAT(messages_of(result), IsEmpty()) << entry.path();
    ++scenarios;
  }
  EXPECT_EQ(scenarios, 3);
}

Scenario fig2b() {
  return parse_scenario_file((kExamples / "lab-gtfrc-fig2b.yaml").string()).scenario.value_or(Scenario{});
}

TEST(Fig2b, WhatIsRunAndMeasured) {
  const auto s = fig2b();
  EXPECT_EQ(s.name, "gtfrc-fig2b");
  EXPECT_EQ(s.file, (kExamples / "lab-gtfrc-fig2b.yaml").string());
  EXPECT_EQ(s.duration, 300s);
  EXPECT_EQ(s.measure.from, 0s);
  EXPECT_EQ(s.measure.to, 300s);
  EXPECT_EQ(s.seed, 1u);
  EXPECT_EQ(s.sample, 1s);
}

TEST(Fig2b, TwoRoutersWithSmallFlowTables) {
  const auto s = fig2b();
  ASSERT_EQ(s.routers.size(), 2u);
  EXPECT_EQ(s.routers.at(0).name, "edge");
  EXPECT_EQ(s.routers.at(0).config.ports.size(), 3u);
  EXPECT_EQ(s.routers.at(0).config.services[0].committed, 800_kbps);
  EXPECT_EQ(s.routers.at(1).config.router.role, config::Router::Role::core);
  for (const auto& r : s.routers) {
    EXPECT_TRUE(r.signalling) << r.name;
    EXPECT_EQ(r.config.signalling.mode, config::Signalling::Mode::act) << r.name;
    EXPECT_EQ(r.config.flow_table.capacity, 4096u) << r.name;
    EXPECT_EQ(r.config.flow_table.held_packets, 16384u) << r.name;
  }
}

TEST(Fig2b, LinksInTheOrderOfTheFile) {
  const auto s = fig2b();
  ASSERT_EQ(s.links.size(), 4u);
  EXPECT_EQ(s.links[0].name, "h1 edge.a");
  EXPECT_EQ(s.links[0].a, (NodePort{false, 0, 0}));
  EXPECT_EQ(s.links[0].b, (NodePort{true, 0, 0}));
  EXPECT_EQ(s.links[2].name, "edge.up core.in");
  EXPECT_EQ(s.links[2].a, (NodePort{true, 0, 2}));
  EXPECT_EQ(s.links[2].b, (NodePort{true, 1, 0}));
  EXPECT_EQ(s.links[0].forth.rate, 10_Mbps);
  EXPECT_EQ(s.links[0].forth.delay, 317ms);
  EXPECT_EQ(s.links[0].back.delay, 317ms);
  EXPECT_FALSE(s.links[0].forth.queue);
}

TEST(Fig2b, GuaranteedSendersWithStartsToDraw) {
  const auto s = fig2b();
  ASSERT_EQ(s.senders.size(), 2u);
  const auto& f = s.senders[1];
  EXPECT_EQ(f.sender.name, "short");
  EXPECT_EQ(f.sender.protocol, "gtfrc");
  EXPECT_EQ(f.sender.target, 200_kbps);
  EXPECT_EQ(f.sender.start.to, 100ms);
  EXPECT_EQ(f.host, 1u);
  EXPECT_EQ(f.to, 2u);
  EXPECT_EQ(f.sink.ack, endpoints::AckPolicy::every);
}

TEST(LabScenario, IsNamedAfterItsFileUnlessItSaysOtherwise) {
  EXPECT_EQ(clean({}).name, "small");
  EXPECT_EQ(clean({.duration = "duration: 10 s\nname: other.1"}).name, "other.1");
  EXPECT_THAT(messages({.duration = "duration: 10 s\nname: a b"}),
              ElementsAre("2:7 `a b` cannot name a scenario: up to 63 letters, digits, `-`, `_` and `.`"));
}

TEST(LabScenario, IsMeasuredAllTheTimeByDefault) {
  const auto s = clean({.duration = "duration: 10 s\nseed: 7\nsample: 10 ms"});
  EXPECT_EQ(s.measure.from, 0s);
  EXPECT_EQ(s.measure.to, 10s);
  EXPECT_EQ(s.seed, 7u);
  EXPECT_EQ(s.sample, 10ms);
}

TEST(LabScenario, ASampleIsNotLongerThanTheRun) {
  EXPECT_EQ(clean({.duration = "duration: 500 ms"}).sample, 500ms);
  EXPECT_THAT(messages({.duration = "duration: 1 s\nsample: 2 s"}),
              ElementsAre("2:9 from 10 ms to the whole duration"));
  EXPECT_THAT(messages({.duration = "duration: 1 s\nsample: 9 ms"}),
              ElementsAre("2:9 from 10 ms to the whole duration"));
}

TEST(LabScenario, MeasuresWithinTheRun) {
  const auto s = result_of({.duration = "duration: 10 s\nmeasure: 5 s - 20 s"});
  ASSERT_TRUE(s.ok());
  EXPECT_EQ(s.scenario->measure.from, 5s);
  EXPECT_EQ(s.scenario->measure.to, 10s);
  EXPECT_THAT(messages_of(s),
              ElementsAre("2:10 warning: the run is over before the measurement; it ends with the run"));
  EXPECT_THAT(messages({.duration = "duration: 10 s\nmeasure: 10 s - 20 s"}),
              ElementsAre("2:10 the run is over before the measurement begins"));
  EXPECT_THAT(messages({.duration = "duration: 10 s\nmeasure: 5 s"}),
              ElementsAre("2:10 a stretch of time to measure, like `100 s - 200 s`"));
}

TEST(LabScenario, NeedsVersionDurationHostsLinksAndSenders) {
  EXPECT_THAT(messages_of(parse_scenario("routers: {}\n", "f", {})),
              ElementsAre("1:1 the scenario needs `version`", "1:1 the scenario needs `duration`",
                          "1:1 the scenario needs `hosts`", "1:1 the scenario needs `links`",
                          "1:1 the scenario needs `senders`"));
  EXPECT_THAT(messages({.duration = "duration: 0 s"}), ElementsAre("1:11 `0 s` must be more than 0"));
  EXPECT_THAT(messages({.duration = "duration: 9 ms"}), ElementsAre("1:11 at least 10 ms"));
}

TEST(LabScenario, RunsWithoutAnyRouter) {
  const auto s = clean({.routers = "", .links = "links: [{between: [h, s], delay: 10 ms}]"});
  EXPECT_TRUE(s.routers.empty());
  EXPECT_EQ(s.links.at(0).name, "h s");
}

TEST(LabScenario, ReportsWhatIsNoYamlAndNoFile) {
  const auto broken = parse_scenario("a: [", "f.yaml", {});
  EXPECT_FALSE(broken.ok());
  ASSERT_EQ(broken.diagnostics.size(), 1u);
  EXPECT_TRUE(broken.diagnostics[0].message.starts_with("not YAML: "));
  const auto missing = parse_scenario_file("/nowhere/f.yaml");
  EXPECT_FALSE(missing.ok());
  ASSERT_EQ(missing.diagnostics.size(), 1u);
  EXPECT_EQ(missing.diagnostics[0].file, "/nowhere/f.yaml");
  EXPECT_EQ(missing.diagnostics[0].message, "cannot be read: No such file or directory");
}

}  // namespace
}  // namespace surety::lab
