// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/loss_intervals.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "conditioners/rng.h"
#include "tests/unit/endpoints/tfrc/loss_path.h"

namespace surety::endpoints {
namespace {

using Path = test::LossPath;
using Interval = LossIntervals::Interval;
using Intervals = test::Intervals;

// Worked by hand from 5.4 and 5.5 in exact fractions (Python's fractions), not by this code.
constexpr std::array<double, 8> kHistory{100, 90, 80, 70, 60, 50, 40, 30};
constexpr std::array<double, 8> kNoDiscount{1, 1, 1, 1, 1, 1, 1, 1};

TEST(LossIntervals, AverageAndDiscountAsComputedIndependently) {
  struct Row {
    double current, discount, average;
  };
  constexpr Row kRows[] = {{10, 1, 73.333333333333},           {100, 1, 81.666666666667},
                           {140, 1, 88.333333333333},          {150, 44.0 / 45, 90.226415094340},
                           {200, 11.0 / 15, 104.142857142857}, {400, 11.0 / 30, 191.647058823529},
                           {1000, 0.25, 487.777777777778},     {5000, 0.25, 2265.555555555556}};
  const double mean = mean_closed_interval(kHistory, kNoDiscount);
  EXPECT_NEAR(mean, 73.333333333333, 1e-9);
  for (const Row& r : kRows) {
    const double discount = general_discount(r.current, mean);
    EXPECT_NEAR(discount, r.discount, 1e-12) << r.current;
    EXPECT_NEAR(average_loss_interval(r.current, kHistory, kNoDiscount, discount), r.average, 1e-9)
        << r.current;
  }
}

TEST(LossIntervals, WithoutDiscountingTheOpenIntervalWeighsASixth) {
  EXPECT_NEAR(average_loss_interval(400, kHistory, kNoDiscount, 1), 131.666666666667, 1e-9);
}

TEST(LossIntervals, AverageUnderEarlierDiscounts) {
  constexpr std::array<double, 8> kDiscounts{1, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125, 0.125};
  const double mean = mean_closed_interval(kHistory, kDiscounts);
  EXPECT_NEAR(mean, 84.018691588785, 1e-9);
  EXPECT_EQ(general_discount(50, mean), 1);
  EXPECT_NEAR(average_loss_interval(50, kHistory, kDiscounts, 1), 84.018691588785, 1e-9);
  const double discount = general_discount(400, mean);
  EXPECT_NEAR(discount, 0.420093457944, 1e-9);
  EXPECT_NEAR(average_loss_interval(400, kHistory, kDiscounts, discount), 240.178693134633, 1e-9);
}

TEST(LossIntervals, AverageOfAShortHistory) {
  const auto average = [](std::size_t k, double current) {
    const auto h = std::span(kHistory).first(k);
    const auto d = std::span(kNoDiscount).first(k);
    return average_loss_interval(current, h, d, general_discount(current, mean_closed_interval(h, d)));
  };
  EXPECT_NEAR(average(1, 50), 100, 1e-9);
  EXPECT_NEAR(average(1, 900), 900, 1e-9);
  EXPECT_NEAR(average(2, 150), 125, 1e-9);
  EXPECT_NEAR(average(2, 900), 740, 1e-9);
  EXPECT_NEAR(average(3, 50), 90, 1e-9);
  EXPECT_NEAR(average(3, 900), 631.666666666667, 1e-9);
}

TEST(LossIntervals, NoLossNoRate) {
  Path p;
  EXPECT_EQ(p.intervals(), Intervals{});
  p.send(1);
  EXPECT_EQ(p.intervals(), (Intervals{{1, 0}}));
  p.send(499);
  EXPECT_EQ(p.history.loss_event_rate(), 0);
  EXPECT_EQ(p.history.lost(), 0u);
  EXPECT_FALSE(p.history.wants_first_interval());
  EXPECT_EQ(p.intervals(), (Intervals{{500, 0}}));
}

TEST(LossIntervals, WhatIsMissingAtTheEndIsLost) {
  const auto lost = [](std::initializer_list<std::uint64_t> arrive, std::uint64_t last) {
    LossIntervals history;
    for (const std::uint64_t sequence : arrive) history.on_packet(sequence, 0);
    history.end_at(last);
    EXPECT_EQ(history.loss_events(), 0u);
    return history.lost();
  };
  EXPECT_EQ(lost({}, 7), 0u);
  EXPECT_EQ(lost({1}, 2), 0u);
  EXPECT_EQ(lost({1}, 3), 1u);
  EXPECT_EQ(lost({1, 3}, 4), 1u);
  EXPECT_EQ(lost({1, 3}, 6), 3u);
  EXPECT_EQ(lost({1, 2, 3, 5, 7}, 8), 2u);
  EXPECT_EQ(lost({1, 2, 3, 5, 7}, 6), 2u);  // the end was overtaken
  EXPECT_EQ(lost({1, 2, 3, 5, 6, 4}, 7), 0u);
}

TEST(LossIntervals, LostOnlyWhenThreeLaterOnesHaveArrived) {
  Path p;
  p.send(100);
  p.lose(1);  // 1100
  for (int i = 0; i < 2; ++i) {
    const auto a = p.arrive(p.next++);
    EXPECT_EQ(a.newly_lost, 0u);
    EXPECT_FALSE(a.new_loss_event);
  }
  const auto a = p.arrive(p.next++);
  EXPECT_EQ(a.newly_lost, 1u);
  EXPECT_TRUE(a.new_loss_event);
  EXPECT_EQ(p.history.lost(), 1u);
  EXPECT_EQ(p.history.loss_events(), 1u);
  EXPECT_EQ(p.intervals(), (Intervals{{3, 1}, {100, 0}}));
}

TEST(LossIntervals, ReorderingByUpToTwoIsNoLoss) {
  Path p;
  p.send(10);
  for (const int late : {1, 2}) {
    const std::uint64_t base = p.next;
    for (int i = 1; i <= late; ++i) p.arrive(base + static_cast<std::uint64_t>(i));
    EXPECT_FALSE(p.arrive(base).duplicate);
    p.next = base + static_cast<std::uint64_t>(late) + 1;
    p.send(10);
  }
  EXPECT_EQ(p.history.lost(), 0u);
  EXPECT_EQ(p.history.loss_event_rate(), 0);
  EXPECT_EQ(p.intervals(), (Intervals{{35, 0}}));
}

TEST(LossIntervals, FirstPacketsOutOfOrderToo) {
  Path p;
  for (const std::uint64_t s : {1002u, 1001u, 1000u, 1003u, 1004u}) EXPECT_FALSE(p.arrive(s).duplicate);
  EXPECT_EQ(p.history.lost(), 0u);
  EXPECT_EQ(p.intervals(), (Intervals{{5, 0}}));
}

TEST(LossIntervals, ArrivingAfterBeingLostTakesTheLossBackButNotItsEvent) {
  Path p;
  p.send(100);
  p.lose(2);  // 1100, 1101
  p.send(5);
  EXPECT_EQ(p.history.lost(), 2u);
  const double rate = p.history.loss_event_rate();
  const auto late = p.arrive(1100);
  EXPECT_FALSE(late.duplicate || late.new_loss_event);
  EXPECT_EQ(p.history.lost(), 1u);
  EXPECT_TRUE(p.arrive(1100).duplicate);
  EXPECT_EQ(p.history.lost(), 1u);
  EXPECT_EQ(p.history.loss_event_rate(), rate);
}

TEST(LossIntervals, ReorderingAcrossALargeHole) {
  Path p;
  p.send(10);
  p.lose(200);
  const std::uint64_t base = p.next;
  EXPECT_FALSE(p.arrive(base + 100).duplicate);
  EXPECT_FALSE(p.arrive(base).duplicate);  // 100 numbers older than the newest, but not decided yet
  EXPECT_TRUE(p.arrive(base).duplicate);
  EXPECT_EQ(p.history.lost(), 0u);
  EXPECT_EQ(p.arrive(base + 101).newly_lost, 200u);
  EXPECT_TRUE(p.arrive(base).duplicate);
  EXPECT_TRUE(p.arrive(base - 1).duplicate);  // too old to tell
}

TEST(LossIntervals, DuplicatesChangeNothing) {
  Path p;
  p.send(100);
  p.lose(1);
  p.send(2);
  for (const std::uint64_t s : {1102u, 1101u, 1099u, 1050u, 1000u, 7u}) {
    EXPECT_TRUE(p.arrive(s).duplicate) << s;
  }
  EXPECT_EQ(p.history.lost(), 0u);  // had they counted, 1100 would be lost
  EXPECT_EQ(p.history.loss_events(), 0u);
}

TEST(LossIntervals, LossesWithinARoundTripAreOneEvent) {
  Path p;
  p.send(100);
  p.lose(1);
  p.send(20);
  p.lose(1);
  p.send(10);
  p.lose(3);
  p.send(10);
  EXPECT_EQ(p.history.lost(), 5u);
  EXPECT_EQ(p.history.loss_events(), 1u);
  EXPECT_EQ(p.intervals(), (Intervals{{10, 35}, {100, 0}}));
}

// The event's counter is 0: both neighbours of the first lost packet have it.
TEST(LossIntervals, NewEventBeginsMoreThanFourCountsLater) {
  struct Row {
    std::uint8_t before, after;
    bool begins;
  };
  // The lost packet's counter lies in the middle.
  for (const Row& r :
       {Row{3, 4, false}, Row{4, 4, false}, Row{3, 5, false}, Row{4, 5, true}, Row{5, 5, true}}) {
    LossIntervals h;
    std::uint64_t next = 0;
    const auto send = [&](std::uint8_t counter) { return h.on_packet(next++, counter); };
    for (int i = 0; i < 10; ++i) send(0);
    ++next;  // lost: 10
    for (int i = 0; i < 3; ++i) send(0);
    EXPECT_EQ(h.loss_events(), 1u);
    for (std::uint8_t c = 1; c <= r.before; ++c) send(c);
    const std::uint64_t second = next++;  // lost
    send(r.after);
    send(r.after);
    EXPECT_EQ(send(r.after).new_loss_event, r.begins) << int{r.before} << " " << int{r.after};
    std::array<Interval, 9> out;
    EXPECT_EQ(h.intervals(out), r.begins ? 3u : 2u);
    EXPECT_EQ(out[0].loss, r.begins ? 1 : second - 10 + 1);
  }
}

TEST(LossIntervals, CounterGoesRound) {
  Path p;
  for (int i = 0; i < 20; ++i) {  // 100 packets are 10 counts: the counter has gone round between losses
    p.send(99);
    p.lose(1);
  }
  p.send(3);
  EXPECT_EQ(p.history.loss_events(), 20u);
  EXPECT_EQ(p.intervals(),
            (Intervals{{3, 1}, {99, 1}, {99, 1}, {99, 1}, {99, 1}, {99, 1}, {99, 1}, {99, 1}, {99, 1}}));
  EXPECT_NEAR(p.history.loss_event_rate(), 0.01, 1e-12);
}

// 200 lost packets are five round-trip times of 40, in which the counter went round: 21 counts, so that a new
// event begins every floor(4 * 201 / 21) + 1 = 39 packets.
TEST(LossIntervals, AnOutageIsOneEventPerRoundTrip) {
  Path p;
  p.send(1000);
  p.lose(200);
  p.send(3);
  EXPECT_EQ(p.history.lost(), 200u);
  EXPECT_EQ(p.history.loss_events(), 6u);
  EXPECT_EQ(p.intervals(), (Intervals{{3, 5}, {0, 39}, {0, 39}, {0, 39}, {0, 39}, {0, 39}, {1000, 0}}));
}

TEST(LossIntervals, AnOutageLongerThanTheHistory) {
  Path p;
  p.per_tick = 1;
  p.send(1000);
  p.lose(4000);  // a round-trip time is 4 packets, an event every 5
  p.send(3);
  EXPECT_EQ(p.history.lost(), 4000u);
  EXPECT_EQ(p.history.loss_events(), 800u);
  EXPECT_EQ(p.intervals(),
            (Intervals{{3, 5}, {0, 5}, {0, 5}, {0, 5}, {0, 5}, {0, 5}, {0, 5}, {0, 5}, {0, 5}}));
  EXPECT_FALSE(p.history.wants_first_interval());
}

// A packet takes longer than a round-trip time: each one is five counts on, and each loss its own event.
TEST(LossIntervals, SlowSender) {
  LossIntervals h;
  std::uint64_t next = 0;
  const auto send = [&](int n) {
    for (; n > 0; --n, ++next) h.on_packet(next, next * 5 % 16);
  };
  send(300);
  next += 4;
  send(10);
  ++next;
  send(10);
  EXPECT_EQ(h.loss_events(), 5u);
  std::array<Interval, 9> out;
  ASSERT_EQ(h.intervals(out), 6u);
  EXPECT_EQ(out[1].lossless + out[1].loss, 11u);
  for (std::size_t i = 2; i < 5; ++i) EXPECT_EQ(out[i].lossless + out[i].loss, 1u) << i;
  EXPECT_EQ(out[5].lossless, 300u);
}

TEST(LossIntervals, FirstIntervalIsSynthesised) {
  Path p;
  p.send(20);
  p.lose(1);
  p.history.set_first_interval(7);  // nothing is wanted yet
  p.send(3);
  ASSERT_TRUE(p.history.wants_first_interval());
  EXPECT_DOUBLE_EQ(p.history.loss_event_rate(), 1.0 / 20);
  p.history.set_first_interval(250);
  EXPECT_FALSE(p.history.wants_first_interval());
  EXPECT_DOUBLE_EQ(p.history.loss_event_rate(), 1.0 / 250);
  p.history.set_first_interval(7);
  EXPECT_DOUBLE_EQ(p.history.loss_event_rate(), 1.0 / 250);
  EXPECT_EQ(p.intervals(), (Intervals{{3, 1}, {250, 0}}));
}

TEST(LossIntervals, FirstIntervalOfAnOutageIsTheOldest) {
  Path p;
  p.send(1000);
  p.lose(200);
  p.send(3);
  ASSERT_TRUE(p.history.wants_first_interval());
  p.history.set_first_interval(500);
  EXPECT_EQ(p.intervals().back(), (std::vector<std::uint64_t>{500, 0}));
  EXPECT_EQ(p.intervals()[5], (std::vector<std::uint64_t>{0, 39}));
}

TEST(LossIntervals, FirstIntervalIsAtLeastOnePacket) {
  Path p;
  p.send(1);
  p.lose(1);
  p.send(3);
  p.history.set_first_interval(0.2);
  EXPECT_LE(p.history.loss_event_rate(), 1);
}

// Nine events 100 packets apart: the synthesised interval has left the history.
TEST(LossIntervals, DiscountsTheHistoryInALongQuietTime) {
  Path p;
  for (int i = 0; i < 9; ++i) {
    p.send(99);
    p.lose(1);
  }
  p.send(150);
  EXPECT_NEAR(p.history.loss_event_rate(), 6.0 / (151 + 500), 1e-12);  // I_0 = 151, no discount
  p.send(849);
  // I_0 = 1000: DF = 1/4 (2 * 100 / 1000 is less). (1000 + 500 / 4) / (1 + 5 / 4) = 500 packets.
  EXPECT_NEAR(p.history.loss_event_rate(), 1.0 / 500, 1e-12);
  // The event that ends it takes the discount into the history: the same average, now of I_1 and older.
  p.lose(1);
  p.send(3);
  EXPECT_EQ(p.history.loss_events(), 10u);
  EXPECT_NEAR(p.history.loss_event_rate(), 1.0 / 500, 1e-12);
}

// Everything that a receiver can know, at the end: what RFC 5348 5.1 to 5.3 and RFC 4342 10.2 make of it.
std::vector<std::uint64_t> interval_lengths(const std::set<std::uint64_t>& arrived, const Path& path) {
  std::vector<std::uint64_t> starts;
  double event = 0;
  const std::uint64_t newest = *arrived.rbegin(), decided = *std::next(arrived.rbegin(), 2);
  for (auto a = arrived.begin(), b = std::next(a); *b <= decided; a = b++) {
    const auto ca = static_cast<double>(*a / path.per_tick), cb = static_cast<double>(*b / path.per_tick);
    for (std::uint64_t s = *a + 1; s < *b; ++s) {
      const double c = ca + (cb - ca) * static_cast<double>(s - *a) / static_cast<double>(*b - *a);
      if (!starts.empty() && c <= event + 4 + 1e-9) continue;
      starts.push_back(s);
      event = c;
    }
  }
  std::vector<std::uint64_t> lengths{newest + 1 - (starts.empty() ? *arrived.begin() : starts.back())};
  for (std::size_t i = starts.size(); i > 0 && lengths.size() < 9; --i) {
    lengths.push_back(starts[i - 1] - (i > 1 ? starts[i - 2] : *arrived.begin()));
  }
  return lengths;
}

TEST(LossIntervals, AgreesWithTheDefinitionWhateverIsLostAndReordered) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Rng rng(seed);
    const auto below = [&](std::uint64_t n) { return rng.next() % n; };
    Path p;
    p.per_tick = 1 + below(30);
    std::vector<std::uint64_t> arrivals;
    for (std::uint64_t s = 1000; s < 4000; ++s) {
      if (s > 1500 && below(60) == 0) s += 1 + below(12 * p.per_tick);
      arrivals.push_back(s);
    }
    for (std::size_t i = 3; i + 3 < arrivals.size(); i += 3) {
      if (below(4) == 0) std::swap(arrivals[i], arrivals[i + 1 + below(2)]);
    }
    for (const std::uint64_t s : arrivals) EXPECT_FALSE(p.arrive(s).duplicate) << s;
    std::vector<std::uint64_t> lengths;
    for (const auto& i : p.intervals()) lengths.push_back(i[0] + i[1]);
    const std::set<std::uint64_t> arrived(arrivals.begin(), arrivals.end());
    EXPECT_EQ(lengths, interval_lengths(arrived, p)) << "seed " << seed;
    const std::uint64_t decided = *std::next(arrived.rbegin(), 2);
    EXPECT_EQ(p.history.lost(), decided + 1 - 1000 - (arrived.size() - 2)) << "seed " << seed;
  }
}

TEST(LossIntervals, AnythingMayArrive) {
  Rng rng(7);
  LossIntervals h;
  std::uint64_t sequence = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t jump = (std::uint64_t{rng.next()} << 32 | rng.next()) >> rng.next() % 64;
    sequence = rng.next() % 4 == 0 ? jump : (sequence + jump % 4096) & 0xffff'ffff'ffff;
    h.on_packet(sequence, static_cast<std::uint8_t>(rng.next()), rng.next() % 8 == 0);
    const double p = h.loss_event_rate();
    ASSERT_TRUE(p >= 0 && p <= 1) << i << ": " << p;
    if (i % 100 == 0) h.set_first_interval(static_cast<double>(rng.next() % 1000));
  }
}

}  // namespace
}  // namespace surety::endpoints
