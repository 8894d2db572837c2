// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/rio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace surety {
namespace {

using namespace literals;

constexpr Time kStart{};

// Rules and state of one queue.
class Rio {
 public:
  Rio(const RioParams& params, std::uint64_t seed) : state_(seed), rules_(params) {}
  RioVerdict arrive(Precedence precedence, bool ecn_capable, double in_packets, double total_packets,
                    Time now) {
    return rules_.arrive(state_, precedence, ecn_capable, in_packets, total_packets, now);
  }
  bool accept_all(std::uint32_t ins, std::uint32_t outs, RioRules::Level in, RioRules::Level total,
                  Time now) {
    return rules_.accept_all(state_, ins, outs, in, total, now);
  }
  void depart(Precedence departed, std::uint32_t in_packets, std::uint32_t total_packets, Time now) {
    state_.depart(departed, in_packets, total_packets, now);
  }
  void settle(std::uint32_t in_packets, std::uint32_t total_packets, Time now) {
    rules_.settle(state_, in_packets, total_packets, now);
  }
  double refusal(Precedence precedence, double in_packets, double total_packets, Time now) const {
    return rules_.refusal(state_, precedence, in_packets, total_packets, now);
  }
  void adopt(const Rio& other) { rules_ = other.rules_; }
  double average_in() const { return rules_.average_in(state_); }
  double average_total() const { return rules_.average_total(state_); }
  bool congested() const { return rules_.congested(state_); }

 private:
  RioState state_;
  RioRules rules_;
};

RedParams red(double min, double max, double pmax) {
  return {.min = min, .max = max, .pmax = Probability(pmax)};
}

// With weight 1 an average is the occupancy that the arrival met: every test then sets the average at will.
RioParams instantaneous(RedParams in, RedParams out) {
  return {.weight = 1, .in = in, .out = out};
}

RioParams csa() {
  return {.in = red(70, 120, 0.01), .out = red(10, 60, 0.2)};
}

RioVerdict in(Rio& rio, std::uint32_t in_packets, std::uint32_t total, Time now = kStart) {
  return rio.arrive(Precedence::in, false, in_packets, total, now);
}
RioVerdict out(Rio& rio, std::uint32_t in_packets, std::uint32_t total, Time now = kStart) {
  return rio.arrive(Precedence::out, false, in_packets, total, now);
}

// ---- averages

TEST(RioAverage, AfterNArrivalsAtConstantOccupancyIsTheClosedForm) {
  for (const double weight : {0.002, 0.01, 0.5}) {
    Rio rio({.weight = weight, .in = red(1000, 2000, 0.1), .out = red(1000, 2000, 0.1)}, 1);
    for (int n = 1; n <= 3000; ++n) {
      in(rio, 20, 50);
      ASSERT_NEAR(rio.average_in(), 20 * (1 - std::pow(1 - weight, n)), 1e-9);
      ASSERT_NEAR(rio.average_total(), 50 * (1 - std::pow(1 - weight, n)), 1e-9);
    }
  }
}

TEST(RioAverage, OutArrivalsMoveTheTotalOnly) {
  Rio rio({.weight = 0.5, .in = red(1000, 2000, 0.1), .out = red(1000, 2000, 0.1)}, 1);
  out(rio, 20, 50);
  EXPECT_DOUBLE_EQ(rio.average_in(), 0);
  EXPECT_DOUBLE_EQ(rio.average_total(), 25);
  in(rio, 20, 50);
  EXPECT_DOUBLE_EQ(rio.average_in(), 10);
  EXPECT_DOUBLE_EQ(rio.average_total(), 37.5);
}

TEST(RioAverage, RefusedArrivalsCount) {
  Rio rio({.weight = 0.5, .in = red(1, 2, 1), .out = red(1, 2, 1)}, 1);
  EXPECT_EQ(out(rio, 0, 100), RioVerdict::forced);
  EXPECT_EQ(out(rio, 0, 100), RioVerdict::forced);
  EXPECT_DOUBLE_EQ(rio.average_total(), 75);
}

TEST(Rio, IsCongestedWhileTheTotalIsAboveTheOutMinimum) {
  Rio rio(instantaneous(red(70, 120, 0.01), red(10, 60, 0.2)), 1);
  EXPECT_FALSE(rio.congested());
  in(rio, 10, 10);
  EXPECT_FALSE(rio.congested());
  in(rio, 11, 11);  // by IN packets alone, too
  EXPECT_TRUE(rio.congested());
}

// ---- verdicts

TEST(Rio, InIsJudgedOnInPacketsAndOutOnAll) {
  Rio rio(instantaneous(red(70, 120, 0.01), red(10, 60, 0.2)), 1);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(in(rio, 70, 100000), RioVerdict::accept);
    ASSERT_EQ(out(rio, 61, 61), RioVerdict::forced);
    ASSERT_EQ(out(rio, 10, 10), RioVerdict::accept);
    ASSERT_EQ(in(rio, 121, 121), RioVerdict::forced);
  }
}

