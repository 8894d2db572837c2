// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/rewrite_stage.h"

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using frames::Octets;
using test::DataPlane;
using test::neighbor_mac;
using test::port_mac;
using test::ready;
using test::to_mbuf;

constexpr const char* kRouter = R"(
version: 1
ports:
  lan0: {addresses: [10.1.0.254/16], trust: core}
  wan0: {addresses: [10.2.0.254/16], trust: core}
)";

Octets expected_ethernet(std::uint16_t type, std::uint8_t neighbor = 1, std::size_t egress = 1) {
  using namespace frames;
  const auto to = neighbor_mac(neighbor);
  const auto from = port_mac(egress);
  return Octets(to.begin(), to.end()) + Octets(from.begin(), from.end()) + be16(type);
}

class RewriteStageTest : public testing::Test {
 protected:
  RewriteStageTest() : stage(d.next_hops, d.macs, d.disposal, pending) { d.next_hops.set(kHop, ready(1)); }

  Burst vector(const std::vector<Octets>& frames, std::uint8_t mark) {
    Burst v = d.parsed(frames);
    for (std::size_t i = 0; i < v.size; ++i) {
      v.route[i] = kHop;
      v.egress[i] = 1;
      v.mark[i] = mark;
    }
    return v;
  }
  Octets rewritten(const Octets& frame, std::uint8_t mark = kKeepDscp) {
    Burst v = vector({frame}, mark);
    stage.run(v);
    EXPECT_EQ(v.size, 1u);
    EXPECT_EQ(v.mbuf[0]->pkt_len, v.mbuf[0]->data_len);
    return test::take(v.mbuf[0]);
  }

  static constexpr std::uint32_t kHop = 5;
  DataPlane d{kRouter};
  PendingPackets pending{d.next_hops, d.ports, d.disposal};
  RewriteStage stage;
};

TEST_F(RewriteStageTest, Ipv4) {
  using namespace frames;
  const Octets payload = udp(1, 2, 40);
  const Octets in = ethernet(kIpv4) + ip4(17, payload, {.tos = 0x03, .ttl = 64});
  EXPECT_EQ(rewritten(in), expected_ethernet(kIpv4) + ip4(17, payload, {.tos = 0x03, .ttl = 63}));
  EXPECT_EQ(rewritten(in, 46), expected_ethernet(kIpv4) + ip4(17, payload, {.tos = 0xbb, .ttl = 63}));
  EXPECT_EQ(rewritten(in, 0), expected_ethernet(kIpv4) + ip4(17, payload, {.tos = 0x03, .ttl = 63}));
}

TEST_F(RewriteStageTest, Ipv4WithOptions) {
  using namespace frames;
  const Octets payload = udp(1, 2, 40), options{7, 7, 4, 0, 0, 0, 0, 0};  // record route, left alone
  const Octets in = ethernet(kIpv4) + ip4(17, payload, {.ttl = 2, .options = options});
  EXPECT_EQ(rewritten(in, 10),
            expected_ethernet(kIpv4) + ip4(17, payload, {.tos = 40, .ttl = 1, .options = options}));
}

TEST_F(RewriteStageTest, Ipv6) {
  using namespace frames;
  const Octets payload = udp(1, 2, 40);
  const Octets in = ethernet(kIpv6) + ip6(17, payload, {.traffic_class = 0x02});
  EXPECT_EQ(rewritten(in),
            expected_ethernet(kIpv6) + ip6(17, payload, {.traffic_class = 0x02, .hop_limit = 63}));
  EXPECT_EQ(rewritten(in, 10),
            expected_ethernet(kIpv6) + ip6(17, payload, {.traffic_class = 0x2a, .hop_limit = 63}));
}

TEST_F(RewriteStageTest, TagsAndPaddingGo) {
  using namespace frames;
  const Octets payload = udp(1, 2, 4), v4 = ip4(17, payload), v6 = ip6(17, payload);
  const Octets out4 = expected_ethernet(kIpv4) + ip4(17, payload, {.ttl = 63});
  const Octets out6 = expected_ethernet(kIpv6) + ip6(17, payload, {.hop_limit = 63});
  EXPECT_EQ(rewritten(pad(ethernet(kIpv4) + v4, 60)), out4);
  EXPECT_EQ(rewritten(pad(ethernet(0x8100) + vlan(5, kIpv4) + v4, 64)), out4);
  EXPECT_EQ(rewritten(pad(ethernet(0x88a8) + vlan(5, 0x8100) + vlan(0xe006, kIpv6) + v6, 80)), out6);
  EXPECT_EQ(rewritten(ethernet(0x8100) + vlan(0, kIpv6) + v6), out6);
}

// A device may deliver a long frame in several buffers. Of such a one the packet has the first only.
TEST_F(RewriteStageTest, PaddingInFurtherBuffersGoesToo) {
  using namespace frames;
  const Octets payload = udp(1, 2, 4);
  Burst v = vector({ethernet(kIpv4) + ip4(17, payload)}, kKeepDscp);
  ASSERT_EQ(rte_pktmbuf_chain(v.mbuf[0], to_mbuf(zeros(100))), 0);
  ASSERT_EQ(rte_pktmbuf_chain(v.mbuf[0], to_mbuf(zeros(100))), 0);
  stage.run(v);
  const char* why = "";
  EXPECT_EQ(rte_mbuf_check(v.mbuf[0], 1, &why), 0) << why;
  EXPECT_EQ(v.mbuf[0]->nb_segs, 1);
  EXPECT_EQ(test::take(v.mbuf[0]), expected_ethernet(kIpv4) + ip4(17, payload, {.ttl = 63}));
}

TEST_F(RewriteStageTest, PacketsFollowTheirNextHop) {
  using namespace frames;
  const Octets payload = udp(1, 2, 4), in = ethernet(kIpv4) + ip4(17, payload);
  d.next_hops.set(kHop, ready(0, 7));
  Burst v = vector({in}, kKeepDscp);
  stage.run(v);
  ASSERT_EQ(v.size, 1u);
  EXPECT_EQ(v.egress[0], 0);
  EXPECT_EQ(test::take(v.mbuf[0]), expected_ethernet(kIpv4, 7, 0) + ip4(17, payload, {.ttl = 63}));
}

TEST_F(RewriteStageTest, PacketsAreDroppedWhenTheirNextHopHasGone) {
  using namespace frames;
  using State = NextHopEntry::State;
  for (const State state :
       {State::no_route, State::blackhole, State::local, State::glean, State::unresolved}) {
    Burst v = vector({ethernet(kIpv4) + ip4(17, udp(1, 2, 4)), ethernet(kIpv4) + ip4(17, udp(3, 4, 8))}, 0);
    v.route[0] = 6;
    v.mbuf[0]->port = v.mbuf[1]->port = 1;  // where they came in
    d.next_hops.set(6, test::not_ready(state));
    const auto before = d.drops(1, DropReason::neighbor_unresolved);
    stage.run(v);
    d.disposal.flush();
    EXPECT_EQ(d.drops(1, DropReason::neighbor_unresolved), before + 1);
    ASSERT_EQ(v.size, 1u);
    EXPECT_EQ(test::take(v.mbuf[0]), expected_ethernet(kIpv4) + ip4(17, udp(3, 4, 8), {.ttl = 63}));
  }
}

}  // namespace
}  // namespace surety
