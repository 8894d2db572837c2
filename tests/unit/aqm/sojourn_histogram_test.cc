// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/sojourn_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace surety {
namespace {

using namespace std::chrono_literals;

std::size_t bucket_of(Duration d) {
  SojournHistogram histogram;
  histogram.add(d);
  const auto found = std::ranges::find(histogram.counts, 1u);
  return static_cast<std::size_t>(found - histogram.counts.begin());
}

TEST(SojournHistogram, HasRoundBounds) {
  constexpr auto& bounds = SojournHistogram::kBounds;
  EXPECT_EQ(bounds[0], 1000u);
  EXPECT_EQ(bounds[1], 2500u);
  EXPECT_EQ(bounds[2], 5000u);
  EXPECT_EQ(bounds[3], 10'000u);
  EXPECT_EQ(bounds[18], 1'000'000'000u);
  EXPECT_EQ(bounds[19], 2'500'000'000u);
}

TEST(SojournHistogram, ABoundBelongsToWhatIsBelowIt) {
  for (std::size_t i = 0; i < SojournHistogram::kBuckets; ++i) {
    const Duration bound(SojournHistogram::kBounds[i]);
    EXPECT_EQ(bucket_of(bound - 1ns), i);
    EXPECT_EQ(bucket_of(bound), i);
    EXPECT_EQ(bucket_of(bound + 1ns), i + 1);
  }
  EXPECT_EQ(bucket_of(0ns), 0u);
  EXPECT_EQ(bucket_of(-1ns), 0u);
  EXPECT_EQ(bucket_of(3600s), SojournHistogram::kBuckets);
  EXPECT_EQ(bucket_of(Duration::max()), SojournHistogram::kBuckets);
}

// Also where no bound is: against the definition.
TEST(SojournHistogram, EveryPowerOfTwoHasItsBucket) {
  for (int shift = 0; shift < 40; ++shift)
    for (const std::int64_t more : {-1, 0, 1}) {
      const Duration d((std::int64_t{1} << shift) + more);
      const auto bound =
          std::ranges::lower_bound(SojournHistogram::kBounds, static_cast<std::uint64_t>(d.count()));
      EXPECT_EQ(bucket_of(d), static_cast<std::size_t>(bound - SojournHistogram::kBounds.begin()))
          << d.count();
    }
}

TEST(SojournHistogram, CountsPacketsThatWaitedEquallyLongAtOnce) {
  SojournHistogram histogram;
  histogram.add(3us, 5);
  EXPECT_EQ(histogram.counts[2], 5u);
  EXPECT_EQ(histogram.sum_ns, 15'000u);
}

}  // namespace
}  // namespace surety
