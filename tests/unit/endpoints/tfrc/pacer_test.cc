// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/tfrc.h"

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

}  // namespace
}  // namespace surety::endpoints
