// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/flow_watch.h"

#include <gmock/gmock.h>

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using frames::Octets;
using test::copies;
using test::DataPlane;
using test::kStart;
using test::ready;
using test::Udp;
using test::udp_frame;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using namespace literals;

constexpr const char* kRouter = R"(
version: 1
ports: {lan0: {addresses: [10.1.0.254/16]}}
services:
  marked: {conditioner: token-bucket, rate: 8 Mbit/s, bucket: 1000 B, mark: {in: AF11, out: AF12}}
  plain: {conditioner: none}
classify:
  - {match: {port: lan0, protocol: udp, destination_port: 1}, service: marked, per: source}
  - {match: {port: lan0, protocol: udp, destination_port: 2}, service: marked, per: destination}
  - {match: {port: lan0, protocol: udp, destination_port: 3}, service: marked, per: prefix, prefix: {ipv4: 20, ipv6: 40}}
  - {match: {port: lan0, protocol: udp, destination_port: 4}, service: marked, per: vlan}
  - {match: {port: lan0, protocol: udp, destination_port: 5}, service: marked, per: rule}
  - {match: {port: lan0, protocol: udp, destination_port: 6}, service: marked, per: flow}
  - {match: {port: lan0}, service: plain}
flow_table: {capacity: 64}
)";
enum : std::uint16_t { kSource = 1, kDestination, kPrefix, kVlan, kRule, kFlow, kPlain };

class TopFlowsTest : public testing::Test {
 protected:
  TopFlowsTest() {
    d.route("10.2.0.0/16", {ready(0)});
    d.route("2001:db8:2::/48", {ready(0)});
  }
  std::vector<FlowReading> top(std::size_t count = 10) {
    return top_flows(*d.ingress, d.snapshot, count, d.now);
  }
  // "source > destination protocol service in/out", with "vlan n" where there is one.
  std::vector<std::string> words(std::size_t count = 10) {
    std::vector<std::string> all;
    for (const auto& f : top(count))
      all.push_back(f.source + " > " + f.destination + " " + f.protocol + " " + f.service + " " +
                    std::to_string(f.in_bytes) + "/" + std::to_string(f.out_bytes) +
                    (f.vlan != 0 ? " vlan " + std::to_string(f.vlan) : ""));
    return all;
  }
  // The only one.
  std::string word() {
    const auto all = words();
    return all.size() == 1 ? all[0] : std::to_string(all.size()) + " flows";
  }

  DataPlane d{kRouter};
};

TEST_F(TopFlowsTest, NoFlowsNoReadings) {
  EXPECT_THAT(top(), IsEmpty());
  d.receive({udp_frame()});
  EXPECT_THAT(top(0), IsEmpty());
}

TEST_F(TopFlowsTest, AFlowSaysWhatItIs) {
  d.receive(copies(3, udp_frame({.to = kFlow, .vlan = 7}, 600)));
  EXPECT_EQ(word(), "10.1.0.1:1000 > 10.2.0.1:6 udp marked 600/1200 vlan 7");
}

TEST_F(TopFlowsTest, Ipv6EndpointsHaveBrackets) {
  using namespace frames;
  d.receive({ethernet(kIpv6) + ip6(6, tcp(0x1234, 80, 0))});
  EXPECT_EQ(word(), "[2001:db8:1::1]:4660 > [2001:db8:2::2]:80 tcp plain 60/0");
}

TEST_F(TopFlowsTest, ProtocolsWithoutPortsAndFragments) {
  using namespace frames;
  d.receive({ethernet(kIpv4) + ip4(47, zeros(80)), ethernet(kIpv4) + ip4(17, zeros(40), {.place = 0x2010}),
             ethernet(kIpv4) + ip4(33, dccp(1, 2, 4, true), {})});
  EXPECT_THAT(words(),
              ElementsAre("10.1.0.1 > 10.2.0.1 47 plain 100/0", "10.1.0.1 > 10.2.0.1 17 fragments plain 60/0",
                          "10.1.0.1:1 > 10.2.0.1:2 dccp plain 36/0"));
}

