// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/route_stage.h"

#include <set>

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using frames::Octets;
using test::DataPlane;
using test::not_ready;
using test::ready;
using test::Udp;
using test::udp_frame;
using State = NextHopEntry::State;

constexpr const char* kRouter = R"(
version: 1
ports:
  lan0: {addresses: [10.1.0.254/16], trust: core}
  wan0: {addresses: [10.2.0.254/16], trust: core, mtu: 1000}
  wan1: {addresses: [10.3.0.254/16], trust: core}
)";
const test::Kernel kKernel{{}, 16};  // with a punt ring, so that punts are seen as such

Octets to(std::uint32_t destination, std::uint8_t ttl = 64, std::size_t length = 100) {
  Octets frame = udp_frame({.destination = destination, .ttl = ttl}, length);
  frame[14 + 6] |= 0x40;  // DF
  frames::fix_checksum(&frame[14]);
  return frame;
}
Octets to6(std::uint8_t last, std::uint8_t hop_limit = 64) {
  using namespace frames;
  Address6 destination = kDestination6;
  destination[15] = last;
  return ethernet(kIpv6) + ip6(17, udp(1, 2, 10), {kSource6, destination, 0, hop_limit});
}

TEST(RouteStage, EveryStateOfANextHop) {
  DataPlane d(kRouter, kKernel);
  d.route("10.2.0.0/24", {ready(1)});
  d.route("10.2.1.0/24", {not_ready(State::glean, 1)});
  d.route("10.2.2.0/24", {not_ready(State::unresolved, 1)});
  d.route("10.2.3.0/24", {not_ready(State::no_route)});
  d.route_to("10.2.4.0/24", {kNextHopBlackhole, 1});
  d.route_to("10.2.5.0/24", {kNextHopLocal, 1});
  d.route_to("10.2.7.0/24", {kNextHopUnreachable, 1});
  d.route_to("10.2.8.0/24", {kNextHopProhibited, 1});
  d.route_to("10.2.9.0/24", {kNextHopUnsupported, 1});
  d.route_to("10.2.10.0/24", {kNextHopThrown, 1});
  EXPECT_EQ(d.fate(to(0x0a020001)), "to 1");
  EXPECT_EQ(d.fate(to(0x0a020101)), "punt neighbor");
  EXPECT_EQ(d.fate(to(0x0a020701)), "drop blackhole") << "and its sender is told";
  EXPECT_EQ(d.fate(to(0x0a020801)), "drop blackhole") << "and its sender is told";
  EXPECT_EQ(d.fate(to(0x0a020901)), "drop unsupported_route") << "and its sender is told";
  EXPECT_EQ(d.fate(to(0x0a020a01)), "drop no_route");
  EXPECT_EQ(d.fate(to(0x0a020201)), "drop neighbor_unresolved");
  EXPECT_EQ(d.fate(to(0x0a020301)), "drop no_route");
  EXPECT_EQ(d.fate(to(0x0a020401)), "drop blackhole");
  EXPECT_EQ(d.fate(to(0x0a020501)), "punt local");
  EXPECT_EQ(d.fate(to(0x0a020601)), "drop no_route") << "the FIB knows nothing of it";
  d.expect_law();
}

TEST(RouteStage, WithoutAKernelExceptionsAreDropsOfTheirOwnName) {
  DataPlane d(kRouter);
  d.route("10.2.0.0/24", {ready(1)});
  d.route("10.2.1.0/24", {not_ready(State::glean, 1)});
  d.route_to("10.2.5.0/24", {kNextHopLocal, 1});
  EXPECT_EQ(d.fate(to(0x0a020101)), "drop neighbor_unresolved");
  EXPECT_EQ(d.fate(to(0x0a020501)), "drop no_kernel_peer");
  EXPECT_EQ(d.fate(to(0x0a020001, 1)), "drop ttl_exceeded");
  EXPECT_EQ(d.fate(to(0x0a020001, 64, 1001)), "drop mtu_exceeded");
  d.expect_law();
}

