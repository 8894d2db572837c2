// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/plot_thin.h"

#include <gmock/gmock.h>

#include <limits>

namespace surety::lab {
namespace {

using testing::Contains;
using testing::ElementsAre;

const double kNone = std::numeric_limits<double>::quiet_NaN();

TEST(PlotThin, KeepsAllOfWhatFits) {
  EXPECT_THAT(thinned({}, 10), ElementsAre());
  EXPECT_THAT(thinned(std::vector<double>{3, 1, 2, 5}, 1), ElementsAre(0, 1, 2, 3));
}

TEST(PlotThin, KeepsEndsAndExtremesOfEachColumn) {
  EXPECT_THAT(thinned(std::vector<double>{3, 3, 9, 3, 1, 3, 3, 7, 7, 7, 7, 7, 7, 7}, 2),
              ElementsAre(0, 2, 4, 6, 7, 13));
}

TEST(PlotThin, KeepsAGap) {
  std::vector<double> y(100, 1.0);
  y[42] = kNone;
  EXPECT_THAT(thinned(y, 10), Contains(42u));
  y[40] = kNone;  // the first of its column
  y[45] = 7;
  EXPECT_THAT(thinned(y, 10), Contains(45u));
}

TEST(PlotThin, LongSeriesShrinkToAFewPerColumn) {
  std::vector<double> y(100'000);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<double>(i * 7919 % 1000);
  const auto kept = thinned(y, 600);
  EXPECT_LE(kept.size(), 5u * 600);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  EXPECT_EQ(kept.front(), 0u);
  EXPECT_EQ(kept.back(), y.size() - 1);
}

}  // namespace
}  // namespace surety::lab
