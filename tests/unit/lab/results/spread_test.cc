// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/spread.h"

#include <gtest/gtest.h>

#include <vector>

namespace surety::lab {
namespace {

using Seeds = std::vector<std::optional<double>>;

TEST(Spread, OneValueHasItsUnit) {
  EXPECT_EQ(shown(Quantity::rate, 784'100), "784.1 kbit/s");
  EXPECT_EQ(shown(Quantity::duration, 0.0601), "60.1 ms");
  EXPECT_EQ(shown(Quantity::share, 0.941), "94.1 %");
  EXPECT_EQ(shown(Quantity::count, 1234), "1234");
  EXPECT_EQ(shown(Quantity::number, 0.21), "0.21");
}

TEST(Spread, OfNoValueIsBlank) {
  EXPECT_EQ(spread(Quantity::rate, {}), "");
  EXPECT_EQ(spread(Quantity::rate, Seeds{{}, {}}), "");
}

TEST(Spread, OfEqualValuesIsOneOfThem) {
  EXPECT_EQ(spread(Quantity::count, Seeds{5, 5, 5}), "5");
  EXPECT_EQ(spread(Quantity::rate, Seeds{800'000}), "800 kbit/s");
}

TEST(Spread, MeanAndDeviationShareUnitAndDecimals) {
  EXPECT_EQ(spread(Quantity::rate, Seeds{780'000, 790'000}), "785.0 +- 7.1 kbit/s");
  EXPECT_EQ(spread(Quantity::rate, Seeds{4e6, 4.2e6}), "4.100 +- 0.141 Mbit/s");
  EXPECT_EQ(spread(Quantity::duration, Seeds{0.059, 0.061}), "60.00 +- 1.41 ms");
  EXPECT_EQ(spread(Quantity::share, Seeds{0.94, 0.95}), "94.5 +- 0.7 %");
  EXPECT_EQ(spread(Quantity::count, Seeds{100, 102}), "101.0 +- 1.4");
  EXPECT_EQ(spread(Quantity::number, Seeds{0.2, 0.4}), "0.300 +- 0.141");
}

TEST(Spread, TakesTheUnitOfTheLarger) {
  EXPECT_EQ(spread(Quantity::rate, Seeds{0, 0, 3000}), "1.000 +- 1.732 kbit/s");
}

TEST(Spread, TakesTheNextUnitWhereItWouldOverflow) {
  EXPECT_EQ(spread(Quantity::rate, Seeds{999'949, 999'948}), "999.9 +- 0.0 kbit/s");
  EXPECT_EQ(spread(Quantity::rate, Seeds{999'950, 999'951}), "1.000 +- 0.000 Mbit/s");
}

TEST(Spread, SaysHowManySeedsHaveAValue) {
  EXPECT_EQ(spread(Quantity::duration, Seeds{3, {}, 4}), "3.500 +- 0.707 s (2 of 3)");
  EXPECT_EQ(spread(Quantity::duration, Seeds{3, {}, 3}), "3 s (2 of 3)");
}

}  // namespace
}  // namespace surety::lab
