// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/plan.h"

#include <gmock/gmock.h>

#include "tests/lab/simulation/shortest_paths.h"
#include "tests/unit/lab/simulation/bench.h"

namespace surety::lab {
namespace {

using namespace literals;
using test::scenario;

// h1 - a - b - h2, with a shorter way a - c - b; h3 beside h1 at a switch of a.
constexpr std::string_view kTriangle = R"(
version: 1
duration: 1 s
routers:
  a: {ports: {lan: {trust: customer}, b: {trust: core}, c: {trust: core}}}
  b: {ports: {lan: {trust: customer}, a: {trust: core}, c: {trust: core}}}
  c: {ports: {a: {trust: core}, b: {trust: core}}}
hosts: [h1, h2, h3]
links:
  - {between: [h1, a.lan], delay: 1 ms}
  - {between: [h3, a.lan], delay: 2 ms}
  - {between: [a.b, b.a], delay: 10 ms}
  - {between: [a.c, c.a], delay: 3 ms}
  - {between: [c.b, b.c], delay: 4 ms}
  - {between: [b.lan, h2], delay: 1 ms}
senders:
  - {name: f, host: h1, to: h2, protocol: newreno}
  - {name: g, host: h3, to: h2, protocol: newreno, flows: 2}
  - {name: u, host: h2, to: h1, protocol: udp, rate: 1 Mbit/s}
  - {name: d, host: h3, to: h2, protocol: newreno, ack: delayed}
)";

NextHopEntry hop(const Plan& plan, std::size_t router, std::size_t host) {
  const auto& hops = plan.routers()[router].next_hops;
  EXPECT_GT(hops.size(), host);
  return hops[host].second;  // every host can be reached, in their order
}

TEST(LabPlan, RoutesFollowTheLeastDelay) {
  const Plan plan(scenario(kTriangle));
  EXPECT_EQ(hop(plan, 0, 1).port, 2) << "a to h2 by c: 7 ms, not 10";
  EXPECT_EQ(hop(plan, 2, 1).port, 1) << "c to h2 by b";
  EXPECT_EQ(hop(plan, 1, 1).port, 0) << "b to h2 itself";
  EXPECT_EQ(hop(plan, 1, 0).port, 2) << "b to h1 by c";
  EXPECT_EQ(hop(plan, 0, 0).port, 0);
  EXPECT_EQ(hop(plan, 0, 0).state, NextHopEntry::State::ready);
}

TEST(LabPlan, EqualDelaysPreferFewerRouters) {
  const Plan plan(scenario(kTriangle, {{"links.2.delay", "7 ms"}}));
  EXPECT_EQ(hop(plan, 0, 1).port, 1);
  EXPECT_EQ(hop(plan, 1, 0).port, 1);
}

TEST(LabPlan, HostsAtASwitchAreToldApartByTheirMac) {
  const Plan plan(scenario(kTriangle));
  EXPECT_EQ(hop(plan, 0, 0).destination, plan.hosts()[0].mac);
  EXPECT_EQ(hop(plan, 0, 2).destination, plan.hosts()[2].mac);
  EXPECT_NE(plan.hosts()[0].mac, plan.hosts()[2].mac);
  EXPECT_EQ(plan.routers()[0].lines[0].size(), 2u);
  EXPECT_EQ(plan.hosts()[0].peer_mac, plan.routers()[0].macs[0]);
}

TEST(LabPlan, AnAddressHasOneIdInAllScenarios) {
  const Plan plan(scenario(kTriangle)), again(scenario(kTriangle));
  EXPECT_EQ(plan.routers()[0].next_hops[1].first, again.routers()[0].next_hops[1].first);
  EXPECT_EQ(plan.routers()[0].next_hops[1].first, plan.routers()[1].next_hops[1].first);
}

TEST(LabPlan, EveryFlowHasItsPortAndEqualSinksAreShared) {
  const Plan plan(scenario(kTriangle));
  ASSERT_EQ(plan.flows().size(), 5u);
  std::vector<std::string> names;
  std::vector<int> from, to;
  for (const auto& f : plan.flows()) {
    names.push_back(f.name);
    from.push_back(f.tuple.local_port);
    to.push_back(f.tuple.remote_port);
  }
  EXPECT_THAT(names, testing::ElementsAre("f", "g#1", "g#2", "u", "d"));
  EXPECT_THAT(from, testing::ElementsAre(10000, 10001, 10002, 10003, 10004));
  EXPECT_THAT(to, testing::ElementsAre(5001, 5001, 5001, 5001, 5002)) << "UDP has ports of its own";
  EXPECT_EQ(plan.sinks().size(), 3u);
}

const NextHopEntry& entry(const Plan& plan, std::size_t router, std::uint32_t id) {
  for (const auto& [i, e] : plan.routers()[router].next_hops)
    if (i == id) return e;
  throw std::out_of_range("no such next hop");
}
// The id behind an address of any kind.
std::uint32_t id_of(const Plan& plan, std::uint32_t address) {
  std::uint64_t value = 0;
  plan.fib().lookup4(&address, &value, 1);
  return RouteTarget::decode(static_cast<std::uint32_t>(value)).first;
}

TEST(LabPlan, RoutersHaveAddressesAndIdsAndReachOneAnother) {
  const Plan plan(scenario(kTriangle));
  const auto& c = plan.routers()[2].snapshot->config;
  ASSERT_EQ(c.ports[0].addresses.size(), 1u);
  EXPECT_EQ(to_string(c.ports[0].addresses[0]), "198.18.0.3/32");
  EXPECT_EQ(c.router.id, 198u << 24 | 18u << 16 | 3);
  const std::uint32_t id = id_of(plan, c.router.id);
  EXPECT_EQ(entry(plan, 2, id).state, NextHopEntry::State::local);
  EXPECT_EQ(entry(plan, 0, id).state, NextHopEntry::State::ready);
  EXPECT_EQ(entry(plan, 0, id).port, 2) << "a to c itself";
  EXPECT_EQ(entry(plan, 1, id).port, 2) << "b to c itself";
}

TEST(LabPlan, AddressesAndIdsThatAreGivenStay) {
  const Plan plan(scenario(kTriangle, {{"routers.c.ports.b.addresses", "192.0.2.1/24"},
                                       {"routers.c.router.id", "192.0.2.9"},
                                       {"hosts.0", "{name: h1, address: 198.18.0.1}"}}));
  const auto& c = plan.routers()[2].snapshot->config;
  EXPECT_TRUE(c.ports[0].addresses.empty());
  EXPECT_EQ(c.router.id, 192u << 24 | 2u << 8 | 9);
  EXPECT_EQ(entry(plan, 2, id_of(plan, 192u << 24 | 2u << 8 | 1)).state, NextHopEntry::State::local);
  EXPECT_EQ(to_string(plan.routers()[0].snapshot->config.ports[0].addresses.at(0)), "198.18.0.2/32")
      << "198.18.0.1 is h1's";
}

TEST(LabPlan, RoutesOfTheScenarioComeAtTheirTime) {
  const Plan plan(scenario(kTriangle, {{"routes", "[{to: h2, by: a.b, at: 500 ms}, {to: h2, by: b.lan}]"}}));
  ASSERT_EQ(plan.changes().size(), 2u);
  EXPECT_EQ(hop(plan, 0, 1).port, 2) << "until then the shortest way";
  const PlannedChange &host = plan.changes()[0], &other = plan.changes()[1];
  EXPECT_EQ(host.at, Duration{});
  EXPECT_EQ(host.router, 1u);
  EXPECT_EQ(host.entry.destination, plan.hosts()[1].mac);
  EXPECT_EQ(other.at, 500ms);
  EXPECT_EQ(other.router, 0u);
  EXPECT_EQ(other.id, plan.routers()[0].next_hops[1].first) << "that of h2's address";
  EXPECT_EQ(other.entry.port, 1);
  EXPECT_EQ(other.entry.destination, plan.routers()[1].macs[1]);
  EXPECT_EQ(other.entry.state, NextHopEntry::State::ready);
}

TEST(LabPlan, AHostWithoutAWayIsAnError) {
  const auto cut = [] { Plan plan(scenario(kTriangle, {{"links.2", "~"}, {"links.2", "~"}})); };
  EXPECT_THAT(cut,
              testing::ThrowsMessage<ScenarioError>("sender f: there is no path from h1 to h2; link them"));
}

TEST(LabPlan, ASinkCannotAcknowledgeInTwoWays) {
  const auto clash = [] {
    Plan plan(scenario(kTriangle, {{"senders.f.to_port", "5009"}, {"senders.d.to_port", "5009"}}));
  };
  EXPECT_THAT(clash, testing::ThrowsMessage<ScenarioError>(
                         testing::HasSubstr("sender d: another sender to port 5009")));
}

TEST(LabPlan, APortAskedForIsItsSendersAlone) {
  const Plan plan(scenario(kTriangle, {{"senders.g.to_port", "5001"}}));
  std::vector<int> to;
  for (const auto& f : plan.flows()) to.push_back(f.tuple.remote_port);
  EXPECT_THAT(to, testing::ElementsAre(5002, 5001, 5001, 5002, 5003)) << "f, g#1, g#2, u, d";
}

}  // namespace
}  // namespace surety::lab
