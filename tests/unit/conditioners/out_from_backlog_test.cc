// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "conditioners/enhanced_token_bucket.h"
#include "tests/unit/conditioners/bucket_flow.h"

namespace surety {
namespace {

using namespace literals;
using namespace test;
using enum EtbVerdict;

EnhancedTokenBucketParams from_backlog(std::uint32_t buffer = 1000) {
  EnhancedTokenBucketParams params = small(buffer);
  params.set_out_from_backlog(true);
  return params;
}

// Packets of 1000 bytes each 20 ms: of each interval the bucket uses 1 ms, and 19 ms are surplus. From 100 s
// on, 19 multiples of 2^24 ns lie in the surplus of the first 17 intervals.
Flow with_19_units(const EnhancedTokenBucketParams& params, double alpha = 0.5, double free = 1) {
  Flow flow(params, alpha, 1000, free);
  for (int i = 0; i <= 17; ++i) EXPECT_EQ(flow.offer(i * 20ms, 1000), in);
  return flow;
}

TEST(OutFromBacklog, SurplusAddsUnits) {
  Flow flow(from_backlog(), 0.5);
  // From 32 units on multiples of 2^23 ns count.
  const std::uint32_t expected[] = {0,  1,  2,  4,  5,  6,  7,  8,  10, 11, 12, 13, 14, 15, 16, 17,
                                    18, 19, 20, 22, 23, 24, 25, 26, 28, 29, 30, 31, 32, 35, 37, 39};
  for (int i = 0; i < 32; ++i) {
    flow.offer(i * 20ms, 1000);
    EXPECT_EQ(flow.out_backlog(), expected[i]) << i;
  }
  for (int i = 32; i < 140; ++i) flow.offer(i * 20ms, 1000);
  EXPECT_EQ(flow.out_backlog(), 255u);
}

TEST(OutFromBacklog, TimeRemovesUnitsAndAPauseAddsNone) {
  Flow flow = with_19_units(from_backlog());
  flow.offer(3s, 1000);  // a pause of more than 1 s; the next multiple of 2^32 ns is at 3.079 s
  EXPECT_EQ(flow.out_backlog(), 19u);
  flow.offer(5s, 1000);
  EXPECT_EQ(flow.out_backlog(), 18u);
  flow.offer(3080ms + 17 * 4295ms, 1000);
  EXPECT_EQ(flow.out_backlog(), 1u);
  flow.offer(200s, 1000);
  EXPECT_EQ(flow.out_backlog(), 0u);
}

TEST(OutFromBacklog, AFlowThatUsesItsTokensHasNone) {
  Flow flow(from_backlog(), 0.5);
  for (int i = 0; i < 2000; ++i) flow.offer(i * 1ms, 1000);
  EXPECT_EQ(flow.out_backlog(), 0u);
  EXPECT_EQ(flow.offer(1999ms, 1000), in);
  EXPECT_EQ(flow.offer(1999ms, 1000), out);
}

TEST(OutFromBacklog, WithoutTheParameterNothingIsCounted) {
  Flow flow = with_19_units(small());
  EXPECT_EQ(flow.out_backlog(), 0u);
}

// 19 units are 39.8 ms: 40 packets of 1 ms.
TEST(OutFromBacklog, HeadLeavesOutFromTheBacklogOn) {
  Flow flow = with_19_units(from_backlog());
  EXPECT_EQ(flow.offer(340ms, 1000), in);
  for (int i = 0; i < 39; ++i) EXPECT_EQ(flow.offer(340ms, 1000), hold) << i;
  EXPECT_EQ(flow.release(340ms), "");
  EXPECT_EQ(flow.next_release(), kStart + 341ms) << "for IN tokens only";
  EXPECT_EQ(flow.offer(340ms, 1000), hold);
  EXPECT_EQ(flow.next_release(), kStart + 340ms + 1ns);
  EXPECT_EQ(flow.release(340ms), "out");
  EXPECT_EQ(flow.release(344ms), "in in") << "the out-bucket is full again, and the backlog too short";
}

TEST(OutFromBacklog, UnitsOfAShortRoundTripAreFree) {
  Flow flow(from_backlog(), 0.5);
  for (int i = 0; i <= 14; ++i) flow.offer(i * 20ms, 1000);
  EXPECT_EQ(flow.out_backlog(), EnhancedTokenBucket::kFree);
  for (const EtbVerdict v : {in, out, hold}) EXPECT_EQ(flow.offer(280ms, 1000), v);
}

// The maximum of alpha, where nothing is congested, or 1.
TEST(OutFromBacklog, FromAnAlphaOnNoneIsNeeded) {
  Flow below = with_19_units(from_backlog(), 0.399999, 0.4), from = with_19_units(from_backlog(), 0.4, 0.4);
  for (const EtbVerdict v : {in, hold, hold}) EXPECT_EQ(below.offer(340ms, 1000), v);
  for (const EtbVerdict v : {in, out, hold}) EXPECT_EQ(from.offer(340ms, 1000), v);
}

// 39 units, of which 4.3 s remove one each: 32 when the maximum has lasted for 32 s.
TEST(OutFromBacklog, AMaximumThatHasJustComeBackIsATrial) {
  Flow flow(from_backlog(), 0.4, 1000, 0.4);
  for (int i = 0; i < 32; ++i) flow.offer(i * 20ms, 1000);
  ASSERT_EQ(flow.out_backlog(), 39u);
  flow.set_alpha(700ms, 0.38);
  flow.set_alpha(800ms, 0.4);
  for (const EtbVerdict v : {in, in, hold}) EXPECT_EQ(flow.offer(31s, 1000), v);
  EXPECT_EQ(flow.release(31001ms), "in");
  for (const EtbVerdict v : {in, in, out, hold}) EXPECT_EQ(flow.offer(33s, 1000), v);
}

// Full, or with room for the packet that has just left.
TEST(OutFromBacklog, AFullBufferIsBacklogEnough) {
  Flow flow = with_19_units(from_backlog(3));
  EXPECT_EQ(flow.offer(340ms, 1000), in);
  EXPECT_EQ(flow.offer(340ms, 1000), hold);
  EXPECT_EQ(flow.release(340ms), "");
  for (const EtbVerdict v : {hold, hold, drop_buffer}) EXPECT_EQ(flow.offer(340ms, 1000), v);
  EXPECT_EQ(flow.release(341ms), "in out");
}

TEST(OutFromBacklog, APacketWithoutRoomToWaitLeavesOut) {
  Flow flow = with_19_units(from_backlog(0));
  for (const EtbVerdict v : {in, out, drop_buffer}) EXPECT_EQ(flow.offer(340ms, 1000), v);
}

// Twice 39,845.888 us.
TEST(OutFromBacklog, ABufferOfATimeGrowsToTwiceTheBacklog) {
  EnhancedTokenBucketParams params = from_backlog(20);
  params.buffer_bytes = 10'000;
  const auto held = [&](double alpha) {
    Flow flow = with_19_units(params, alpha);
    while (flow.offer(340ms, 1000) != drop_buffer) {
    }
    return flow.pool().held();
  };
  EXPECT_EQ(held(0.1), 79u);
  EXPECT_EQ(held(1), 20u) << "not at alpha 1";
  params.set_out_from_backlog(false);
  EXPECT_EQ(held(0.1), 11u);
}

}  // namespace
}  // namespace surety
