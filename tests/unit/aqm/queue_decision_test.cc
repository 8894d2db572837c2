// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/queue_decision.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

constexpr Time kStart{};
constexpr QueueContent kFive{.packets = 5, .in_packets = 2, .counted = 500, .in_counted = 200};
constexpr auto kHasPlace = [] { return false; };  // as `no_place`

// Averages are what the arrival meets.
ActiveQueueParams params(double min, double max) {
  const RedParams red{.min = min, .max = max, .pmax = Probability(1)};
  return {.limit = 10, .rio = RioParams{.weight = 1, .in = red, .out = red}};
}

TEST(Admission, NamesTheVerdictBeforeTheLackOfRoom) {
  struct {
    RioVerdict verdict;
    bool full, admitted, mark;
    DropReason drop;
  } const cases[] = {{RioVerdict::accept, false, true, false, DropReason::none},
                     {RioVerdict::accept, true, false, false, DropReason::overflow},
                     {RioVerdict::mark, false, true, true, DropReason::none},
                     {RioVerdict::mark, true, false, false, DropReason::overflow},
                     {RioVerdict::early, false, false, false, DropReason::early},
                     {RioVerdict::early, true, false, false, DropReason::early},
                     {RioVerdict::forced, false, false, false, DropReason::forced},
                     {RioVerdict::forced, true, false, false, DropReason::forced}};
  for (const auto& c : cases) {
    const Admission admission{c.verdict, CongestionEvent::none, c.full};
    EXPECT_EQ(admission.admitted(), c.admitted);
    EXPECT_EQ(admission.result().mark, c.mark);
    EXPECT_EQ(admission.result().drop, c.drop);
    QueueCounters counters;
    admission.count(counters);
    EXPECT_EQ(counters.early_drops + counters.forced_drops + counters.overflow_drops, c.admitted ? 0u : 1u);
    EXPECT_EQ(counters.ecn_marks, c.mark ? 1u : 0u);
  }
}

TEST(QueueDecision, AQueueWithoutRioIsFullAtItsLimitOrWithoutAPlace) {
  const QueueRules rules({.limit = 6, .rio = {}});
  QueueDecision decision(1);
  const auto admitted = [&](QueueContent waits, bool no_place) {
    return decision
        .arrive(
            rules, waits, Precedence::out, false, [&] { return no_place; }, kStart)
        .admitted();
  };
  EXPECT_TRUE(admitted(kFive, false));
  EXPECT_FALSE(admitted(kFive, true));
  EXPECT_FALSE(admitted({.packets = 6, .in_packets = 0, .counted = 600, .in_counted = 0}, false));
  EXPECT_EQ(decision.refusal(rules, kFive, Precedence::out, true, kStart), 1);
  EXPECT_EQ(decision.refusal(rules, kFive, Precedence::out, false, kStart), 0);
}

TEST(QueueDecision, AnOutArrivalAboveTheMinimumIsTheOnsetOfCongestion) {
  const QueueRules rules(params(4, 100));
  QueueDecision decision(1);
  const auto event = [&](Precedence precedence) {
    return decision.arrive(rules, kFive, precedence, false, kHasPlace, kStart).event;
  };
  EXPECT_EQ(event(Precedence::in), CongestionEvent::none);
  EXPECT_TRUE(decision.congested(rules));
  EXPECT_EQ(event(Precedence::out), CongestionEvent::onset);
  EXPECT_EQ(event(Precedence::out), CongestionEvent::none);
}

TEST(QueueDecision, ARedArrivalIsNoOutArrivalOfCsa) {
  ActiveQueueParams three = params(4, 100);
  three.rio->red = three.rio->out;
  const QueueRules rules(three);
  QueueDecision decision(1);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(decision.arrive(rules, kFive, Precedence::red, false, kHasPlace, kStart).event,
              CongestionEvent::none);
  EXPECT_TRUE(decision.congested(rules));
}

TEST(QueueDecision, ShowsTheAveragesOfARioOnly) {
  const QueueRules with(params(100, 200)), without({.limit = 10, .rio = {}});
  QueueDecision decision(1);
  decision.arrive(with, kFive, Precedence::in, false, kHasPlace, kStart);
  const QueueStatus status = decision.status(with, kFive, {}, {});
  EXPECT_TRUE(status.has_rio);
  EXPECT_EQ(status.average_in, 2);
  EXPECT_EQ(status.average_total, 5);
  EXPECT_EQ(status.level, 5);
  EXPECT_EQ(status.depth, (std::array<std::uint32_t, kDropPrecedences>{2, 3, 0}));
  EXPECT_FALSE(decision.status(without, kFive, {}, {}).has_rio);
  EXPECT_EQ(decision.status(without, kFive, {}, {}).average_total, 0);
}

}  // namespace
}  // namespace surety
