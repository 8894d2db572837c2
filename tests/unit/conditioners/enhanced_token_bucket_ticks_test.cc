// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "conditioners/enhanced_token_bucket.h"

namespace surety {
namespace {

using namespace literals;
using enum EtbVerdict;

const Packet kPacket{.flow = 1, .length = 576};

// Buckets of ticks: what two flows hold leaves at the same times, though they began at others.
TEST(EnhancedTokenBucket, FlowsOnACommonClockReleaseTogether) {
  const TokenBucketParams bucket(1_Mbps, Depth::packets(1), TokenUnit::ticks, 576_B);
  const EnhancedTokenBucketParams params{bucket, bucket, 100};
  HoldingPool pool(100);
  AlphaClock clock(Time{}, Ratio::of(0.5));  // an OUT token each 9.216 ms
  std::array<EnhancedTokenBucketState, 2> flows;
  const std::array<Time, 2> began{Time(1ms), Time(3ms)};
  for (std::size_t f = 0; f < 2; ++f) {
    clock.advance(began[f], Ratio::of(0.5));
    EnhancedTokenBucket::reset(flows[f], params, began[f], clock.now());
    for (const EtbVerdict verdict : {in, out, hold, hold, hold, hold})
      ASSERT_EQ(EnhancedTokenBucket::offer(flows[f], params, kPacket, began[f], clock, pool), verdict);
  }
  for (const auto& [at, precedence] :
       {std::pair{Time(4608us), Precedence::in}, std::pair{Time(2 * 4608us), Precedence::in},
        std::pair{Time(2 * 4608us), Precedence::out}, std::pair{Time(3 * 4608us), Precedence::in}}) {
    for (EnhancedTokenBucketState& s : flows) {
      ASSERT_LE(EnhancedTokenBucket::next_release(s, params, Time(3ms), clock, pool), at);
      clock.advance(at, Ratio::of(0.5));
      std::array<Packet, 1> gone;
      ASSERT_EQ(EnhancedTokenBucket::release(s, params, at, clock, pool, gone), 1u);
      EXPECT_EQ(gone[0].precedence, precedence);
    }
  }
  EXPECT_EQ(pool.held(), 0u);
}

}  // namespace
}  // namespace surety
