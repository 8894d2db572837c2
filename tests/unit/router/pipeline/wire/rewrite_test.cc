// SPDX-License-Identifier: BSD-3-Clause
// Every rewrite is held against the header with its checksum computed from scratch (RFC 1071).
#include "router/pipeline/wire/rewrite.h"

#include <gtest/gtest.h>

#include "conditioners/rng.h"
#include "tests/unit/router/pipeline/wire/frame_builder.h"

namespace surety {
namespace {

using namespace frames;

Octets with_tos(Octets ip, unsigned tos) {
  ip[1] = static_cast<std::uint8_t>(tos);
  fix_checksum(ip.data());
  return ip;
}

unsigned traffic_class_of(const Octets& ip) {
  return (ip[0] << 4 & 0xf0) | ip[1] >> 4;
}

// A header whose checksum comes out as wanted: the identification makes up for it.
Octets with_checksum(Octets ip, std::uint16_t wanted) {
  ip[4] = ip[5] = 0;
  fix_checksum(ip.data());
  const unsigned have = load_be16(&ip[10]);
  // ~sum = have, and identification adds to sum: id = have - wanted in one's complement arithmetic.
  const unsigned id = have >= wanted ? have - wanted : have + 0xffff - wanted;
  ip[4] = high(id);
  ip[5] = low(id);
  fix_checksum(ip.data());
  return ip;
}

TEST(Rewrite, EveryDscpToEveryDscpWithEveryEcnKeepsEcnAndChecksum) {
  const Octets base = ip4(17, udp(1, 2, 0));
  for (unsigned tos = 0; tos < 256; ++tos) {
    for (unsigned dscp = 0; dscp < 64; ++dscp) {
      Octets ip = with_tos(base, tos);
      set_dscp(ip.data(), false, static_cast<std::uint8_t>(dscp));
      ASSERT_EQ(ip, with_tos(base, dscp << 2 | (tos & 3))) << tos << " -> " << dscp;
    }
  }
}

TEST(Rewrite, EveryDscpToEveryDscpInIpv6TouchesNothingElse) {
  for (unsigned tc = 0; tc < 256; ++tc) {
    for (unsigned dscp = 0; dscp < 64; ++dscp) {
      Octets ip = ip6(17, udp(1, 2, 0), {.traffic_class = static_cast<std::uint8_t>(tc)});
      set_dscp(ip.data(), true, static_cast<std::uint8_t>(dscp));
      const auto expected = static_cast<std::uint8_t>(dscp << 2 | (tc & 3));
      ASSERT_EQ(traffic_class_of(ip), expected);
      ASSERT_EQ(ip, ip6(17, udp(1, 2, 0), {.traffic_class = expected}));
    }
  }
}

TEST(Rewrite, CongestionExperienced) {
  for (unsigned tc = 0; tc < 256; ++tc) {
    Octets v4 = with_tos(ip4(17, udp(1, 2, 0)), tc);
    set_ce(v4.data(), false);
    ASSERT_EQ(v4, with_tos(ip4(17, udp(1, 2, 0)), tc | 3));
    Octets v6 = ip6(17, udp(1, 2, 0), {.traffic_class = static_cast<std::uint8_t>(tc)});
    set_ce(v6.data(), true);
    ASSERT_EQ(v6, ip6(17, udp(1, 2, 0), {.traffic_class = static_cast<std::uint8_t>(tc | 3)}));
  }
}

TEST(Rewrite, EveryTtlWithEveryProtocol) {
  for (unsigned protocol = 0; protocol < 256; ++protocol) {
    for (unsigned ttl = 2; ttl < 256; ++ttl) {
      const auto p = static_cast<std::uint8_t>(protocol);
      Octets v4 = ip4(p, {}, {.ttl = static_cast<std::uint8_t>(ttl)});
      decrement_ttl(v4.data(), false);
      ASSERT_EQ(v4, ip4(p, {}, {.ttl = static_cast<std::uint8_t>(ttl - 1)})) << protocol << " " << ttl;
    }
  }
  for (unsigned limit = 2; limit < 256; ++limit) {
    Octets v6 = ip6(17, udp(1, 2, 0), {.hop_limit = static_cast<std::uint8_t>(limit)});
    decrement_ttl(v6.data(), true);
    ASSERT_EQ(v6, ip6(17, udp(1, 2, 0), {.hop_limit = static_cast<std::uint8_t>(limit - 1)}));
  }
}

TEST(Rewrite, EveryChecksumValueBeforeAndAfter) {
  for (unsigned wanted = 0; wanted < 0xffff;
       ++wanted) {  // 0xffff cannot come out: it would need a header of zeros
    Octets before = with_checksum(ip4(6, tcp(1, 2, 0), {.tos = 0x29}), static_cast<std::uint16_t>(wanted));
    ASSERT_EQ(load_be16(&before[10]), wanted);
    Octets dscp = before, ttl = before;
    set_dscp(dscp.data(), false, 0x2e);
    ASSERT_EQ(dscp, with_tos(before, 0x2e << 2 | 1)) << wanted;
    decrement_ttl(ttl.data(), false);
    --before[8];
    fix_checksum(before.data());
    ASSERT_EQ(ttl, before) << wanted;
  }
}

TEST(Rewrite, SenderThatWritesMinusZeroGetsTheSameAsOneThatWritesZero) {
  const Octets zero = with_checksum(ip4(6, tcp(1, 2, 0)), 0);
  Octets minus = zero;
  minus[10] = minus[11] = 0xff;
  ASSERT_EQ(checksum(minus.data(), 20), 0) << "valid for a receiver too";
  for (unsigned dscp = 1; dscp < 64; ++dscp) {
    Octets a = zero, b = minus;
    set_dscp(a.data(), false, static_cast<std::uint8_t>(dscp));
    set_dscp(b.data(), false, static_cast<std::uint8_t>(dscp));
    EXPECT_EQ(a, b);
  }
}

TEST(Rewrite, ChainsOfRewritesOfRandomHeadersWithOptions) {
  Rng rng(1);
  for (int round = 0; round < 20000; ++round) {
    const V4 h{.source = rng.next(),
               .destination = rng.next(),
               .place = static_cast<std::uint16_t>(rng.next()),
               .tos = static_cast<std::uint8_t>(rng.next()),
               .ttl = 255,
               .options = be32(rng.next())};
    Octets ip = ip4(static_cast<std::uint8_t>(rng.next()), zeros(rng.next() % 64), h);
    const unsigned ecn = h.tos & 3, dscp = rng.next() & 63;
    set_dscp(ip.data(), false, static_cast<std::uint8_t>(rng.next() & 63));
    decrement_ttl(ip.data(), false);
    set_dscp(ip.data(), false, static_cast<std::uint8_t>(dscp));
    ASSERT_EQ(ip[1], dscp << 2 | ecn);
    set_ce(ip.data(), false);
    ASSERT_EQ(ip[1], dscp << 2 | 3);
    ASSERT_EQ(ip[8], 254);
    Octets scratch = ip;
    fix_checksum(scratch.data());
    ASSERT_EQ(ip, scratch);
  }
}

TEST(Rewrite, EcnCapable) {
  EXPECT_FALSE(ecn_capable(0xb8));
  EXPECT_TRUE(ecn_capable(0xb9));
  EXPECT_TRUE(ecn_capable(0xba));
  EXPECT_TRUE(ecn_capable(0x03));
}

}  // namespace
}  // namespace surety
