// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/worker_thread.h"

#include <gtest/gtest.h>

#include <thread>

namespace surety {
namespace {

TEST(WorkerThread, HasANumberAndServesCallsWhileItRuns) {
  WorkerThread worker;
  EXPECT_EQ(worker.id(), 0);
  worker.begin();
  EXPECT_EQ(worker.id(), ::gettid());
  EXPECT_TRUE(worker.calls().running());
  worker.end();
  EXPECT_EQ(worker.id(), 0);
  EXPECT_FALSE(worker.calls().running());
}

TEST(WorkerThread, EndsOnRequestWithTheDrainOfTheRequest) {
  WorkerThread worker;
  EXPECT_FALSE(worker.stopping());
  EXPECT_EQ(worker.drain(), Duration::max());
  std::thread([&] { worker.stop(std::chrono::milliseconds(5)); }).join();
  EXPECT_TRUE(worker.stopping());
  EXPECT_EQ(worker.drain(), std::chrono::milliseconds(5));
}

}  // namespace
}  // namespace surety
