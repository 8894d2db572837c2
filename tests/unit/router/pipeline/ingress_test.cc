// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/ingress.h"

#include <gmock/gmock.h>

#include <numeric>

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using frames::Octets;
using test::copies;
using test::DataPlane;
using test::dscp_of;
using test::kStart;
using test::neighbor_mac;
using test::port_mac;
using test::ready;
using test::Udp;
using test::udp_frame;
using testing::ElementsAre;
using namespace literals;

// Customers on lan0 get EF for UDP port 5004 and what "silver" gives otherwise;
// wan0 is the way out and trusted.
constexpr const char* kRouter = R"(
version: 1
ports:
  lan0: {addresses: [10.1.0.254/16]}
  wan0: {addresses: [10.2.0.254/16], trust: core}
  lan1: {addresses: [10.4.0.254/16]}
services:
  voice: {conditioner: police, rate: 10 Mbit/s, bucket: 100 kB, mark: {in: EF}}
  silver: {conditioner: csa, alpha: {max: 0.4}, rate: 8 Mbit/s, in_bucket: 1500 B, out_bucket: 1500 B, mark: {in: AF11, out: BE}}
classify:
  - {match: {port: lan0, protocol: udp, destination_port: 5004}, service: voice, per: flow}
  - {match: {port: lan0, protocol: tcp}, service: silver, per: flow}
  - {match: {port: lan0, vlan: 7, source: 203.0.113.0/24}, service: voice, per: flow}  # for the tags' sake
  - {match: {port: lan0, vlan: 7, inner_vlan: 8, source: 203.0.113.0/24}, service: voice, per: flow}
  - {match: {port: lan0, vlan: 1, inner_vlan: 8, source: 203.0.113.0/24}, service: voice, per: flow}
)";

Octets out_ethernet(std::uint16_t type) {
  using namespace frames;
  const auto to = neighbor_mac(1);
  const auto from = port_mac(1);
  return Octets(to.begin(), to.end()) + Octets(from.begin(), from.end()) + be16(type);
}

class IngressTest : public testing::Test {
 protected:
  IngressTest() {
    d.route("10.2.0.0/16", {ready(1)});
    d.route("2001:db8:2::/48", {ready(1)});
  }
  ~IngressTest() override { d.expect_law(); }
  DataPlane d{kRouter, {{KernelPeer::sees_all}, 8}};
};

TEST_F(IngressTest, BytesInBytesOutIpv4) {
  using namespace frames;
  const Octets payload = udp(1000, 5004, 3);
  const Octets ip = ip4(17, payload, {.tos = 0x01}),
               out = out_ethernet(kIpv4) + ip4(17, payload, {.tos = 0xb9, .ttl = 63});
  d.receive({pad(ethernet(kIpv4) + ip, 60), pad(ethernet(0x8100) + vlan(7, kIpv4) + ip, 64),
             ethernet(0x88a8) + vlan(7, 0x8100) + vlan(8, kIpv4) + ip});
  EXPECT_THAT(d.transmit(1), ElementsAre(out, out, out));
  EXPECT_EQ(d.ports[0].rx_packets, 3u);
  EXPECT_EQ(d.ports[0].rx_bytes, 60u + 64 + 22 + ip.size());
  EXPECT_EQ(d.ports[0].forwarded, 3u);
  EXPECT_EQ(d.ports[1].enqueued, 3u);
  EXPECT_EQ(d.service("voice").packets[index(Precedence::in)], 3u);
  EXPECT_EQ(d.service("voice").bytes[index(Precedence::in)], 3 * ip.size());
  EXPECT_EQ(d.service("voice").flows, 3u) << "VLANs tell flows apart";
}

TEST_F(IngressTest, BytesInBytesOutIpv6) {
  using namespace frames;
  const Octets payload = udp(1000, 5004, 3);
  const Octets ip = ip6(17, payload, {.traffic_class = 0x03});
  const Octets out = out_ethernet(kIpv6) + ip6(17, payload, {.traffic_class = 0xbb, .hop_limit = 63});
  d.receive({pad(ethernet(kIpv6) + ip, 80), ethernet(0x8100) + vlan(7, kIpv6) + ip,
             ethernet(0x88a8) + vlan(7, 0x8100) + vlan(8, kIpv6) + ip});
  EXPECT_THAT(d.transmit(1), ElementsAre(out, out, out));
}