TEST(RouteStage, TtlIsForForwardedPacketsOnly) {
  DataPlane d(kRouter, kKernel);
  d.route("10.2.0.0/24", {ready(1)});
  d.route("10.2.1.0/24", {not_ready(State::glean, 1)});
  d.route("10.2.2.0/24", {not_ready(State::unresolved, 1)});
  d.route_to("10.2.4.0/24", {kNextHopBlackhole, 1});
  d.route_to("10.2.5.0/24", {kNextHopLocal, 1});
  d.route("2001:db8:2::/64", {ready(1)});
  EXPECT_EQ(d.fate(to(0x0a020001, 2)), "to 1");
  EXPECT_EQ(d.fate(to(0x0a020001, 1)), "punt ttl");
  EXPECT_EQ(d.fate(to(0x0a020001, 0)), "punt ttl");
  EXPECT_EQ(d.fate(to6(2, 2)), "to 1");
  EXPECT_EQ(d.fate(to6(2, 1)), "punt ttl");
  EXPECT_EQ(d.fate(to6(2, 0)), "punt ttl");
  EXPECT_EQ(d.fate(to(0x0a020101, 1)), "punt ttl") << "before the neighbour is asked for";
  EXPECT_EQ(d.fate(to(0x0a020201, 1)), "punt ttl");
  EXPECT_EQ(d.fate(to(0x0a020501, 1)), "punt local");
  EXPECT_EQ(d.fate(to(0x0a020401, 1)), "drop blackhole");
  EXPECT_EQ(d.fate(to(0x0a020901, 1)), "drop no_route");
}

TEST(RouteStage, TheMtuIsTheEgressPorts) {
  DataPlane d(kRouter, kKernel);
  d.route("10.2.0.0/24", {ready(1)});
  d.route("10.2.1.0/24", {not_ready(State::glean, 1)});
  d.route("10.3.0.0/24", {ready(2)});
  EXPECT_EQ(d.fate(to(0x0a020001, 64, 1000)), "to 1");
  EXPECT_EQ(d.fate(to(0x0a020001, 64, 1001)), "punt mtu");
  EXPECT_EQ(d.fate(to(0x0a020101, 64, 1001)), "punt mtu");
  EXPECT_EQ(d.fate(to(0x0a030001, 64, 1500)), "to 2");
  EXPECT_EQ(d.fate(to(0x0a030001, 64, 1501)), "punt mtu");
  EXPECT_EQ(d.fate(to(0x0a020001, 1, 1001)), "punt ttl") << "TTL first (RFC 1812, 5.3.1)";
}

// `ip route add ... mtu 900`, made while packets pass.
TEST(RouteStage, TheMtuIsTheRoutesIfThatIsLower) {
  DataPlane d(kRouter, kKernel);
  d.route("10.3.1.0/24", {ready(2)});
  EXPECT_EQ(d.fate(to(0x0a030101, 64, 901)), "to 2");
  NextHopEntry small = ready(2), large = ready(2);
  small.mtu = 900, large.mtu = 9000;
  d.route("10.3.0.0/24", {small});
  d.route("10.3.2.0/24", {large});
  EXPECT_EQ(d.fate(to(0x0a030001, 64, 900)), "to 2");
  EXPECT_EQ(d.fate(to(0x0a030001, 64, 901)), "punt mtu");
  EXPECT_EQ(d.fate(to(0x0a030101, 64, 901)), "to 2") << "another route's";
  EXPECT_EQ(d.fate(to(0x0a030201, 64, 1500)), "to 2");
  EXPECT_EQ(d.fate(to(0x0a030201, 64, 1501)), "punt mtu");
}

// Padding is no part of the packet.
TEST(RouteStage, TheMtuCountsTheIpPacket) {
  DataPlane d(kRouter, kKernel);
  d.route("10.2.0.0/24", {ready(1)});
  EXPECT_EQ(d.fate(frames::pad(to(0x0a020001, 64, 1000), 1200)), "to 1");
}

TEST(RouteStage, PuntedPacketsTellTheirNextHop) {
  DataPlane d(kRouter, kKernel);
  const std::uint32_t hop = d.route("10.2.1.0/24", {not_ready(State::glean, 1)});
  ASSERT_EQ(d.fate(to(0x0a020101)), "punt neighbor");
  void* m = nullptr;
  ASSERT_EQ(rte_ring_sc_dequeue(d.punts, &m), 0);
  EXPECT_EQ(punted_next_hop(static_cast<rte_mbuf*>(m)), hop);
  rte_pktmbuf_free(static_cast<rte_mbuf*>(m));
}

