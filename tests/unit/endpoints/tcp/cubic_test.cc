// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/cubic.h"

#include <gtest/gtest.h>

#include <cmath>

namespace surety::endpoints {
namespace {

constexpr std::uint64_t kS = 1000;  // SMSS

// A sender that always has data, on a path of one round-trip time: each ACK acknowledges a segment, and
// another one leaves.
class Path {
 public:
  explicit Path(Duration rtt, std::uint64_t initial = 10, std::uint64_t ssthresh = 10)
      : rtt_(rtt), control_({.smss = kS, .initial = initial * kS, .ssthresh = ssthresh * kS}) {}

  void round_trip() {
    const std::uint64_t window = control_.cwnd() / kS;
    for (std::uint64_t i = 0; i < window; ++i) {
      now_ += rtt_ / static_cast<std::int64_t>(window);
      control_.on_ack(outstanding(), una_ + kS);
      una_ += kS;
    }
  }
  void mark() { control_.on_mark(outstanding()); }
  // The application sends nothing but a segment each second.
  void rest(std::int64_t seconds) {
    for (std::int64_t i = 0; i < seconds; ++i) {
      now_ += std::chrono::seconds(1);
      control_.on_ack({.una = una_, .next = una_ + kS, .max = una_ + kS, .now = now_, .rtt = rtt_},
                      una_ + kS);
      una_ += kS;
    }
  }
  double window() const { return static_cast<double>(control_.cwnd()) / kS; }
  double seconds() const { return std::chrono::duration<double>(now_.time_since_epoch()).count(); }
  std::uint64_t acknowledged() const { return una_ / kS; }

 private:
  Outstanding outstanding() const {
    const std::uint64_t end = una_ + control_.cwnd();
    return {.una = una_, .next = end, .max = end, .now = now_, .rtt = rtt_};
  }
  Duration rtt_;
  Cubic control_;
  Time now_{};
  std::uint64_t una_ = 1;
};

// Mean window when one of each `interval` segments is marked, after the first ten marks.
double mean_window(Duration rtt, std::uint64_t interval) {
  Path path(rtt);
  double sum = 0;
  int count = 0;
  for (std::uint64_t marks = 1; marks <= 40;) {
    path.round_trip();
    if (marks > 10) sum += path.window(), ++count;
    if (path.acknowledged() < marks * interval) continue;
    path.mark();
    ++marks;
  }
  return sum / count;
}

TEST(Cubic, ALossKeepsSevenTenths) {
  Path path(std::chrono::milliseconds(100), 100, 100);
  path.mark();
  EXPECT_EQ(path.window(), 70);
}

// W_max = 100, 70 after the reduction: K = cbrt(30 / 0.4) = 4.217 s, C = 0.4.
TEST(Cubic, TheWindowIsACubicFunctionOfTime) {
  Path path(std::chrono::milliseconds(100), 100, 100);
  path.mark();
  const double from = path.seconds();
  while (path.seconds() - from < 9) {
    path.round_trip();
    const double t = path.seconds() - from, curve = 100 + 0.4 * std::pow(t - std::cbrt(75.0), 3);
    EXPECT_NEAR(path.window(), curve, 1.5 + 0.02 * curve) << t;
  }
}

// RFC 9438 5.1: 1.054 RTT^0.75 / p^0.75, 0.1 s and 10^-4: 187 segments, if each loss comes at K. The curve is
// flat there: half a second earlier the window is the same whole number of segments.
TEST(Cubic, OnALongPathTheMeanWindowIsThatOfTheRfc) {
  EXPECT_NEAR(mean_window(std::chrono::milliseconds(100), 10'000), 187, 15);
}

// RFC 9438 4.3 and 5.1: sqrt(1.5 / p) on a short one, as Reno's: 10 ms and 10^-3, 38.7 segments.
TEST(Cubic, OnAShortPathTheMeanWindowIsRenos) {
  EXPECT_NEAR(mean_window(std::chrono::milliseconds(10), 1'000), 38.7, 2);
}

TEST(Cubic, ATimeWithoutUseIsNoPartOfTheCurve) {
  Path path(std::chrono::milliseconds(100), 100, 100), other = path;
  for (Path* p : {&path, &other}) {
    p->mark();
    for (int i = 0; i < 10; ++i) p->round_trip();
  }
  path.rest(60);
  for (Path* p : {&path, &other})
    for (int i = 0; i < 10; ++i) p->round_trip();
  EXPECT_NEAR(path.window(), other.window(), 1);
}

}  // namespace
}  // namespace surety::endpoints
