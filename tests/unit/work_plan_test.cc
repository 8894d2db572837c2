#include "router/dpdk/work_plan.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/data_plane.h"

namespace surety {
namespace {

// Four ports; `more` is further YAML.
config::Config four_ports(const std::string& more = {}, const std::string& of_a = {}) {
  return test::configured("version: 1\nports:\n  a: {device: null" + of_a +
                          "}\n  b: {device: null}\n  c: {device: null}\n  d: {device: null}\n" + more);
}
std::vector<PortAbility> plain(std::size_t n = 4) {
  return std::vector<PortAbility>(n);
}
std::vector<PortAbility> with_rss(std::uint16_t queues, std::size_t n = 4) {
  return std::vector<PortAbility>(n, PortAbility{queues, true});
}
std::string error_of(const config::Config& c, const std::vector<unsigned>& cores,
                     const std::vector<PortAbility>& abilities) {
  try {
    plan_work(c, cores, abilities);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "none";
}

using Readers = std::vector<std::size_t>;

TEST(WorkPlan, OneWorkerDoesEverything) {
  const WorkPlan plan = plan_work(four_ports(), {1}, with_rss(16));
  for (const auto& p : plan.ports) {
    EXPECT_EQ(p.owner, 0u);
    EXPECT_EQ(p.readers, Readers{0});
    EXPECT_FALSE(p.dispatch);
  }
}

TEST(WorkPlan, PortsAreDealtOut) {
  const WorkPlan plan = plan_work(four_ports(), {1, 2, 3}, plain());
  EXPECT_EQ(plan.ports[0].owner, 0u);
  EXPECT_EQ(plan.ports[1].owner, 1u);
  EXPECT_EQ(plan.ports[2].owner, 2u);
  EXPECT_EQ(plan.ports[3].owner, 0u);
}

TEST(WorkPlan, ADeviceThatSpreadsFlowsHasAQueueForEachWorker) {
  const WorkPlan plan = plan_work(four_ports(), {4, 5, 6}, with_rss(16));
  EXPECT_EQ(plan.ports[0].readers, (Readers{0, 1, 2}));
  EXPECT_EQ(plan.ports[1].readers, (Readers{1, 2, 0})) << "its first queue is its owner's";
  EXPECT_FALSE(plan.ports[0].dispatch);
  EXPECT_EQ(plan_work(four_ports(), {4, 5, 6}, with_rss(2)).ports[0].readers, (Readers{0, 1}));
}

TEST(WorkPlan, AnotherIsReadByItsOwnerWhoDispatches) {
  const WorkPlan plan = plan_work(four_ports(), {1, 2}, plain());
  EXPECT_EQ(plan.ports[1].readers, Readers{1});
  EXPECT_TRUE(plan.ports[1].dispatch);
  EXPECT_EQ(plan.ports[1].spread, Spread::flow);
}

TEST(WorkPlan, YamlDecides) {
  const config::Config c =
      four_ports("workers: [1, 2]\n", ", worker: 2, receive: {queues: 4, workers: [2, 1]}");
  const WorkPlan plan = plan_work(c, {1, 2}, std::vector<PortAbility>(4, PortAbility{8, false}));
  EXPECT_EQ(plan.ports[0].owner, 1u);
  EXPECT_EQ(plan.ports[0].readers, (Readers{1, 0, 1, 0}));
  EXPECT_FALSE(plan.ports[0].dispatch);
}

TEST(WorkPlan, WhoNamesTheReaderOfAQueueWantsNoDispatch) {
  const WorkPlan plan =
      plan_work(four_ports("workers: [1, 2]\n", ", receive: {workers: [2]}"), {1, 2}, plain());
  EXPECT_EQ(plan.ports[0].owner, 0u);
  EXPECT_EQ(plan.ports[0].readers, Readers{1});
  EXPECT_FALSE(plan.ports[0].dispatch);
}

TEST(WorkPlan, WhatCannotBeIsRefused) {
  EXPECT_EQ(error_of(four_ports({}, ", receive: {queues: 4}"), {1, 2}, plain()),
            "port a: receive: {queues: 4}: the device has 1 at most");
  EXPECT_EQ(error_of(four_ports({}, ", worker: 7"), {1, 2}, plain()),
            "port a: core 7 is not a worker; the workers' cores are 1, 2");
}

config::Config with_rules(const std::string& rules) {
  return four_ports(
      "services:\n"
      "  gold: {conditioner: token-bucket, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: AF11, out: AF12}}\n"
      "  plain: {conditioner: none, mark: {in: BE}}\n"
      "classify:\n" +
      rules);
}

TEST(WorkPlan, PacketsOfAContractComeToOneWorker) {
  const auto spread = [](const std::string& rules) { return spread_of(with_rules(rules), 0); };
  EXPECT_EQ(spread("  - {match: {port: a}, service: gold, per: flow}\n"), Spread::flow);
  EXPECT_EQ(spread("  - {match: {port: a}, service: gold, per: source}\n"), Spread::source);
  EXPECT_EQ(spread("  - {match: {port: a}, service: gold, per: destination}\n"), Spread::destination);
  EXPECT_EQ(spread("  - {match: {port: a}, service: gold, per: vlan}\n"), Spread::none);
  EXPECT_EQ(spread("  - {match: {port: a}, service: gold, per: prefix}\n"), Spread::none);
  EXPECT_EQ(spread("  - {match: {port: a}, service: gold}\n"), Spread::none) << "one contract for the rule";
}

TEST(WorkPlan, SpreadIsWhatAllContractsAllow) {
  const auto spread = [](const std::string& rules) { return spread_of(with_rules(rules), 0); };
  const std::string flow = "  - {match: {port: a, protocol: tcp}, service: gold, per: flow}\n",
                    source = "  - {match: {port: a}, service: gold, per: source}\n",
                    destination = "  - {match: {port: a, protocol: udp}, service: gold, per: destination}\n";
  EXPECT_EQ(spread(flow + source), Spread::source);
  EXPECT_EQ(spread(destination + source), Spread::none);
  EXPECT_EQ(spread("  - {match: {port: b}, service: gold, per: source}\n"), Spread::flow) << "another port";
  EXPECT_EQ(spread("  - {match: {port: a}, service: plain}\n"), Spread::flow) << "keeps no state";
  EXPECT_EQ(spread("  - {match: {protocol: tcp}, service: gold, per: source}\n"), Spread::source)
      << "all ports";
}

}  // namespace
}  // namespace surety