// All that a held packet needs later has been kept: tag, padding and family among it.
TEST_F(IngressTest, HeldPacketsComeOutLikeOthers) {
  using namespace frames;
  const Octets filler = ip4(6, tcp(1, 2, 1460)), filler6 = ip6(6, tcp(1, 2, 1440));
  const Octets small = tcp(1, 2, 0), v4 = ip4(6, small, {.tos = 0x02}),
               v6 = ip6(6, small, {.traffic_class = 0x01});
  d.receive({ethernet(0x8100) + vlan(7, kIpv4) + filler, ethernet(0x8100) + vlan(7, kIpv4) + filler,
             pad(ethernet(0x8100) + vlan(7, kIpv4) + v4, 90)});
  d.receive({ethernet(0x88a8) + vlan(1, 0x8100) + vlan(8, kIpv6) + filler6,
             ethernet(0x88a8) + vlan(1, 0x8100) + vlan(8, kIpv6) + filler6,
             ethernet(0x88a8) + vlan(1, 0x8100) + vlan(8, kIpv6) + v6});
  EXPECT_EQ(d.transmit(1).size(), 4u);
  EXPECT_EQ(d.ports[0].held, 2u);
  d.run_until(kStart + 1ms);
  EXPECT_THAT(d.transmit(1),
              ElementsAre(out_ethernet(kIpv4) + ip4(6, small, {.tos = 0x2a, .ttl = 63}),
                          out_ethernet(kIpv6) + ip6(6, small, {.traffic_class = 0x29, .hop_limit = 63})));
}

TEST_F(IngressTest, CorePortsKeepTheDscp) {
  d.receive({udp_frame({.tos = 0xb9, .port = 1})}, 1);
  d.receive({udp_frame({.tos = 0x00, .port = 1})}, 1);
  const auto out = d.transmit(1);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(test::traffic_class_of(out[0]), 0xb9);
  EXPECT_EQ(test::traffic_class_of(out[1]), 0x00);
  EXPECT_EQ(d.service("trusted").packets[index(Precedence::in)], 2u);
}

TEST_F(IngressTest, CustomerPacketsWithoutARuleAreBestEffort) {
  d.receive({udp_frame({.tos = 0xb9})}, 0);             // rules, but none that matches
  d.receive({udp_frame({.tos = 0xb9, .port = 2})}, 2);  // no rules at all
  for (const auto& f : d.transmit(1)) {
    EXPECT_EQ(test::traffic_class_of(f), 0x01) << "ECN stays";
    EXPECT_TRUE(test::checksum_right(f));
  }
  EXPECT_EQ(d.service("unclassified").packets[index(Precedence::in)], 2u);
  EXPECT_EQ(d.service("unclassified").flows, 1u);
}

TEST_F(IngressTest, WhatParseRefusesIsCountedWhereItCameIn) {
  using namespace frames;
  Octets bad_sum = udp_frame();
  bad_sum[24] ^= 1;
  EXPECT_EQ(d.fate(bad_sum), "drop ipv4_checksum");
  EXPECT_EQ(d.fate(ethernet(kIpv4, port_mac(1)) + ip4(17, udp(1, 2, 3))), "drop foreign_mac");
  EXPECT_EQ(d.fate(Octets(13)), "drop truncated");
  EXPECT_EQ(d.fate(ethernet(kArp, kBroadcast) + zeros(28)), "punt arp") << "the kernel sees all of port 0";
  EXPECT_EQ(d.fate(ethernet(kArp, kBroadcast) + zeros(28), 1), "drop no_kernel_peer");
  EXPECT_EQ(d.in_use(), 0u);
}

