// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/sender_rtt.h"

#include <gtest/gtest.h>

namespace surety::endpoints {
namespace {

using namespace literals;

constexpr Time kStart = Time(1000s);

TEST(SenderRtt, IsFilteredAndBounded) {
  SenderRtt rtt(kStart);
  EXPECT_FALSE(rtt.known());
  EXPECT_EQ(rtt.value(), 0s);
  rtt.on_sample(100ms, kStart);
  EXPECT_EQ(rtt.value(), 100ms);
  rtt.on_sample(200ms, kStart);
  EXPECT_NEAR(seconds(rtt.value()), 0.11, 1e-9);
  EXPECT_EQ(rtt.least(), 100ms);
  SenderRtt least(kStart), most(kStart);
  least.on_sample(-1s, kStart);
  most.on_sample(1h, kStart);
  EXPECT_EQ(least.value(), SenderRtt::kLeast);
  EXPECT_EQ(most.value(), SenderRtt::kMost);
}

TEST(SenderRtt, TheCounterMovesEveryQuarterOfARoundTrip) {
  SenderRtt rtt(kStart);
  EXPECT_EQ(rtt.window_counter(kStart + 10s), 0) << "not while R is not known";
  rtt.on_sample(100ms, kStart + 10s);
  EXPECT_EQ(rtt.window_counter(kStart + 10s + 24ms), 0);
  EXPECT_EQ(rtt.window_counter(kStart + 10s + 40ms), 1);
  EXPECT_EQ(rtt.window_counter(kStart + 10s + 50ms), 2) << "what is left of a quarter counts";
  EXPECT_EQ(rtt.window_counter(kStart + 20s), 7) << "at most five at once";
  EXPECT_EQ(rtt.window_counter(kStart + 30s), 12);
  EXPECT_EQ(rtt.window_counter(kStart + 40s), 1) << "modulo 16";
}

}  // namespace
}  // namespace surety::endpoints
