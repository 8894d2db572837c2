// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/excess_share.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/endpoints/tfrc/tfrc_flow.h"

namespace surety::endpoints {
namespace {

using namespace surety::literals;
using namespace std::chrono_literals;

// Equation 32 of Padhye et al. by hand, for p = 1/4: W = 1 + sqrt(9) = 4; loss events without three duplicate
// ACKs are 37/64 (1 + 27/64 1/4) / (175/256); a quarter of the other retransmissions is lost; the back-off is
// 1 + p + 2 p^2 + ... + 32 p^6.
TEST(TcpPacketsPerRtt, IsTheFullModelWithLostRetransmissions) {
  const double timeout = 1 - 0.75 * (1 - 10471.0 / 11200), backoff = 1.4921875;
  for (const double rto : {1.0, 4.0})
    EXPECT_DOUBLE_EQ(tcp_packets_per_rtt(0.25, rto),
                     (3 + 4 + timeout / 0.75) / (3 + timeout * rto * backoff / 0.75));
}

TEST(TcpPacketsPerRtt, IsTheSquareRootFormulaForFewLosses) {
  EXPECT_NEAR(tcp_packets_per_rtt(1e-6, 4), std::sqrt(1.5e6), 1);
}

// Where TFRC's simplification (RFC 5348 3.1) is made for, they agree; beyond, it is far below.
TEST(TcpPacketsPerRtt, AgreesWithTheEquationOfTfrcAtAFewPercent) {
  const auto simplified = [](double p) { return tfrc_throughput(1000_B, 1s, p) / 1000; };
  EXPECT_NEAR(tcp_packets_per_rtt(0.01, 4), simplified(0.01), 0.02 * simplified(0.01));
  EXPECT_GT(tcp_packets_per_rtt(0.25, 4), 2.4 * simplified(0.25));
}

TEST(TcpPacketsPerRtt, FallsToNextToNothingWhereAllIsLost) {
  double before = 1e9;
  for (const double p : {1e-8, 1e-4, 0.01, 0.1, 0.3, 0.5, 0.75, 0.9, 1.0}) {
    const double rate = tcp_packets_per_rtt(p, 2);
    EXPECT_GT(rate, 0) << p;
    EXPECT_LT(rate, before) << p;
    before = rate;
  }
  EXPECT_LT(before, 0.01);
}

struct Share {
  ExcessShare share;
  void event(double rate = 20'000) { share.on_loss_event(1000_B, kRtt, rate); }
  void packets(double n, int times = 1) {
    for (int i = 0; i < times; ++i) share.on_report(n, kRtt);
  }
  double p() const { return share.loss_event_rate(); }
};

TEST(ExcessShare, TheFirstIntervalIsThatOfItsRate) {
  Share s;
  s.packets(500);
  EXPECT_EQ(s.p(), 0);
  s.event();
  EXPECT_NEAR(equation(s.p()), 20'000, 1e-3);
}

TEST(ExcessShare, TheFirstRateIsAtLeastAPacketInARoundTrip) {
  Share s;
  s.event(-50'000);
  EXPECT_NEAR(equation(s.p()), 10'000, 1e-3);
}

TEST(ExcessShare, CountsPacketsAboveGOnly) {
  Share s;
  s.event();
  for (int i = 0; i < 8; ++i) {
    s.packets(0.5, 40);
    s.event();
  }
  EXPECT_DOUBLE_EQ(s.p(), 1 / 20.0);
  // The open interval counts once it raises the mean: 50 packets with the weights of RFC 5348 5.4.
  s.packets(0.5, 40);
  EXPECT_DOUBLE_EQ(s.p(), 1 / 20.0);
  s.packets(0.5, 40);
  EXPECT_DOUBLE_EQ(s.p(), 1 / ((40 + 5 * 20) / 6.0));
}

// Without half a packet above g since the last event, it was a packet of g that was lost.
TEST(ExcessShare, ALossAmongPacketsOfGIsNoEvent) {
  Share s;
  s.event();
  const double before = s.p();
  s.packets(0.125, 3);
  s.event();
  EXPECT_EQ(s.p(), before);
  s.packets(0.125);
  s.event();
  EXPECT_GT(s.p(), before);
}

TEST(ExcessShare, AnApplicationBelowGOwesNothing) {
  Share s;
  s.event();
  s.packets(-1000);
  for (int i = 0; i < 8; ++i) {
    s.packets(1, 20);
    s.event();
  }
  EXPECT_DOUBLE_EQ(s.p(), 1 / 20.0);
}

// R = 100 ms without deviation: RFC 6298's timeout is R, Linux's least 200 ms.
TEST(ExcessShare, TheTimeoutIsThatOfTcp) {
  Share s;
  s.packets(0, 100);
  s.event();
  for (int i = 0; i < 8; ++i) {
    s.packets(1, 4);
    s.event();
  }
  EXPECT_NEAR(s.share.rate(1000_B, kRtt), 10'000 * tcp_packets_per_rtt(0.25, 2), 1e-6);
  for (int i = 0; i < 200; ++i) s.share.on_report(0, i % 2 == 0 ? 150ms : 50ms);  // RTTVAR about 50 ms
  EXPECT_DOUBLE_EQ(s.p(), 0.25);
  EXPECT_NEAR(s.share.rate(1000_B, kRtt), 10'000 * tcp_packets_per_rtt(0.25, 3), 300);
}

}  // namespace
}  // namespace surety::endpoints
