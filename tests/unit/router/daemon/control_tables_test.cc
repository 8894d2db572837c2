// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control_tables.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace surety {
namespace {

using namespace std::chrono_literals;

TEST(CopyRequest, NothingIsDoneUntilSomebodyAsks) {
  CopyRequest<int> request;
  EXPECT_FALSE(request.work([](int&) { return ADD_FAILURE(), false; }));
}

TEST(CopyRequest, IsMadeStepByStepForEachWhoAsks) {
  CopyRequest<int> request;
  std::atomic<bool> stop{false};
  std::atomic<int> rounds{0};
  std::thread maker([&] {
    while (!stop) rounds += request.work([](int& copy) { return ++copy < 5; });
  });
  EXPECT_EQ(request.fetch(60s), 5);
  EXPECT_EQ(request.fetch(60s), 5) << "made anew";
  stop = true;
  maker.join();
  EXPECT_EQ(rounds, 8) << "there was more to do four times each";
}

TEST(CopyRequest, WhoGetsNoAnswerGoesOn) {
  CopyRequest<int> request;
  EXPECT_EQ(request.fetch(1ms), std::nullopt);
  EXPECT_FALSE(request.work([](int& copy) { return copy = 7, false; })) << "too late";
  EXPECT_EQ(request.fetch(1ms), std::nullopt) << "what came too late is not believed";
}

}  // namespace
}  // namespace surety
