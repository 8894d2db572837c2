// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/pacer.h"

#include <gtest/gtest.h>

namespace surety::endpoints {
namespace {

using namespace literals;

constexpr Time kStart = Time(1000s);

TEST(PacedTime, AMillionPacketsWithoutDrift) {
  struct Row {
    double bytes, rate;
    std::int64_t ns;  // of 10^6 packets, rounded down (Python's fractions)
  };
  for (const Row& r : {Row{1000, 7'777'777, 128'571'441'428}, Row{1500, 1'234'567, 1'215'000'886'950},
                       Row{576, 125e9, 4'608'000}, Row{1000, 3000, 333'333'333'333'333}}) {
    PacedTime t{kStart};
    const PacedGap gap = PacedGap::of(r.bytes, r.rate);
    for (int i = 0; i < 1'000'000; ++i) t.advance(gap);
    EXPECT_NEAR(static_cast<double>((t.at - kStart).count() - r.ns), 0, 1) << r.rate;
  }
}

TEST(PacedTime, WholeNanosecondsAreExact) {
  PacedTime t{kStart};
  const PacedGap gap = PacedGap::of(1000, 20'000);
  EXPECT_EQ(gap.whole, 50ms);
  EXPECT_EQ(gap.fraction, 0u);
  for (int i = 1; i <= 1000; ++i) {
    t.advance(gap);
    EXPECT_EQ(t.at, kStart + i * 50ms);
  }
}

TEST(PacedTime, LessThanANanosecondEachStillMovesOn) {
  PacedTime t{kStart};
  const PacedGap gap = PacedGap::of(40, 160e9);  // a quarter of a nanosecond
  EXPECT_EQ(gap.whole, 0ns);
  for (int i = 1; i <= 100; ++i) {
    t.advance(gap);
    EXPECT_EQ(t.at, kStart + Duration(i / 4));
  }
}

TEST(PacedTime, NoGapNoMove) {
  PacedTime t{Time::min()};
  t.advance(PacedGap{});
  EXPECT_EQ(t.at, Time::min());
}

Pacer at_rate(double rate, Rate application = {}) {
  Pacer p(Bytes(1000), application, kStart);
  p.set_rate(rate, kStart);
  return p;
}

TEST(Pacer, ThePacketAfterALateOneIsNotLate) {
  Pacer p = at_rate(100'000);
  EXPECT_FALSE(p.begun());
  EXPECT_EQ(p.next(), kStart);
  EXPECT_TRUE(p.on_sent(kStart)) << "nothing more is permitted now";
  EXPECT_EQ(p.next(), kStart + 10ms);
  p.on_sent(kStart + 11ms);
  EXPECT_EQ(p.next(), kStart + 20ms);
}

TEST(Pacer, CreditIsBounded) {
  Pacer p = at_rate(100'000);
  p.on_sent(kStart);
  p.on_sent(kStart + 1s);
  EXPECT_EQ(p.next(), kStart + 1s - Pacer::kLeastCredit + 10ms);
  p.set_rtt(100ms);
  p.on_sent(kStart + 2s);
  EXPECT_EQ(p.next(), kStart + 2s - 50ms + 10ms);
  EXPECT_FALSE(p.on_sent(kStart + 2s)) << "more is permitted already";
}

TEST(Pacer, ANewRateScalesTheWait) {
  Pacer p = at_rate(100'000);
  p.on_sent(kStart);
  p.set_rate(50'000, kStart + 4ms);
  EXPECT_NEAR(seconds(p.next() - kStart), 0.004 + 0.012, 1e-8);
  EXPECT_EQ(p.rate(), 50'000);
}

TEST(Pacer, TheApplicationOffersAtItsOwnRate) {
  Pacer p = at_rate(100'000, Rate::bytes_per_second(50'000));
  EXPECT_TRUE(p.follows_application());
  EXPECT_FALSE(p.on_sent(kStart)) << "the application holds it back";
  EXPECT_EQ(p.next(), kStart + 20ms);
  p.set_rate(25'000, kStart + 10ms);
  EXPECT_FALSE(p.follows_application());
}

TEST(DataLimits, AreOfTheWholeIntervalThatFeedbackCovers) {
  DataLimits l;
  l.on_sent(true, kStart);
  l.on_sent(false, kStart + 10ms);
  EXPECT_FALSE(l.on_feedback(kStart + 5ms, 10ms)) << "it was free at the beginning";
  l.on_sent(false, kStart + 40ms);
  EXPECT_TRUE(l.on_feedback(kStart + 40ms, 10ms));
  l.on_sent(true, kStart + 50ms);
  EXPECT_TRUE(l.on_feedback(kStart + 45ms, 5ms)) << "before the stretch ended";
  EXPECT_FALSE(l.on_feedback(kStart + 50ms, 5ms));
}

}  // namespace
}  // namespace surety::endpoints