// How many packets from one refusal (exclusive) to the next (inclusive), at a constant average.
std::vector<int> spacings(Rio& rio, Precedence precedence, std::uint32_t occupancy, std::size_t n) {
  std::vector<int> result;
  for (int distance = 1; result.size() < n; ++distance) {
    if (rio.arrive(precedence, false, occupancy, occupancy, kStart) == RioVerdict::accept) continue;
    result.push_back(distance);
    distance = 0;
  }
  return result;
}

struct PaperCase {
  std::string name;
  RioParams params;
};

class RioOfThePapers : public testing::TestWithParam<PaperCase> {};

// Half way from min to max p_b is pmax/2 = 1/n, and the spacing of early drops is uniform on 1..n.
TEST_P(RioOfThePapers, SpacesEarlyDropsUniformly) {
  RioParams params = GetParam().params;
  params.weight = 1;
  for (const Precedence precedence : {Precedence::in, Precedence::out}) {
    const RedParams& curve = precedence == Precedence::in ? params.in : params.out;
    Rio rio(params, 7);
    constexpr std::size_t kDrops = 20000;
    const auto n = static_cast<std::size_t>(std::lround(2 / curve.pmax.value()));
    std::vector<int> seen(n + 1, 0);
    for (const int s :
         spacings(rio, precedence, static_cast<std::uint32_t>((curve.min + curve.max) / 2), kDrops)) {
      ASSERT_LE(static_cast<std::size_t>(s), n);
      ++seen[static_cast<std::size_t>(s)];
    }
    const double expected = static_cast<double>(kDrops) / static_cast<double>(n);
    double chi_squared = 0;
    for (std::size_t s = 1; s <= n; ++s)
      chi_squared += (seen[s] - expected) * (seen[s] - expected) / expected;
    const double freedom = static_cast<double>(n) - 1;
    EXPECT_LT(chi_squared, freedom + 4 * std::sqrt(2 * freedom));
  }
}

