// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/engine/sequence_window.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace surety::endpoints {
namespace {

using enum SequenceWindow::Arrival;

struct SequenceWindowTest : testing::Test {
  SequenceWindow w;
  void give(std::initializer_list<std::uint32_t> sequences) {
    for (const auto s : sequences) w.on_packet(s);
  }
  void run(std::uint32_t from, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) w.on_packet(from + i);
  }
};

TEST_F(SequenceWindowTest, InOrderNothingIsLost) {
  EXPECT_FALSE(w.started());
  EXPECT_EQ(w.lost(), 0u);
  for (std::uint32_t s = 0; s < 1000; ++s) ASSERT_EQ(w.on_packet(s), in_order);
  EXPECT_TRUE(w.started());
  EXPECT_EQ(w.lost(), 0u);
}

TEST_F(SequenceWindowTest, AGapIsLostUntilItIsFilled) {
  give({0, 1});
  EXPECT_EQ(w.on_packet(5), after_gap);
  EXPECT_EQ(w.lost(), 3u);
  EXPECT_EQ(w.on_packet(3), reordered);
  EXPECT_EQ(w.on_packet(3), duplicate);
  EXPECT_EQ(w.on_packet(5), duplicate);
  EXPECT_EQ(w.lost(), 2u);
  EXPECT_EQ(w.on_packet(6), in_order);
}

TEST_F(SequenceWindowTest, WhatIsLostBeforeTheFirstArrivalCounts) {
  EXPECT_EQ(w.on_packet(3), after_gap);
  EXPECT_EQ(w.lost(), 3u);
  EXPECT_EQ(w.on_packet(0), reordered);
  EXPECT_EQ(w.lost(), 2u);
}

TEST_F(SequenceWindowTest, AFlowFoundUnderwayBeginsWhereItIsFound) {
  EXPECT_EQ(w.on_packet(256), in_order);
  EXPECT_EQ(w.lost(), 0u);
  EXPECT_EQ(w.on_packet(255), duplicate) << "never expected";
  EXPECT_EQ(w.on_packet(257), in_order);
  EXPECT_EQ(w.lost(), 0u);
}

TEST_F(SequenceWindowTest, NothingComesBeforeNumberZero) {
  EXPECT_EQ(w.on_packet(0), in_order);
  EXPECT_EQ(w.on_packet(0xffffffff), duplicate);
  EXPECT_EQ(w.lost(), 0u);
}

TEST_F(SequenceWindowTest, TheWindowReachesBack255) {
  give({0, 1000});
  EXPECT_EQ(w.lost(), 999u);
  EXPECT_EQ(w.on_packet(745), reordered);
  EXPECT_EQ(w.on_packet(744), duplicate) << "too far back to tell";
  EXPECT_EQ(w.lost(), 998u);
}

TEST_F(SequenceWindowTest, AGapAsLongAsTheWindowForgetsAll) {
  run(0, 300);
  EXPECT_EQ(w.on_packet(299 + 256), after_gap);
  for (std::uint32_t s = 300; s < 299 + 256; ++s) ASSERT_EQ(w.on_packet(s), reordered) << s;
  EXPECT_EQ(w.lost(), 0u);
}

TEST_F(SequenceWindowTest, BitsOfTheLastRoundAreNotTakenForThisOne) {
  run(0, 256);
  give({300});
  for (std::uint32_t s = 256; s < 300; ++s) ASSERT_EQ(w.on_packet(s), reordered) << s;
  for (std::uint32_t s = 45; s < 301; ++s) ASSERT_EQ(w.on_packet(s), duplicate) << s;
}

TEST_F(SequenceWindowTest, NumbersWrap) {
  run(0xfffffff0, 16);
  EXPECT_EQ(w.on_packet(0), in_order);
  EXPECT_EQ(w.on_packet(0xffffffff), duplicate);
  EXPECT_EQ(w.on_packet(4), after_gap);
  EXPECT_EQ(w.lost(), 3u);
}

TEST_F(SequenceWindowTest, TwoInARowFromFarBehindAreANewBeginning) {
  run(0, 10'000);
  give({10'005});
  EXPECT_EQ(w.on_packet(2), duplicate);
  EXPECT_EQ(w.on_packet(3), restart);
  EXPECT_EQ(w.lost(), 2u) << "0 and 1 of the new flow";
  EXPECT_EQ(w.lost_in_all(), 7u);
  EXPECT_EQ(w.on_packet(4), in_order);
}

TEST_F(SequenceWindowTest, OneFromFarBehindIsNot) {
  run(0, 10'000);
  EXPECT_EQ(w.on_packet(2), duplicate);
  EXPECT_EQ(w.on_packet(10'000), in_order);
  EXPECT_EQ(w.on_packet(4), duplicate);
  EXPECT_EQ(w.on_packet(10'001), in_order);
  EXPECT_EQ(w.lost_in_all(), 0u);
}

TEST_F(SequenceWindowTest, ToldThatTheSenderHasBegunAnew) {
  give({0, 2});
  w.restart();
  EXPECT_FALSE(w.started());
  EXPECT_EQ(w.on_packet(0), in_order);
  EXPECT_EQ(w.lost(), 0u);
  EXPECT_EQ(w.lost_in_all(), 1u);
}

}  // namespace
}  // namespace surety::endpoints
