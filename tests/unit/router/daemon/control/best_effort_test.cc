// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control/best_effort.h"

#include <gtest/gtest.h>

#include "tests/unit/router/pipeline/wire/frame_builder.h"

namespace surety {
namespace {

using namespace frames;

constexpr std::uint8_t kIcmp = 1, kTcp = 6, kUdp = 17, kFragment = 44, kIcmp6 = 58;

Octets icmp(std::uint8_t type) {
  return Octets{type} + zeros(15);
}
Octets reset() {
  Octets segment = tcp(179, 1000, 0);
  segment[13] = 0x04;
  return segment;
}

TEST(BestEffort, IsOfFramesWithAWholeIpHeader) {
  const Octets four = ethernet(kIpv4) + ip4(kUdp, udp(1, 2, 0)),
               six = ethernet(kIpv6) + ip6(kUdp, udp(1, 2, 0));
  EXPECT_TRUE(is_ip(four));
  EXPECT_TRUE(is_ip(six));
  EXPECT_FALSE(is_ip(ethernet(kArp) + zeros(46)));
  EXPECT_FALSE(is_ip(std::span(four).first(14 + 19)));
  EXPECT_TRUE(is_ip(std::span(four).first(14 + 20)));
  EXPECT_FALSE(is_ip(std::span(six).first(14 + 39)));
  EXPECT_FALSE(is_ip({}));
}

TEST(BestEffort, ClearsTheDscpAndKeepsEcn) {
  Octets four = ip4(kUdp, udp(1, 2, 0), {.tos = 46 << 2 | 1}),
         six = ip6(kUdp, udp(1, 2, 0), {.traffic_class = 46 << 2 | 2});
  clear_dscp(four);
  EXPECT_EQ(four, ip4(kUdp, udp(1, 2, 0), {.tos = 1}));
  clear_dscp(six);
  EXPECT_EQ(six, ip6(kUdp, udp(1, 2, 0), {.traffic_class = 2}));
}

TEST(BestEffort, AnswersOfIpv4) {
  EXPECT_TRUE(is_answer(ip4(kIcmp, icmp(0)))) << "echo reply";
  EXPECT_TRUE(is_answer(ip4(kIcmp, icmp(3)))) << "unreachable";
  EXPECT_FALSE(is_answer(ip4(kIcmp, icmp(8)))) << "echo request";
  EXPECT_TRUE(is_answer(ip4(kIcmp, zeros(16), {.place = 100}))) << "a later fragment";
  EXPECT_TRUE(is_answer(ip4(kTcp, reset())));
  EXPECT_FALSE(is_answer(ip4(kTcp, tcp(179, 1000, 0))));
  EXPECT_FALSE(is_answer(ip4(kTcp, zeros(13)))) << "cut short";
  EXPECT_TRUE(is_answer(ip4(kUdp, udp(67, 68, 0)))) << "DHCP server";
  EXPECT_FALSE(is_answer(ip4(kUdp, udp(68, 67, 0)))) << "DHCP client";
  EXPECT_FALSE(is_answer(ip4(kIcmp, {})));
}

TEST(BestEffort, AnswersOfIpv6) {
  EXPECT_TRUE(is_answer(ip6(kIcmp6, icmp(129)))) << "echo reply";
  EXPECT_TRUE(is_answer(ip6(kIcmp6, icmp(1)))) << "unreachable";
  EXPECT_FALSE(is_answer(ip6(kIcmp6, icmp(128)))) << "echo request";
  EXPECT_FALSE(is_answer(ip6(kIcmp6, icmp(135)))) << "neighbor solicitation";
  EXPECT_TRUE(is_answer(ip6(kFragment, Octets{kIcmp6} + zeros(7))));
  EXPECT_FALSE(is_answer(ip6(kFragment, Octets{kUdp} + zeros(7))));
  EXPECT_TRUE(is_answer(ip6(kTcp, reset())));
  EXPECT_TRUE(is_answer(ip6(kUdp, udp(547, 546, 0)))) << "DHCPv6 server";
  EXPECT_FALSE(is_answer(ip6(kUdp, udp(546, 547, 0)))) << "DHCPv6 client";
}

}  // namespace
}  // namespace surety