// The kernel would forward it by an interface that is no port, past every conditioner.
TEST(Ingress, RoutesByOtherInterfacesAreNotForCustomers) {
  DataPlane d(kRouter, {{KernelPeer::twin, KernelPeer::twin}, 64});
  d.route_to("10.9.0.0/16", {kNextHopForeign, 1});
  EXPECT_EQ(d.fate(udp_frame({.destination = 0x0a090001})), "drop no_route");
  EXPECT_EQ(d.fate(udp_frame({.destination = 0x0a090001, .port = 1}), 1), "punt local");
  d.expect_law();
}

// A device hands over bursts of any size; a vector takes 64.
TEST_F(IngressTest, BurstsOfAnySize) {
  std::size_t sent = 0;
  for (const std::size_t n : {0u, 1u, 63u, 64u, 65u, 200u}) {
    d.receive(copies(n, udp_frame({.port = 2})), 2);
    EXPECT_EQ(d.ports[2].forwarded, sent += n);
  }
  std::vector<Octets> mixed;
  for (std::size_t i = 0; i < 130; ++i) mixed.push_back(i % 2 == 0 ? udp_frame({.port = 2}) : Octets(20));
  d.receive(mixed, 2);
  EXPECT_EQ(d.ports[2].forwarded, sent + 65);
  EXPECT_EQ(d.drops(2, DropReason::foreign_mac), 65u);
}

// Packets are parsed by eights of a family: whichever it is, and wherever another begins or one is refused.
TEST_F(IngressTest, FamiliesInAnyOrder) {
  using namespace frames;
  Octets v4 = udp_frame({.port = 2}), v6 = ethernet(kIpv6, port_mac(2)) + ip6(17, udp(1000, 5004, 30));
  const Octets refused(70, 0x22);  // for another station
  for (std::size_t at = 0; at <= 64; ++at) {
    for (const int kind : {0, 1, 2, 3}) {
      const PortCounters before = d.ports[2];
      std::vector<Octets> burst;
      std::vector<int> sent;
      std::uint64_t bytes = 0;
      for (std::size_t i = 0; i < 64; ++i) {
        burst.push_back(i < at ? v6 : kind == 0 || (kind == 1 && i > at) ? v6 : kind == 3 ? refused : v4);
        burst.back().back() = static_cast<std::uint8_t>(i);
        bytes += burst.back().size();
        if (burst.back()[0] != refused[0]) sent.push_back(static_cast<int>(i));
      }
      d.receive(burst, 2);
      EXPECT_EQ(d.ports[2].rx_bytes, before.rx_bytes + bytes);
      EXPECT_EQ(d.ports[2].forwarded, before.forwarded + sent.size());
      std::vector<int> came;
      for (const Octets& frame : d.transmit(1)) came.push_back(frame.back());
      ASSERT_EQ(came, sent) << at << " " << kind;
      d.turn(d.now + 1ms);
    }
  }
}

TEST_F(IngressTest, EachEgressGetsItsPacketsInOrder) {
  d.route("10.4.0.0/16", {ready(2)});
  d.route("10.1.0.0/16", {ready(0)});
  std::vector<Octets> burst;
  for (std::uint8_t i = 0; i < 60; ++i) {
    const std::uint32_t destinations[] = {0x0a020001, 0x0a040001, 0x0a010001};
    burst.push_back(udp_frame({.source = 0x0a020009, .destination = destinations[i % 3], .port = 1}));
    burst.back().back() = i;
  }
  d.receive(burst, 1);
  for (const auto& [port, first] : {std::pair<PortIndex, int>{1, 0}, {2, 1}, {0, 2}}) {
    const auto out = d.transmit(port);
    ASSERT_EQ(out.size(), 20u);
    for (int k = 0; k < 20; ++k) EXPECT_EQ(out[static_cast<std::size_t>(k)].back(), first + 3 * k);
  }
}

TEST_F(IngressTest, APromiscuousPortTakesForeignFrames) {
  const std::string yaml = "version: 1\nports: {a: {addresses: [10.1.0.254/16], promiscuous: true}}\n";
  DataPlane p(yaml);
  p.route("10.2.0.0/16", {ready(0)});
  EXPECT_EQ(p.fate(udp_frame({.port = 9})), "to 0");
}

