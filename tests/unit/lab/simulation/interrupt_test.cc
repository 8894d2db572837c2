// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>
#include <initializer_list>

namespace surety::lab {
namespace {

TEST(LabInterrupt, BeforeASignalThereIsNothing) {
  const Interrupt interrupt;
  EXPECT_FALSE(*interrupt.stop());
  EXPECT_EQ(interrupt.status(), 0);
}

TEST(LabInterrupt, TheFirstSignalIsOnlyNoted) {
  for (const int number : {SIGINT, SIGTERM}) {
    const Interrupt interrupt;
    std::raise(number);
    EXPECT_TRUE(*interrupt.stop());
    EXPECT_EQ(interrupt.status(), 128 + number);
  }
}

TEST(LabInterrupt, ANewOneKnowsNothingOfTheOneBefore) {
  {
    const Interrupt interrupt;
    std::raise(SIGINT);
  }
  const Interrupt interrupt;
  EXPECT_FALSE(*interrupt.stop());
  EXPECT_EQ(interrupt.status(), 0);
}

TEST(LabInterruptDeathTest, TheSecondSignalEndsTheProcess) {
  const Interrupt interrupt;
  std::raise(SIGINT);
  EXPECT_EXIT(std::raise(SIGINT), testing::KilledBySignal(SIGINT), "");
}

TEST(LabInterruptDeathTest, WithoutItSignalsDoWhatTheyAlwaysDo) {
  { const Interrupt interrupt; }
  EXPECT_EXIT(std::raise(SIGTERM), testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace surety::lab
