// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/hierarchy/packet_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace surety {
namespace {

// As many as a queue with such a part gets.
std::uint32_t fill(PacketPool& pool, std::uint32_t part, std::uint32_t held = 0, std::uint32_t most = ~0u) {
  for (std::uint32_t n = 0; n < most; ++n, ++held) {
    if (!pool.has_room(held, part)) return n;
    pool.take(held, part);
  }
  return most;
}

TEST(PacketPool, GivesOneAloneEightNinths) {
  PacketPool pool(900);
  EXPECT_EQ(fill(pool, 0), 800u);
  EXPECT_EQ(pool.common_free(), 100);
}

TEST(PacketPool, LeavesSomethingForWhoComesLater) {
  PacketPool pool(900);
  fill(pool, 0);
  EXPECT_EQ(fill(pool, 0), 89u);  // 8/9 of the 100 that are left
  EXPECT_GT(pool.common_free(), 0);
}

TEST(PacketPool, KeepsThePartsOfThoseThatAreIdle) {
  PacketPool pool(1000);
  for (int q = 0; q < 100; ++q) pool.reserve(5);
  EXPECT_EQ(pool.common_free(), 500);
  for (int q = 0; q < 20; ++q) fill(pool, 5);  // greedy ones
  EXPECT_GE(pool.common_free(), 0);
  for (int q = 0; q < 80; ++q) EXPECT_EQ(fill(pool, 5, 0, 5), 5u) << q;
  EXPECT_LE(pool.in_use(), 1000u);
}

TEST(PacketPool, NeverGivesWhatItHasNotWherePartsAreMore) {
  PacketPool pool(10);
  for (int q = 0; q < 5; ++q) pool.reserve(4);
  EXPECT_LT(pool.common_free(), 0);
  EXPECT_EQ(fill(pool, 4), 4u);
  EXPECT_EQ(fill(pool, 4), 4u);
  EXPECT_EQ(fill(pool, 4), 2u);
  EXPECT_EQ(fill(pool, 4), 0u);
}

// Places for small packets are kMostBeyond of all queues: who comes last finds no less than where there are
// none, and nobody holds more than his limit.
TEST(PacketPool, WhatIsBeyondLimitsDoesNotTakeTheRoomOfOthers) {
  constexpr std::uint32_t kLimit = 100, kBeyond = kMostBeyond / Chunk::kPackets, kPart = 16;
  const auto of_the_last = [=](std::uint32_t chunks, const PoolShare& share, std::uint32_t most) {
    PacketPool pool(chunks);
    for (int q = 0; q < 10; ++q) pool.reserve(kPart);
    std::uint32_t held = 0, beyond = 0;
    for (int q = 0; q < 10; ++q) {
      beyond += held - std::min(held, kLimit);
      for (held = 0; held < most && pool.has_room(held, share); ++held) pool.take(held, share);
    }
    EXPECT_LE(beyond, kBeyond);
    return held;
  };
  const std::uint32_t without = of_the_last(10 * kLimit, kPart, kLimit);
  EXPECT_GE(without, 90u);
  EXPECT_GE(of_the_last(10 * kLimit + kBeyond, {kPart, kLimit}, 8 * kLimit), without);
}

TEST(PacketPool, ALowerLimitCountsWhatIsHeldBeyondIt) {
  constexpr std::uint32_t kBeyond = kMostBeyond / Chunk::kPackets;
  PacketPool pool(10'000);
  const PoolShare high(0, 1000), low(0, 10);
  std::vector<ChunkNumber> taken;
  for (std::uint32_t held = 0; held < 1000; ++held) taken.push_back(pool.take(held, high));
  EXPECT_TRUE(pool.has_room(10, low));
  pool.change_share(1000, high, low);
  EXPECT_FALSE(pool.has_room(10, low)) << "another queue: 990 are more than " << kBeyond;
  for (std::uint32_t held = 1000; held > 0; --held) pool.give(taken[held - 1], held, low);
  std::uint32_t held = 0;
  for (; pool.has_room(held, low); ++held) pool.take(held, low);
  EXPECT_NEAR(held, 10 + kBeyond * 8 / 9, 1) << "all is back";
}

TEST(PacketPool, GivesBackWhatWasTaken) {
  PacketPool pool(100);
  pool.reserve(3);
  std::vector<ChunkNumber> taken;
  for (std::uint32_t held = 0; held < 50; ++held) taken.push_back(pool.take(held, 3));
  EXPECT_EQ(pool.common_free(), 97 - 47);
  for (std::uint32_t held = 50; held > 0; --held) pool.give(taken[held - 1], held, 3);
  EXPECT_EQ(pool.common_free(), 97);
  EXPECT_EQ(pool.in_use(), 0u);
  pool.unreserve(3);
  EXPECT_EQ(pool.common_free(), 100);
}

}  // namespace
}  // namespace surety
