// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/host/neighbor_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace surety::endpoints {
namespace {

using namespace literals;

constexpr Time at(Duration d) {
  return Time(d);
}
constexpr MacAddress kMac{2, 0, 0, 0, 0, 7}, kOther{2, 0, 0, 0, 0, 8};
IpAddress peer(std::uint8_t i = 1) {
  return IpAddress::v4(10, 0, 0, i);
}

struct NeighborCacheTest : testing::Test {
  NeighborCache cache{4};
  // How many requests are due at `now`; the last is in `request`.
  int requests(Time now) {
    int n = 0;
    while (cache.next_request(now, request)) ++n;
    return n;
  }
  NeighborCache::Request request;
};

TEST_F(NeighborCacheTest, AStationThatAsksForUsIsRemembered) {
  cache.learn(peer(), kMac, true, true, at(0s));
  EXPECT_EQ(cache.peek(peer()), nullptr) << "nobody asked for it";
  cache.meet(peer(), kMac, at(0s));
  ASSERT_NE(cache.peek(peer()), nullptr);
  EXPECT_EQ(*cache.peek(peer()), kMac);
  cache.meet(peer(), {3, 0, 0, 0, 0, 7}, at(1s));
  EXPECT_EQ(*cache.peek(peer()), kMac) << "no station has a group address";
}

TEST_F(NeighborCacheTest, AsksForWhatIsLookedUpOnceASecond) {
  EXPECT_EQ(cache.next_event(), kNever);
  EXPECT_EQ(cache.look_up(peer(), at(5s)), nullptr);
  EXPECT_EQ(cache.next_event(), at(5s));
  EXPECT_EQ(requests(at(5s)), 1);
  EXPECT_EQ(request.address, peer());
  EXPECT_FALSE(request.known);
  cache.look_up(peer(), at(5500ms));
  EXPECT_EQ(requests(at(5999ms)), 0);
  EXPECT_EQ(cache.next_event(), at(6s));
  EXPECT_EQ(requests(at(6s)), 1);
}

TEST_F(NeighborCacheTest, AnAnswerEndsTheAsking) {
  cache.look_up(peer(), at(0s));
  requests(at(0s));
  cache.learn(peer(), kMac, true, true, at(1ms));
  ASSERT_NE(cache.look_up(peer(), at(2ms)), nullptr);
  EXPECT_EQ(*cache.look_up(peer(), at(2ms)), kMac);
  EXPECT_EQ(*cache.peek(peer()), kMac);
  EXPECT_EQ(requests(at(29s)), 0);
}

TEST_F(NeighborCacheTest, KnowsNobodyWhomItDoesNotWant) {
  cache.learn(peer(), kMac, true, true, at(0s));
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(cache.peek(peer()), nullptr);
}

TEST_F(NeighborCacheTest, AGroupIsNobodysStation) {
  cache.look_up(peer(), at(0s));
  cache.learn(peer(), {3, 0, 0, 0, 0, 7}, true, true, at(0s));
  EXPECT_EQ(cache.peek(peer()), nullptr);
}

TEST_F(NeighborCacheTest, WhatIsUsedIsAskedForAgainAndStaysWhileItAnswers) {
  cache.look_up(peer(), at(0s));
  cache.learn(peer(), kMac, true, true, at(0s));
  cache.look_up(peer(), at(29s));
  EXPECT_EQ(requests(at(30s)), 1);
  EXPECT_TRUE(request.known);
  EXPECT_EQ(request.mac, kMac);
  cache.learn(peer(), kMac, false, true, at(30001ms));
  EXPECT_EQ(requests(at(59s)), 0);
  EXPECT_NE(cache.look_up(peer(), at(59s)), nullptr);
}

TEST_F(NeighborCacheTest, SilenceMakesItUnknownButNotAtOnce) {
  cache.look_up(peer(), at(0s));
  cache.learn(peer(), kMac, true, true, at(0s));
  int asked = 0;
  for (int s = 1; s < 90; ++s) {
    ASSERT_NE(cache.look_up(peer(), at(1s * s)), nullptr) << s;
    asked += requests(at(1s * s));
  }
  EXPECT_EQ(asked, 60);
  requests(at(90s));
  EXPECT_EQ(cache.look_up(peer(), at(90s)), nullptr);
  EXPECT_EQ(cache.size(), 1u);
}

TEST_F(NeighborCacheTest, WhatNobodyUsesIsForgottenSilently) {
  cache.look_up(peer(), at(0s));
  cache.learn(peer(), kMac, true, true, at(0s));
  EXPECT_EQ(requests(at(30s)), 1);  // it was used since it was learnt
  for (int s = 31; s < 90; ++s) EXPECT_EQ(requests(at(1s * s)), 0);
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_EQ(requests(at(90s)), 0);
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(cache.next_event(), kNever);
}

TEST_F(NeighborCacheTest, ItStopsAskingForWhatNobodyUses) {
  cache.look_up(peer(), at(0s));
  int asked = 0;
  for (int s = 0; s < 20; ++s) asked += requests(at(1s * s));
  EXPECT_EQ(asked, static_cast<int>(NeighborCache::kTries));
  EXPECT_EQ(cache.size(), 0u);
}

TEST_F(NeighborCacheTest, AGatewayIsKeptForEver) {
  cache.keep(peer(), at(0s));
  int asked = 0;
  for (int s = 0; s < 200; ++s) asked += requests(at(1s * s));
  EXPECT_EQ(asked, 200);
  cache.learn(peer(), kMac, true, true, at(200s));
  for (int s = 200; s < 300; ++s) requests(at(1s * s));
  EXPECT_EQ(cache.peek(peer()), nullptr);
  EXPECT_EQ(cache.size(), 1u);
}

// RFC 4861 7.2.5.
TEST_F(NeighborCacheTest, OnlyAnOverrideReplacesAStation) {
  cache.look_up(peer(), at(0s));
  cache.learn(peer(), kMac, false, true, at(0s));
  cache.learn(peer(), kOther, false, true, at(1s));
  EXPECT_EQ(*cache.peek(peer()), kMac);
  cache.learn(peer(), kOther, true, false, at(2s));
  EXPECT_EQ(*cache.peek(peer()), kOther);
}

TEST_F(NeighborCacheTest, OnlyWhatConfirmsKeepsItYoung) {
  cache.keep(peer(), at(0s));
  cache.learn(peer(), kMac, true, true, at(0s));
  cache.learn(peer(), kMac, true, false, at(29s));
  EXPECT_EQ(requests(at(30s)), 1);
}

TEST_F(NeighborCacheTest, TheVersionTellsWhenAnAnswerMayBeAnother) {
  cache.keep(peer(), at(0s));
  cache.learn(peer(), kMac, true, true, at(0s));
  const std::uint64_t before = cache.version();
  cache.learn(peer(), kMac, true, true, at(1s));
  cache.look_up(peer(), at(1s));
  EXPECT_EQ(cache.version(), before);
  cache.learn(peer(), kOther, true, true, at(2s));
  const std::uint64_t moved = cache.version();
  EXPECT_NE(moved, before);
  requests(at(32s));  // asks: what is used is noted anew
  EXPECT_NE(cache.version(), moved);
}

TEST_F(NeighborCacheTest, IsBounded) {
  for (std::uint8_t i = 1; i <= 5; ++i) cache.look_up(peer(i), at(0s));
  EXPECT_EQ(cache.size(), 4u);
  EXPECT_EQ(requests(at(0s)), 4);
  cache.learn(peer(5), kMac, true, true, at(0s));
  EXPECT_EQ(cache.peek(peer(5)), nullptr);
  for (int s = 1; s < 10; ++s) requests(at(1s * s));
  EXPECT_EQ(cache.size(), 0u);
  cache.look_up(peer(5), at(10s));
  EXPECT_EQ(cache.size(), 1u);
}

TEST_F(NeighborCacheTest, NeighboursOfOneChainAreToldApart) {
  NeighborCache one(2);
  for (const std::uint8_t i : {std::uint8_t{1}, std::uint8_t{2}}) one.look_up(peer(i), at(0s));
  one.learn(peer(1), kMac, true, true, at(0s));
  one.learn(peer(2), kOther, true, true, at(0s));
  EXPECT_EQ(*one.peek(peer(1)), kMac);
  EXPECT_EQ(*one.peek(peer(2)), kOther);
}

}  // namespace
}  // namespace surety::endpoints
