// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/papers/experiment_band.h"

#include <gtest/gtest.h>

#include <limits>

namespace surety::lab {
namespace {

bool holds(std::string_view band, double x) {
  const auto b = Band::parse(band);
  EXPECT_TRUE(b) << band;
  return b && b->holds(x);
}

TEST(Band, HoldsItsBounds) {
  for (const double x : {630.0, 650.0, 700.0}) EXPECT_TRUE(holds("630 - 700", x)) << x;
  for (const double x : {629.99, 700.01}) EXPECT_FALSE(holds("630 - 700", x)) << x;
  EXPECT_TRUE(holds(">= 770", 770));
  EXPECT_FALSE(holds(">=770", 769.9));
  EXPECT_TRUE(holds("<= 0.4", 0.4));
  EXPECT_FALSE(holds("<= 0.4", 0.41));
}

TEST(Band, OpenBoundsAreOutside) {
  EXPECT_FALSE(holds("> 15", 15));
  EXPECT_TRUE(holds("> 15", 15.1));
  EXPECT_FALSE(holds("< 120", 120));
  EXPECT_TRUE(holds("< 120", 119));
}

TEST(Band, OneValue) {
  EXPECT_TRUE(holds("= 6244", 6244));
  EXPECT_FALSE(holds("= 6244", 6244.01));
}

TEST(Band, NegativeNumbers) {
  EXPECT_TRUE(holds("-2 - -1", -1.5));
  EXPECT_FALSE(holds("-2 - 1", -2.5));
}

TEST(Band, NullIsInNone) {
  for (const char* band : {"630 - 700", ">= 0", "< 1", "= 0"})
    EXPECT_FALSE(holds(band, std::numeric_limits<double>::quiet_NaN())) << band;
}

TEST(Band, KeepsItsText) {
  EXPECT_EQ(Band::parse("  >=  770 ").value().text(), ">=  770");
}

TEST(Band, RefusesWhatIsNone) {
  for (const char* text : {"", "none", "770", "700 - 630", "630-700", "1 - ", " - 2", ">=", ">= x", "<= 1 %",
                           "= 1 2", ">= inf", "~5"})
    EXPECT_FALSE(Band::parse(text)) << text;
}

}  // namespace
}  // namespace surety::lab
