// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/turn_meter.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

TEST(TurnMeter, EachCycleIsCountedOnceForTheTurnThatTookIt) {
  TurnMeter meter(1000);
  EXPECT_EQ(meter.last(), 1000u);
  meter.count(1010, true);
  EXPECT_TRUE(meter.worked());
  meter.count(1110, false);
  EXPECT_FALSE(meter.worked());
  meter.count(1115, true);
  EXPECT_EQ(meter.counters().turns, 3u);
  EXPECT_EQ(meter.counters().busy_cycles, 100u) << "of the first turn";
  EXPECT_EQ(meter.counters().idle_cycles, 10u + 5u) << "before the first turn, and of the second one";
  EXPECT_EQ(meter.last(), 1115u);
}

}  // namespace
}  // namespace surety
