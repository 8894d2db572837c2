// SPDX-License-Identifier: BSD-3-Clause
#include "conditioners/csa_controller.h"

#include <gtest/gtest.h>

#include "conditioners/rng.h"

namespace surety {
namespace {

using namespace literals;

constexpr Time kStart = Time(1000s);

TEST(CongestionDetector, FirstOutArrivalIsTheOnsetAndCountsOne) {
  CongestionDetector d;
  EXPECT_EQ(d.out_arrival(false), CongestionEvent::none);
  EXPECT_EQ(d.count(), 0u);
  EXPECT_EQ(d.out_arrival(true), CongestionEvent::onset);
  EXPECT_EQ(d.count(), 1u);
}

TEST(CongestionDetector, EveryEighthArrivalOfAPeriod) {
  CongestionDetector d;
  for (int i = 1; i <= 40; ++i) {
    const auto expected = i == 1       ? CongestionEvent::onset
                          : i % 8 == 0 ? CongestionEvent::eighth
                                       : CongestionEvent::none;
    EXPECT_EQ(d.out_arrival(true), expected) << i;
    EXPECT_EQ(d.count(), static_cast<std::uint32_t>(i % 8));
  }
}

TEST(CongestionDetector, NewPeriodStartsTheCountAgain) {
  CongestionDetector d;
  for (int i = 0; i < 5; ++i) d.out_arrival(true);
  EXPECT_EQ(d.out_arrival(false), CongestionEvent::none);
  EXPECT_EQ(d.out_arrival(true), CongestionEvent::onset);
  for (int i = 2; i < 8; ++i) EXPECT_EQ(d.out_arrival(true), CongestionEvent::none) << i;
  EXPECT_EQ(d.out_arrival(true), CongestionEvent::eighth);
}

// One line of a scenario: at `at` after the start, T2 is served, then the event
// happens; alpha is then `alpha`.
struct Step {
  Duration at;
  bool congested;  // since the last step
  CongestionEvent event;
  double alpha;
};

void expect_steps(const CsaParams& params, std::initializer_list<Step> steps) {
  CsaController csa(params, kStart);
  for (const Step& step : steps) {
    const Time now = kStart + step.at;
    csa.advance(now, step.congested);
    if (step.event == CongestionEvent::onset) csa.onset(now);
    if (step.event == CongestionEvent::eighth) csa.eighth(now);
    EXPECT_EQ(csa.alpha(), Ratio::of(step.alpha)) << "at " << step.at.count() << " ns";
  }
}

constexpr auto kNone = CongestionEvent::none;
constexpr auto kOnset = CongestionEvent::onset;
constexpr auto kEighth = CongestionEvent::eighth;

TEST(CsaController, StartsAtMaxWithT2Running) {
  const CsaController csa({}, kStart);
  EXPECT_EQ(csa.alpha(), Ratio::of(0.4));
  EXPECT_EQ(csa.next_event(), kStart + 90ms);
}

TEST(CsaController, Case1EighthAfterT1StepsDown) {
  expect_steps({}, {{10ms, false, kOnset, 0.4}, {40ms + 1ns, true, kEighth, 0.38}});
}

TEST(CsaController, Case2EighthBeforeT1DoesNothing) {
  expect_steps({}, {{10ms, false, kOnset, 0.4},
                    {40ms - 1ns, true, kEighth, 0.4},  // and T1 runs on:
                    {40ms + 1ns, true, kEighth, 0.38}});
}

TEST(CsaController, T1HasExpiredAtItsVeryEnd) {
  expect_steps({}, {{10ms, false, kOnset, 0.4}, {40ms, true, kEighth, 0.38}});
}

TEST(CsaController, StepDownRestartsT1) {
  expect_steps({}, {{0ms, true, kOnset, 0.4},
                    {30ms, true, kEighth, 0.38},
                    {59ms, true, kEighth, 0.38},
                    {60ms, true, kEighth, 0.36},
                    {89ms, true, kEighth, 0.36},
                    {91ms, true, kEighth, 0.34}});
}

TEST(CsaController, StepDownRestartsT2) {
  expect_steps({}, {{0ms, true, kOnset, 0.4},
                    {50ms, true, kEighth, 0.38},
                    {139ms, false, kNone, 0.38},
                    {140ms, false, kNone, 0.4}});
}

TEST(CsaController, EighthBeforeT1LeavesT2) {
  CsaController csa({}, kStart);
  csa.onset(kStart + 10ms);
  EXPECT_EQ(csa.next_event(), kStart + 100ms);
  csa.eighth(kStart + 20ms);
  EXPECT_EQ(csa.next_event(), kStart + 100ms);
  csa.eighth(kStart + 45ms);
  EXPECT_EQ(csa.next_event(), kStart + 135ms);
}

TEST(CsaController, OnsetOfANewPeriodRestartsBothTimers) {
  expect_steps({}, {{0ms, true, kOnset, 0.4},
                    {31ms, true, kEighth, 0.38},
                    {70ms, false, kOnset, 0.38},  // T1 until 100 ms, T2 until 160 ms
                    {99ms, true, kEighth, 0.38},  // T1 of the step would have expired at 61 ms
                    {159ms, false, kNone, 0.38},  // T2 of the step would have expired at 121 ms
                    {160ms, false, kNone, 0.4}});
}

TEST(CsaController, T2WhileCongestedRestartsWithoutAStep) {
  expect_steps({}, {{0ms, true, kOnset, 0.4},
                    {30ms, true, kEighth, 0.38},
                    {120ms, true, kNone, 0.38},  // expired, congested: runs again until 210 ms
                    {209ms, false, kNone, 0.38},
                    {210ms, false, kNone, 0.4}});
}

TEST(CsaController, ThePapersT2ThatExpiresInCongestionStandsStill) {
  const CsaParams params{.control = AlphaControl::paper};
  expect_steps(params, {{0ms, true, kOnset, 0.4},
                        {30ms, true, kEighth, 0.38},
                        {120ms, true, kNone, 0.38},  // expired, congested: not restarted
                        {210ms, false, kNone, 0.38},
                        {900ms, false, kOnset, 0.38},  // the next congestion starts it
                        {989ms, false, kNone, 0.38},
                        {990ms, false, kNone, 0.4}});
  expect_steps(params, {{30ms, true, kEighth, 0.38},
                        {120ms, true, kNone, 0.38},
                        {200ms, true, kEighth, 0.36},  // and so does a step down
                        {290ms, false, kNone, 0.38},
                        {380ms, false, kNone, 0.4}});
  CsaController csa(params, kStart);
  csa.onset(kStart);
  csa.advance(kStart + 90ms, true);
  EXPECT_EQ(csa.next_event(), kNever);
}

TEST(CsaController, AlphaNeverGoesBelowMinNorAboveMax) {
  const CsaParams params{.min = Ratio::of(0.05), .max = Ratio::of(0.1), .step = Ratio::of(0.02)};
  expect_steps(params, {{30ms, true, kEighth, 0.08},
                        {60ms, true, kEighth, 0.06},
                        {90ms, true, kEighth, 0.05},
                        {120ms, true, kEighth, 0.05},
                        {210ms, false, kNone, 0.07},
                        {300ms, false, kNone, 0.09},
                        {390ms, false, kNone, 0.1},
                        {480ms, false, kNone, 0.1}});
}

TEST(CsaController, StepLargerThanAlphaStopsAtMin) {
  const CsaParams params{.min = Ratio(), .max = Ratio::of(0.1), .step = Ratio::of(0.3)};
  expect_steps(params, {{30ms, true, kEighth, 0.0}, {120ms, false, kNone, 0.1}});
}

TEST(CsaController, SeveralExpiriesOfT2InOneAdvance) {
  CsaController csa({}, kStart);
  for (int i = 1; i <= 18; ++i) csa.eighth(kStart + i * 30ms);
  ASSERT_EQ(csa.alpha(), Ratio::of(0.04));
  const Time last = kStart + 540ms;
  csa.advance(last + 3 * 90ms + 89ms, false);
  EXPECT_EQ(csa.alpha(), Ratio::of(0.1));
  EXPECT_EQ(csa.next_event(), last + 4 * 90ms);  // T2 keeps its beat, however late it was looked at
  csa.advance(last + 4 * 90ms, true);
  EXPECT_EQ(csa.alpha(), Ratio::of(0.1));
  csa.advance(last + 24h * 365 * 100, false);
  EXPECT_EQ(csa.alpha(), Ratio::of(0.4));
  EXPECT_GT(csa.next_event(), last + 24h * 365 * 100);
}

TEST(CsaController, FastestDescentIsOneStepPerT1) {
  CsaController csa({}, kStart);
  csa.onset(kStart);
  for (int ms = 1; ms <= 300; ++ms) csa.eighth(kStart + ms * 1ms);
  EXPECT_EQ(csa.alpha(), Ratio::of(0.4 - 10 * 0.02));
}

// --- control: search

constexpr Ratio kStep = Ratio::of(0.02);

TEST(AlphaSearch, RisesEachTimeUntilItHasFallen) {
  AlphaSearch search;
  for (int i = 4; i < 40; i += 2) EXPECT_TRUE(search.rise(Ratio::of(i * 0.01), kStep)) << i;
  EXPECT_EQ(search.wait(), 1u);
}

TEST(AlphaSearch, WaitsTwiceAsLongAfterEachFallAtMost64) {
  AlphaSearch search;
  for (const std::uint32_t wait : {2u, 4u, 8u, 16u, 32u, 64u, 64u, 64u}) {
    search.fall(Ratio::of(0.3));
    search.fall(Ratio::of(0.28));  // the same descent
    EXPECT_EQ(search.wait(), wait);
    EXPECT_TRUE(search.rise(Ratio::of(0.26), kStep)) << "below the ceiling";
    for (std::uint32_t i = 1; i < wait; ++i) EXPECT_FALSE(search.rise(Ratio::of(0.28), kStep)) << i;
    EXPECT_TRUE(search.rise(Ratio::of(0.28), kStep));
    EXPECT_EQ(search.wait(), wait) << "it has not held yet";
  }
}

TEST(AlphaSearch, ACeilingThatHoldsHalvesTheWait) {
  AlphaSearch search;
  search.fall(Ratio::of(0.2));
  search.fall(Ratio::of(0.18));
  ASSERT_TRUE(search.rise(Ratio::of(0.16), kStep));
  search.fall(Ratio::of(0.18));
  ASSERT_EQ(search.wait(), 4u);
  double alpha = 0.16;
  for (const int held : {4, 4, 2, 1, 1, 1}) {  // at 0.16 below the ceiling of 0.18, then at each new one
    for (int i = 1; i < held; ++i) EXPECT_FALSE(search.rise(Ratio::of(alpha), kStep)) << alpha << ' ' << i;
    EXPECT_TRUE(search.rise(Ratio::of(alpha), kStep)) << alpha;
    alpha += 0.02;
  }
}

TEST(AlphaSearch, AStepDownStartsTheWaitAgain) {
  AlphaSearch search;
  search.fall(Ratio::of(0.06));
  search.fall(Ratio::of(0.04));
  EXPECT_FALSE(search.rise(Ratio::of(0.04), kStep));
  search.fall(Ratio::of(0.04));  // at its minimum, congested still
  EXPECT_EQ(search.wait(), 2u);
  EXPECT_FALSE(search.rise(Ratio::of(0.04), kStep));
  EXPECT_TRUE(search.rise(Ratio::of(0.04), kStep));
}

TEST(CsaController, AnotherMaximumTakesAlphaDownAtOnceAndLetsItUpByTheStep) {
  CsaController csa({.max = Ratio::of(0.4)}, kStart);
  csa.set_max(Ratio::of(0.1));
  EXPECT_EQ(csa.alpha(), Ratio::of(0.1));
  EXPECT_EQ(csa.next_event(), kStart + 90ms) << "the timers stay";
  csa.set_max(Ratio::of(0.13));
  EXPECT_EQ(csa.alpha(), Ratio::of(0.1));
  csa.advance(kStart + 90ms, false);
  EXPECT_EQ(csa.alpha(), Ratio::of(0.12));
  csa.advance(kStart + 180ms, false);
  EXPECT_EQ(csa.alpha(), Ratio::of(0.13));
}

TEST(CsaParams, ContinueUnderAnotherMaximumIfBothFollowWhatIsSold) {
  const CsaParams params{.max = Ratio::of(0.4), .auto_max = true};
  CsaParams more = params, fixed = params, slower = params;
  more.max = Ratio::of(0.6);
  fixed.auto_max = false;
  slower.t2 = 120ms;
  EXPECT_TRUE(more.continues(params));
  EXPECT_TRUE(fixed.continues(fixed));
  EXPECT_FALSE(fixed.continues(params));
  EXPECT_FALSE(more.continues(fixed));
  EXPECT_FALSE(slower.continues(params));
}

TEST(CsaController, SearchFallsAsThePaperAndComesBackSlowly) {
  const CsaParams params{.control = AlphaControl::search};
  expect_steps(params, {{30ms, true, kEighth, 0.38},
                        {60ms, true, kEighth, 0.36},
                        {150ms, false, kNone, 0.38},
                        {240ms, false, kNone, 0.38},  // the ceiling is 0.4: tried after two T2s
                        {330ms, false, kNone, 0.4},
                        {400ms, true, kEighth, 0.38},  // it does not hold
                        {490ms, false, kNone, 0.38},
                        {580ms, false, kNone, 0.38},
                        {670ms, false, kNone, 0.38},
                        {760ms, false, kNone, 0.4}});
}

TEST(CsaController, SearchCountsT2sWithoutCongestionOnly) {
  const CsaParams params{.control = AlphaControl::search};
  expect_steps(params, {{30ms, true, kEighth, 0.38},
                        {120ms, false, kNone, 0.38},
                        {210ms, true, kNone, 0.38},
                        {300ms, false, kNone, 0.4}});
}

TEST(CsaController, SearchStaysWithinItsBand) {
  const CsaParams params{.min = Ratio::of(0.05),
                         .max = Ratio::of(0.08),
                         .step = Ratio::of(0.02),
                         .control = AlphaControl::search};
  expect_steps(params, {{30ms, true, kEighth, 0.06},
                        {60ms, true, kEighth, 0.05},
                        {90ms, true, kEighth, 0.05},
                        {180ms, false, kNone, 0.07},
                        {270ms, false, kNone, 0.07},
                        {360ms, false, kNone, 0.08}});
}

TEST(CsaController, SearchRemembersHowItFellHoweverLongAlphaIsAtItsMaximum) {
  const CsaParams params{.max = Ratio::of(0.06), .control = AlphaControl::search};
  expect_steps(params, {{30ms, true, kEighth, 0.04},
                        {120ms, false, kNone, 0.04},
                        {210ms, false, kNone, 0.06},
                        {1h, false, kNone, 0.06},
                        {1h + 30ms, true, kEighth, 0.04},
                        {1h + 120ms, false, kNone, 0.04},
                        {1h + 210ms, false, kNone, 0.04},
                        {1h + 300ms, false, kNone, 0.04},
                        {1h + 390ms, false, kNone, 0.06}});
}

TEST(CsaController, SearchHasNoLimitUntilThereIsCongestion) {
  const CsaParams params{.max = Ratio::unlimited(), .control = AlphaControl::search};
  CsaController csa(params, kStart);
  EXPECT_EQ(csa.alpha(), Ratio::unlimited());
  csa.eighth(kStart + 30ms);
  EXPECT_EQ(csa.alpha(), Ratio::of(256));
  csa.eighth(kStart + 60ms);
  EXPECT_EQ(csa.alpha(), Ratio::of(256 - 256 / 20.0));
  csa.advance(kStart + 150ms, false);
  EXPECT_EQ(csa.alpha(), Ratio::of(243.2 * 1.05)) << "below the ceiling at once";
  csa.advance(kStart + 240ms, false);
  EXPECT_EQ(csa.alpha(), Ratio::of(256));
  csa.advance(kStart + 1min, false);
  EXPECT_EQ(csa.alpha(), Ratio::unlimited());
}

TEST(CsaController, SearchComesFromAnUnlimitedAlphaToThePapersInFourSeconds) {
  const CsaParams params{.max = Ratio::unlimited(), .control = AlphaControl::search};
  CsaController csa(params, kStart);
  int steps = 0;
  for (; csa.alpha() > CsaParams().max; ++steps) csa.eighth(kStart + (steps + 1) * 30ms);
  EXPECT_LE(steps * 30ms, 4s);
  csa.eighth(kStart + (steps + 1) * 30ms);
  csa.eighth(kStart + (steps + 2) * 30ms);
  EXPECT_GT(csa.alpha(), Ratio::of(0.34)) << "by the paper's step";
}

TEST(CsaController, MayStartBelowItsMaximum) {
  EXPECT_EQ(CsaController({.max = Ratio::unlimited()}, kStart, Ratio::of(0.4)).alpha(), Ratio::of(0.4));
  EXPECT_EQ(CsaController({.max = Ratio::of(0.2)}, kStart, Ratio::of(0.4)).alpha(), Ratio::of(0.2));
}

TEST(CsaController, SearchOverManyT2sInOneAdvance) {
  const CsaParams params{.control = AlphaControl::search};
  CsaController one(params, kStart), each(params, kStart);
  for (CsaController* c : {&one, &each}) {
    for (int i = 1; i <= 18; ++i) c->eighth(kStart + i * 30ms);
    ASSERT_EQ(c->alpha(), Ratio::of(0.04));
  }
  const Time last = kStart + 540ms;
  for (int i = 1; i <= 18; ++i) each.advance(last + i * 90ms, false);
  one.advance(last + 18 * 90ms, false);
  EXPECT_EQ(one.alpha(), Ratio::of(0.38));
  EXPECT_EQ(each.alpha(), Ratio::of(0.38));
  one.advance(last + 19 * 90ms, false);
  EXPECT_EQ(one.alpha(), Ratio::of(0.4));
  one.advance(last + 24h * 365 * 100, false);
  EXPECT_EQ(one.alpha(), Ratio::of(0.4));
  EXPECT_GT(one.next_event(), last + 24h * 365 * 100);
}

TEST(AlphaClock, RunsAlphaTimesAsFast) {
  AlphaClock clock(kStart);
  EXPECT_EQ(clock.now(), Time{});
  clock.advance(kStart + 1s, Ratio::of(0.4));
  EXPECT_EQ(clock.now(), Time(400ms));
  clock.advance(kStart + 2s, Ratio());
  EXPECT_EQ(clock.now(), Time(400ms));
  clock.advance(kStart + 1s, Ratio::of(1));  // backwards: nothing
  EXPECT_EQ(clock.now(), Time(400ms));
  clock.advance(kStart + 2s + 1ns, Ratio::of(1));
  EXPECT_EQ(clock.now(), Time(400ms + 1ns));
}

TEST(AlphaClock, KeepsTheRemainder) {
  AlphaClock clock(kStart);
  for (int i = 1; i <= 24; ++i) clock.advance(kStart + i * 1ns, Ratio::of(0.04));
  EXPECT_EQ(clock.now(), Time(0ns));
  clock.advance(kStart + 25ns, Ratio::of(0.04));
  EXPECT_EQ(clock.now(), Time(1ns));
}

TEST(AlphaClock, GoesOnFromAnotherTime) {
  AlphaClock clock(kStart);
  clock.advance(kStart + 9ns, Ratio::of(0.1));
  clock.rebase(Time(5ms));
  EXPECT_EQ(clock.now(), Time(5ms));
  EXPECT_EQ(clock.when(Time(5ms + 1ns)), kStart + 10ns) << "pace and remainder are kept";
  clock.advance(kStart + 10ns, Ratio::of(0.1));
  EXPECT_EQ(clock.now(), Time(5ms + 1ns));
}

TEST(AlphaClock, IsFreeWhenTheHoldDownHasPassedWithoutALowerAlpha) {
  AlphaClock clock(kStart, Ratio::of(0.4), Ratio::of(0.4));
  clock.advance(kStart + 1s, Ratio::of(0.4));
  EXPECT_TRUE(clock.free(1h)) << "it was never lower";
  clock.advance(kStart + 1s, Ratio::of(0.38));
  EXPECT_FALSE(clock.free());
  clock.advance(kStart + 2s, Ratio::of(0.38));
  clock.advance(kStart + 2s, Ratio::of(0.4));
  EXPECT_TRUE(clock.free());
  clock.advance(kStart + 7s - 1ns, Ratio::of(0.4));
  EXPECT_FALSE(clock.free(5s));
  clock.advance(kStart + 7s, Ratio::of(0.4));
  EXPECT_TRUE(clock.free(5s));
}

TEST(AlphaClock, IsFreeAtOneAtOnce) {
  AlphaClock clock(kStart, Ratio::of(0.9), Ratio::of(1));
  clock.advance(kStart + 1s, Ratio::of(0.9));
  EXPECT_FALSE(clock.free(5s));
  clock.advance(kStart + 1s, Ratio::of(1));
  EXPECT_TRUE(clock.free(5s));
}

TEST(AlphaClock, IsTheExactIntegral) {
  Rng rng(1);
  AlphaClock clock(kStart);
  Time now = kStart;
  unsigned __int128 integral = 0;  // in 10^-6 ns
  for (int i = 0; i < 1'000'000; ++i) {
    const Duration step((std::int64_t{rng.next()} << 12) >> rng.next() % 44);  // up to 5 hours
    const Ratio alpha = Ratio::millionths(rng.next() % 1'000'001);
    now += step;
    integral += static_cast<unsigned __int128>(step.count()) * alpha.millionths();
    clock.advance(now, alpha);
    ASSERT_EQ(clock.now(), Time(Duration(static_cast<std::int64_t>(integral / 1'000'000)))) << i;
  }
}

TEST(AlphaClock, ExactOverACenturyInOneStep) {
  constexpr Duration kCentury = 24h * 36500;
  AlphaClock clock(kStart);
  clock.advance(kStart + kCentury, Ratio::millionths(999'999));
  EXPECT_EQ(clock.now(), Time(kCentury - kCentury / 1'000'000));
}

TEST(AlphaClock, RealWaitEndsAtTheFirstNanosecond) {
  Rng rng(2);
  for (int i = 0; i < 100'000; ++i) {
    const Ratio alpha = Ratio::millionths(1 + rng.next() % 1'000'000);
    AlphaClock clock(kStart);
    clock.advance(kStart + Duration(rng.next()), alpha);
    const Duration wait = Duration(1 + (rng.next() >> rng.next() % 32));
    const Duration real = clock.real_wait(wait);
    const Time target = clock.now() + wait;
    ASSERT_EQ(clock.when(target) - clock.when(clock.now()), real);
    AlphaClock early = clock, late = clock;
    early.advance(clock.when(target) - 1ns - real / 1'000'000'000'000, alpha);
    late.advance(clock.when(target), alpha);
    ASSERT_LT(early.now(), target);
    ASSERT_GE(late.now(), target);
  }
}

TEST(AlphaClock, WithoutALimitRunsWithTimeAndNobodyWaits) {
  AlphaClock clock(kStart, Ratio::unlimited());
  clock.advance(kStart + 24h, Ratio::unlimited());
  EXPECT_EQ(clock.now(), Time{} + 24h);
  EXPECT_EQ(clock.when(clock.now() + 1h), kStart + 24h);
  clock.advance(kStart + 24h, Ratio::of(0.5));
  EXPECT_EQ(clock.when(clock.now() + 1h), kStart + 26h);
}

TEST(AlphaClock, AtAlphaZeroTheWaitHasNoEnd) {
  AlphaClock clock(kStart, Ratio::of(0.4));
  EXPECT_EQ(clock.real_wait(0ns), 0ns);
  EXPECT_EQ(clock.when(kNever), kNever);
  clock.advance(kStart, Ratio());  // a change at one and the same time
  EXPECT_EQ(clock.real_wait(1ns), Duration::max());
  EXPECT_EQ(clock.when(Time(1ns)), kNever);
  EXPECT_EQ(clock.real_wait(0ns), 0ns);
  EXPECT_EQ(clock.when(Time{}), kStart);
  clock.advance(kStart, Ratio::of(0.5));
  EXPECT_EQ(clock.when(Time(1ms)), kStart + 2ms);
  EXPECT_EQ(clock.when(Time(Duration::max() / 2)), kNever);
}

}  // namespace
}  // namespace surety
