// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/memif/port.h"

#include <gtest/gtest.h>

#include <thread>

namespace surety {
namespace {

TEST(BurstGate, IsMadeShut) {
  BurstGate gate;
  EXPECT_FALSE(gate.enter(0));
  EXPECT_FALSE(gate.enter(BurstGate::kLanes - 1));
}

TEST(BurstGate, LetsEachLaneInOnceOpen) {
  BurstGate gate;
  gate.open();
  EXPECT_TRUE(gate.enter(0));
  EXPECT_TRUE(gate.enter(1)) << "lanes do not wait for each other";
  gate.leave(0);
  EXPECT_TRUE(gate.enter(0));
  gate.leave(0);
  gate.leave(1);
}

TEST(BurstGate, KeepsEverybodyOutWhileShut) {
  BurstGate gate;
  gate.open();
  gate.shut();
  for (std::size_t lane = 0; lane < BurstGate::kLanes; ++lane) EXPECT_FALSE(gate.enter(lane)) << lane;
  gate.open();
  EXPECT_TRUE(gate.enter(3));
  gate.leave(3);
}

TEST(BurstGate, ShutAndOpenMayBeRepeated) {
  BurstGate gate;
  gate.shut();  // as it was made
  gate.open();
  EXPECT_TRUE(gate.enter(0));
  gate.open();  // lets nobody in beside the one inside
  EXPECT_FALSE(gate.enter(0));
  gate.leave(0);
  gate.shut();
  gate.shut();
  EXPECT_FALSE(gate.enter(0));
}

// What a gate is for: whoever shuts it has the device alone. The plain counter shows a data race otherwise.
TEST(BurstGate, WhoShutsItIsAlone) {
  BurstGate gate;
  gate.open();
  int device = 0, bursts = 0;
  std::atomic<bool> over{false};
  std::jthread worker([&] {
    while (!over.load()) {
      if (!gate.enter(5)) continue;
      ++device;
      ++bursts;
      gate.leave(5);
    }
  });
  int seen = 0;
  for (int i = 0; i < 200; ++i) {
    gate.shut();
    const int before = device;
    std::this_thread::yield();
    EXPECT_EQ(device, before);
    device = 0;
    seen += before;
    gate.open();
  }
  over = true;
  worker.join();
  EXPECT_EQ(seen + device, bursts);
}

}  // namespace
}  // namespace surety
