// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/remote_call.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

using namespace std::chrono_literals;

TEST(RemoteCall, WhoWantsOneDoesItHimselfWhereNobodyRuns) {
  RemoteCall remote_call;
  std::thread::id by;
  EXPECT_TRUE(remote_call.run([&] { by = std::this_thread::get_id(); }, [] {}));
  EXPECT_EQ(by, std::this_thread::get_id());
}

TEST(RemoteCall, TheOwnerDoesItBetweenTurnsAndIsWoken) {
  RemoteCall remote_call;
  std::atomic<bool> woken{false}, stop{false};
  std::thread owner([&] {
    remote_call.start();
    while (!stop)
      if (woken) remote_call.serve();
    remote_call.stop();
  });
  while (!remote_call.running()) std::this_thread::yield();
  std::thread::id by;
  EXPECT_TRUE(remote_call.run([&] { by = std::this_thread::get_id(); }, [&] { woken = true; }));
  EXPECT_EQ(by, owner.get_id());
  EXPECT_FALSE(remote_call.wanted());
  stop = true;
  owner.join();
}

TEST(RemoteCall, WhatIsNotDoneInTimeIsNeverDone) {
  RemoteCall remote_call;
  remote_call.start();
  bool done = false;
  EXPECT_FALSE(remote_call.run([&] { done = true; }, [] {}, 1ms));
  remote_call.serve();
  EXPECT_FALSE(done);
}

TEST(RemoteCall, StepsAreRunOnePerTurn) {
  RemoteCall remote_call;
  remote_call.start();
  int steps = 0, turns = 0;
  std::thread asks([&] { EXPECT_TRUE(remote_call.run_in_steps([&] { return ++steps == 3; }, [] {})); });
  while (!remote_call.wanted()) std::this_thread::yield();
  for (; remote_call.wanted(); ++turns) remote_call.serve();
  asks.join();
  EXPECT_EQ(turns, 3);
  EXPECT_EQ(steps, 3);
}

TEST(RemoteCall, StepsThatAnOwnerLeavesAreDoneByTheCaller) {
  RemoteCall remote_call;
  remote_call.start();
  int steps = 0;
  const auto leave = [&] {
    remote_call.serve();
    remote_call.stop();
  };
  EXPECT_TRUE(remote_call.run_in_steps([&] { return ++steps == 3; }, leave));
  EXPECT_EQ(steps, 3);
}

TEST(RemoteCall, OneThatWaitsForAnOwnerThatStopsIsDone) {
  RemoteCall remote_call;
  remote_call.start();
  bool done = false;
  EXPECT_TRUE(remote_call.run([&] { done = true; }, [&] { remote_call.stop(); }));
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace surety
