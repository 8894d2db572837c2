// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/share_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/lab/simulation/bench.h"

namespace surety::lab {
namespace {

using testing::ElementsAre;

// Two homes of three ask for more than their street has, one with twice the weight asks alone beside it.
constexpr const char* kStreet = R"(
version: 1
duration: 2 s
measure: 1 s - 2 s
routers:
  r:
    ports: {down: {shape: 10 Mbit/s}, up: {trust: core}}
    groups: {street: {port: down, shape: 2 Mbit/s}}
    interfaces:
      homes: {port: down, vlan: 2, inner_vlan: 1-3, group: street, addresses: [10.9.0.1/16], queues: q}
      shop: {port: down, vlan: 3, weight: 2, shape: 3 Mbit/s, queues: q}
    queues: {q: [{name: voice, dscp: EF, priority: strict, rate: 1 Mbit/s}, {name: data, dscp: BE, limit: 20 packets, count: packets}]}
hosts: [{name: home, times: 3, address: 10.9.0.2}, shop, server]
links: [{between: [home, r.homes]}, {between: [shop, r.shop]}, {between: [r.up, server]}]
senders:
  - {name: a, host: server, to: home#1, protocol: udp, rate: 4 Mbit/s, packet: 1000 B}
  - {name: b, host: server, to: home#3, protocol: udp, rate: 4 Mbit/s, packet: 1000 B}
  - {name: c, host: server, to: shop, protocol: udp, rate: 4 Mbit/s, packet: 1000 B}
)";

TEST(LabShareWatch, SeesTheQueuesOfInterfacesThatSomethingCameTo) {
  const RunResult run = test::run_once(kStreet);
  std::vector<std::string> names;
  for (const QueueResult& q : run.queues) names.push_back(q.interface + " " + q.queue);
  EXPECT_THAT(names, ElementsAre(" default", "homes.1 data", "homes.3 data", "shop voice", "shop data"));
  const QueueResult& home = run.queues.at(1);
  EXPECT_EQ(home.definition, "homes");
  EXPECT_EQ(home.router + '.' + home.port, "r.down");
  EXPECT_NEAR(home.departed_bps, 1e6, 1e4);
  const PrecedenceResult& packets = home.by_precedence[index(Precedence::in)];
  EXPECT_EQ(packets.arrivals, 500u);
  EXPECT_NEAR(static_cast<double>(packets.overflow_drops), 375, 2);
  EXPECT_NEAR(home.average_total_mean, 20, 1);
  EXPECT_EQ(run.queues.at(0).rate_bps, 10e6);
  EXPECT_EQ(run.queues.at(4).rate_bps, 3e6);
  EXPECT_NEAR(run.queues.at(4).utilisation, 1, 0.01);
}

TEST(LabShareWatch, SumsUpWhatAGroupHasAndHowAlikeItsInterfacesAre) {
  const RunResult run = test::run_once(kStreet);
  ASSERT_EQ(run.groups.size(), 2u);
  const GroupResult &street = run.groups[0], &beside = run.groups[1];
  EXPECT_EQ(street.group, "street");
  EXPECT_EQ(street.interfaces, 3u);
  EXPECT_EQ(street.sending, 2u);
  EXPECT_EQ(street.limit_bps, 2e6);
  EXPECT_NEAR(street.departed_bps, 2e6, 2e4);
  EXPECT_NEAR(street.jain.value(), 1, 1e-3);
  EXPECT_EQ(beside.group, "");
  EXPECT_EQ(beside.interfaces, 2u) << "the port's own queues are one";
  EXPECT_EQ(beside.sending, 1u);
}

TEST(LabShareWatch, SeesNothingWhereAPortHasItsOwnQueuesOnly) {
  EXPECT_TRUE(test::run_once(R"(
version: 1
duration: 1 s
routers: {r: {ports: {a: {}, b: {}}}}
hosts: [h, s]
links: [{between: [h, r.a]}, {between: [r.b, s]}]
senders: [{name: f, host: h, to: s, protocol: udp, rate: 1 Mbit/s}]
)")
                  .groups.empty());
}

// As the worker does (router/daemon/workers/signal_exchange.h).
TEST(LabRouterDriver, TellsItsConditionersOfACongestedInterface) {
  const RunResult run = test::run_once(R"(
version: 1
duration: 4 s
routers:
  r:
    router: {role: border}
    ports: {a: {trust: customer}, down: {queues: q}}
    interfaces: {shop: {port: down, vlan: 3, shape: 2 Mbit/s, queues: q}}
    queues: {q: [{name: x, dscp: {in: [AF11], out: [AF12, BE]}, limit: 60 packets,
                  count: packets, rio: {in: {min: 20, max: 40, pmax: 0.02}, out: {min: 4, max: 12, pmax: 0.1}}}]}
    services: {csa: {conditioner: csa, alpha: {max: 0.4}, rate: 1 Mbit/s, in_bucket: 6 kB, out_bucket: 1500 B, mark: {in: AF11, out: AF12}}}
    classify: [{match: {port: a}, service: csa, per: flow}]
hosts: [{name: h, times: 2}, shop]
links: [{between: [h, r.a], rate: 8 Mbit/s}, {between: [r.shop, shop]}]
senders: [{name: f, host: h, to: shop, protocol: udp, rate: 4 Mbit/s, packet: 1000 B}]
)");
  const auto held = std::ranges::find(run.domains, "x towards shop", &DomainResult::queue);
  ASSERT_NE(held, run.domains.end());
  EXPECT_LT(held->alpha_min, 0.2);
}

}  // namespace
}  // namespace surety::lab