// Where rules look at the DSCP, packets of one 5-tuple with other DSCPs are other flows.
TEST(Ingress, RulesMayLookAtTheDscp) {
  DataPlane d(R"(
version: 1
ports: {lan0: {addresses: [10.1.0.254/16]}}
services: {voice: {conditioner: none, mark: {in: EF}}, rest: {conditioner: none, mark: {in: AF11}}}
classify: [{match: {port: lan0, dscp: CS5}, service: voice}, {match: {port: lan0}, service: rest}]
)");
  d.route("10.2.0.0/16", {ready(0)});
  d.receive({udp_frame({.tos = 0xa0}), udp_frame({.tos = 0x00}), udp_frame({.tos = 0xa0})});
  std::vector<int> marks;
  for (const auto& f : d.transmit(0)) marks.push_back(dscp_of(f));
  EXPECT_THAT(marks, ElementsAre(46, 10, 46));
}

CongestionSignal signal_of(const std::string& source, const std::string& destination) {
  CongestionSignal s;
  s.source = parse_address(source).value();
  s.destination = parse_address(destination).value();
  return s;
}

TEST_F(IngressTest, SignalsAreCountedByWhatBecomesOfThem) {
  d.route("10.1.0.0/16", {ready(0)});
  const auto come = [&](const std::string& source, const std::string& destination) {
    return d.ingress->on_signal(signal_of(source, destination), d.now);
  };
  EXPECT_EQ(come("10.1.0.1", "10.2.0.1"), SignalResult::applied);
  EXPECT_EQ(come("10.1.0.1", "10.2.0.1"), SignalResult::applied);
  EXPECT_EQ(come("10.1.0.1", "10.9.0.1"), SignalResult::no_path);
  EXPECT_EQ(come("10.2.0.1", "10.1.0.1"), SignalResult::not_customer);
  const auto count = [&](SignalResult r) { return d.ingress->signals()[static_cast<std::size_t>(r)]; };
  EXPECT_EQ(count(SignalResult::applied), 2u);
  EXPECT_EQ(count(SignalResult::no_path), 1u);
  EXPECT_EQ(count(SignalResult::not_customer), 1u);
  EXPECT_EQ(std::accumulate(d.ingress->signals().begin(), d.ingress->signals().end(), std::uint64_t{0}), 4u);
  ASSERT_EQ(d.ingress->remote_alphas().size(), 1u);
  EXPECT_EQ(d.snapshot.domains[d.ingress->remote_alphas()[0].domain].port, 1);
  EXPECT_EQ(d.ingress->next_event(), kStart + 90ms);
}

TEST(Ingress, ACoreRouterObeysNoSignals) {
  DataPlane d(
      "version: 1\nrouter: {name: c, id: 1.1.1.1, role: core}\nports: {a: {addresses: [10.1.0.254/16]}}\n");
  d.route("10.0.0.0/8", {ready(0)});
  EXPECT_EQ(d.ingress->on_signal(signal_of("10.1.0.1", "10.2.0.1"), d.now), SignalResult::not_border);
  EXPECT_TRUE(d.ingress->remote_alphas().empty());
  EXPECT_EQ(d.ingress->next_event(), kNever);
}

TEST(Ingress, StagesAreMetered) {
  DataPlane d("version: 1\nports: {a: {addresses: [10.1.0.254/16], trust: core}}\n");
  static std::uint64_t cycles = 0;
  d.meter = StageMeter([] { return cycles += 10; });
  d.route("10.2.0.0/16", {ready(0)});
  d.meter.start();
  d.receive({udp_frame(), udp_frame(), udp_frame({.destination = 0x0b000001}), Octets(20)});
  const auto& counters = d.meter.counters();
  const auto packets = [&](Stage s) { return counters.packets[static_cast<std::size_t>(s)]; };
  EXPECT_EQ(packets(Stage::parse), 4u);
  EXPECT_EQ(packets(Stage::classify), 3u);
  EXPECT_EQ(packets(Stage::route), 2u);
  EXPECT_EQ(packets(Stage::enqueue), 2u);
  EXPECT_EQ(counters.cycles[static_cast<std::size_t>(Stage::condition)], 10u);
}

}  // namespace
}  // namespace surety