class Alone {
 public:
  explicit Alone(DataPlane& d)
      : d_(d),
        filters_(d.snapshot, d.next_hops, d.disposal),
        stage_(d.snapshot, d.fib, d.next_hops, filters_, d.disposal, FlowHasher(1), true) {}
  // Next hops of the packets that go on, in order.
  std::vector<std::uint32_t> run(const std::vector<Octets>& frames) {
    Burst v = d_.parsed(frames);
    stage_.run(v, 0, nullptr);
    std::vector<std::uint32_t> hops;
    for (std::size_t i = 0; i < v.size; ++i) hops.push_back(v.next_hop(i));
    egresses.assign(v.egress.begin(), v.egress.begin() + static_cast<long>(v.size));
    DataPlane::free(v);
    d_.disposal.flush();
    return hops;
  }
  std::vector<PortIndex> egresses;

 private:
  DataPlane& d_;
  FilterStage filters_;
  RouteStage stage_;
};

TEST(RouteStage, EqualCostRoutesAreSharedByFlow) {
  DataPlane d(kRouter);
  const std::uint32_t first = d.route("10.2.0.0/24", {ready(1, 1), ready(2, 2), ready(1, 3), ready(2, 4)});
  Alone stage(d);
  std::vector<int> flows(4);
  for (std::uint16_t from = 0; from < 2000; from = static_cast<std::uint16_t>(from + 50)) {
    std::vector<Octets> frames;
    for (std::uint16_t i = 0; i < 50; ++i)
      frames.push_back(udp_frame({.from = static_cast<std::uint16_t>(from + i)}));
    const auto hops = stage.run(frames);
    EXPECT_EQ(stage.run(frames), hops) << "a flow stays on its next hop";
    ASSERT_EQ(hops.size(), 50u);
    for (std::size_t i = 0; i < hops.size(); ++i) {
      ASSERT_LT(hops[i] - first, 4u);
      ++flows[hops[i] - first];
      EXPECT_EQ(stage.egresses[i], (hops[i] - first) % 2 == 0 ? 1 : 2);
    }
  }
  for (const int n : flows) EXPECT_NEAR(n, 500, 100) << "five standard deviations";
}

TEST(RouteStage, FlowsMoveWhenTheirNextHopIsTakenOut) {
  DataPlane d(kRouter);
  const std::uint32_t first = d.route("10.2.0.0/24", {ready(1, 1), ready(2, 2)});
  EXPECT_EQ(d.fate(to(0x0a020001)).substr(0, 2), "to");
  d.next_hops.set(first, not_ready(State::unresolved, 1));
  d.next_hops.set(first + 1, not_ready(State::unresolved, 2));
  EXPECT_EQ(d.fate(to(0x0a020001)), "drop neighbor_unresolved");
  d.next_hops.set(first, ready(2, 2));
  d.next_hops.set(first + 1, ready(2, 2));
  EXPECT_EQ(d.fate(to(0x0a020001)), "to 2");
}

TEST(RouteStage, MixedVectorsOfBothFamilies) {
  DataPlane d(kRouter);
  const std::uint32_t v4 = d.route("10.2.0.0/24", {ready(1)});
  const std::uint32_t v6 = d.route("2001:db8:2::/64", {ready(2)});
  Alone stage(d);
  const Octets a = to(0x0a020001), b = to6(2), lost = to(0x0b000001);
  using Hops = std::vector<std::uint32_t>;
  EXPECT_EQ(stage.run({a, a, a}), (Hops{v4, v4, v4}));
  EXPECT_EQ(stage.run({b, b, b}), (Hops{v6, v6, v6}));
  EXPECT_EQ(stage.run({b, a, lost, a, b, lost, b}), (Hops{v6, v4, v4, v6, v6}));
  EXPECT_EQ(stage.egresses, (std::vector<PortIndex>{2, 1, 1, 2, 2}));
  EXPECT_EQ(stage.run({}), Hops{});
  EXPECT_EQ(d.drops(0, DropReason::no_route), 2u);
}

TEST(RouteStage, WholeVectorsOfBothFamilies) {
  DataPlane d(kRouter);
  const std::uint32_t v4 = d.route("10.2.0.0/24", {ready(1)});
  const std::uint32_t v6 = d.route("2001:db8:2::/64", {ready(2)});
  Alone stage(d);
  std::vector<Octets> frames;
  std::vector<std::uint32_t> expected;
  for (std::size_t i = 0; i < kBurst; ++i) {
    frames.push_back(i % 3 == 0 ? to6(2) : to(0x0a020001));
    expected.push_back(i % 3 == 0 ? v6 : v4);
  }
  EXPECT_EQ(stage.run(frames), expected);
}

}  // namespace
}  // namespace surety
