// SPDX-License-Identifier: BSD-3-Clause
// How much of each class the XDP program lets through to the kernel (police.bpf.h).
#include <chrono>

#include "tests/unit/router/daemon/linux/steer_bed.h"

namespace surety {
namespace {

using namespace steer_bed;

constexpr int kArp = 2000, kIcmp = 1000, kRouting = 10'000;  // a second

Octets arp_of(std::uint8_t sender) {
  Octets f = frame({0x08, 0x06}, Octets(6, 0xff));
  f[11] = sender;
  return f;
}

class SteerLimitTest : public SteerTest {
 protected:
  using Clock = std::chrono::steady_clock;
  void SetUp() override {
    SteerTest::SetUp();
    if (IsSkipped()) return;
    const std::uint32_t only = 0, secret = 1;  // the same parts in every run
    ASSERT_EQ(bpf_map_update_elem(bpf_object__find_map_fd_by_name(object_.get(), ".bss"), &only, &secret, 0),
              0);
  }
  void exhaust(const Octets& f) {
    exhausted_ = Clock::now();
    passed(f, 20'000);
  }
  // What has come back since.
  double more(int rate) const {
    return rate * std::chrono::duration<double>(Clock::now() - exhausted_).count() + 1;
  }
  Clock::time_point exhausted_;
};

TEST_F(SteerLimitTest, WhoIsAloneMayUseHalfABucketAtOnceAndThenTheRate) {
  exhausted_ = Clock::now();
  const auto n = static_cast<double>(passed(arp_of(1), 20'000));
  EXPECT_GE(n, kArp / 8);
  EXPECT_LE(n, kArp / 8 + more(kArp));
}

TEST_F(SteerLimitTest, WhoAsksForLittleGetsItBesideWhoAsksForAll) {
  exhaust(arp_of(1));
  for (std::uint8_t sender = 2; sender < 6; ++sender) {
    EXPECT_EQ(passed(arp_of(sender), 20), 20u) << int{sender};
    EXPECT_LE(static_cast<double>(passed(arp_of(1), 100)), more(kArp));
  }
}

TEST_F(SteerLimitTest, EachClassHasItsOwn) {
  exhaust(arp_of(1));
  EXPECT_EQ(passed(frame(carrying(ipv4("10.1.0.254"), 89)), 1000), 1000u);
  EXPECT_EQ(passed(frame(carrying(ipv4("10.1.0.254"), 1)), 100), 100u);
  EXPECT_EQ(passed(frame(ipv4("10.1.0.254")), 2000), 2000u);
}

// Whoever has a thousand addresses has all the parts; but not those of neighbours that are known.
TEST_F(SteerLimitTest, NeighborsThatAreKnownHaveRoom) {
  steer_->add_neighbor({2, 0, 0, 0, 0, 77});
  exhausted_ = Clock::now();
  std::uint64_t others = 0;
  for (int i = 0; i < 1500; ++i) {
    Octets f = arp_of(1);
    f[9] = static_cast<std::uint8_t>(i >> 8), f[10] = static_cast<std::uint8_t>(i);
    others += passed(f, 1);
  }
  EXPECT_GE(others, kArp / 4u);
  EXPECT_LE(static_cast<double>(others), kArp / 4 + more(kArp));
  EXPECT_EQ(passed(arp_of(77), 100), 100u);
}

TEST_F(SteerLimitTest, APartIsANetworkOfSenders) {
  const Octets echo = frame(carrying(ipv4("10.1.0.254"), 1));
  Octets beside = echo, elsewhere = echo;
  beside[29] ^= 1, elsewhere[28] ^= 1;  // of the same /24 and of another
  exhaust(echo);
  EXPECT_LE(static_cast<double>(passed(beside, 100)), more(kIcmp));
  EXPECT_EQ(passed(elsewhere, 12), 12u);
}

TEST_F(SteerLimitTest, APartIsANetworkOfSendersIpv6) {
  const Octets echo = frame(ipv6("2001:db8:1:100::1", "2001:db8::fe", 58, 128));
  Octets beside = echo, elsewhere = echo;
  beside[14 + 8 + 7] ^= 1, elsewhere[14 + 8 + 6] ^= 1;  // of the same /56 and of another
  exhaust(echo);
  EXPECT_LE(static_cast<double>(passed(beside, 100)), more(kIcmp));
  EXPECT_EQ(passed(elsewhere, 12), 12u);
}

// Which stations of the Internet send BGP to us comes with the MAC address of a peer.
TEST_F(SteerLimitTest, WhatComesThroughARoutingPeerIsNotThePeers) {
  const Octets four = frame(carrying(ipv4("10.1.0.254"), 6, 9000, 179));
  Octets six = frame(ipv6("2001:db8:1:100::1", "2001:db8::fe", 6));
  six[14 + 40 + 3] = 179;
  for (const auto& [peer, network] : {std::pair{four, 14 + 12 + 2}, std::pair{six, 14 + 8 + 6}}) {
    Octets beyond = peer, beside = peer;
    beyond[static_cast<std::size_t>(network)] ^= 1, beside[11] ^= 1;
    exhaust(beyond);
    EXPECT_LE(static_cast<double>(passed(beyond, 1000)), more(kRouting));
    EXPECT_EQ(passed(peer, 100), 100u);
    EXPECT_EQ(passed(beside, 100), 100u);
  }
}

}  // namespace
}  // namespace surety
