// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/tfrc.h"

#include <gtest/gtest.h>

#include <deque>

#include "conditioners/rng.h"
#include "endpoints/tfrc/loss_intervals.h"
#include "tests/unit/endpoints/tfrc/tfrc_flow.h"

namespace surety::endpoints {
namespace {

using namespace literals;

using Flow = TfrcFlow;

// 4.2

TEST(Tfrc, OnePacketPerSecondBeforeTheFirstFeedback) {
  Flow f;
  EXPECT_EQ(f.sender.next_send(), kStart);
  EXPECT_EQ(f.sender.nofeedback_timer(), kNever);
  EXPECT_EQ(f.sender.rtt(), Duration::zero());
  f.sender.on_sent(kStart);
  EXPECT_EQ(f.sender.next_send(), kStart + 1s);
  EXPECT_EQ(f.sender.nofeedback_timer(), kStart + 2s);
  EXPECT_EQ(f.sender.rate(), 1000);
}

TEST(Tfrc, InitialRate) {
  struct Row {
    std::uint64_t segment;
    double window;
  };
  for (const Row& r : {Row{500, 2000}, Row{1000, 4000}, Row{1460, 4380}, Row{1500, 4380}, Row{9000, 18000}}) {
    TfrcSender s({.segment = Bytes(r.segment)}, kStart);
    s.on_sent(kStart);
    s.on_feedback({kStart, kRtt, 0, 0, false}, kStart + kRtt);
    EXPECT_DOUBLE_EQ(s.rate(), r.window / 0.1) << r.segment;
    EXPECT_EQ(s.rtt(), kRtt);
    EXPECT_TRUE(s.slow_start());
  }
}

TEST(Tfrc, HandshakeGivesTheInitialRateAtOnce) {
  Flow f;
  f.sender.on_handshake(kRtt, kStart);
  EXPECT_DOUBLE_EQ(f.sender.rate(), 40'000);
  f.send_until(kStart + 99ms);
  EXPECT_EQ(f.sent, 4u);
  EXPECT_EQ(f.sender.nofeedback_timer(), kStart + 400ms);
  f.sender.on_handshake(1s, kStart + 99ms);  // once
  EXPECT_EQ(f.sender.rtt(), kRtt);
  f.send_until(kStart + 100ms);
  f.feedback(0);  // a round trip after the handshake: slow start goes on
  EXPECT_DOUBLE_EQ(f.x(), 80'000);
}

TEST(Tfrc, RttFilterAndItsBounds) {
  Flow f;
  f.open();
  f.feedback(0, 0, 200ms);
  EXPECT_EQ(f.sender.rtt(), 110ms);
  f.feedback(0, 0, 10ms);
  EXPECT_EQ(f.sender.rtt(), 100ms);
  EXPECT_EQ(f.reading().min_rtt, 10ms);
  f.feedback(0, 0, -5s);  // a receiver that claims more delay than there was
  EXPECT_EQ(f.sender.rtt(), 90ms + 100ns);
}

// 4.3

TEST(Tfrc, SlowStartDoublesOncePerRoundTrip) {
  Flow f;
  f.open();
  double expected = 40'000;
  for (int round = 0; round < 6; ++round) {
    EXPECT_DOUBLE_EQ(f.x(), expected) << round;
    EXPECT_EQ(f.limited_by(), LimitedBy::slow_start);
    f.send_for(kRtt / 2);
    f.feedback(kPlenty);  // too early to double
    EXPECT_DOUBLE_EQ(f.x(), expected) << round;
    f.send_for(kRtt / 2);
    f.feedback(kPlenty);
    expected *= 2;
  }
}

TEST(Tfrc, SlowStartIsNotLimitedByTheReceiverForTwoRoundTripsThenByTwiceXRecv) {
  Flow f;
  f.open();
  for (const double x : {80'000.0, 160'000.0}) {
    f.send_for(kRtt);
    f.feedback(30'000);
    EXPECT_DOUBLE_EQ(f.x(), x);
  }
  f.send_for(kRtt);
  f.feedback(50'000);
  EXPECT_DOUBLE_EQ(f.x(), 100'000);
  EXPECT_EQ(f.limited_by(), LimitedBy::receive_rate);
  f.send_for(kRtt);
  f.feedback(10'000);  // the set's largest counts: 50 kB/s of a round trip ago
  EXPECT_DOUBLE_EQ(f.x(), 100'000);
}

TEST(Tfrc, SlowStartNeverFallsBelowTheInitialRate) {
  Flow f;
  f.open();
  for (int i = 0; i < 5; ++i) {
    f.send_for(kRtt);
    f.feedback(100);
  }
  EXPECT_DOUBLE_EQ(f.x(), 40'000);
}

TEST(Tfrc, FirstLossEventEndsSlowStartAtTheEquation) {
  Flow f;
  f.avoid_congestion(0.01);
  EXPECT_FALSE(f.sender.slow_start());
  EXPECT_NEAR(f.x(), equation(0.01), 1);
  EXPECT_EQ(f.limited_by(), LimitedBy::equation);
  EXPECT_EQ(f.reading().loss_event_rate, 0.01);
}

TEST(Tfrc, EquationUsesTheFilteredRtt) {
  Flow f;
  f.avoid_congestion(0.01);
  f.send_for(kRtt);
  f.feedback(kPlenty, 0.01, 200ms);
  EXPECT_NEAR(f.x(), equation(0.01, 110ms), 1);
}

TEST(Tfrc, TwiceXRecvLimitsTheEquation) {
  Flow f;
  f.avoid_congestion(0.0001);
  for (int i = 0; i < 3; ++i) {
    f.send_for(kRtt);
    f.feedback(50'000, 0.0001);
  }
  EXPECT_DOUBLE_EQ(f.x(), 100'000);
  EXPECT_EQ(f.limited_by(), LimitedBy::receive_rate);
  EXPECT_EQ(f.reading().x_recv, Rate::bytes_per_second(50'000));
}

TEST(Tfrc, NeverLessThanAPacketIn64Seconds) {
  Flow f;
  f.avoid_congestion(1);
  for (int i = 0; i < 5; ++i) {
    f.send_for(kRtt);
    f.feedback(0, 1);
  }
  EXPECT_DOUBLE_EQ(f.sender.rate(), 1000.0 / 64);
  EXPECT_EQ(f.sender.nofeedback_timer(), f.now + 128s);  // 2 s / X
}

// 4.3 with 8.2.1: an application of 20 kB/s in an allowance that is larger.

struct DataLimited : testing::Test {
  Flow f{{.application = Rate::bytes_per_second(20'000)}};
  void round(double receive_rate, double p = 0) {
    f.send_for(kRtt);
    f.feedback(receive_rate, p);
  }
};

TEST_F(DataLimited, TheLargestReportStaysAsLongAsTheIntervalsAreDataLimited) {
  f.open();
  round(20'000);  // the infinity of the beginning goes at once
  EXPECT_EQ(f.limited_by(), LimitedBy::application);
  for (int i = 0; i < 30; ++i) round(i == 3 ? 30'000 : 15'000);
  EXPECT_DOUBLE_EQ(f.x(), 60'000);
}

TEST_F(DataLimited, ALossEventTakes0Point85OfXRecvAndHalfOfWhatWasBefore) {
  f.open();
  for (int i = 0; i < 5; ++i) round(20'000);
  round(20'000, 1e-6);              // the equation allows 9 MB/s
  EXPECT_DOUBLE_EQ(f.x(), 17'000);  // not doubled
  round(5000, 1e-6);                // the same p: no loss
  EXPECT_DOUBLE_EQ(f.x(), 34'000);
  round(5000, 2e-6);
  EXPECT_DOUBLE_EQ(f.x(), 8500);  // half of 17 kB/s; 0.85 of 5 kB/s is less
  EXPECT_EQ(f.limited_by(), LimitedBy::receive_rate);
}

TEST_F(DataLimited, LessThanAllOfTheIntervalIsNotDataLimited) {
  Flow g;  // greedy, with a pause in each interval
  g.avoid_congestion(1e-4);
  for (int i = 0; i < 5; ++i) {
    g.send_for(kRtt / 2);
    g.now += kRtt / 2;
    g.feedback(20'000, 1e-4);
  }
  g.send_for(kRtt);
  g.feedback(20'000, 2e-4);
  EXPECT_DOUBLE_EQ(g.x(), 40'000);  // twice X_recv, loss or not
}

TEST_F(DataLimited, FeedbackOftenerThanOncePerRoundTripDoesNotMakeAGreedySenderSo) {
  Flow g;
  g.avoid_congestion(1e-4);
  double p = 1e-4;
  for (int i = 0; i < 100; ++i) {
    g.send_for(kRtt / 7);
    g.feedback(20'000, p *= 1.01);
  }
  EXPECT_DOUBLE_EQ(g.x(), 40'000);
}

TEST_F(DataLimited, AnIntervalThatEndedBeforeTheSenderHadMoreToSendStillCounts) {
  f.open();
  for (int i = 0; i < 5; ++i) round(20'000);
  // Backlog: for 300 ms nothing is sent, then what was offered meanwhile leaves as fast as X lets it.
  f.now += 300ms;
  const Time resumed = f.now;
  f.send_for(kRtt / 2);
  f.sender.on_feedback({resumed - 310ms, kRtt, 1000, 1e-6, false}, f.now);  // of the time before
  EXPECT_DOUBLE_EQ(f.x(), 10'000);                                          // data-limited, half of 20 kB/s
  f.send_for(kRtt / 2);
  f.sender.on_feedback({resumed + 50ms, kRtt, 20'000, 2e-6, false}, f.now);
  EXPECT_DOUBLE_EQ(f.x(), 40'000);  // not data-limited: twice X_recv
}

// 4.6

TEST(TfrcPacing, ALateDriverLosesNothing) {
  TfrcSender s({.segment = 1000_B, .guarantee = Rate::bytes_per_second(1'000'000)}, kStart);
  Rng rng(3);
  s.on_sent(kStart);
  s.on_feedback({kStart, kRtt, 0, 1, false}, kStart);
  s.on_feedback({kStart, kRtt, 0, 1, false}, kStart);
  const Time first = s.next_send();
  Time now = kStart;
  for (int i = 0; i < 100'000; ++i) {
    now = std::max(now, s.next_send() + Duration(rng.next() % 3'000'000));  // up to three packets late
    s.on_sent(now);
  }
  EXPECT_EQ(s.next_send(), first + 100s);
}

TEST(TfrcPacing, CreditIsHalfARoundTripOrAMillisecond) {
  for (const Duration rtt : {Duration(100ms), Duration(100us)}) {
    TfrcSender s({.segment = 1000_B, .guarantee = Rate::bytes_per_second(1'000'000)}, kStart);
    s.on_sent(kStart);
    s.on_feedback({kStart, rtt, 0, 1, false}, kStart);
    s.on_feedback({kStart, rtt, 0, 1, false}, kStart);
    const Time now = kStart + 10s;
    int burst = 0;
    for (; s.next_send() <= now; ++burst) s.on_sent(now);
    EXPECT_EQ(burst, rtt == 100ms ? 51 : 2);
  }
}

TEST(TfrcPacing, ANewRateHoldsForTheRestOfTheWait) {
  Flow f;
  f.send_until(kStart + 400ms);  // one packet; the next is due at 1 s, 0.6 packets away
  f.sender.on_feedback({kStart, kRtt, 0, 0, false}, f.now);
  EXPECT_EQ(f.sender.next_send(), f.now + 15ms);  // 0.6 * 25 ms
}

TEST(TfrcPacing, ApplicationRateIsExact) {
  Flow f{{.application = Rate::bytes_per_second(20'000)}};
  f.open();
  for (int i = 0; i < 1000; ++i) {
    f.send_for(kRtt);
    f.feedback(20'000);
  }
  EXPECT_EQ(f.sent, 2 * 1001u + 1);  // every 50 ms, the first one at the start
  EXPECT_EQ(f.sender.next_send(), f.now + 50ms);
}

TEST(TfrcPacing, WhatTheNetworkRefusedIsSentLaterButNeverFasterThanX) {
  Flow f{{.application = Rate::bytes_per_second(50'000)}};
  f.send_for(1500ms);  // two packets of the 76 that are offered
  f.feedback(0);
  EXPECT_EQ(f.sent, 2u);
  EXPECT_EQ(f.limited_by(), LimitedBy::slow_start);
  f.send_for(kRtt);
  EXPECT_LE(f.sent, 2u + 5);  // 40 kB/s
  for (int i = 0; i < 100; ++i) {
    f.feedback(kPlenty);
    f.send_for(kRtt);
  }
  EXPECT_EQ(f.limited_by(), LimitedBy::application);
  EXPECT_EQ(f.sent, static_cast<std::uint64_t>((f.now - kStart) / 20ms) + 1);
}

// Both halves, 15 ms apart each way, with feedback once a round-trip time and at each loss event.
struct Loop {
  explicit Loop(const TfrcParams& p = {}) : f(p) {}

  Flow f;
  ReceiveRate rate;
  LossIntervals losses;
  std::deque<std::pair<TfrcSender::Feedback, Time>> answers;
  Time answered = kStart;

  void run(Time end, std::uint64_t lose_every = 0) {
    while (true) {
      const Time due = std::max(f.sender.next_send(), f.now);
      const bool answer = !answers.empty() && answers.front().second <= due;
      if ((answer ? answers.front().second : due) > end) return;
      f.now = answer ? answers.front().second : due;
      if (answer) {
        f.sender.on_feedback(answers.front().first, f.now);
        answers.pop_front();
        continue;
      }
      ASSERT_LT(f.now, f.sender.nofeedback_timer());
      const std::uint8_t counter = f.sender.window_counter(f.now);
      f.sender.on_sent(f.now);
      if (lose_every == 0 || f.sent % lose_every != lose_every - 1) arrive(f.sent, counter, f.now + 15ms);
      ++f.sent;
    }
  }
  void arrive(std::uint64_t sequence, std::uint8_t counter, Time arrival) {
    rate.on_packet(1000, arrival);
    const bool loss = losses.on_packet(sequence, counter).new_loss_event;
    if (sequence > 0 && !loss && arrival - answered < 30ms) return;
    answered = arrival;
    const double x_recv = rate.feedback(arrival, 30ms);
    if (losses.wants_first_interval()) {
      losses.set_first_interval(1 / tfrc_loss_event_rate(1000_B, 30ms, x_recv));
    }
    answers.push_back({{f.now, 30ms, x_recv, losses.loss_event_rate(), loss}, arrival + 15ms});
  }
};

// The TFRC paper's band (tests/lab/papers/README.md): within 3 packets of rate * time over 100 s,
// whatever the start costs.
TEST(TfrcLoop, ApplicationLimitedKeepsItsRate) {
  for (const std::uint64_t kbps : {980u, 1224u, 2447u, 3666u, 4794u, 4812u}) {
    const Rate rate = Rate::bits_per_second(kbps * 1000);
    Loop loop{{.application = rate}};
    loop.run(kStart + 99900ms);
    EXPECT_NEAR(static_cast<double>(loop.f.sent), rate.bytes_per_second() * 99.9 / 1000, 3) << kbps;
  }
}

// A loss every 200 packets, which are more than a round-trip time: p = 1/200, and X is the equation's.
TEST(TfrcLoop, SettlesAtTheEquation) {
  Loop loop;
  loop.run(kStart + 30s, 200);
  EXPECT_NEAR(loop.losses.loss_event_rate(), 0.005, 1e-4);
  const std::uint64_t before = loop.f.sent;
  loop.run(kStart + 130s, 200);
  const double sent = static_cast<double>(loop.f.sent - before) * 1000 / 100;
  EXPECT_NEAR(sent / equation(0.005, 30ms), 1, 0.01);
  EXPECT_EQ(loop.f.limited_by(), LimitedBy::equation);
}

TEST(TfrcLoop, TheGuaranteeIsSentExactlyWhateverIsLost) {
  Loop loop{{.guarantee = Rate::bytes_per_second(1'000'000)}};
  loop.run(kStart + 1s, 20);
  const std::uint64_t before = loop.f.sent;
  loop.run(kStart + 101s, 20);
  EXPECT_EQ(loop.f.sent - before, 100'000u);
  EXPECT_EQ(loop.f.limited_by(), LimitedBy::guarantee);
}

// RFC 4342 8.1

TEST(TfrcWindowCounter, AdvancesEveryQuarterOfARoundTrip) {
  Flow f;
  EXPECT_EQ(f.sender.window_counter(kStart + 10s), 0);  // no RTT yet
  f.now = kStart + 10s;
  f.sender.on_handshake(kRtt, f.now);
  for (int ms = 0; ms < 2000; ms += 7) {
    EXPECT_EQ(f.sender.window_counter(f.now + ms * 1ms), ms / 25 % 16) << ms;
  }
}

TEST(TfrcWindowCounter, ByAtMostFive) {
  Flow f;
  f.sender.on_handshake(kRtt, kStart);
  EXPECT_EQ(f.sender.window_counter(kStart + 125ms), 5);
  EXPECT_EQ(f.sender.window_counter(kStart + 10s), 10);
  EXPECT_EQ(f.sender.window_counter(kStart + 10s + 24ms), 10);
  EXPECT_EQ(f.sender.window_counter(kStart + 10s + 25ms), 11);
  EXPECT_EQ(f.sender.window_counter(kStart + 20s), 0);
}

constexpr Rate kGuarantee = Rate::bytes_per_second(100'000);

TEST(Tfrc, AnythingMayBeFedBack) {
  Rng rng(11);
  const double kOdd[] = {0, -1, 1, 2, 1e300, -1e300, NAN, INFINITY, -INFINITY, 1e-300, 0.5};
  Flow f{{.guarantee = kGuarantee, .theta = 2}};
  f.send_until(kStart);
  for (int i = 0; i < 10'000; ++i) {
    f.now += Duration(rng.next() % 1'000'000'000);
    const auto odd = [&] { return kOdd[rng.next() % std::size(kOdd)]; };
    const auto rtt = Duration(static_cast<std::int64_t>(rng.next()) - 1'000'000'000);
    if (rng.next() % 3 == 0) f.sender.on_nofeedback(f.now);
    f.sender.on_feedback({f.now - Duration(rng.next()), rtt, odd(), odd(), rng.next() % 2 == 0}, f.now);
    ASSERT_GE(f.sender.rate(), 1000.0 / 64);
    ASSERT_LE(f.sender.rate(), 125e9);
    ASSERT_GT(f.sender.nofeedback_timer(), f.now);
    ASSERT_GE(f.sender.rtt(), 1us);
    if (f.sender.next_send() <= f.now) f.sender.on_sent(f.now);
    f.sender.window_counter(f.now);
    f.reading();
  }
}

}  // namespace
}  // namespace surety::endpoints
