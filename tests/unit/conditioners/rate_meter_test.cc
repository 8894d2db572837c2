// SPDX-License-Identifier: BSD-3-Clause
#include "conditioners/ard_marker.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

using namespace literals;

TEST(RateMeter, RateIsThatOfTheLastWholeInterval) {
  RateMeter meter;
  EXPECT_EQ(meter.rate(), 0);
  meter.count(1000);
  meter.count(500);
  EXPECT_EQ(meter.bytes(), 1500u);
  EXPECT_EQ(meter.rate(), 0);  // the interval still runs
  meter.close(500ms);
  EXPECT_EQ(meter.rate(), 3000);
  EXPECT_EQ(meter.bytes(), 0u);
  meter.count(1);
  EXPECT_EQ(meter.rate(), 3000);
  meter.close(100s);
  EXPECT_EQ(meter.rate(), 0.01);
  meter.close(100s);
  EXPECT_EQ(meter.rate(), 0);  // nothing came
}

TEST(RateMeter, CountsBeyond32Bits) {
  RateMeter meter;
  for (int i = 0; i < 3; ++i) meter.count(4'000'000'000u);
  EXPECT_EQ(meter.bytes(), 12'000'000'000u);
  meter.close(1s);
  EXPECT_EQ(meter.rate(), 12e9);
}

TEST(RateMeter, AnIntervalThatBeginsAnewForgetsWhatCame) {
  RateMeter meter;
  meter.count(1000);
  meter.close(1s);
  meter.count(500);
  meter.restart();
  EXPECT_EQ(meter.rate(), 1000) << "of the last whole one";
  meter.count(10);
  meter.close(1s);
  EXPECT_EQ(meter.rate(), 10);
}

}  // namespace
}  // namespace surety
