// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/lost_part.h"

#include <gtest/gtest.h>

namespace surety::endpoints {
namespace {

TEST(LostPart, NothingIsKnownOfAFewPackets) {
  LostPart lost;
  lost.on_report(49, 0);
  EXPECT_EQ(lost.value(), 0);
  lost.on_report(2, 0);
  EXPECT_EQ(lost.value(), 1);
}

TEST(LostPart, IsThePartThatDidNotArrive) {
  LostPart lost;
  for (int i = 0; i < 100; ++i) lost.on_report(20, 19);
  EXPECT_NEAR(lost.value(), 0.05, 1e-12);
}

// The reports of windows that overlap are uneven; only the sum counts.
TEST(LostPart, MoreInOneReportMakesUpForLessInAnother) {
  LostPart lost;
  for (int i = 0; i < 100; ++i) {
    lost.on_report(10, 12);
    lost.on_report(10, 8);
  }
  EXPECT_NEAR(lost.value(), 0, 0.005);
  lost = {};
  lost.on_report(100, 120);
  EXPECT_EQ(lost.value(), 0);  // never negative
}

// After 500 packets without loss 1/e of the former part is left.
TEST(LostPart, ForgetsInFiveHundredPackets) {
  LostPart lost;
  for (int i = 0; i < 10'000; ++i) lost.on_report(1, 0.9);
  EXPECT_NEAR(lost.value(), 0.1, 1e-9);
  for (int i = 0; i < 500; ++i) lost.on_report(1, 1);
  EXPECT_NEAR(lost.value(), 0.1 * 0.3675, 1e-4);  // (1 - 1/500)^500
}

TEST(LostPart, AReportOfManyPacketsReplacesAll) {
  LostPart lost;
  lost.on_report(400, 200);
  lost.on_report(600, 570);
  EXPECT_NEAR(lost.value(), 0.05, 1e-12);
}

}  // namespace
}  // namespace surety::endpoints
