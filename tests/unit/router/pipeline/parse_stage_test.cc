// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/parse_stage.h"

#include <gtest/gtest.h>

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using frames::Octets;
using test::DataPlane;
using test::port_mac;
using test::ready;

constexpr const char* kRouter = R"(
version: 1
ports:
  lan0: {addresses: [10.1.0.254/16]}
  wan0: {addresses: [10.2.0.254/16], trust: core}
  lan1: {addresses: [10.4.0.254/16]}
services:
  voice: {conditioner: police, rate: 10 Mbit/s, bucket: 100 kB, mark: {in: EF}}
classify:
  - {match: {port: lan0, protocol: udp, destination_port: 5004}, service: voice, per: flow}
)";

TEST(ParseStage, CountsWhatItReceivesAndTellsIfThereWasIcmp) {
  using namespace frames;
  DataPlane d(kRouter);
  ParseStage stage(d.snapshot, d.fib, d.macs, d.ports, d.disposal, nullptr);
  std::vector<rte_mbuf*> burst{test::to_mbuf(test::udp_frame()),
                               test::to_mbuf(ethernet(kIpv4) + ip4(1, Octets{8} + zeros(7)))};
  Burst v;
  stage.run(v, burst, 0);
  EXPECT_EQ(v.size, 2u);
  EXPECT_TRUE(stage.icmp());
  EXPECT_EQ(v.mbuf[1]->port, 0);
  EXPECT_EQ(d.ports[0].rx_packets, 2u);
  EXPECT_EQ(d.ports[0].rx_bytes, burst[0]->pkt_len + burst[1]->pkt_len);
  stage.run(v, std::span(burst).first(1), 0);
  EXPECT_EQ(v.size, 1u);
  EXPECT_FALSE(stage.icmp());
  for (rte_mbuf* m : burst) rte_pktmbuf_free(m);
}

// Nothing that stays on its link is a way past the pipeline: what is not for this router goes nowhere.
TEST(ParseStage, WhatStaysOnItsLinkIsForThisRouterOrGone) {
  using namespace frames;
  DataPlane d(kRouter, {{KernelPeer::twin}, 64});
  d.route("10.2.0.0/16", {ready(1)});
  d.route("169.254.0.0/16", {ready(1)});
  d.route("2001:db8:2::/48", {ready(1)});
  d.route_to("10.1.0.254/32", {kNextHopLocal, 1});
  d.route_to("169.254.169.254/32", {kNextHopForeign, 1});
  d.route_to("2001:db8:1::fe/128", {kNextHopLocal, 1});
  const auto v4 = [&](const char* from, const char* to) {
    const auto word = [](const char* text) {
      const IpAddress a = parse_address(text).value();
      return load_be32(a.data());
    };
    return d.fate(ethernet(kIpv4, port_mac(0)) +
                  ip4(17, udp(1, 5004, 3), {.source = word(from), .destination = word(to), .tos = 0xc0}));
  };
  const auto v6 = [&](const char* from, const char* to, std::uint8_t type) {
    const auto bytes = [](const char* text) {
      Address6 octets;
      std::ranges::copy_n(parse_address(text).value().data(), 16, octets.begin());
      return octets;
    };
    const V6 h{.source = bytes(from), .destination = bytes(to), .traffic_class = 0xc0, .hop_limit = 255};
    const Octets icmp = Octets{type} + zeros(23);
    return d.fate(ethernet(kIpv6, port_mac(0)) +
                  (type == 0 ? ip6(17, udp(1, 5004, 3), h) : ip6(58, icmp, h)));
  };
  EXPECT_EQ(v4("169.254.7.7", "10.2.0.1"), "drop link_local");
  EXPECT_EQ(v4("10.1.0.1", "169.254.7.7"), "drop link_local");
  EXPECT_EQ(v4("169.254.7.7", "169.254.169.254"), "drop link_local") << "the kernel would forward it";
  EXPECT_EQ(v4("169.254.7.7", "10.1.0.254"), "punt local");
  for (const auto type : std::initializer_list<std::uint8_t>{133, 135, 136}) {
    EXPECT_EQ(v6("2001:db8:1::1", "2001:db8:2::1", type), "drop link_local") << int{type};
    EXPECT_EQ(v6("fe80::1", "2001:db8:2::1", type), "drop link_local") << int{type};
    EXPECT_EQ(v6("2001:db8:1::1", "2001:db8:1::fe", type), "punt neighbor_discovery") << int{type};
    EXPECT_EQ(v6("2001:db8:1::1", "fe80::2", type), "punt neighbor_discovery") << int{type};
  }
  EXPECT_EQ(v6("fe80::1", "2001:db8:2::1", 0), "drop link_local");
  EXPECT_EQ(v6("2001:db8:1::1", "fe80::2", 0), "drop link_local");
  EXPECT_EQ(v6("fe80::1", "fe80::2", 0), "punt link_local");
  EXPECT_EQ(v6("fe80::1", "2001:db8:1::fe", 0), "punt local");
  EXPECT_EQ(d.transmit(1).size(), 0u);
  d.expect_law();
}

// A server answers at the address that it offers, which the router does not have yet.
TEST(ParseStage, AnOfferIsTheKernelsWhereAPortHasNoAddress) {
  using namespace frames;
  DataPlane d(
      "version: 1\nports: {lan0: {addresses: [10.1.0.254/16]}, wan0: {addresses: [\"2001:db8::1/64\"], "
      "trust: core}, lan1: {}}",
      {{KernelPeer::twin, KernelPeer::twin, KernelPeer::twin}, 64});
  d.route("10.2.0.0/16", {ready(0)});
  const auto offer = [](std::size_t port, const MacAddress& client, std::uint16_t from, std::uint16_t to) {
    Octets message = udp(from, to, 28) + Octets(client.begin(), client.end()) + zeros(10);
    message[5] = static_cast<std::uint8_t>(message.size());
    return ethernet(kIpv4, port_mac(port)) + ip4(17, message, {.destination = 0x0a020005});
  };
  EXPECT_EQ(d.fate(offer(1, port_mac(1), 67, 68), 1), "punt dhcp");
  EXPECT_EQ(d.fate(offer(1, port_mac(0), 67, 68), 1), "to 0") << "of another client";
  EXPECT_EQ(d.fate(offer(1, port_mac(1), 68, 67), 1), "to 0");
  EXPECT_EQ(d.fate(offer(1, port_mac(1), 67, 69), 1), "to 0");
  EXPECT_EQ(d.fate(offer(0, port_mac(0), 67, 68), 0), "to 0") << "this port has an address";
  EXPECT_EQ(d.fate(offer(2, port_mac(2), 67, 68), 2), "to 0") << "this port is a customer's";
  Octets cut = ethernet(kIpv4, port_mac(1)) + ip4(17, udp(67, 68, 33), {.destination = 0x0a020005});
  EXPECT_EQ(d.fate(cut, 1), "to 0") << "too short to name a client";
  d.expect_law();
}

}  // namespace
}  // namespace surety
