// SPDX-License-Identifier: BSD-3-Clause
// RIO's share of early drops at an average that stays where it is,
// against the mean of the distance between drops.
#include <gtest/gtest.h>

#include <cmath>

#include "aqm/active_queue.h"

namespace surety {
namespace {

using namespace literals;

// A queue kept at a constant depth: what is accepted is followed by a departure.
// The average has come to the depth.
class HeldQueue {
 public:
  HeldQueue(const RioParams& rio, Precedence precedence, std::uint32_t depth)
      : queue_({.limit = 4096, .rio = rio}, 11), packet_{.length = 1000, .precedence = precedence} {
    while (queue_.depth() < depth) queue_.enqueue(packet_, false, now_);
    for (int i = 0; i < 20'000; ++i) arrive();
  }
  bool arrive() {  // whether it was refused
    now_ += 1ms;
    if (queue_.enqueue(packet_, false, now_).drop != DropReason::none) return true;
    queue_.dequeue(now_);
    return false;
  }
  const ActiveQueue& queue() const { return queue_; }

 private:
  ActiveQueue queue_;
  Packet packet_;
  Time now_{};
};

// With p_a = p_b/(1 - k p_b) after k accepted packets, the distance X from drop to drop has P(X > k) = 1 - k
// p_b, down to 0: uniform where 1/p_b is whole. Its mean is the sum of these.
double mean_distance(double p_b) {
  double mean = 0;
  for (int k = 0; 1 - k * p_b > 0; ++k) mean += 1 - k * p_b;
  return mean;
}

TEST(AnalyticRio, TheMeanOfAUniformDistance) {
  for (int n = 1; n < 100; ++n) EXPECT_NEAR(mean_distance(1.0 / n), (n + 1) / 2.0, 1e-9);
}

constexpr int kArrivals = 2'000'000;  // a standard error of 0.3 % where drops are rarest

void expect_share(const RioParams& rio, Precedence precedence, std::uint32_t depth) {
  const RedParams& curve = precedence == Precedence::in ? rio.in : rio.out;
  const double p_b = curve.pmax.value() * (depth - curve.min) / (curve.max - curve.min);
  HeldQueue held(rio, precedence, depth);
  ASSERT_NEAR(
      precedence == Precedence::in ? held.queue().status().average_in : held.queue().status().average_total,
      depth, 1e-9);
  const auto before = held.queue().counters(precedence);
  for (int i = 0; i < kArrivals; ++i) held.arrive();
  const auto after = held.queue().counters(precedence);
  EXPECT_EQ(after.forced_drops, before.forced_drops);
  EXPECT_EQ(after.overflow_drops, 0u);
  const double share = static_cast<double>(after.early_drops - before.early_drops) / kArrivals;
  EXPECT_NEAR(share * mean_distance(p_b), 1, 0.01) << name(precedence) << " at " << depth << ", p_b " << p_b;
}

RedParams red(double min, double max, double pmax) {
  return {.min = min, .max = max, .pmax = Probability(pmax)};
}

TEST(AnalyticRio, EarlyDropsOfTheGtfrcPaper) {
  const RioParams rio{.in = red(20, 40, 0.02), .out = red(10, 20, 0.1)};
  for (const std::uint32_t depth : {11u, 13u, 15u, 18u, 20u}) expect_share(rio, Precedence::out, depth);
  for (const std::uint32_t depth : {30u, 37u}) expect_share(rio, Precedence::in, depth);
}

TEST(AnalyticRio, EarlyDropsOfTheCsaPaper) {
  const RioParams rio{.in = red(70, 120, 0.01), .out = red(10, 60, 0.2)};
  for (const std::uint32_t depth : {12u, 23u, 35u, 47u, 60u}) expect_share(rio, Precedence::out, depth);
  expect_share(rio, Precedence::in, 113);
}

}  // namespace
}  // namespace surety
