// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/fragment_stage.h"

#include "router/pipeline/wire/bytes.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using frames::Octets;
using test::DataPlane;
using test::dscp_of;
using test::ready;
using test::udp_frame;

constexpr const char* kRouter = R"(
version: 1
ports:
  lan0: {addresses: [10.1.0.254/16]}
  wan0: {addresses: [10.2.0.254/16], trust: core, mtu: 576}
services:
  silver: {conditioner: token-bucket, rate: 1 Mbit/s, bucket: 3 kB, mark: {in: AF11, out: AF13}}
classify:
  - {match: {port: lan0}, service: silver, per: rule}
)";
const test::Kernel kKernel{{}, 16};

TEST(FragmentStage, FragmentsAreMarkedQueuedAndCounted) {
  DataPlane d(kRouter, kKernel);
  d.route("10.2.0.0/16", {ready(1)});
  d.receive({udp_frame({}, 100), udp_frame({}, 1500), udp_frame({}, 576), udp_frame({}, 1500)});
  const auto out = d.transmit(1);
  ASSERT_EQ(out.size(), 2 + 3 + 3u);
  std::vector<std::size_t> lengths;
  for (const Octets& f : out) {
    lengths.push_back(f.size() - 14);
    EXPECT_TRUE(test::checksum_right(f));
    EXPECT_EQ(f[14 + 8], 63) << "TTL";
  }
  EXPECT_EQ(lengths, (std::vector<std::size_t>{100, 576, 572, 572, 396, 572, 572, 396}));
  // 3000 bytes of tokens: the second large packet is OUT, all of it.
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(dscp_of(out[i]), i < 5 ? test::kAf11 : test::kAf13) << i;
  EXPECT_EQ(d.ports[0].fragments, 4u);
  EXPECT_EQ(d.ports[0].forwarded, 8u);
  d.expect_law();
}

// `ip route add ... mtu 400`
TEST(FragmentStage, FragmentsFitTheMtuOfTheirRoute) {
  DataPlane d(kRouter, kKernel);
  NextHopEntry small = ready(1);
  small.mtu = 400;
  d.route("10.2.0.0/16", {small});
  d.receive({udp_frame({}, 400), udp_frame({}, 500)});
  std::vector<std::size_t> lengths;
  for (const Octets& f : d.transmit(1)) lengths.push_back(f.size() - 14);
  EXPECT_EQ(lengths, (std::vector<std::size_t>{400, 396, 124}));
  d.expect_law();
}

TEST(FragmentStage, WhatForbidsItIsToldSo) {
  DataPlane d(kRouter, kKernel);
  d.route("10.2.0.0/16", {ready(1)});
  Octets frame = udp_frame({}, 600);
  frame[14 + 6] |= 0x40;
  frames::fix_checksum(&frame[14]);
  EXPECT_EQ(d.fate(frame), "punt mtu");
  d.expect_law();
}

// Its way was another one when it was routed: what may not be cut has nobody left to be told.
TEST(FragmentStage, WhatHasWaitedIsCutOnlyIfItMayBe) {
  using namespace frames;
  const std::string two_ways = R"(
version: 1
ports:
  lan0: {addresses: [10.1.0.254/16]}
  wan0: {addresses: [10.2.0.254/16], trust: core}
  wan1: {addresses: [10.3.0.254/16], trust: core, mtu: 576}
services:
  silver: {conditioner: csa, alpha: {max: 0.4}, rate: 8 Mbit/s, in_bucket: 1500 B, out_bucket: 1500 B, mark: {in: AF41, out: AF42}}
classify:
  - {match: {port: lan0}, service: silver, per: flow}
)";
  DataPlane d(two_ways, kKernel);
  d.route("10.3.0.0/16", {ready(2)});
  const std::uint32_t hop = d.route("10.2.0.0/16", {ready(1)});
  d.route_to("2001:db8:2::/48", {hop, 1});
  EXPECT_EQ(d.fate(udp_frame({.destination = 0x0a030001}, 1500)), "to 2") << "the first that is cut";
  // Taken for IPv4 it would have options: 32 bytes of addresses.
  Address6 source = kSource6;
  source[12] = 0x82, source[13] = 200;
  const Octets v6 = ethernet(kIpv6) + ip6(6, tcp(1, 2, 1300), {.source = source});
  Octets whole = udp_frame({}, 1300);
  whole[14 + 6] |= 0x40;
  fix_checksum(&whole[14]);
  for (const Octets& frame : {v6, whole, udp_frame({.from = 7}, 1300)}) {
    d.receive({frame, frame});
    EXPECT_EQ(d.fate(frame), "held");
  }
  d.transmit(1);
  d.transmit(2);
  d.next_hops.set(hop, ready(2));
  d.run_until(d.now + std::chrono::milliseconds(100));
  const auto out = d.transmit(2);
  EXPECT_EQ(out.size(), 3u) << "pieces of 1300 bytes";
  for (const Octets& f : out) EXPECT_TRUE(test::checksum_right(f));
  EXPECT_EQ(d.ports[0].drops[static_cast<std::size_t>(DropReason::mtu_exceeded)], 2u);
  d.expect_law();
}

TEST(FragmentStage, WithoutBuffersTheWholeIsDropped) {
  DataPlane d(kRouter, kKernel);
  d.route("10.2.0.0/16", {ready(1)});
  std::vector<rte_mbuf*> taken(rte_mempool_avail_count(test::packet_pool()) -
                               2);  // the packet itself and one fragment
  ASSERT_EQ(rte_pktmbuf_alloc_bulk(test::packet_pool(), taken.data(), static_cast<unsigned>(taken.size())),
            0);
  EXPECT_EQ(d.fate(udp_frame({}, 1500)), "drop no_fragment_buffer");
  d.expect_law();
  rte_pktmbuf_free_bulk(taken.data(), static_cast<unsigned>(taken.size()));
  EXPECT_EQ(d.fate(udp_frame({}, 1500)), "to 1");
  d.expect_law();
}

}  // namespace
}  // namespace surety
