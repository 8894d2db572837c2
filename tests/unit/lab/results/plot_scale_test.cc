// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/plot_scale.h"

#include <gmock/gmock.h>

#include <cmath>

namespace surety::lab {
namespace {

using testing::ElementsAre;

std::vector<std::string> labels(const Scale& scale) {
  std::vector<std::string> texts;
  for (const auto& t : scale.ticks()) texts.push_back(t.label);
  return texts;
}

TEST(PlotScale, TicksStandAtRoundNumbers) {
  EXPECT_THAT(labels(Scale::linear(0, 300)), ElementsAre("0", "50", "100", "150", "200", "250", "300"));
  EXPECT_THAT(labels(Scale::linear(0, 1)), ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1.0"));
  EXPECT_THAT(labels(Scale::linear(0, 0.3)),
              ElementsAre("0", "0.05", "0.10", "0.15", "0.20", "0.25", "0.30"));
  EXPECT_THAT(labels(Scale::linear(7, 1234)), ElementsAre("500", "1000"));
  EXPECT_THAT(labels(Scale::linear(-2, 2)), ElementsAre("-2", "-1", "0", "1", "2"));
  EXPECT_THAT(labels(Scale::linear(0, 5e9)), ElementsAre("0", "1e+09", "2e+09", "3e+09", "4e+09", "5e+09"));
}

TEST(PlotScale, RoundsOutwardsToTicks) {
  const Scale s = Scale::rounded_out(3, 873);
  EXPECT_EQ(s.from(), 0);
  EXPECT_EQ(s.to(), 1000);
  EXPECT_DOUBLE_EQ(Scale::rounded_out(0, 0.3).to(), 0.3);
  EXPECT_EQ(Scale::rounded_out(0, 0).to(), 1);
  EXPECT_EQ(Scale::rounded_out(-13, 20).from(), -20);
}

TEST(PlotScale, OneValueGetsRoom) {
  const Scale s = Scale::linear(4, 4);
  EXPECT_EQ(s.from(), 2);
  EXPECT_EQ(s.to(), 6);
  EXPECT_EQ(Scale::linear(0, 0).place(0), 0.5);
}

TEST(PlotScale, PlacesLinearly) {
  const Scale s = Scale::linear(100, 300);
  EXPECT_EQ(s.place(100), 0);
  EXPECT_EQ(s.place(150), 0.25);
  EXPECT_EQ(s.place(300), 1);
  EXPECT_EQ(s.place(500), 2);
}

}  // namespace
}  // namespace surety::lab
