// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/episodes.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

using namespace std::chrono_literals;
using Change = Episodes::Change;

TEST(Episodes, BeginsOnceAndIsOverAfterQuiet) {
  Episodes e(10s);
  Time now{};
  EXPECT_EQ(e.look("a", false, now), Change::none);
  EXPECT_EQ(e.look("a", true, now), Change::began);
  EXPECT_EQ(e.look("a", true, now += 1s), Change::none);
  EXPECT_EQ(e.look("a", false, now += 5s), Change::none);
  EXPECT_EQ(e.look("a", true, now += 4s), Change::none) << "it goes on";
  EXPECT_EQ(e.look("a", false, now += 9s), Change::none);
  EXPECT_EQ(e.look("a", false, now += 1s), Change::over);
  EXPECT_EQ(e.look("a", false, now += 1s), Change::none);
  EXPECT_EQ(e.look("a", true, now += 1s), Change::began);
}

TEST(Episodes, EachIsItsOwn) {
  Episodes e(10s);
  EXPECT_EQ(e.look("a", true, Time{}), Change::began);
  EXPECT_EQ(e.look("b", true, Time{}), Change::began);
  EXPECT_EQ(e.size(), 2U);
  e.forget("a");
  e.forget("c");
  EXPECT_EQ(e.size(), 1U);
  EXPECT_EQ(e.look("a", true, Time{}), Change::began);
}

}  // namespace
}  // namespace surety
