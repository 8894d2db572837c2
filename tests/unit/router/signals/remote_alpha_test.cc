// SPDX-License-Identifier: BSD-3-Clause
#include "router/signals/remote_alpha.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

using namespace literals;

constexpr Time kStart = Time(1000s);

// One line of a scenario: at `at` after the start a signal comes, or only time passes; alpha is then `alpha`.
struct Step {
  Duration at;
  bool signal;
  double alpha;
};

void expect_steps(std::initializer_list<Step> steps, const CsaParams& params = {}) {
  RemoteAlpha remote(params, kStart);
  for (const Step& step : steps) {
    const Time now = kStart + step.at;
    step.signal ? remote.signal(now) : remote.advance(now);
    EXPECT_EQ(remote.alpha(), Ratio::of(step.alpha)) << "at " << step.at.count() << " ns";
  }
}

constexpr bool kSignal = true, kSilence = false;

TEST(RemoteAlpha, IsAtRestBeforeASignal) {
  const RemoteAlpha remote({}, kStart);
  EXPECT_EQ(remote.alpha(), Ratio::of(0.4));
  EXPECT_TRUE(remote.at_rest());
  EXPECT_EQ(remote.next_event(), kNever);
}

TEST(RemoteAlpha, TheFirstSignalTakesAStepAtOnce) {
  expect_steps({{0ms, kSignal, 0.38}});
  expect_steps({{700ms, kSignal, 0.38}});
}

TEST(RemoteAlpha, OneStepPerT1) {
  expect_steps({{0ms, kSignal, 0.38},
                {1ms, kSignal, 0.38},
                {30ms - 1ns, kSignal, 0.38},
                {30ms, kSignal, 0.36},
                {59ms, kSignal, 0.36},
                {61ms, kSignal, 0.34},
                {90ms, kSignal, 0.34},
                {91ms, kSignal, 0.32}});
}

TEST(RemoteAlpha, T2OfSilenceGivesAStepBack) {
  expect_steps({{0ms, kSignal, 0.38},
                {30ms, kSignal, 0.36},
                {120ms - 1ns, kSilence, 0.36},
                {120ms, kSilence, 0.38},
                {210ms - 1ns, kSilence, 0.38},
                {210ms, kSilence, 0.4},
                {900ms, kSilence, 0.4}});
}

// A signal within T1 does not lower alpha, but it says that the queue is congested still.
TEST(RemoteAlpha, ASignalSinceTheLastT2KeepsAlphaDown) {
  expect_steps({{0ms, kSignal, 0.38},
                {20ms, kSignal, 0.38},
                {90ms, kSilence, 0.38},
                {180ms - 1ns, kSilence, 0.38},
                {180ms, kSilence, 0.4}});
}

TEST(RemoteAlpha, LateTurnsMakeNoDifference) {
  expect_steps({{0ms, kSignal, 0.38}, {30ms, kSignal, 0.36}, {50ms, kSignal, 0.36}, {400ms, kSilence, 0.4}});
  expect_steps({{0ms, kSignal, 0.38}, {30ms, kSignal, 0.36}, {50ms, kSignal, 0.36}, {299ms, kSilence, 0.38}});
}

TEST(RemoteAlpha, AT2ThatExpiresNowComesBeforeTheSignal) {
  expect_steps({{0ms, kSignal, 0.38}, {30ms, kSignal, 0.36}, {120ms, kSignal, 0.36}, {150ms, kSignal, 0.34}});
  expect_steps({{0ms, kSignal, 0.38}, {30ms, kSignal, 0.36}, {120ms - 1ns, kSignal, 0.34}});
}

TEST(RemoteAlpha, StaysBetweenMinAndMax) {
  const CsaParams params{.min = Ratio::of(0.05), .max = Ratio::of(0.1), .step = Ratio::of(0.03)};
  expect_steps({{0ms, kSignal, 0.07},
                {30ms, kSignal, 0.05},
                {60ms, kSignal, 0.05},
                {150ms, kSilence, 0.08},
                {240ms, kSilence, 0.1},
                {330ms, kSilence, 0.1}},
               params);
}

TEST(RemoteAlpha, NextEventIsT2UnlessAtRest) {
  RemoteAlpha remote({}, kStart);
  remote.signal(kStart + 10ms);
  EXPECT_FALSE(remote.at_rest());
  EXPECT_EQ(remote.next_event(), kStart + 100ms);
  remote.signal(kStart + 20ms);
  EXPECT_EQ(remote.next_event(), kStart + 100ms);
  remote.signal(kStart + 40ms);
  EXPECT_EQ(remote.next_event(), kStart + 130ms);
  remote.advance(kStart + 130ms);
  EXPECT_EQ(remote.next_event(), kStart + 220ms);
  remote.advance(kStart + 220ms);
  EXPECT_TRUE(remote.at_rest());
  EXPECT_EQ(remote.next_event(), kNever);
}

// What a search has learnt of the path counts for as long as a search ever waits: 64 T2s.
TEST(RemoteAlpha, ASearchIsKeptForAWhileAtTheMaximum) {
  RemoteAlpha remote({.control = AlphaControl::search}, kStart);
  remote.signal(kStart + 1s);
  EXPECT_EQ(remote.next_event(), kStart + 1090ms);
  const Time end = kStart + 1s + 64 * 90ms;
  remote.advance(end - 1ns);
  EXPECT_EQ(remote.alpha(), Ratio::of(0.4));
  EXPECT_FALSE(remote.at_rest());
  EXPECT_EQ(remote.next_event(), end);
  remote.advance(end);
  EXPECT_TRUE(remote.at_rest());
  EXPECT_EQ(remote.next_event(), kNever);
}

TEST(RemoteAlpha, AFixedAlphaStaysAtRest) {
  RemoteAlpha remote({.min = Ratio::of(0.4), .max = Ratio::of(0.4)}, kStart);
  remote.signal(kStart + 1s);
  EXPECT_EQ(remote.alpha(), Ratio::of(0.4));
  EXPECT_EQ(remote.next_event(), kNever);
}

}  // namespace
}  // namespace surety
