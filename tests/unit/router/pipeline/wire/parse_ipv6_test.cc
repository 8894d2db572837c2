// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/wire/parse_ipv6.h"

#include <gtest/gtest.h>

#include "tests/unit/router/pipeline/wire/parse_verdict.h"

namespace surety {
namespace {

using namespace frames;

constexpr std::uint8_t kHopByHop = 0, kTcp = 6, kUdp = 17, kRouting = 43, kFragment = 44, kEsp = 50, kAh = 51,
                       kIcmp6 = 58, kNone = 59, kDestination = 60;

Octets packet(std::uint8_t next, const Octets& payload, const V6& h = {}) {
  return ethernet(kIpv6) + ip6(next, payload, h);
}
Octets udp_packet(const V6& h = {}) {
  return packet(kUdp, udp(5001, 5002, 8), h);
}

// An extension header of 8 (n + 1) bytes with these first bytes behind next header and length.
Octets extension(std::uint8_t next, Octets body = {1, 4, 0, 0, 0, 0}, std::size_t n = 0) {
  body.resize(6 + 8 * n);
  return Octets{next, low(n)} + body;
}
Octets fragment(std::uint8_t next, std::uint16_t place) {
  return Octets{next, 0} + be16(place) + be32(77);
}

Address6 address(std::initializer_list<std::uint8_t> first, std::uint8_t last = 1) {
  Address6 a{};
  std::copy(first.begin(), first.end(), a.begin());
  a[15] = last;
  return a;
}
const Address6 kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 1, 0, 1};

TEST(ParseIpv6, VersionAndLength) {
  const auto with = [](Octets frame, std::size_t offset, std::uint8_t value) {
    frame[14 + offset] = value;
    return frame;
  };
  expect_verdicts({
      {"good", udp_packet(), "forward"},
      {"39 bytes", ethernet(kIpv6) + Octets(39, 0x60), "drop truncated"},
      {"version 4", with(udp_packet(), 0, 0x40), "drop ipv6_version"},
      {"version 7", with(udp_packet(), 0, 0x70), "drop ipv6_version"},
      {"payload one more", with(udp_packet(), 5, 17), "drop ipv6_payload_length"},
      {"payload 65535", with(with(udp_packet(), 4, 0xff), 5, 0xff), "drop ipv6_payload_length"},
      {"payload shorter than UDP says", with(udp_packet(), 5, 15), "drop l4_truncated"},
      {"nothing in it", packet(kNone, {}), "forward"},
      {"no next header, yet bytes", packet(kNone, zeros(8)), "forward"},
      {"longest packet", packet(kUdp, udp(1, 2, 65535 - 48)), "forward"},
      {"longer than a length can say", packet(kUdp, udp(1, 2, 65535 - 47)), "drop ipv6_payload_length"},
      {"jumbogram", packet(kHopByHop, {}) + extension(kUdp, {0xc2, 4, 0, 1, 0, 0}),
       "drop ipv6_payload_length"},
      {"jumbo option with a length", packet(kHopByHop, extension(kUdp, {0xc2, 4, 0, 1, 0, 0}) + udp(1, 2, 0)),
       "drop ipv6_payload_length"},
      {"hop limit 0 is judged elsewhere", udp_packet({.hop_limit = 0}), "forward"},
  });
}

TEST(ParseIpv6, Addresses) {
  const auto from = [](const Address6& a) { return udp_packet({.source = a}); };
  const auto to = [](const Address6& a) { return udp_packet({.destination = a}); };
  expect_verdicts({
      {"from ::", from(address({}, 0)), "drop ipv6_martian_source"},
      {"from ::1", from(address({})), "drop ipv6_martian_source"},
      {"from ::ffff:10.1.0.1", from(kMapped), "drop ipv6_martian_source"},
      {"from ff02::1", from(address({0xff, 2})), "drop ipv6_martian_source"},
      {"from its destination", from(kDestination6), "drop ipv6_martian_source"},
      {"from 64:ff9b::1", from(address({0, 0x64, 0xff, 0x9b})), "forward"},
      {"from fc00::1", from(address({0xfc})), "forward"},
      {"from fe80::1", from(address({0xfe, 0x80})), "punt link_local"},
      {"from fec0::1", from(address({0xfe, 0xc0})), "forward"},
      {"to ::", to(address({}, 0)), "drop ipv6_martian_destination"},
      {"to ::1", to(address({})), "drop ipv6_martian_destination"},
      {"to ::ffff:10.1.0.1", to(kMapped), "drop ipv6_martian_destination"},
      {"to ff00::1", to(address({0xff, 0})), "drop ipv6_martian_destination"},
      {"to ff01::1", to(address({0xff, 1})), "drop ipv6_martian_destination"},
      {"to ff02::5", to(address({0xff, 2}, 5)), "punt multicast"},
      {"to ff0e::1", to(address({0xff, 0xe})), "punt multicast"},
      {"to fe80::2", to(address({0xfe, 0x80}, 2)), "punt link_local"},
      {"to febf::2", to(address({0xfe, 0xbf}, 2)), "punt link_local"},
      {"link-local to many", udp_packet({.source = address({0xfe, 0x80}), .destination = address({0xff, 2})}),
       "punt multicast"},
      {"many, in a group frame",
       ethernet(kIpv6, {0x33, 0x33, 0, 0, 0, 1}) +
           ip6(kUdp, udp(1, 2, 0), {.destination = address({0xff, 2})}),
       "punt multicast"},
  });
  for (std::size_t i = 0; i < 16; ++i) {  // every byte counts in "source equals destination"
    Address6 a = kDestination6;
    a[i] = static_cast<std::uint8_t>(a[i] ^ 1);
    EXPECT_EQ(verdict(from(a)), "forward") << i;
  }
}

// Exactly what a client and the servers and relays of its link say to each other (RFC 8415 7.1, 7.2).
TEST(ParseIpv6, Dhcp) {
  const Address6 local = address({0xfe, 0x80}), other = address({0xfe, 0x80}, 2),
                 agents = address({0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0}, 2);
  const auto between = [](std::uint16_t from, std::uint16_t to, const V6& h) {
    return packet(kUdp, udp(from, to, 40), h);
  };
  expect_verdicts({
      {"request", between(546, 547, {.source = local, .destination = agents}), "punt dhcp"},
      {"request to one", between(546, 547, {.source = local, .destination = other}), "punt dhcp"},
      {"answer", between(547, 546, {.source = local, .destination = other}), "punt dhcp"},
      {"answer to all agents", between(547, 546, {.source = local, .destination = agents}), "punt multicast"},
      {"to another group", between(546, 547, {.source = local, .destination = address({0xff, 2})}),
       "punt multicast"},
      {"from an address of a wider scope", between(546, 547, {.destination = agents}), "punt multicast"},
      {"to an address of a wider scope", between(546, 547, {.source = local}), "punt link_local"},
      {"relayed", between(547, 547, {}), "forward"},
      {"another port", between(546, 548, {.source = local, .destination = agents}), "punt multicast"},
  });
}

TEST(ParseIpv6, NeighborDiscovery) {
  const auto icmp = [](std::uint8_t type, const V6& h) {
    return packet(kIcmp6, Octets{type} + zeros(23), h);
  };
  const Address6 none = address({}, 0),
                 solicited = address({0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0, 0}, 2);
  expect_verdicts({
      {"router solicitation", icmp(133, {.destination = solicited, .hop_limit = 255}),
       "punt neighbor_discovery"},
      {"unicast solicitation", icmp(135, {.hop_limit = 255}), "punt neighbor_discovery"},
      {"has passed a router", icmp(135, {.hop_limit = 254}), "forward"},
      {"has passed a router, to many", icmp(135, {.destination = solicited, .hop_limit = 254}),
       "punt multicast"},
      {"type below", icmp(132, {.destination = solicited, .hop_limit = 255}), "punt multicast"},
      {"type above", icmp(138, {.hop_limit = 255}), "forward"},
      {"not ICMPv6", packet(kUdp, udp(135 << 8, 2, 16), {.hop_limit = 255}), "forward"},
      {"address detection", icmp(135, {.source = none, .destination = solicited, .hop_limit = 255}),
       "punt neighbor_discovery"},
      {"from :: but routed", icmp(135, {.source = none, .destination = solicited, .hop_limit = 254}),
       "drop ipv6_martian_source"},
      {"listener report from ::", icmp(143, {.source = none, .destination = solicited, .hop_limit = 255}),
       "drop ipv6_martian_source"},
      {"from a loopback address", icmp(135, {.source = address({}), .hop_limit = 255}),
       "drop ipv6_martian_source"},
      {"no ICMPv6 header at all", packet(kIcmp6, {}, {.hop_limit = 255}), "drop l4_truncated"},
  });
}

// RFC 4861 6.1.1, 6.1.2, 7.1, 8.1. What no host may send is nobody's way past the pipeline.
TEST(ParseIpv6, NeighborDiscoveryHasCertainAddresses) {
  const Address6 none = address({}, 0), link = address({0xfe, 0x80}), global = kSource6;
  const Address6 on_link = address({0xfe, 0x80}, 2), all = address({0xff, 2}), site = address({0xff, 5});
  const auto says = [&](std::uint8_t type, const Address6& from, const Address6& to) {
    const Octets icmp = Octets{type} + zeros(23);
    return verdict(packet(kIcmp6, icmp, {.source = from, .destination = to, .hop_limit = 255}));
  };
  struct Case {
    Address6 from, to;
    std::string_view types;  // router solicitation, advertisement, neighbour's, redirect: + or -
  };
  for (const auto& [from, to, types] :
       {Case{link, all, "++++-"}, Case{link, on_link, "+++++"}, Case{link, kDestination6, "+++++"},
        Case{global, all, "+-++-"}, Case{global, on_link, "+-++-"}, Case{global, kDestination6, "+-++-"},
        Case{link, site, "-----"}, Case{global, site, "-----"}, Case{none, all, "+-+--"},
        Case{none, on_link, "-----"}, Case{none, kDestination6, "-----"}})
    for (std::uint8_t i = 0; i < 5; ++i)
      EXPECT_EQ(says(static_cast<std::uint8_t>(133 + i), from, to),
                types[i] == '+' ? "punt neighbor_discovery" : "drop link_local")
          << int{i} << " " << to_string(IpAddress::v6(from.data())) << " "
          << to_string(IpAddress::v6(to.data()));
}

TEST(ParseIpv6, ExtensionHeaders) {
  const Octets u = udp(5001, 5002, 8);
  const auto chain = [&](int headers) {
    Octets all;
    for (int i = 1; i < headers; ++i) all = all + extension(kDestination);
    return packet(kDestination, all + extension(kUdp) + u);
  };
  expect_verdicts({
      {"destination options", chain(1), "forward"},
      {"eight headers", chain(8), "forward"},
      {"nine headers", chain(9), "drop ipv6_extension"},
      {"long header", packet(kDestination, extension(kUdp, {}, 255) + u), "forward"},
      {"ends with the packet", packet(kDestination, extension(kNone)), "forward"},
      {"one byte of a header", packet(kDestination, Octets{kNone}), "drop ipv6_extension"},
      {"seven bytes of a header", packet(kDestination, Octets(7, kNone)), "drop ipv6_extension"},
      {"longer than the packet", packet(kDestination, Octets{kNone, 1} + zeros(13)), "drop ipv6_extension"},
      {"hop-by-hop", packet(kHopByHop, extension(kUdp) + u), "forward"},
      {"hop-by-hop second", packet(kDestination, extension(kHopByHop) + extension(kUdp) + u),
       "drop ipv6_extension"},
      {"hop-by-hop twice", packet(kHopByHop, extension(kHopByHop) + extension(kUdp) + u),
       "drop ipv6_extension"},
      {"routing type 0", packet(kRouting, extension(kUdp, {0, 0}) + u), "drop ipv6_extension"},
      {"routing type 2", packet(kRouting, extension(kUdp, {2, 0}) + u), "forward"},
      {"segment routing", packet(kRouting, extension(kUdp, {4, 0}, 2) + u), "forward"},
      {"authentication, 24 bytes", packet(kAh, Octets{kUdp, 4} + zeros(22) + u), "forward"},
      {"authentication beyond", packet(kAh, Octets{kUdp, 5} + zeros(22)), "drop ipv6_extension"},
      {"encrypted: nothing to see", packet(kEsp, zeros(1)), "forward"},
      {"all kinds",
       packet(kHopByHop, extension(kDestination) + extension(kRouting) + extension(kFragment, {2, 0}) +
                             fragment(kAh, 0) + Octets{kDestination, 1} + zeros(10) + zeros(0)),
       "drop ipv6_extension"},
      {"UDP behind too short", packet(kDestination, extension(kUdp) + zeros(7)), "drop l4_truncated"},
  });
}

TEST(ParseIpv6, HopByHopOptions) {
  const auto options = [](const Octets& body) {
    return packet(kHopByHop, extension(kUdp, body, (body.size() + 1) / 8) + udp(1, 2, 0));
  };
  expect_verdicts({
      {"padding of one byte", options(Octets(6, 0)), "forward"},
      {"padding of many", options({1, 4, 0, 0, 0, 0}), "forward"},
      {"router alert", options({5, 2, 0, 0, 1, 0}), "forward"},
      {"router alert behind others", options({0, 1, 0, 5, 1, 0}), "forward"},
      {"unknown", options({0x3e, 4, 0, 0, 0, 0}), "forward"},
      {"unknown that wants to be refused", options({0xfe, 4, 0, 0, 0, 0}), "forward"},
      {"one beyond the header", options({1, 5, 0, 0, 0, 0}), "drop ipv6_extension"},
      {"no room for a length", options({1, 3, 0, 0, 0, 1}), "drop ipv6_extension"},
      {"router alert, then malformed", options({5, 2, 0, 0, 7, 1}), "drop ipv6_extension"},
      {"longer header", options({1, 4, 0, 0, 0, 0, 1, 2, 0, 0, 5, 2, 0, 0}), "forward"},
  });
}

TEST(ParseIpv6, Fragments) {
  const auto part = [](std::uint16_t place, std::uint8_t next, std::size_t payload) {
    return packet(kFragment, fragment(next, place) + zeros(payload));
  };
  expect_verdicts({
      {"first of UDP", part(1, kUdp, 8), "forward"},
      {"tiny first of UDP", part(1, kUdp, 7), "drop fragment"},
      {"first of TCP", part(1, kTcp, 16), "forward"},
      {"tiny first of TCP", part(1, kTcp, 15), "drop fragment"},
      {"TCP at offset 8", part(8 | 1, kTcp, 64), "drop fragment"},
      {"TCP at offset 16", part(16, kTcp, 64), "forward"},
      {"first, empty", part(1, kNone, 0), "drop fragment"},
      {"last, empty", part(64, kUdp, 0), "drop fragment"},
      {"reaches 65535", part(0xff80, kUdp, 65535 - 0xff80), "forward"},
      {"one beyond", part(0xff80, kUdp, 65536 - 0xff80), "drop fragment"},
      {"headers count",
       packet(kDestination, extension(kFragment) + fragment(kUdp, 0xff80) + zeros(65535 - 0xff80)),
       "drop fragment"},
      {"atomic", packet(kFragment, fragment(kUdp, 0) + udp(1, 2, 0)), "forward"},
      {"atomic, reserved bits set", packet(kFragment, fragment(kUdp, 6) + udp(1, 2, 0)), "forward"},
      {"atomic, transport too short", part(0, kUdp, 7), "drop l4_truncated"},
      {"cut", packet(kFragment, zeros(7)), "drop ipv6_extension"},
      {"neighbour discovery in pieces",
       packet(kFragment, fragment(kIcmp6, 1) + Octets{135} + zeros(23), {.hop_limit = 255}), "forward"},
  });
}

TEST(ParseIpv6, FragmentsOfOneDatagramAreOneFlowWhateverFollowsTheirHeader) {
  ParsedPacket first, last;
  const Octets head = fragment(kDestination, 1) + extension(kUdp) + udp(5001, 5002, 0);
  ASSERT_EQ(words(parse_exact(packet(kFragment, head), first)), "forward");
  ASSERT_EQ(words(parse_exact(packet(kFragment, fragment(kDestination, 16) + zeros(5)), last)), "forward");
  EXPECT_EQ(first.key, last.key);
  EXPECT_EQ(first.key.rest, std::uint64_t{5} << 61 | std::uint64_t{3} << 56 | kDestination);
  EXPECT_TRUE(first.fragment && last.fragment);
  EXPECT_EQ(first.protocol, kDestination);
  EXPECT_EQ(first.l4_offset, 14 + 40 + 8);
}

TEST(ParseIpv6, KeyAndFields) {
  ParseContext context = our_context();
  context.match_dscp = true;
  const V6 h{.traffic_class = 0xba, .hop_limit = 7};
  const std::array<std::uint64_t, 4> addresses{0x0000'0100'b80d'0120, 0x0100'0000'0000'0000,
                                               0x0000'0200'b80d'0120, 0x0200'0000'0000'0000};
  const Octets plain = udp_packet(h),
               extended = packet(kDestination, extension(kUdp) + udp(5001, 5002, 8), h);
  for (const Octets& frame : {plain, extended}) {
    ParsedPacket p;
    ASSERT_EQ(words(parse_exact(pad(frame, 100), p, context)), "forward");
    EXPECT_EQ(p.key.rest, std::uint64_t{2} << 61 | std::uint64_t{3} << 56 | 0x8a13'8913);
    EXPECT_EQ(p.key.address, addresses);
    EXPECT_EQ(p.key.dscp, 0xba >> 2);
    EXPECT_TRUE(p.key.v6 && p.v6);
    EXPECT_EQ(p.length, frame.size() - 14);
    EXPECT_EQ(p.l4_offset, frame.size() - 16);
    EXPECT_EQ(p.protocol, kUdp);
    EXPECT_EQ(p.traffic_class, 0xba);
    EXPECT_EQ(p.ttl, 7);
    EXPECT_FALSE(p.fragment);
  }
}

}  // namespace
}  // namespace surety
