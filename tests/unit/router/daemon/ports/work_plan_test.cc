// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/work_plan.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "tests/unit/router/pipeline/data_plane.h"

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

TEST(WorkPlan, AnotherIsReadByItsOwnerWhoKeepsWhatComes) {
  const WorkPlan plan = plan_work(four_ports(), {1, 2}, plain());
  for (const std::size_t p : {0u, 1u, 2u, 3u}) {
    EXPECT_EQ(plan.ports[p].readers, Readers{p % 2});
    EXPECT_FALSE(plan.ports[p].dispatch);
  }
}

TEST(WorkPlan, WhereAWorkerWouldReceiveNothingTheOthersDispatch) {
  const std::vector<unsigned> five{1, 2, 3, 4, 5};
  for (const auto& port : plan_work(four_ports(), five, plain()).ports) {
    EXPECT_TRUE(port.dispatch);
    EXPECT_EQ(port.spread, Spread::flow);
    EXPECT_EQ(port.readers, Readers{port.owner});
  }
  std::vector<PortAbility> one_with_rss = plain();
  one_with_rss[2] = {16, true};
  for (const auto& port : plan_work(four_ports(), five, one_with_rss).ports) EXPECT_FALSE(port.dispatch);
}

TEST(WorkPlan, DispatchIsAsYamlSays) {
  const std::string on = ", receive: {dispatch: on}", off = ", receive: {dispatch: off}";
  EXPECT_TRUE(plan_work(four_ports({}, on), {1, 2}, plain()).ports[0].dispatch);
  EXPECT_FALSE(plan_work(four_ports({}, on), {1, 2}, plain()).ports[1].dispatch);
  EXPECT_FALSE(plan_work(four_ports({}, on), {1}, plain()).ports[0].dispatch) << "to whom";
  EXPECT_FALSE(plan_work(four_ports({}, off), {1, 2, 3, 4, 5}, plain()).ports[0].dispatch);
  const WorkPlan named =
      plan_work(four_ports("workers: [1, 2]\n", ", receive: {workers: 2, dispatch: on}"), {1, 2}, plain());
  EXPECT_EQ(named.ports[0].readers, Readers{1});
  EXPECT_TRUE(named.ports[0].dispatch);
}