TEST_F(TopFlowsTest, MostBytesFirstAndNoMoreThanAsked) {
  const std::size_t lengths[] = {300, 1200, 100, 700, 500};
  for (std::uint16_t i = 0; i < 5; ++i) d.receive({udp_frame({.from = i, .to = kPlain}, lengths[i])});
  std::vector<std::uint64_t> bytes;
  for (const auto& f : top(3)) bytes.push_back(f.in_bytes);
  EXPECT_THAT(bytes, ElementsAre(1200, 700, 500));
  EXPECT_EQ(top(5).size(), 5u);
  EXPECT_EQ(top(50).size(), 5u);
}

TEST_F(TopFlowsTest, InAndOutCountTogether) {
  d.receive({udp_frame({.from = 1, .to = kPlain}, 900)});
  d.receive(copies(2, udp_frame({.from = 2, .to = kFlow}, 600)));
  EXPECT_THAT(words(1), ElementsAre("10.1.0.1:2 > 10.2.0.1:6 udp marked 600/600"));
}

// A contract stands for its flows and says what it covers.
TEST_F(TopFlowsTest, Contracts) {
  for (std::uint16_t to = kSource; to <= kRule; ++to)
    d.receive(
        {udp_frame({.from = 1, .to = to, .vlan = 7}, 600), udp_frame({.from = 2, .to = to, .vlan = 7}, 600)});
  EXPECT_THAT(words(), UnorderedElementsAre(
                           "10.1.0.1 > any contract marked 600/600", "any > 10.2.0.1 contract marked 600/600",
                           "10.1.0.0/20 > any contract marked 600/600",
                           "any > any contract marked 600/600 vlan 7", "any > any contract marked 600/600"));
}

TEST_F(TopFlowsTest, ContractsOfIpv6) {
  using namespace frames;
  d.receive(
      {ethernet(kIpv6) + ip6(17, udp(1, kPrefix, 40), {}), ethernet(kIpv6) + ip6(17, udp(1, kRule, 20), {})});
  EXPECT_THAT(words(),
              ElementsAre("2001:db8::/40 > any contract marked 88/0", "any > any contract marked 68/0"));
}

TEST_F(TopFlowsTest, IdleTimeToATickOfTheTable) {
  d.receive({udp_frame()});
  d.turn(kStart + 2s);
  EXPECT_NEAR(top().at(0).idle_seconds, 2, 0.0084);
}

TEST_F(TopFlowsTest, FlowsThatAreGoneAreNotShown) {
  d.receive({udp_frame()});
  for (int s = 0; s < 60; ++s) d.turn(d.now + 1s);
  EXPECT_THAT(top(), IsEmpty());
}

TEST_F(TopFlowsTest, GoesRoundTheTableAPartAtATime) {
  d.receive(copies(3, udp_frame({.to = kFlow}, 600)));
  TopFlows flows(*d.ingress, d.snapshot, 10);
  const std::size_t capacity = d.ingress->flows().capacity();
  for (std::size_t seen = 0; seen < capacity; seen += 16) {
    flows.look(16, d.now);
    EXPECT_THAT(flows.largest(), IsEmpty()) << "not round yet";
  }
  flows.look(16, d.now);
  ASSERT_EQ(flows.largest().size(), 1u);
  EXPECT_EQ(flows.largest()[0].in_bytes + flows.largest()[0].out_bytes, 1800u);
}

TEST_F(TopFlowsTest, ShowsTheLastTimeRoundUntilTheNextOneIsOver) {
  d.receive(copies(1, udp_frame({.to = kFlow}, 600)));
  TopFlows flows(*d.ingress, d.snapshot, 10);
  const std::size_t round = d.ingress->flows().capacity() + std::size_t{1};
  flows.look(round, d.now);
  d.receive(copies(1, udp_frame({.to = kFlow}, 600)));
  flows.look(round - 1, d.now);
  ASSERT_EQ(flows.largest().size(), 1u);
  EXPECT_EQ(flows.largest()[0].in_bytes, 600u);
  flows.look(1, d.now);
  EXPECT_EQ(flows.largest()[0].in_bytes + flows.largest()[0].out_bytes, 1200u);
}

TEST_F(TopFlowsTest, OfNoneNothingIsLookedAt) {
  d.receive({udp_frame({.to = kFlow})});
  TopFlows flows(*d.ingress, d.snapshot, 0);
  flows.look(1'000'000, d.now);
  EXPECT_THAT(flows.largest(), IsEmpty());
}

}  // namespace
}  // namespace surety
