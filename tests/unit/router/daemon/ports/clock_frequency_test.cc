// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace surety {
namespace {

using namespace std::chrono_literals;

// Found by a round trip over 636 ms of delay that took 635.3 ms: DPDK's 2600 MHz were 2596.
TEST(TscFrequency, TheClockOfTheDataPlaneIsThatOfTheKernel) {
  const TscClock clock;
  const TscReading begin = read_tsc();
  std::this_thread::sleep_for(200ms);
  const TscReading end = read_tsc();
  const auto passed = static_cast<double>(end.ns - begin.ns);
  const auto counted = static_cast<double>((clock.at(end.tsc) - clock.at(begin.tsc)).count());
  const auto uncertain = static_cast<double>(begin.uncertain + end.uncertain);
  EXPECT_NEAR(counted, passed, 20e-6 * passed + uncertain);
}

TEST(TscFrequency, IsTheSameAtEachCall) {
  EXPECT_EQ(tsc_hz(), tsc_hz());
  EXPECT_GT(tsc_hz(), 1e8);
}

}  // namespace
}  // namespace surety