TEST(WorkPlan, DispatchThatCannotBeIsRefused) {
  const std::string on = ", receive: {dispatch: on}";
  EXPECT_EQ(error_of(four_ports({}, on), {1, 2}, with_rss(16)),
            "port a: receive: {dispatch: on}: the device distributes packets to several queues; remove this "
            "key, or "
            "add `queues: 1`");
  const std::string gold =
      "services:\n  gold: {conditioner: token-bucket, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: AF11, out: "
      "AF12}}\n"
      "classify:\n";
  EXPECT_EQ(error_of(four_ports(gold + "  - {match: {port: a}, service: gold}\n", on), {1, 2}, plain()),
            "port a: receive: {dispatch: on}: dispatch cannot separate its contracts; remove this key, or "
            "use contracts per flow, source or destination (`per:`)");
  config::Config joint = four_ports(gold + "  - {match: {}, service: gold, per: source}\n", on);
  EXPECT_TRUE(plan_work(joint, {1, 2}, plain()).ports[1].dispatch) << "they share contracts";
  joint.ports[1].dispatch = false;
  EXPECT_EQ(error_of(joint, {1, 2}, plain()),
            "port a: receive: {dispatch: on}: one worker receives for all ports that share its contracts, "
            "since one "
            "of them has `dispatch: off` or a fixed reader; remove this key");
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

TEST(WorkPlan, AsManyWorkersAsThereMayBeReadOnePort) {
  std::vector<unsigned> cores(kMaxWorkers);
  std::iota(cores.begin(), cores.end(), 1u);
  EXPECT_EQ(plan_work(four_ports(), cores, with_rss(1024)).ports[0].readers.size(), kMaxWorkers);
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

TEST(WorkPlan, RulesWithoutAPortAreOfCustomerPorts) {
  config::Config c = with_rules("  - {match: {protocol: tcp}, service: gold}\n");
  c.ports[1].trust = config::Port::Trust::core;
  EXPECT_EQ(spread_of(c, 0), Spread::none);
  EXPECT_EQ(spread_of(c, 1), Spread::flow);
}

// Contracts that packets of several ports meet: those of rules that name no port.
class JointWorkPlan : public testing::Test {
 protected:
  const std::string flow = "  - {match: {protocol: tcp}, service: gold, per: flow}\n",
                    source = "  - {match: {protocol: udp}, service: gold, per: source}\n",
                    destination = "  - {match: {protocol: 33}, service: gold, per: destination}\n",
                    prefix = "  - {match: {}, service: gold, per: prefix}\n",
                    vlan = "  - {match: {protocol: tcp}, service: gold, per: vlan}\n",
                    rule = "  - {match: {}, service: gold}\n";
  // Port d is no customer's.
  static config::Config joint(const std::string& rules) {
    config::Config c = with_rules(rules);
    c.ports[3].trust = config::Port::Trust::core;
    return c;
  }
  static WorkPlan planned(const config::Config& c, const std::vector<PortAbility>& abilities = plain()) {
    return plan_work(c, {1, 2, 3}, abilities);
  }
  static std::vector<PortAbility> with_all_rss() {
    return std::vector<PortAbility>(4, PortAbility{16, true, true, true});
  }
  static void expect_one_reader(const WorkPlan& plan, std::size_t reader) {
    for (const std::size_t p : {0u, 1u, 2u}) {
      EXPECT_EQ(plan.ports[p].readers, Readers{reader}) << p;
      EXPECT_FALSE(plan.ports[p].dispatch) << p;
    }
  }
};

TEST_F(JointWorkPlan, OneReaderWhereNobodyCanTellContractsApart) {
  for (const std::string& rules : {rule, prefix, source + destination, source + rule}) {
    const WorkPlan plan = planned(joint(rules), with_all_rss());
    expect_one_reader(plan, 0);
    EXPECT_EQ(plan.ports[1].owner, 1u) << "transmits as before";
    EXPECT_EQ(plan.ports[3].readers, (Readers{0, 1, 2})) << "no customer comes by it";
  }
}

TEST_F(JointWorkPlan, TheSameDispatchOnAllPorts) {
  for (const auto& [rules, spread] :
       {std::pair{source + flow, Spread::source}, std::pair{destination, Spread::destination}}) {
    const WorkPlan plan = planned(joint(rules), with_all_rss());
    for (const std::size_t p : {0u, 1u, 2u}) {
      EXPECT_EQ(plan.ports[p].readers, Readers{p}) << "no queues of the device: it has a hash of its own";
      EXPECT_TRUE(plan.ports[p].dispatch);
      EXPECT_EQ(plan.ports[p].spread, spread);
    }
  }
}

// Who is idle shows when the customers' ports are planned.
TEST_F(JointWorkPlan, TheOthersDispatchForWhomThatLeavesIdle) {
  const WorkPlan plan = planned(joint(rule));
  expect_one_reader(plan, 0);
  EXPECT_TRUE(plan.ports[3].dispatch);
}

TEST_F(JointWorkPlan, NobodyIsIdleWhereJointPortsDispatch) {
  EXPECT_FALSE(plan_work(joint(source), {1, 2, 3, 4, 5}, plain()).ports[3].dispatch);
}

TEST_F(JointWorkPlan, WhatOnePortNeedsAllDo) {
  const std::string of_a = "  - {match: {port: a, protocol: tcp}, service: gold}\n";
  const WorkPlan plan = planned(joint(of_a + source));
  expect_one_reader(plan, 0);
  EXPECT_EQ(plan.ports[2].spread, Spread::none);
}

TEST_F(JointWorkPlan, FlowsAndVlansAreOfOnePort) {
  for (const std::size_t p : {0u, 1u, 2u}) {
    EXPECT_EQ(planned(joint(flow), with_rss(16)).ports[p].readers.size(), 3u);
    EXPECT_EQ(planned(joint(vlan)).ports[p].readers, Readers{p});
  }
}

TEST_F(JointWorkPlan, APortOrAWorkerAloneIsNotJoined) {
  config::Config c = joint(source);
  c.ports[1].trust = c.ports[2].trust = config::Port::Trust::core;
  EXPECT_EQ(planned(c, with_all_rss()).ports[0].readers, (Readers{0, 1, 2}));
  c = joint(rule);
  c.ports[0].rx_queues = 4;
  EXPECT_EQ(plan_work(c, {1}, with_all_rss()).ports[0].readers, (Readers{0, 0, 0, 0}));
}

TEST_F(JointWorkPlan, ANamedReaderIsEverybodys) {
  for (const std::string& rules : {rule, source}) {
    config::Config c = joint(rules);
    c.ports[1].rx_workers = {3};
    expect_one_reader(planned(c, with_all_rss()), 2);
    c.ports[2].rx_workers = {3};
    expect_one_reader(planned(c, with_all_rss()), 2);
    c.ports[1].rx_queues = 2;
    EXPECT_EQ(planned(c, with_all_rss()).ports[1].readers, (Readers{2, 2}));
  }
}

TEST_F(JointWorkPlan, ContradictionsAreRefused) {
  config::Config c = joint(flow + source);
  c.ports[0].rx_workers = {2};
  c.ports[2].rx_workers = {1};
  EXPECT_EQ(error_of(c, {1, 2}, plain()),
            "rule 2 of `classify` (service gold): ports a, b, c share its contracts, so one worker must "
            "receive from them all; but port a is read by core 2, port c by core 1: set the same core for "
            "all, like `receive: {workers: 2}`, or write a rule for each port (`match: {port: a}`)");
  c = joint(rule);
  c.ports[1].rx_queues = 2;
  EXPECT_EQ(error_of(c, {1, 2}, with_rss(16)),
            "rule 1 of `classify` (service gold): ports a, b, c share its contracts, so one worker must "
            "receive from them all; but port b is read by cores 1, 2: set the same core for "
            "all, like `receive: {workers: 1}`, or write a rule for each port (`match: {port: a}`)");
  c.ports[1].rx_workers = {1, 2};
  EXPECT_NE(error_of(c, {1, 2}, with_rss(16)), "none");
  c.ports[1].rx_workers = {2, 2};
  EXPECT_EQ(error_of(c, {1, 2}, with_rss(16)), "none");
}

// A reload keeps the plan; what it promises its contracts must still hold.
struct ServesWorkPlan : JointWorkPlan {
  const std::string flow_a = "  - {match: {port: a}, service: gold, per: flow}\n",
                    source_a = "  - {match: {port: a}, service: gold, per: source}\n",
                    rule_a = "  - {match: {port: a}, service: gold}\n";
  static bool serves_after(const std::string& before, const std::string& after,
                           const std::vector<PortAbility>& abilities = with_all_rss(),
                           const std::vector<unsigned>& cores = {1, 2, 3}) {
    return serves(plan_work(joint(before), cores, abilities), joint(after));
  }
};

TEST_F(ServesWorkPlan, WhatItWasMadeFor) {
  for (const auto& abilities : {plain(), with_rss(16), with_all_rss()})
    for (const std::string& rules : {flow, source, destination, prefix, vlan, rule, flow_a, source_a, rule_a,
                                     flow + source, source + destination, rule_a + source, flow_a + rule})
      for (const std::vector<unsigned>& cores : {std::vector{1u}, {1u, 2u}, {1u, 2u, 3u, 4u, 5u}})
        EXPECT_TRUE(serves_after(rules, rules, abilities, cores)) << rules << cores.size();
}

TEST_F(ServesWorkPlan, OneWorkerServesAll) {
  EXPECT_TRUE(serves_after(flow, rule + source + destination, plain(), {1}));
}

TEST_F(ServesWorkPlan, ReadersThatKeepWhatComesServeContractsOfAPort) {
  EXPECT_TRUE(serves_after(flow_a, rule_a, plain()));
  EXPECT_TRUE(serves_after(flow_a, source_a + vlan, plain()));
  EXPECT_FALSE(serves_after(flow_a, source, plain())) << "they are met through ports of several readers";
}

TEST_F(ServesWorkPlan, FlowsAreKeptTogetherByAnyAddress) {
  EXPECT_TRUE(serves_after(source_a, flow_a));
  EXPECT_TRUE(serves_after(source, flow));
  EXPECT_FALSE(serves_after(flow_a, source_a)) << "a source's flows come to several";
  EXPECT_FALSE(serves_after(source_a, rule_a));
  EXPECT_FALSE(serves_after("  - {match: {port: a}, service: gold, per: destination}\n", source_a));
}

// Four ports of which `c` was not there before.
WorkPlan without_c(const config::Config& c, const std::vector<unsigned>& cores) {
  config::Config before = c;
  before.ports[2] = {};
  before.ports[2].trust = config::Port::Trust::core;
  return plan_work(before, cores, plain());
}

TEST(PlanOn, WhatIsThereStaysAndWhatIsNewIsDealtOut) {
  const config::Config c = four_ports({}, ", worker: 3");
  WorkPlan before = without_c(c, {1, 2, 3});
  EXPECT_FALSE(before.ports[2].exists());
  before.ports[3].owner = 1;  // as another history would have it
  const WorkPlan plan = plan_on(before, c, plain());
  EXPECT_EQ(plan.ports[0].owner, 2u);
  EXPECT_EQ(plan.ports[3].owner, 1u);
  EXPECT_TRUE(plan.ports[2].exists());
  EXPECT_EQ(plan.ports[2].owner, 2u);
  EXPECT_TRUE(serves(plan, c));
  config::Config fewer = c;
  fewer.ports[1] = {};
  fewer.ports[1].trust = config::Port::Trust::core;
  EXPECT_FALSE(plan_on(plan, fewer, plain()).ports[1].exists());
}

TEST(PlanOn, WhoSharesContractsIsReadAsTheOthersAre) {
  const std::string gold =
      "services:\n  gold: {conditioner: police, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: AF11}}\n";
  for (const char* per : {"rule", "source", "destination"}) {
    const config::Config c =
        four_ports(gold + "classify:\n  - {match: {protocol: udp}, service: gold, per: " + per + "}\n");
    const WorkPlan plan = plan_on(without_c(c, {1, 2, 3}), c, plain());
    EXPECT_EQ(plan.ports[2].dispatch, plan.ports[0].dispatch) << per;
    EXPECT_TRUE(serves(plan, c)) << per;
  }
}

TEST_F(ServesWorkPlan, JointPortsNeedOneReaderOrTheSameDispatch) {
  EXPECT_TRUE(serves_after(rule, source)) << "all by one reader";
  EXPECT_TRUE(serves_after(source, source + flow)) << "all dispatched by source";
  EXPECT_TRUE(serves_after(rule, flow_a)) << "the contracts are gone, the readers are as they were";
  EXPECT_FALSE(serves_after(source, destination));
  EXPECT_FALSE(serves_after(source, rule));
  EXPECT_FALSE(
      serves_after("  - {match: {port: a}, service: gold, per: source}\n"
                   "  - {match: {port: b}, service: gold, per: source}\n"
                   "  - {match: {port: c}, service: gold, per: source}\n",
                   source))
      << "each device spreads by a hash of its own";
}

}  // namespace
}  // namespace surety
