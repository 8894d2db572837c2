// SPDX-License-Identifier: BSD-3-Clause
// Transport checks through parse(), over IPv4 and IPv6 alike.
#include <gtest/gtest.h>

#include "router/pipeline/wire/parse_frame.h"
#include "tests/unit/router/pipeline/wire/parse_verdict.h"

namespace surety {
namespace {

using namespace frames;

struct TransportCase {
  const char* name;
  std::uint8_t protocol;
  Octets payload;
  bool fits;
};

// A UDP header that says `length`, in a payload of `size` bytes.
Octets udp_of(std::size_t size, std::size_t length) {
  Octets u = be16(1) + be16(2) + be16(length) + zeros(size);
  u.resize(size);
  return u;
}
Octets cut(Octets o, std::size_t size) {
  o.resize(size);
  return o;
}

const std::vector<TransportCase>& transports() {
  static const std::vector<TransportCase> all{
      {"UDP", 17, udp_of(8, 8), true},
      {"UDP, 7 bytes", 17, udp_of(7, 8), false},
      {"UDP, length 7", 17, udp_of(20, 7), false},
      {"UDP, length 0", 17, udp_of(20, 0), false},
      {"UDP shorter than the packet", 17, udp_of(20, 19), true},
      {"UDP longer than the packet", 17, udp_of(20, 21), false},
      {"UDP, length 65535", 17, udp_of(20, 65535), false},
      {"UDP, nothing", 17, {}, false},
      {"TCP", 6, tcp(1, 2, 0), true},
      {"TCP, 19 bytes", 6, cut(tcp(1, 2, 0), 19), false},
      {"TCP, data offset 4", 6, tcp(1, 2, 40, 4), false},
      {"TCP, data offset 0", 6, tcp(1, 2, 40, 0), false},
      {"TCP, options to the end", 6, tcp(1, 2, 4, 6), true},
      {"TCP, options beyond", 6, tcp(1, 2, 3, 6), false},
      {"TCP, all options", 6, tcp(1, 2, 40, 15), true},
      {"TCP, all options but one byte", 6, tcp(1, 2, 39, 15), false},
      {"DCCP, short", 33, cut(dccp(1, 2, 3, false), 12), true},
      {"DCCP, 11 bytes", 33, cut(dccp(1, 2, 3, false), 11), false},
      {"DCCP, short, offset 2", 33, dccp(1, 2, 2, false), false},
      {"DCCP, extended", 33, dccp(1, 2, 4, true), true},
      {"DCCP, extended, offset 3", 33, dccp(1, 2, 3, true), false},
      {"DCCP, extended, 12 bytes", 33, cut(dccp(1, 2, 4, true), 12), false},
      {"DCCP, offset beyond", 33, dccp(1, 2, 5, true), false},
      {"SCTP", 132, zeros(12), true},
      {"SCTP, 11 bytes", 132, zeros(11), false},
      {"ICMP", 1, zeros(8), true},
      {"ICMP, 7 bytes", 1, zeros(7), false},
      {"ICMPv6", 58, zeros(4), true},
      {"ICMPv6, 3 bytes", 58, zeros(3), false},
      {"UDP-Lite is not looked at", 136, zeros(1), true},
      {"GRE is not looked at", 47, {}, true},
  };
  return all;
}

TEST(ParseTransport, LengthsOverBothFamiliesWithAndWithoutPadding) {
  for (const TransportCase& t : transports()) {
    const char* const expected = t.fits ? "forward" : "drop l4_truncated";
    const Octets v4 = ethernet(kIpv4) + ip4(t.protocol, t.payload),
                 v6 = ethernet(kIpv6) + ip6(t.protocol, t.payload);
    EXPECT_EQ(verdict(v4), expected) << t.name;
    EXPECT_EQ(verdict(v6), expected) << t.name;
    EXPECT_EQ(verdict(v4 + zeros(64)), expected) << t.name;
    EXPECT_EQ(verdict(v6 + zeros(64)), expected) << t.name;
  }
}

TEST(ParseTransport, KeyHoldsPortsOrProtocol) {
  using Class = FlowKey::Class;
  struct KeyCase {
    std::uint8_t protocol;
    Octets payload;
    Class c;
    std::uint32_t low;
  };
  const std::uint32_t ports = 0x0200'0100;  // 1 and 2, as loaded
  const std::vector<KeyCase> cases{
      {6, tcp(1, 2, 0), Class::tcp, ports},
      {17, udp(1, 2, 0), Class::udp, ports},
      {33, dccp(1, 2, 4, true), Class::dccp, ports},
      {132, be16(1) + be16(2) + zeros(8), Class::sctp, ports},
      {1, Octets(8, 8), Class::other, 1},
      {58, Octets(8, 128), Class::other, 58},
      {50, Octets(8, 9), Class::other, 50},
      {136, udp(1, 2, 0), Class::other, 136},
  };
  for (const KeyCase& c : cases) {
    for (const bool v6 : {false, true}) {
      ParsedPacket p;
      const Octets ip = v6 ? ip6(c.protocol, c.payload) : ip4(c.protocol, c.payload);
      ASSERT_EQ(words(parse_exact(ethernet(v6 ? kIpv6 : kIpv4) + ip, p)), "forward");
      EXPECT_EQ(p.key.rest, static_cast<std::uint64_t>(c.c) << 61 | std::uint64_t{3} << 56 | c.low)
          << +c.protocol;
      EXPECT_EQ(p.protocol, c.protocol);
    }
  }
}

TEST(ParseTransport, HighestPortAndVlansFillTheirBitsOfTheKey) {
  ParseContext context = our_context();
  context.port = kMaxPorts - 1;
  ParsedPacket p;
  const Octets frame =
      ethernet(0x88a8) + vlan(0xfff, 0x8100) + vlan(0xffe, kIpv4) + ip4(132, Octets(12, 0xff));
  ASSERT_EQ(words(parse_exact(frame, p, context)), "forward");
  EXPECT_EQ(p.key.rest, 0x9fff'fffe'ffff'ffffu);
}

TEST(ParseTransport, FragmentRules) {
  using detail::fragment_possible;
  EXPECT_TRUE(fragment_possible({.offset = 8, .payload = 1, .end = 65535}, 17));
  EXPECT_FALSE(fragment_possible({.offset = 8, .payload = 1, .end = 65536}, 17));
  EXPECT_FALSE(fragment_possible({.offset = 8, .payload = 0, .end = 28}, 17));
  EXPECT_FALSE(fragment_possible({.offset = 8, .payload = 100, .end = 128}, 6));
  EXPECT_TRUE(fragment_possible({.offset = 16, .payload = 100, .end = 136}, 6));
  EXPECT_FALSE(fragment_possible({.offset = 0, .payload = 15, .end = 35}, 6));
  EXPECT_TRUE(fragment_possible({.offset = 0, .payload = 16, .end = 36}, 6));
}

}  // namespace
}  // namespace surety
