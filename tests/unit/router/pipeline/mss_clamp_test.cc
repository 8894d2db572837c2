// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/mss_clamp.h"

#include "router/pipeline/wire/bytes.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using frames::Octets;
using test::DataPlane;
using test::ready;

constexpr const char* kRouter = R"(
version: 1
ports:
  lan0: {addresses: [10.1.0.254/16, '2001:db8:1::fe/64']}
  wan0: {addresses: [10.2.0.254/16, '2001:db8:2::fe/64'], trust: core, tcp_mss: 1360}
  lan1: {addresses: [10.3.0.254/16]}
)";
constexpr std::size_t kMssOfV4 = 14 + 20 + 20 + 2, kMssOfV6 = 14 + 40 + 20 + 2;

// A SYN with an MSS of 1460.
Octets syn_segment() {
  Octets s = frames::tcp(40000, 80, 4, 6);
  s[13] = 0x02;
  const Octets option = {2, 4, 0x05, 0xb4};
  std::copy(option.begin(), option.end(), s.begin() + 20);
  return s;
}
Octets syn(std::size_t port, std::uint32_t source, std::uint32_t destination) {
  using namespace frames;
  return ethernet(kIpv4, test::port_mac(port)) +
         ip4(6, syn_segment(), {.source = source, .destination = destination});
}

TEST(MssClamp, ClampsConnectionsInBothDirectionsOfItsPort) {
  DataPlane d(kRouter);
  d.route("10.1.0.0/16", {ready(0)});
  d.route("10.2.0.0/16", {ready(1)});
  d.route("10.3.0.0/16", {ready(2)});
  d.receive({syn(0, 0x0a010001, 0x0a020001)}, 0);
  d.receive({syn(1, 0x0a020001, 0x0a010001)}, 1);
  d.receive({syn(0, 0x0a010001, 0x0a030001)}, 0);
  const auto leaves = d.transmit(1), comes = d.transmit(0), passes = d.transmit(2);
  ASSERT_EQ(leaves.size(), 1u);
  ASSERT_EQ(comes.size(), 1u);
  ASSERT_EQ(passes.size(), 1u);
  EXPECT_EQ(load_be16(&leaves[0][kMssOfV4]), 1360);
  EXPECT_EQ(load_be16(&comes[0][kMssOfV4]), 1360);
  EXPECT_EQ(load_be16(&passes[0][kMssOfV4]), 1460) << "by other ports";
  d.expect_law();
}

// The first connection to a host of the link: its SYN waits until the neighbour is known.
TEST(MssClamp, ClampsAPacketThatWaitsForItsNextHop) {
  DataPlane d(kRouter, test::Kernel{{}, 16});
  d.route("10.2.0.0/16", {{.port = 1, .state = NextHopEntry::State::glean, .interface = 1}});
  d.receive({syn(0, 0x0a010001, 0x0a020001)}, 0);
  void* m = nullptr;
  ASSERT_EQ(rte_ring_sc_dequeue(d.punts, &m), 0);
  EXPECT_EQ(load_be16(&test::take(static_cast<rte_mbuf*>(m))[kMssOfV4]), 1360);
}

// A header of 40 bytes in place of 20: packets of the same size.
TEST(MssClamp, Ipv6HasTwentyBytesLess) {
  using namespace frames;
  DataPlane d(kRouter);
  d.route("2001:db8:2::/64", {ready(1)});
  d.receive({ethernet(kIpv6, test::port_mac(0)) + ip6(6, syn_segment())}, 0);
  const auto out = d.transmit(1);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(load_be16(&out[0][kMssOfV6]), 1340);
}

TEST(MssClamp, LeavesFragmentsAndOtherProtocols) {
  using namespace frames;
  DataPlane d(kRouter);
  d.route("10.2.0.0/16", {ready(1)});
  const Octets fragment = ethernet(kIpv4, test::port_mac(0)) +
                          ip4(6, syn_segment(), {.destination = 0x0a020001, .place = 0x2000});
  const Octets udp = ethernet(kIpv4, test::port_mac(0)) + ip4(17, syn_segment(), {.destination = 0x0a020001});
  d.receive({fragment, udp}, 0);
  const auto out = d.transmit(1);
  for (const Octets& f : out) EXPECT_EQ(load_be16(&f[kMssOfV4]), 1460);
  EXPECT_FALSE(out.empty());
}

}  // namespace
}  // namespace surety
