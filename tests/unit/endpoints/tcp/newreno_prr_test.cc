// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/newreno.h"

#include <gtest/gtest.h>

namespace surety::endpoints {
namespace {

constexpr std::uint32_t kS = 1000;

// Of 20 segments 14 were acknowledged in one burst with what tells of the loss, and nothing could leave in
// between: the window comes down to its target in that round trip all the same, not to what is left in
// flight.
TEST(Prr, AcksThatCameWithTheLossCountAsDelivered) {
  Prr prr;
  prr.begin(6 * kS, 14 * kS);
  EXPECT_EQ(prr.on_ack(5 * kS, 0, 10 * kS, kS), 10 * kS);
}

// RFC 6937 3.1: 20 segments, one lost, 19 ACKs; ssthresh 10. Half as many leave as arrive.
TEST(Prr, OneLossIsReducedInProportion) {
  Prr prr;
  prr.begin(20 * kS);
  std::uint64_t pipe = 18 * kS, sent = 0;
  for (int ack = 1; ack <= 18; ++ack) {
    const std::uint64_t may = prr.on_ack(kS, pipe, 10 * kS, kS);
    const std::uint64_t leaves = may / kS * kS;
    prr.on_sent(leaves);
    sent += leaves;
    pipe += leaves;
    pipe -= kS;
    EXPECT_NEAR(static_cast<double>(sent), 500.0 * ack, kS) << ack;
  }
  EXPECT_EQ(pipe, 9 * kS);
}

// More is lost than the window was to come down by: slow start up to the target, one more than arrives.
TEST(Prr, AfterManyLossesThePipeGrowsBack) {
  Prr prr;
  prr.begin(20 * kS);
  EXPECT_EQ(prr.on_ack(kS, 4 * kS, 10 * kS, kS), 2 * kS);
  prr.on_sent(2 * kS);
  EXPECT_EQ(prr.on_ack(kS, 5 * kS, 10 * kS, kS), 2 * kS);
  prr.on_sent(2 * kS);
  EXPECT_EQ(prr.on_ack(5 * kS, 9 * kS, 10 * kS, kS), kS) << "not beyond the target";
  EXPECT_EQ(prr.on_ack(5 * kS, 10 * kS, 10 * kS, kS), 0u);
}

// An ACK for many is worth as much as many ACKs.
TEST(Prr, LostAcksChangeNothing) {
  Prr one, many;
  one.begin(20 * kS);
  many.begin(20 * kS);
  std::uint64_t sent = 0;
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t may = many.on_ack(kS, 18 * kS, 10 * kS, kS);
    many.on_sent(may);
    sent += may;
  }
  EXPECT_EQ(one.on_ack(8 * kS, 18 * kS, 10 * kS, kS), sent);
}

TEST(Prr, SendsNothingForNothing) {
  Prr prr;
  prr.begin(20 * kS);
  prr.on_sent(kS);
  EXPECT_EQ(prr.on_ack(0, 18 * kS, 10 * kS, kS), 0u);
  EXPECT_EQ(Prr().on_ack(0, 10, 5, kS), 0u) << "before it began";
}

}  // namespace
}  // namespace surety::endpoints
