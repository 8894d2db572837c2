// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/lost_part.h"

#include <gtest/gtest.h>

#include "conditioners/rng.h"
#include "endpoints/tfrc/receive_rate.h"

namespace surety::endpoints {
namespace {

using namespace std::chrono_literals;

// Reports of a round-trip time each.
struct Reports {
  LostPart lost;
  void report(double sent, double arrived) { lost.on_report(sent, arrived / 0.1, 0.1, 0.1); }
};

TEST(LostPart, NothingIsKnownOfAFewPackets) {
  Reports r;
  r.report(49, 0);
  EXPECT_EQ(r.lost.value(), 0);
  r.report(2, 0);
  EXPECT_EQ(r.lost.value(), 1);
}

TEST(LostPart, IsThePartThatDidNotArrive) {
  Reports r;
  for (int i = 0; i < 100; ++i) r.report(20, 19);
  EXPECT_NEAR(r.lost.value(), 0.05, 1e-12);
}

TEST(LostPart, IsNeverNegative) {
  Reports r;
  r.report(100, 120);
  EXPECT_EQ(r.lost.value(), 0);
}

// After 500 packets without loss 1/e of the former part is left.
TEST(LostPart, ForgetsInFiveHundredPackets) {
  Reports r;
  for (int i = 0; i < 10'000; ++i) r.report(1, 0.9);
  EXPECT_NEAR(r.lost.value(), 0.1, 1e-9);
  for (int i = 0; i < 500; ++i) r.report(1, 1);
  EXPECT_NEAR(r.lost.value(), 0.1 * 0.3675, 1e-4);  // (1 - 1/500)^500
}

TEST(LostPart, AReportOfManyPacketsReplacesAll) {
  Reports r;
  r.report(400, 200);
  r.report(600, 570);
  EXPECT_NEAR(r.lost.value(), 0.05, 1e-12);
}

// A packet each 5 ms, one of twenty lost at random, and feedback as a receiver sends it: each 100 ms, and
// three packets after a loss. The mean of many such estimates is the part that is lost.
TEST(LostPart, LossEventsThatAreReportedAtOnceDoNotBiasIt) {
  Rng rng(1);
  ReceiveRate receiver;
  LostPart lost;
  Time reported{};
  double sent = 0, sum = 0, arrived_all = 0, sent_all = 0;
  int since_loss = 0;
  for (int n = 1; n <= 200'000; ++n) {
    const Time now = Time{} + n * 5ms;
    const bool arrives = rng.uniform() >= 0.05;
    ++sent;
    ++sent_all;
    since_loss = arrives ? since_loss + 1 : 0;
    sum += lost.value();
    if (!arrives) continue;
    ++arrived_all;
    receiver.on_packet(1, now);
    const bool due = now - reported >= 100ms, event = since_loss == 3 && now - reported >= 15ms;
    if (!due && !event) continue;
    const double rate = receiver.feedback(now, 100ms);
    if (n > 20) lost.on_report(sent, rate, seconds(now - reported), 0.1);
    reported = now;
    sent = 0;
  }
  EXPECT_NEAR(sum / sent_all, 1 - arrived_all / sent_all, 0.001);
}

}  // namespace
}  // namespace surety::endpoints
