// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/signals/remote_alpha.h"

#include <gtest/gtest.h>

#include <optional>

#include "conditioners/rng.h"

namespace surety {
namespace {

using namespace literals;

constexpr Time kStart = Time(1000s);

// One line of a scenario: at `at` after the start a signal comes, or only time passes; alpha is then `alpha`.
struct Step {
  Duration at;
  std::optional<SignalKind> signal;
  double alpha;
};

void expect_steps(std::initializer_list<Step> steps, const CsaParams& params = {}) {
  RemoteAlpha remote(params, kStart);
  for (const Step& step : steps) {
    const Time now = kStart + step.at;
    step.signal ? remote.signal(*step.signal, now) : remote.advance(now);
    EXPECT_EQ(remote.alpha(), Ratio::of(step.alpha)) << "at " << step.at.count() << " ns";
  }
}

constexpr std::optional kSignal = SignalKind::reminder;
constexpr std::nullopt_t kSilence = std::nullopt;

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

// Reminders and samples do not report an onset, so nothing else would start T2 again.
TEST(RemoteAlpha, WithoutEventsThePapersT2Restarts) {
  expect_steps({{0ms, kSignal, 0.38}, {20ms, kSignal, 0.38}, {90ms, kSilence, 0.38}, {180ms, kSilence, 0.4}},
               {.control = AlphaControl::paper});
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
  remote.signal(SignalKind::reminder, kStart + 10ms);
  EXPECT_FALSE(remote.at_rest());
  EXPECT_EQ(remote.next_event(), kStart + 100ms);
  remote.signal(SignalKind::reminder, kStart + 20ms);
  EXPECT_EQ(remote.next_event(), kStart + 100ms);
  remote.signal(SignalKind::reminder, kStart + 40ms);
  EXPECT_EQ(remote.next_event(), kStart + 130ms);
  remote.advance(kStart + 130ms);
  EXPECT_EQ(remote.next_event(), kStart + 220ms);
  remote.advance(kStart + 220ms);
  EXPECT_TRUE(remote.at_rest());
  EXPECT_EQ(remote.next_event(), kNever);
}

// Events of the queue: the paper's timers to the letter.
constexpr std::optional kOnset = SignalKind::onset, kEighth = SignalKind::eighth, kClear = SignalKind::clear;
constexpr CsaParams kPaper{.control = AlphaControl::paper}, kPeriodic{.control = AlphaControl::periodic};

// T1 runs from the last step down on, not from an onset: short periods of congestion in a row take alpha
// down.
TEST(RemoteAlpha, An8thTakesAStepOnceInT1WhateverPeriodItIsOf) {
  expect_steps({{0ms, kOnset, 0.4},
                {10ms, kEighth, 0.38},
                {40ms - 1ns, kEighth, 0.38},
                {40ms, kEighth, 0.36},
                {50ms, kClear, 0.36},
                {60ms, kOnset, 0.36},
                {70ms - 1ns, kEighth, 0.36},
                {70ms, kEighth, 0.34}},
               kPaper);
}

TEST(RemoteAlpha, T2GivesAStepBackIfTheQueueIsNotCongestedAsItExpires) {
  expect_steps({{0ms, kOnset, 0.4},
                {30ms, kEighth, 0.38},
                {60ms, kEighth, 0.36},
                {150ms - 1ns, kClear, 0.36},
                {150ms, kSilence, 0.38},
                {240ms - 1ns, kSilence, 0.38},
                {240ms, kSilence, 0.4}},
               kPaper);
}

TEST(RemoteAlpha, AT2ThatExpiresInCongestionStopsUntilAnOnsetOrAStepDown) {
  expect_steps({{0ms, kOnset, 0.4},
                {30ms, kEighth, 0.38},
                {120ms, kSilence, 0.38},
                {121ms, kClear, 0.38},
                {29s, kSilence, 0.38},
                {29100ms, kOnset, 0.38},
                {29101ms, kClear, 0.38},
                {29190ms - 1ns, kSilence, 0.38},
                {29190ms, kSilence, 0.4}},
               kPaper);
  expect_steps({{0ms, kOnset, 0.4},
                {30ms, kEighth, 0.38},
                {120ms, kSilence, 0.38},
                {130ms, kOnset, 0.38},
                {131ms, kEighth, 0.36}},
               kPaper);
  expect_steps({{0ms, kOnset, 0.4},
                {30ms, kEighth, 0.38},
                {120ms, kSilence, 0.38},
                {200ms, kEighth, 0.36},
                {201ms, kClear, 0.36},
                {290ms - 1ns, kSilence, 0.36},
                {290ms, kSilence, 0.38}},
               kPaper);
}

TEST(RemoteAlpha, APeriodicT2ThatExpiresInCongestionRunsAgain) {
  expect_steps({{0ms, kOnset, 0.4},
                {30ms, kEighth, 0.38},
                {120ms, kSilence, 0.38},
                {121ms, kClear, 0.38},
                {210ms - 1ns, kSilence, 0.38},
                {210ms, kSilence, 0.4}},
               kPeriodic);
}

// Silence says nothing: the queue is congested until its end is reported.
TEST(RemoteAlpha, AlphaOfAQueueThatReportsEventsStaysWhileItIsCongested) {
  RemoteAlpha remote(kPeriodic, kStart);
  remote.signal(SignalKind::onset, kStart);
  remote.signal(SignalKind::eighth, kStart + 40ms);
  for (int i = 0; i < 200; ++i) remote.sent(kStart + i * 100ms);
  remote.advance(kStart + 20s);
  EXPECT_EQ(remote.alpha(), Ratio::of(0.38));
  EXPECT_FALSE(remote.at_rest());
}

TEST(RemoteAlpha, APathOfACongestedQueueIsKeptAtTheMaximum) {
  RemoteAlpha remote(kPaper, kStart);
  remote.signal(SignalKind::onset, kStart);
  EXPECT_FALSE(remote.at_rest()) << "T1 runs";
  remote.signal(SignalKind::clear, kStart + 10ms);
  EXPECT_TRUE(remote.at_rest());
  EXPECT_EQ(remote.next_event(), kNever);
}

TEST(RemoteAlpha, APathWhoseT2IsStoppedIsForgottenWhenIdle) {
  RemoteAlpha remote(kPaper, kStart);
  remote.signal(SignalKind::onset, kStart);
  remote.signal(SignalKind::eighth, kStart + 30ms);
  EXPECT_EQ(remote.next_event(), kStart + 120ms);
  remote.advance(kStart + 120ms);
  EXPECT_EQ(remote.next_event(), kStart + 30s + 30ms);
  remote.advance(kStart + 30s + 30ms);
  EXPECT_TRUE(remote.at_rest());
}

// From here on: when silence is an answer.

// Alpha, 0.2 at first, after so long without a signal, with so many OUT packets a second.
Ratio after_silence(SignalKind kind, int per_second, Duration silence) {
  RemoteAlpha remote({}, kStart);
  Time now = kStart;
  for (int i = 0; i < 10; ++i) remote.signal(kind, now += 32ms);
  EXPECT_EQ(remote.alpha(), Ratio::of(0.2));
  const Duration interval = Duration(1s) / per_second;
  for (const Time end = now + silence; now + interval <= end;) {
    now += interval;
    remote.advance(now);
    remote.sent(now);
  }
  remote.advance(now);
  return remote.alpha();
}

TEST(RemoteAlpha, SamplesThatDoNotComeAreAnAnswerAfter24OutPackets) {
  EXPECT_EQ(after_silence(SignalKind::sample, 1, 24s), Ratio::of(0.2));
  EXPECT_EQ(after_silence(SignalKind::sample, 1, 25s), Ratio::of(0.22));
  EXPECT_EQ(after_silence(SignalKind::sample, 10, 2400ms), Ratio::of(0.2));
  EXPECT_EQ(after_silence(SignalKind::sample, 10, 2600ms), Ratio::of(0.22));
  EXPECT_EQ(after_silence(SignalKind::sample, 1000, 90ms), Ratio::of(0.22)) << "not before T2 either";
  EXPECT_EQ(after_silence(SignalKind::sample, 1000, 180ms), Ratio::of(0.24));
}

TEST(RemoteAlpha, RemindersThatDoNotComeAreAnAnswerAfterT2) {
  EXPECT_EQ(after_silence(SignalKind::reminder, 1, 1s), Ratio::of(0.4)) << "11 T2s";
  EXPECT_EQ(after_silence(SignalKind::reminder, 10, 500ms), Ratio::of(0.3));
}

TEST(RemoteAlpha, ASilenceInWhichNothingIsSentIsNone) {
  for (const SignalKind kind : {SignalKind::sample, SignalKind::reminder}) {
    RemoteAlpha remote({.control = AlphaControl::search}, kStart);
    for (int i = 0; i < 12; ++i) remote.signal(kind, kStart + i * 40ms);
    remote.advance(kStart + 2s);
    const Ratio alpha = remote.alpha();
    EXPECT_EQ(kind == SignalKind::sample, alpha == Ratio::of(0.16));
    remote.advance(kStart + 20s);
    EXPECT_LE(remote.alpha(), Ratio::of(0.4));
    EXPECT_EQ(kind == SignalKind::sample, remote.alpha() == Ratio::of(0.16));
  }
}

// A reminder is as good as the memory of the one who sends it.
TEST(RemoteAlpha, RemindersAreExpectedForAWhileAfterAnOutPacket) {
  const CsaParams params{.step = Ratio::of(0.001)};
  RemoteAlpha remote(params, kStart);
  Time now = kStart;
  for (int i = 0; i < 300; ++i) remote.signal(SignalKind::reminder, now += 32ms);
  remote.sent(now);
  ASSERT_EQ(remote.alpha(), Ratio::of(0.1));
  remote.advance(now + 20s);
  EXPECT_EQ(remote.alpha(), Ratio::of(0.144)) << "44 T2s in 4 s";
  remote.sent(now + 20s);
  remote.advance(now + 22s);
  EXPECT_EQ(remote.alpha(), Ratio::of(0.166)) << "and 22 in 2 s";
}

// Some samples come between the reminders, and are followed by none.
TEST(RemoteAlpha, ASampleAmongRemindersChangesNothing) {
  RemoteAlpha remote({}, kStart);
  for (int i = 0; i < 4; ++i) remote.signal(SignalKind::reminder, kStart + i * 32ms);
  remote.signal(SignalKind::sample, kStart + 100ms);
  ASSERT_EQ(remote.alpha(), Ratio::of(0.32));
  remote.advance(kStart + 1s);
  EXPECT_EQ(remote.alpha(), Ratio::of(0.4));
}

TEST(RemoteAlpha, WhoseRemindersStopCountsSamples) {
  RemoteAlpha remote({}, kStart);
  for (int i = 0; i < 4; ++i) remote.signal(SignalKind::reminder, kStart + i * 32ms);
  remote.signal(SignalKind::sample, kStart + 200ms);
  const Ratio alpha = remote.alpha();
  remote.sent(kStart + 200ms);
  remote.advance(kStart + 5s);
  EXPECT_EQ(remote.alpha(), alpha);
}

// Nobody uses it, and it takes room.
TEST(RemoteAlpha, AnIdlePathIsForgotten) {
  RemoteAlpha remote({}, kStart);
  remote.signal(SignalKind::sample, kStart);
  remote.sent(kStart + 10s);
  remote.advance(kStart + 39s);
  EXPECT_FALSE(remote.at_rest());
  remote.advance(kStart + 41s);
  EXPECT_TRUE(remote.at_rest());
  EXPECT_EQ(remote.next_event(), kNever);
}

// The queue is congested throughout, and each OUT packet draws a sample with one in eight.
TEST(RemoteAlpha, AQueueCongestedThroughoutKeepsAlphaDownHoweverLittleIsSent) {
  for (const int per_second : {1, 10, 100, 1000}) {
    RemoteAlpha remote({}, kStart);
    Rng rng(static_cast<std::uint64_t>(per_second));
    double sum = 0;
    int n = 0;
    Time now = kStart;
    for (int i = 0; i < 20'000; ++i) {
      now += Duration(1s) / per_second;
      remote.advance(now);
      remote.sent(now);
      if (rng.next() % 8 == 0) remote.signal(SignalKind::sample, now);
      if (i < 2000) continue;
      sum += remote.alpha().value();
      ++n;
    }
    EXPECT_LT(sum / n, 0.044) << per_second << " a second";
  }
}

// Another queue of the path sends samples.
TEST(RemoteAlpha, ASampleBeginsNoPeriodOfCongestion) {
  RemoteAlpha remote({.control = AlphaControl::paper}, kStart);
  remote.signal(SignalKind::onset, kStart + 1s);
  remote.signal(SignalKind::clear, kStart + 1010ms);
  remote.signal(SignalKind::sample, kStart + 1100ms);
  EXPECT_EQ(remote.alpha(), Ratio::of(0.38));
  remote.advance(kStart + 1190ms);
  EXPECT_EQ(remote.alpha(), Ratio::of(0.4));
}

// What a search has learnt of the path counts for as long as a search ever waits: 64 T2s.
TEST(RemoteAlpha, ASearchIsKeptForAWhileAtTheMaximum) {
  RemoteAlpha remote({.control = AlphaControl::search}, kStart);
  remote.signal(SignalKind::reminder, kStart + 1s);
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
  remote.signal(SignalKind::reminder, kStart + 1s);
  EXPECT_EQ(remote.alpha(), Ratio::of(0.4));
  EXPECT_EQ(remote.next_event(), kNever);
}

}  // namespace
}  // namespace surety