TEST_P(RioOfThePapers, AcceptsUpToMinAndRefusesAboveMax) {
  RioParams params = GetParam().params;
  params.weight = 1;
  for (const Precedence precedence : {Precedence::in, Precedence::out}) {
    const RedParams& curve = precedence == Precedence::in ? params.in : params.out;
    const auto min = static_cast<std::uint32_t>(curve.min), max = static_cast<std::uint32_t>(curve.max);
    Rio rio(params, 7);
    for (int i = 0; i < 1000; ++i) {
      ASSERT_EQ(rio.arrive(precedence, false, min, min, kStart), RioVerdict::accept);
      ASSERT_NE(rio.arrive(precedence, false, max, max, kStart), RioVerdict::forced);
      ASSERT_EQ(rio.arrive(precedence, false, max + 1, max + 1, kStart), RioVerdict::forced);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Papers, RioOfThePapers,
    testing::Values(PaperCase{"gtfrc", {.in = red(20, 40, 0.02), .out = red(10, 20, 0.1)}},
                    PaperCase{"csa", csa()},
                    PaperCase{"ard4", {.in = red(46, 60, 0.02), .out = red(20, 40, 0.05)}},
                    PaperCase{"ard20", {.in = red(180, 240, 0.02), .out = red(80, 160, 0.05)}},
                    PaperCase{"gtcp", {.in = red(40, 50, 0.02), .out = red(5, 15, 0.1)}}),
    [](const auto& param) { return param.param.name; });

// Of so many arrivals this is four deviations.
TEST(Rio, SaysHowLikelyItIsToRefuseWhatComesNext) {
  for (const Precedence p : {Precedence::in, Precedence::out}) {
    Rio rio(instantaneous(red(10, 30, 0.1), red(10, 30, 0.3)), 7);
    double expected = 0;
    int refused = 0;
    for (int n = 0; n < 200'000; ++n) {
      expected += rio.refusal(p, 20, 20, kStart);
      refused += rio.arrive(p, false, 20, 20, kStart) != RioVerdict::accept;
    }
    EXPECT_NEAR(refused / expected, 1, 0.02);
    EXPECT_EQ(rio.refusal(p, 10, 10, kStart), 0.0);
    EXPECT_EQ(rio.refusal(p, 31, 31, kStart), 1.0);
  }
}

TEST(Rio, CountsInAndOutApart) {
  Rio rio(instantaneous(red(10, 60, 0.2), red(10, 60, 0.2)), 3);
  std::array<int, kPrecedences> distance{}, longest{};
  for (int i = 0; i < 100000; ++i) {
    // Two OUT for each IN: a shared count would stretch the distances of one and shorten those of the other.
    const Precedence precedence = i % 3 == 0 ? Precedence::in : Precedence::out;
    int& d = distance[index(precedence)];
    ++d;
    if (rio.arrive(precedence, false, 35, 35, kStart) == RioVerdict::accept) continue;
    longest[index(precedence)] = std::max(longest[index(precedence)], d);
    d = 0;
  }
  EXPECT_EQ(longest[index(Precedence::in)], 10);
  EXPECT_EQ(longest[index(Precedence::out)], 10);
}

// Brings the count to 9 at p_b = 0.1: the next packet in the band is sure to be dropped.
Rio about_to_drop(std::uint64_t& seed) {
  for (;; ++seed) {
    Rio rio(instantaneous(red(10, 60, 0.2), red(10, 60, 0.2)), seed);
    int accepted = 0;
    while (accepted < 9 && out(rio, 0, 35) == RioVerdict::accept) ++accepted;
    if (accepted == 9) return rio;
  }
}

TEST(Rio, TheCountEndsWithTheBandInEitherDirection) {
  int after_nothing = 0, after_min = 0, after_max = 0;
  for (std::uint64_t seed = 0, n = 0; n < 2000; ++seed, ++n) {
    Rio a = about_to_drop(seed), b = a, c = a;
    out(b, 0, 10);
    out(c, 0, 61);
    after_nothing += out(a, 0, 35) == RioVerdict::early;
    after_min += out(b, 0, 35) == RioVerdict::early;
    after_max += out(c, 0, 35) == RioVerdict::early;
  }
  EXPECT_EQ(after_nothing, 2000);
  EXPECT_NEAR(after_min, 200, 60);  // p_b again; 4.5 standard deviations
  EXPECT_NEAR(after_max, 200, 60);
}

TEST(Rio, MarksInsteadOfEarlyDropsOnly) {
  RioParams params = instantaneous(red(10, 60, 0.2), red(10, 60, 0.2));
  Rio dropping(params, 5);
  params.ecn = true;
  Rio marking(params, 5), incapable(params, 5);
  int marks = 0;
  for (int i = 0; i < 10000; ++i) {
    const RioVerdict verdict = dropping.arrive(Precedence::out, true, 0, 40, kStart);
    ASSERT_EQ(out(incapable, 0, 40), verdict);
    ASSERT_EQ(marking.arrive(Precedence::out, true, 0, 40, kStart),
              verdict == RioVerdict::early ? RioVerdict::mark : verdict);
    marks += verdict == RioVerdict::early;
    ASSERT_EQ(marking.arrive(Precedence::in, true, 61, 61, kStart), RioVerdict::forced);
  }
  EXPECT_GT(marks, 1000);
}

TEST(Rio, ARunIsAFunctionOfTheSeed) {
  const auto run = [](std::uint64_t seed) {
    Rio rio(instantaneous(red(10, 60, 0.2), red(10, 60, 0.2)), seed);
    return spacings(rio, Precedence::out, 35, 100);
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

// ---- idle time: 1 packet of 500 bytes leaves each 0.4 ms at 10 Mbit/s

RioParams idling(double weight) {
  return {.weight = weight,
          .in = red(1000, 2000, 0.1),
          .out = red(1000, 2000, 0.1),
          .capacity = 10_Mbps,
          .mean_packet = 500_B};
}

class RioIdle : public testing::Test {
 protected:
  RioIdle() {
    for (int i = 0; i < 200; ++i) in(rio, 40, 100);
    a_in = rio.average_in();
    a_total = rio.average_total();
  }
  static double decay(double m) { return std::pow(1 - 0.01, m); }

  Rio rio{idling(0.01), 1};
  double a_in, a_total;
};

TEST_F(RioIdle, DecaysAsIfSmallPacketsHadLeft) {
  rio.depart(Precedence::in, 0, 0, kStart + 1s);
  in(rio, 0, 0, kStart + 1s + 10ms);  // 25 packets, and the arrival itself
  EXPECT_NEAR(rio.average_in(), a_in * decay(26), 1e-9);
  EXPECT_NEAR(rio.average_total(), a_total * decay(26), 1e-9);
}

TEST_F(RioIdle, EachAverageHasItsOwnIdleTime) {
  rio.depart(Precedence::in, 0, 60, kStart + 1s);
  rio.depart(Precedence::out, 0, 59, kStart + 2s);  // does not restart it
  in(rio, 0, 59, kStart + 1s + 10ms);
  EXPECT_NEAR(rio.average_in(), a_in * decay(26), 1e-9);
  EXPECT_NEAR(rio.average_total(), a_total * decay(1) + 0.59, 1e-9);
}

TEST_F(RioIdle, TheTotalIsNotIdleWhileAnythingIsThere) {
  rio.depart(Precedence::out, 1, 1, kStart + 1s);
  out(rio, 1, 1, kStart + 9s);
  EXPECT_NEAR(rio.average_total(), a_total * decay(1) + 0.01, 1e-9);
  EXPECT_DOUBLE_EQ(rio.average_in(), a_in);
}

TEST_F(RioIdle, AnArrivalThatLeavesTheQueueEmptyEndsNothing) {
  rio.depart(Precedence::in, 0, 0, kStart);
  out(rio, 0, 0, kStart + 4ms);  // refused elsewhere: the queue stays empty; 10 packets and 1
  out(rio, 0, 0, kStart + 6ms);  // 5 and 1
  EXPECT_NEAR(rio.average_total(), a_total * decay(17), 1e-9);
}

TEST_F(RioIdle, SettlingOnTheWayChangesNothingForTheNextArrival) {
  rio.depart(Precedence::in, 0, 0, kStart);
  rio.settle(0, 0, kStart + 3ms);
  EXPECT_NEAR(rio.average_total(), a_total * decay(7.5), 1e-9);
  EXPECT_NEAR(rio.average_in(), a_in * decay(7.5), 1e-9);
  rio.settle(0, 0, kStart + 4ms);
  in(rio, 0, 0, kStart + 10ms);
  EXPECT_NEAR(rio.average_total(), a_total * decay(26), 1e-9);
  EXPECT_NEAR(rio.average_in(), a_in * decay(26), 1e-9);
}

TEST_F(RioIdle, SettlingABusyQueueChangesNothing) {
  rio.settle(1, 1, kStart + 1s);
  EXPECT_DOUBLE_EQ(rio.average_total(), a_total);
  EXPECT_DOUBLE_EQ(rio.average_in(), a_in);
}

TEST_F(RioIdle, ALongSilenceLeavesNothing) {
  rio.depart(Precedence::in, 0, 0, kStart);
  in(rio, 0, 0, kStart + 24h);
  EXPECT_NEAR(rio.average_total(), 0, 1e-300);
}

TEST_F(RioIdle, TimeThatRunsBackDecaysNothing) {
  rio.depart(Precedence::in, 0, 0, kStart + 1s);
  in(rio, 0, 0, kStart);
  EXPECT_NEAR(rio.average_total(), a_total * decay(1), 1e-9);
}

TEST(Rio, NegligibleAveragesAreNotDecayed) {
  Rio rio(idling(1e-7), 1);
  out(rio, 0, 5);
  ASSERT_DOUBLE_EQ(rio.average_total(), 5e-7);
  rio.depart(Precedence::out, 0, 0, kStart);
  out(rio, 0, 0, kStart + 1000s);
  EXPECT_DOUBLE_EQ(rio.average_total(), 5e-7 * (1 - 1e-7));
}

// ---- several arrivals at once

// Whatever the averages were before: the same averages and counts as one by one where none of them is a
// question, and nothing changed where one is.
TEST(RioAcceptAll, IsOneArrivalAfterTheOther) {
  Rng rng(3);
  int accepted = 0, refused = 0;
  for (int round = 0; round < 6000; ++round) {
    RioParams params{.weight = round % 3 == 0 ? 0.3 : 0.002, .in = red(30, 80, 0.5), .out = red(20, 60, 0.5)};
    Rio one(params, 1);
    const auto average = static_cast<std::uint32_t>(rng.next() % 70);
    for (int i = 0; i < 300 && one.average_total() < average; ++i) in(one, average + 1, average + 1);
    const std::uint32_t total = static_cast<std::uint32_t>(rng.next() % 80), ins_there = total / 2;
    if (total == 0) one.depart(Precedence::in, 0, 0, kStart);
    const Time now = kStart + Duration(rng.next() % 100'000);
    Rio all = one;
    const auto ins = static_cast<std::uint32_t>(rng.next() % 33),
               outs = static_cast<std::uint32_t>(rng.next() % 32);
    bool questions = false;
    for (std::uint32_t i = 0, in_left = ins, out_left = outs; i < ins + outs; ++i) {
      const bool is_in = out_left == 0 || (in_left > 0 && rng.next() % 2 == 0);
      one.arrive(is_in ? Precedence::in : Precedence::out, false, ins_there + ins - in_left, total + i, now);
      questions |= is_in ? one.average_in() > 30 : one.average_total() > 20;
      (is_in ? in_left : out_left) -= 1;
    }
    const double in_before = all.average_in(), total_before = all.average_total();
    const bool done = all.accept_all(ins, outs, {.packets = static_cast<double>(ins_there)},
                                     {.packets = static_cast<double>(total)}, now);
    const bool pure = ins == 0 || outs == 0;
    ASSERT_TRUE(!pure || done == !questions);
    if (done) {
      ASSERT_FALSE(questions);
      ASSERT_NEAR(all.average_in(), one.average_in(), 1e-12);
      ASSERT_NEAR(all.average_total(), one.average_total(), 1e-12);
    } else {
      ASSERT_EQ(all.average_in(), in_before);
      ASSERT_EQ(all.average_total(), total_before);
    }
    ++(done ? accepted : refused);
  }
  EXPECT_GT(accepted, 500);
  EXPECT_GT(refused, 500);
}

// ---- other parameters

TEST(RioAdopt, KeepsTheAveragesAndGoesOnWithTheNewWeight) {
  Rio rio({.weight = 0.5, .in = red(1000, 2000, 0.1), .out = red(1000, 2000, 0.1)}, 1);
  in(rio, 20, 50);
  rio.adopt(Rio({.weight = 0.25, .in = red(1000, 2000, 0.1), .out = red(1000, 2000, 0.1)}, 2));
  EXPECT_DOUBLE_EQ(rio.average_in(), 10);
  EXPECT_DOUBLE_EQ(rio.average_total(), 25);
  in(rio, 20, 65);
  EXPECT_DOUBLE_EQ(rio.average_in(), 10 + 0.25 * 10);
  EXPECT_DOUBLE_EQ(rio.average_total(), 25 + 0.25 * 40);
}

TEST(RioAdopt, JudgesByTheNewCurves) {
  const RioParams wide = instantaneous(red(70, 120, 1), red(10, 60, 1));
  const struct {
    RioParams other;
    Precedence precedence;
    std::uint32_t packets;
    bool ecn_capable, congested;
    RioVerdict before, after;
  } cases[] = {
      {instantaneous(red(70, 120, 1), red(5, 9, 1)), Precedence::out, 10, false, true, RioVerdict::accept,
       RioVerdict::forced},
      {instantaneous(red(5, 9, 1), red(10, 60, 1)), Precedence::in, 10, false, false, RioVerdict::accept,
       RioVerdict::forced},
      {instantaneous(red(70, 120, 1), red(80, 90, 1)), Precedence::out, 61, false, false, RioVerdict::forced,
       RioVerdict::accept},
      {instantaneous(red(70, 120, 1), red(80, 90, 1)), Precedence::out, 90, false, true, RioVerdict::forced,
       RioVerdict::early},
      {{.weight = 1, .in = red(70, 120, 1), .out = red(10, 60, 1), .ecn = true},
       Precedence::out,
       60,
       true,
       true,
       RioVerdict::early,
       RioVerdict::mark},
  };
  for (const auto& c : cases) {
    Rio rio(wide, 1);
    EXPECT_EQ(rio.arrive(c.precedence, c.ecn_capable, c.packets, c.packets, kStart), c.before);
    rio.adopt(Rio(c.other, 2));
    EXPECT_EQ(rio.congested(), c.congested) << c.packets;
    EXPECT_EQ(rio.arrive(c.precedence, c.ecn_capable, c.packets, c.packets, kStart), c.after) << c.packets;
  }
}

// m = idle * capacity / mean packet: 1000 bytes at 8 Mbit/s are 1 ms, then 500 ns.
TEST(RioAdopt, AnIdleQueueDecaysAtTheOldPaceUpToTheChange) {
  RioParams params{.weight = 0.1, .in = red(70, 120, 1), .out = red(10, 60, 1)};
  params.capacity = 8_Mbps;
  params.mean_packet = 1000_B;
  Rio rio(params, 1);
  in(rio, 20, 50);
  rio.depart(Precedence::in, 0, 0, kStart);
  params.weight = 0.2;
  params.capacity = 16_Mbps;
  rio.settle(0, 0, kStart + 3ms);
  rio.adopt(Rio(params, 2));
  rio.settle(0, 0, kStart + 5ms);
  EXPECT_NEAR(rio.average_in(), 2 * std::pow(0.9, 3) * std::pow(0.8, 4), 1e-12);
  EXPECT_NEAR(rio.average_total(), 5 * std::pow(0.9, 3) * std::pow(0.8, 4), 1e-12);
}

TEST(RioAdopt, TheSameParametersChangeNoVerdict) {
  Rio one(csa(), 7), other(csa(), 7);
  for (int i = 0; i < 20000; ++i) {
    if (i % 100 == 0) one.adopt(Rio(csa(), 8));
    const Precedence precedence = i % 3 == 0 ? Precedence::in : Precedence::out;
    const auto packets = static_cast<std::uint32_t>(i / 100 % 130);
    ASSERT_EQ(one.arrive(precedence, false, packets, packets, kStart),
              other.arrive(precedence, false, packets, packets, kStart));
  }
}

}  // namespace
}  // namespace surety
