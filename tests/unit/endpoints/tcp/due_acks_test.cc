// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/due_acks.h"

#include <gtest/gtest.h>

#include <vector>

namespace surety::endpoints {
namespace {

using namespace literals;

constexpr Time kStart = Time(1000s);

TEST(DueAcks, TheSecondSegmentIsAcknowledgedAtOnce) {
  DueAcks acks(1);
  EXPECT_FALSE(acks.on_segment(false, kStart));
  EXPECT_EQ(acks.delayed(), kStart + DueAcks::kDelay);
  EXPECT_TRUE(acks.on_segment(false, kStart + 1ms));
  acks.add({3001, 3001, {}});
  EXPECT_EQ(acks.delayed(), kNever);
  EXPECT_EQ(acks.last(), 3001u);
  EXPECT_FALSE(acks.on_segment(false, kStart + 2ms)) << "counts anew";
  EXPECT_TRUE(acks.on_segment(true, kStart + 3ms));
}

TEST(DueAcks, LeaveInOrder) {
  DueAcks acks(1);
  EXPECT_TRUE(acks.empty());
  acks.add({1, 100, {}});
  acks.add({1, 200, {100, 150}});
  EXPECT_EQ(acks.take().cause, 100u);
  const DueAcks::Due second = acks.take();
  EXPECT_EQ(second.cause, 200u);
  EXPECT_EQ(second.twice, (tcp::Block{100, 150}));
  EXPECT_TRUE(acks.empty());
}

TEST(DueAcks, TheNewestOfTooManyTakesThePlaceOfTheLast) {
  DueAcks acks(1);
  for (std::uint32_t i = 0; i < DueAcks::kMost + 3; ++i) acks.add({i, i, {}});
  std::vector<std::uint32_t> all;
  while (!acks.empty()) all.push_back(acks.take().ack);
  ASSERT_EQ(all.size(), DueAcks::kMost);
  EXPECT_EQ(all.front(), 0u);
  EXPECT_EQ(all.back(), DueAcks::kMost + 2);
}

TEST(DueAcks, OurOwnSegmentEndsTheDelay) {
  DueAcks acks(1);
  acks.on_segment(false, kStart);
  acks.on_sent(1001);
  EXPECT_EQ(acks.delayed(), kNever);
  EXPECT_EQ(acks.last(), 1001u);
}

}  // namespace
}  // namespace surety::endpoints
