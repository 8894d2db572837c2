// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/errands.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

using namespace std::chrono_literals;

TEST(Errands, WhoWantsOneDoesItHimselfWhereNobodyRuns) {
  Errands errands;
  std::thread::id by;
  EXPECT_TRUE(errands.run([&] { by = std::this_thread::get_id(); }, [] {}));
  EXPECT_EQ(by, std::this_thread::get_id());
}

TEST(Errands, TheOwnerDoesItBetweenTurnsAndIsWoken) {
  Errands errands;
  std::atomic<bool> woken{false}, stop{false};
  std::thread owner([&] {
    errands.start();
    while (!stop)
      if (woken) errands.serve();
    errands.stop();
  });
  while (!errands.running()) std::this_thread::yield();
  std::thread::id by;
  EXPECT_TRUE(errands.run([&] { by = std::this_thread::get_id(); }, [&] { woken = true; }));
  EXPECT_EQ(by, owner.get_id());
  EXPECT_FALSE(errands.wanted());
  stop = true;
  owner.join();
}

TEST(Errands, WhatIsNotDoneInTimeIsNeverDone) {
  Errands errands;
  errands.start();
  bool done = false;
  EXPECT_FALSE(errands.run([&] { done = true; }, [] {}, 1ms));
  errands.serve();
  EXPECT_FALSE(done);
}

TEST(Errands, OneThatWaitsForAnOwnerThatStopsIsDone) {
  Errands errands;
  errands.start();
  bool done = false;
  EXPECT_TRUE(errands.run([&] { done = true; }, [&] { errands.stop(); }));
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace surety
