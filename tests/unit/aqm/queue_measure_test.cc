// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/queue_measure.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

QueueMeasure measure(std::uint32_t limit, std::uint32_t beyond) {
  return QueueMeasure({.limit = limit, .rio = {}, .beyond = beyond});
}

TEST(QueueMeasure, InPacketsSizesDoNotCount) {
  const QueueMeasure m = measure(10, 0);
  EXPECT_EQ(m.level(7, 7 * 46), 7);
  EXPECT_EQ(m.step(46), 1);
  EXPECT_EQ(m.places(), 10u);
  EXPECT_FALSE(m.full(Precedence::in, 9, 9 * 9000));
  EXPECT_TRUE(m.full(Precedence::in, 10, 10 * 46));
}

TEST(QueueMeasure, ByBytesAPacketCountsWithAtMost1500) {
  EXPECT_EQ(QueueMeasure::counted(46), 46u);
  EXPECT_EQ(QueueMeasure::counted(1500), 1500u);
  EXPECT_EQ(QueueMeasure::counted(9000), 1500u);
  const QueueMeasure m = measure(10, 10);
  EXPECT_DOUBLE_EQ(m.level(30, 3000), 2);
  EXPECT_EQ(m.level(4, 6000), 4) << "exactly: thresholds are whole numbers";
  EXPECT_EQ(m.level(0, 0), 0);
  EXPECT_DOUBLE_EQ(m.step(750), 0.5);
  EXPECT_EQ(m.step(9000), 1);
}

TEST(QueueMeasure, ByBytesThereIsRoomBeyondTheLimitWhileFewBytesWait) {
  const QueueMeasure m = measure(10, 70);
  EXPECT_EQ(m.places(), 80u);
  EXPECT_FALSE(m.full(Precedence::in, 9, 90'000)) << "whatever their sizes";
  EXPECT_FALSE(m.full(Precedence::in, 10, 14'999));
  EXPECT_TRUE(m.full(Precedence::in, 10, 15'000));
  EXPECT_FALSE(m.full(Precedence::in, 79, 79 * 46));
  EXPECT_TRUE(m.full(Precedence::in, 80, 80 * 46));
}

TEST(QueueMeasure, OneCustomerGetsEightNinthsOfTheFurtherPlaces) {
  EXPECT_EQ(measure(10, 70).places_of_one(), 73u) << "10 + 63: 62 < 8 * 8, 63 > 8 * 7";
  EXPECT_EQ(measure(10, 1).places_of_one(), 11u);
  EXPECT_EQ(measure(10, 0).places_of_one(), 10u);
  EXPECT_FALSE(measure(10, 70).beyond(9));
  EXPECT_TRUE(measure(10, 70).beyond(10));
  EXPECT_FALSE(measure(10, 0).beyond(10)) << "there are no further places";
}

TEST(QueueMeasure, HasNoMoreThanItsPlaces) {
  const QueueMeasure m = measure(10, 10).within(15);
  EXPECT_EQ(m.packets(Precedence::in), 10u);
  EXPECT_EQ(m.places(), 15u);
  EXPECT_TRUE(m.full(Precedence::in, 15, 690));
  EXPECT_EQ(measure(10, 10).within(7).packets(Precedence::in), 7u);
}

TEST(QueueMeasure, OutPacketsLeaveRoomToInOnes) {
  const QueueMeasure m({.limit = 10, .rio = {}, .beyond = 20, .reserved = 4});
  EXPECT_EQ(m.places(), 30u);
  EXPECT_FALSE(m.full(Precedence::out, 5, 5 * 9000));
  EXPECT_TRUE(m.full(Precedence::out, 6, 9'000)) << "as many bytes as six full packets";
  EXPECT_FALSE(m.full(Precedence::out, 6, 8'999));
  EXPECT_FALSE(m.full(Precedence::out, 17, 17 * 46));
  EXPECT_TRUE(m.full(Precedence::out, 18, 18 * 46)) << "three fifths of the places";
  EXPECT_FALSE(m.full(Precedence::in, 9, 90'000));
  EXPECT_FALSE(m.full(Precedence::in, 29, 29 * 46));
  const QueueMeasure few = m.within(8);
  EXPECT_FALSE(few.full(Precedence::in, 7, 7 * 46));
  EXPECT_TRUE(few.full(Precedence::in, 8, 8 * 46));
}

}  // namespace
}  // namespace surety
