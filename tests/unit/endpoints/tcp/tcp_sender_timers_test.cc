// SPDX-License-Identifier: BSD-3-Clause
// The timers of TcpSender at work: retransmission and persist.
#include "endpoints/tcp/tcp_sender.h"

#include <gmock/gmock.h>

#include "tests/unit/endpoints/tcp/scripted_receiver.h"

namespace surety::endpoints {
namespace {

using namespace literals;
using testing::IsEmpty;

// --- round trips and timeouts

TEST(TcpSender, OneSegmentAtATimeIsTimed) {
  ScriptedReceiver r(plain(TcpFlavour::newreno));
  r.connect();
  EXPECT_EQ(r.reading().rtt, 100ms);
  EXPECT_EQ(r.sent(), range(0, 10));
  r.pass(60ms);
  r.ack(1);
  EXPECT_EQ(r.reading().min_rtt, 60ms);
  EXPECT_EQ(r.reading().rtt, 95ms);
  r.pass(100ms);
  r.ack(2);
  EXPECT_EQ(r.reading().rtt, 95ms) << "segment 0 was the timed one, and after it 10";
}

TEST(TcpSender, TimestampsGiveTheRttOfEveryAck) {
  TcpParams p;
  ScriptedReceiver r(p);
  r.timestamps = tcp::Timestamps{1, 0};
  r.timestamps->echo = r.syn().timestamps->value;
  r.pass(100ms);
  r.give(r.syn_ack());
  EXPECT_NEAR(seconds(r.reading().rtt), 0.1, 2e-6);
  const auto sent = r.heard();
  ASSERT_EQ(sent.size(), 11u);
  EXPECT_EQ(sent[1].timestamps->echo, 1u);
  r.timestamps->echo = sent[1].timestamps->value;
  r.pass(90ms);
  r.ack_bytes(1448);
  r.heard();
  r.pass(-20ms);
  r.ack_bytes(2 * 1448);
  EXPECT_NEAR(seconds(r.reading().min_rtt), 0.07, 2e-6) << "the least of all";
  EXPECT_NEAR(seconds(r.reading().rtt), 0.1 * 7 / 8 + 0.09 / 8, 2e-6) << "RFC 7323 4.2: one a round trip";
}

// If the segment had arrived and only its ACK was lost, the receiver echoes the first transmission.
TEST(TcpSender, AnEchoFromBeforeATimeoutIsNoSample) {
  ScriptedReceiver r({});
  r.timestamps = tcp::Timestamps{1, 0};
  r.timestamps->echo = r.syn().timestamps->value;
  r.pass(100ms);
  r.give(r.syn_ack());
  const std::uint32_t first = r.heard().at(1).timestamps->value;
  r.pass_to_wakeup();
  const auto again = r.heard();
  ASSERT_EQ(again.size(), 1u);
  r.pass(50ms);
  r.timestamps->echo = first;
  r.ack_bytes(1448);
  EXPECT_NEAR(seconds(r.reading().rtt), 0.1, 2e-6);
  EXPECT_EQ(r.heard().size(), 2u);
  EXPECT_EQ(r.sender.next_wakeup(), r.now + 2s) << "still backed off";
  r.timestamps->echo = again[0].timestamps->value;
  r.ack_bytes(2 * 1448);
  r.heard();
  EXPECT_EQ(r.sender.next_wakeup(), r.now + 1s);
}

// RFC 6298 5: what ends the backoff is new data that was sent and acknowledged, were it behind a hole.
TEST(TcpSender, AnAckOfDataThatWasSentOnceEndsTheBackoff) {
  ScriptedReceiver r(plain(TcpFlavour::newreno));
  r.connect();
  EXPECT_EQ(r.sent(), range(0, 10));
  r.pass_to_wakeup();
  EXPECT_EQ(r.sent(), Trace{0});
  EXPECT_EQ(r.sender.next_wakeup(), r.now + 2s);
  EXPECT_EQ(r.on_ack(1), (Trace{1, 2}));
  EXPECT_EQ(r.sender.next_wakeup(), r.now + 2s) << "nobody knows which of the two arrived";
  EXPECT_EQ(r.on_ack(10), (Trace{10, 11, 12}));
  EXPECT_EQ(r.sender.next_wakeup(), r.now + 1s);
}

TEST(TcpSender, TimeoutsDoubleUntilItGivesUp) {
  TcpParams p = plain(TcpFlavour::newreno);
  p.retries = 4;
  ScriptedReceiver r(p);
  r.connect();
  r.sent();
  for (const Duration wait : {1s, 2s, 4s, 8s}) {
    EXPECT_EQ(r.sender.next_wakeup(), r.now + wait);
    r.pass(wait);
    EXPECT_EQ(r.sent(), Trace{0});
  }
  r.pass_to_wakeup();
  EXPECT_EQ(r.sent(), Trace{});
  EXPECT_EQ(r.sender.state(), FlowState::closed);
  EXPECT_EQ(r.sender.failure(), Failure::timeout);
  EXPECT_EQ(r.reading().timeouts, 4u);
}

TEST(TcpSender, CoarseTimersExpireOnTheirTicks) {
  TcpParams p = plain(TcpFlavour::reno);
  p.timer_granularity = 500ms;
  ScriptedReceiver r(p);
  r.connect();  // at 100.1 s
  r.sent();
  EXPECT_EQ(r.sender.next_wakeup(), Time(101'500ms));
}

// RFC 6298 5.3.
TEST(TcpSender, EachNewAckRestartsTheTimer) {
  ScriptedReceiver r(plain(TcpFlavour::newreno));
  r.connect();
  r.sent();
  r.pass(400ms);
  r.on_ack(1);
  EXPECT_EQ(r.sender.next_wakeup(), r.now + 1s);
  r.pass(400ms);
  r.on_ack(1);
  EXPECT_EQ(r.sender.next_wakeup(), r.now + 600ms) << "a duplicate does not";
}

// --- closed windows

// RFC 9293 3.8.6.1: the first probe after a timeout, then doubled, and no end while they are answered.
TEST(TcpSender, AClosedWindowIsProbedWithoutEnd) {
  TcpParams p = plain(TcpFlavour::newreno);
  p.retries = 3;
  ScriptedReceiver r(p);
  r.connect();
  EXPECT_EQ(r.sent(), range(0, 10));
  r.window = 0;
  EXPECT_EQ(r.on_ack(10), Trace{});
  for (const Duration wait : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s, 60s}) {
    EXPECT_EQ(r.sender.next_wakeup(), r.now + wait);
    r.pass(wait);
    const auto h = r.heard();
    ASSERT_EQ(h.size(), 1u);
    EXPECT_EQ(r.offset(h[0]), 10'000u);
    EXPECT_EQ(h[0].bytes, pattern(10'000, 1));
    EXPECT_EQ(r.ack(10), Refusal::none);
  }
  EXPECT_EQ(r.reading().timeouts, 0u);
  EXPECT_EQ(r.reading().loss_events, 0u) << "the answers are no duplicate ACKs";
  r.window = 65535;
  EXPECT_EQ(r.on_ack(10), range(10, 21)) << "cwnd is what it was: the window was closed, not the path";
  EXPECT_EQ(r.sender.next_wakeup(), r.now + 1s);
}

TEST(TcpSender, AProbeThatIsTakenMovesOn) {
  ScriptedReceiver r(plain(TcpFlavour::newreno));
  r.connect();
  r.sent();
  r.window = 0;
  r.on_ack(10);
  r.pass_to_wakeup();
  ASSERT_EQ(r.heard().size(), 1u);
  r.window = 100;
  EXPECT_EQ(r.ack_bytes(10'001), Refusal::none);
  const auto h = r.heard();
  ASSERT_GE(h.size(), 1u);
  EXPECT_EQ(r.offset(h[0]), 10'001u);
  EXPECT_EQ(h[0].bytes, pattern(10'001, 1000));
}

TEST(TcpSender, AClosedWindowThatNobodyAnswersForIsGivenUp) {
  TcpParams p = plain(TcpFlavour::newreno);
  p.retries = 3;
  ScriptedReceiver r(p);
  r.connect();
  r.sent();
  r.window = 0;
  r.on_ack(10);
  for (int probe = 0; probe < 3; ++probe) {
    r.pass_to_wakeup();
    EXPECT_EQ(r.heard().size(), 1u);
  }
  r.pass_to_wakeup();
  EXPECT_THAT(r.heard(), IsEmpty());
  EXPECT_EQ(r.sender.failure(), Failure::timeout);
}

TEST(TcpSender, AWindowClosedOverWhatIsOutIsNoCongestion) {
  ScriptedReceiver r(plain(TcpFlavour::newreno));
  r.connect();
  r.sent();
  r.window = 0;
  EXPECT_EQ(r.on_ack(4), Trace{});
  const std::uint64_t cwnd = r.cwnd();
  r.pass_to_wakeup();
  const auto h = r.heard();
  ASSERT_EQ(h.size(), 1u);
  EXPECT_EQ(h[0].bytes, pattern(4000, 1));
  EXPECT_EQ(r.cwnd(), cwnd);
  EXPECT_EQ(r.reading().timeouts, 0u);
}

// Windows below a segment: half of the largest ever is worth sending, and less when the timer overrides it.
TEST(TcpSender, SillyWindowsAreAvoided) {
  ScriptedReceiver r(plain(TcpFlavour::newreno));
  r.scale = 0;
  r.window = 800;
  r.connect();
  auto h = r.heard();
  ASSERT_EQ(h.size(), 1u);
  EXPECT_EQ(h[0].bytes.size(), 800u);
  r.window = 399;
  r.ack_bytes(800);
  EXPECT_THAT(r.heard(), IsEmpty());
  r.pass(1s);
  h = r.heard();
  ASSERT_EQ(h.size(), 1u);
  EXPECT_EQ(h[0].bytes, pattern(800, 399));
  r.window = 400;
  r.ack_bytes(1199);
  h = r.heard();
  ASSERT_EQ(h.size(), 1u);
  EXPECT_EQ(h[0].bytes, pattern(1199, 400));
}

}  // namespace
}  // namespace surety::endpoints
