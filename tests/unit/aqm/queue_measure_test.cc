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
  EXPECT_EQ(m.places(), 10u);
  EXPECT_FALSE(m.full(Precedence::in, 9, 9 * 9000));
  EXPECT_TRUE(m.full(Precedence::in, 10, 10 * 46));
  EXPECT_EQ(m.step(3, 3 * 46, 5, 5 * 9000), 1);
}

TEST(QueueMeasure, ByBytesTheLevelIsNeverAboveThePackets) {
  const QueueMeasure m = measure(10, 10);
  EXPECT_DOUBLE_EQ(m.level(30, 3000), 2);
  EXPECT_EQ(m.level(4, 6000), 4);
  EXPECT_EQ(m.level(4, 36'000), 4);
  EXPECT_EQ(m.level(0, 0), 0);
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

// What step() says is what level() does.
TEST(QueueMeasure, AStepIsWhatEachPacketAdds) {
  const QueueMeasure m = measure(10, 10);
  for (const std::uint32_t length : {46u, 750u, 1500u, 9000u})
    for (const std::uint32_t there : {0u, 46u, 1500u, 9000u}) {  // three of these wait
      const std::uint64_t bytes = 3 * there;
      const std::uint32_t packets = there > 0 ? 3 : 0;
      const auto step = m.step(packets, bytes, 8, 8 * length);
      const bool crosses = there == 46 && length == 9000;
      EXPECT_EQ(step.has_value(), !crosses) << there << ' ' << length;
      if (!step) continue;
      for (std::uint32_t n = 0; n <= 8; ++n)
        EXPECT_NEAR(m.level(packets + n, bytes + n * length), m.level(packets, bytes) + n * *step, 1e-12);
    }
  EXPECT_FALSE(m.step(3, 27'000, 40, 40 * 46)) << "first as many as the packets are, then as the bytes are";
}

}  // namespace
}  // namespace surety
