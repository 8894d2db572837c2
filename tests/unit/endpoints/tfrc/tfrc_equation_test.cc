// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/tfrc.h"

#include <gtest/gtest.h>

#include <cmath>

namespace surety::endpoints {
namespace {

using namespace literals;

struct Row {
  std::uint64_t segment;
  Duration rtt;
  double p, rate;
};

// The equation in 40-digit decimal arithmetic (Python's decimal), not by this code.
constexpr Row kRows[] = {
    {1500, 640ms, 0.01, 2.6327867429e+04}, {1500, 40ms, 0.01, 4.2124587886e+05},
    {1000, 100ms, 1e-4, 1.2236435918e+06}, {576, 20ms, 0.1, 5.0978939840e+04},
    {1460, 200ms, 1e-6, 8.9405570961e+06}, {40, 1s, 1, 1.6439528475e-01},
    {9216, 1ms, 1e-8, 1.1287247719e+11},   {1500, 300ms, 0.5, 2.0868082019e+02},
};

TEST(TfrcEquation, AsComputedIndependently) {
  for (const Row& r : kRows) {
    EXPECT_NEAR(tfrc_throughput(Bytes(r.segment), r.rtt, r.p) / r.rate, 1, 1e-10)
        << r.segment << " bytes, p = " << r.p;
  }
}

TEST(TfrcEquation, InverseAsComputedIndependently) {
  for (const Row& r : kRows) {
    EXPECT_NEAR(tfrc_loss_event_rate(Bytes(r.segment), r.rtt, r.rate) / r.p, 1, 2e-9)
        << r.segment << " bytes at " << r.rate;
  }
}

TEST(TfrcEquation, InverseOfEveryDecade) {
  for (double p = 1.5e-8; p < 1; p *= 1.7) {
    const double x = tfrc_throughput(1500_B, 80ms, p);
    EXPECT_NEAR(tfrc_loss_event_rate(1500_B, 80ms, x) / p, 1, 2e-9) << p;
  }
}

TEST(TfrcEquation, NoLossIsNoLimit) {
  EXPECT_EQ(tfrc_throughput(1500_B, 80ms, 0), INFINITY);
}

TEST(TfrcEquation, MoreLossOrALongerPathIsSlower) {
  for (double p = 1e-8; p < 0.9; p *= 1.1) {
    EXPECT_GT(tfrc_throughput(1500_B, 80ms, p), tfrc_throughput(1500_B, 80ms, p * 1.1));
    EXPECT_GT(tfrc_throughput(1500_B, 80ms, p), tfrc_throughput(1500_B, 81ms, p));
  }
}

// RFC 5348 6.3.1 asks for s / (2 R) when the very first packets are lost: about 20.64 % whatever s and R.
TEST(TfrcEquation, InverseOfHalfAPacketPerRoundTrip) {
  EXPECT_NEAR(tfrc_loss_event_rate(1500_B, 100ms, 1500 / 0.2), 0.2064, 0.00005);
  EXPECT_NEAR(tfrc_loss_event_rate(576_B, 20ms, 576 / 0.04), 0.2064, 0.00005);
}

TEST(TfrcEquation, InverseEndsWherePEnds) {
  EXPECT_EQ(tfrc_loss_event_rate(1500_B, 100ms, 0), 1);
  EXPECT_EQ(tfrc_loss_event_rate(1500_B, 100ms, 1e-3), 1);
  EXPECT_EQ(tfrc_loss_event_rate(1500_B, 100ms, 1e15), 1e-8);
  EXPECT_EQ(tfrc_loss_event_rate(1500_B, 100ms, INFINITY), 1e-8);
}

}  // namespace
}  // namespace surety::endpoints
