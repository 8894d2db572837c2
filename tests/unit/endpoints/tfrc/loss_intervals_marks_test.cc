// SPDX-License-Identifier: BSD-3-Clause
// Congestion marks in the history of losses (RFC 5348 5.1).
#include "tests/unit/endpoints/tfrc/loss_path.h"

namespace surety::endpoints {
namespace {

using Path = test::LossPath;
using Intervals = test::Intervals;

TEST(LossIntervals, AMarkIsALossEventAtOnce) {
  Path p;
  p.send(100);
  const auto a = p.mark();  // 1100
  EXPECT_TRUE(a.new_loss_event);
  EXPECT_EQ(a.newly_lost, 0u);
  EXPECT_EQ(p.history.loss_events(), 1u);
  EXPECT_EQ(p.history.lost(), 0u) << "it has arrived";
  EXPECT_TRUE(p.history.wants_first_interval());
  EXPECT_EQ(p.intervals(), (Intervals{{0, 1}, {100, 0}}));
  p.send(3);
  EXPECT_EQ(p.intervals(), (Intervals{{3, 1}, {100, 0}}));
}

TEST(LossIntervals, MarksOfARoundTripAreOneEvent) {
  Path p;
  p.send(100);
  EXPECT_TRUE(p.mark().new_loss_event);
  p.send(48);
  EXPECT_FALSE(p.mark().new_loss_event) << "1149: 4 quarters later, no more";
  EXPECT_TRUE(p.mark().new_loss_event) << "1150: 5";
  EXPECT_EQ(p.history.loss_events(), 2u);
  EXPECT_EQ(p.intervals(), (Intervals{{0, 1}, {0, 50}, {100, 0}}));
}

TEST(LossIntervals, MarksGiveTheRateThatLossesGive) {
  Path p;
  for (int i = 0; i < 20; ++i) p.send(99), p.mark();
  EXPECT_DOUBLE_EQ(p.history.loss_event_rate(), 0.01);
}

// A hole below is decided first: the loss is the event, and the mark belongs to it.
TEST(LossIntervals, AMarkAboveAHoleWaitsForIt) {
  Path p;
  p.send(100);
  p.lose(1);  // 1100
  EXPECT_FALSE(p.mark().new_loss_event);
  EXPECT_FALSE(p.arrive(p.next++).new_loss_event);
  EXPECT_EQ(p.history.loss_events(), 0u);
  const auto a = p.arrive(p.next++);
  EXPECT_TRUE(a.new_loss_event);
  EXPECT_EQ(a.newly_lost, 1u);
  EXPECT_EQ(p.history.loss_events(), 1u);
  EXPECT_EQ(p.intervals(), (Intervals{{2, 2}, {100, 0}}));
}

TEST(LossIntervals, AMarkAboveAHoleThatFillsCountsThen) {
  Path p;
  p.send(100);
  EXPECT_FALSE(p.arrive(1101, true).new_loss_event);
  EXPECT_TRUE(p.arrive(1100).new_loss_event);
  EXPECT_EQ(p.intervals(), (Intervals{{0, 1}, {101, 0}}));
}

// Of a flow that sends less than a packet in a round-trip time each loss and each mark is an event.
TEST(LossIntervals, SlowMarksAndLossesAreEventsEach) {
  LossIntervals h;
  const auto arrive = [&](std::uint64_t sequence, bool marked = false) {
    return h.on_packet(sequence, static_cast<std::uint8_t>(5 * sequence % 16), marked);
  };
  for (std::uint64_t s = 1; s <= 20; ++s) arrive(s);
  arrive(22, true);
  arrive(23);
  EXPECT_TRUE(arrive(24).new_loss_event);
  EXPECT_EQ(h.loss_events(), 2u);
  EXPECT_EQ(h.lost(), 1u);
}

TEST(LossIntervals, AMarkThatComesTwiceOrTooLateIsNone) {
  Path p;
  p.send(100);
  EXPECT_TRUE(p.arrive(1099, true).duplicate);
  EXPECT_EQ(p.history.loss_events(), 0u);
  p.lose(1);  // 1100
  p.send(10);
  EXPECT_EQ(p.history.loss_events(), 1u);
  EXPECT_FALSE(p.arrive(1100, true).new_loss_event) << "its event stays";
  EXPECT_EQ(p.history.loss_events(), 1u);
  LossIntervals first;
  EXPECT_FALSE(first.on_packet(7, 0, true).new_loss_event) << "no interval before it";
}

}  // namespace
}  // namespace surety::endpoints
