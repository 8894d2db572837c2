// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/newreno.h"

#include "tests/unit/endpoints/tcp/scripted_receiver.h"

namespace surety::endpoints {
namespace {

using namespace literals;

constexpr std::uint64_t kS = 1000;  // SMSS

WindowParams window(std::uint64_t initial, std::uint64_t ssthresh, bool partial_acks = true) {
  return {.smss = kS, .initial = initial * kS, .ssthresh = ssthresh * kS, .partial_acks = partial_acks};
}

// `flight` segments from segment `una` on.
Outstanding out(std::uint64_t una, std::uint64_t flight) {
  return {1 + una * kS, 1 + (una + flight) * kS, 1 + (una + flight) * kS};
}
std::uint64_t at(std::uint64_t segment) {
  return 1 + segment * kS;
}

// RFC 6928: min(10 MSS, max(2 MSS, 14600)).
TEST(InitialWindow, IsTenSegmentsOfOrdinarySize) {
  EXPECT_EQ(default_initial_window(1460), 14600u);
  EXPECT_EQ(default_initial_window(536), 5360u);
  EXPECT_EQ(default_initial_window(4000), 14600u);
  EXPECT_EQ(default_initial_window(8960), 17920u);
}

TEST(NewReno, SlowStartGainsASegmentPerAck) {
  NewReno w(window(2, 100));
  EXPECT_EQ(w.on_ack(out(0, 2), at(1)), Answer::none);
  EXPECT_EQ(w.cwnd(), 3 * kS);
  w.on_ack(out(1, 3), at(3));
  EXPECT_EQ(w.cwnd(), 4 * kS) << "RFC 5681 3.1 (2): min(N, SMSS), two segments were acknowledged";
}

// ACKs that come together, before anything is sent: the window was full when its last segment left.
TEST(NewReno, EachOfABurstOfAcksCounts) {
  for (const std::uint64_t ssthresh : {100u, 10u}) {
    NewReno w(window(10, ssthresh));
    for (std::uint64_t i = 0; i < 10; ++i) {
      Outstanding o{at(i), at(10), at(10)};
      o.answered = i * kS;
      w.on_ack(o, at(i + 1));
    }
    EXPECT_EQ(w.cwnd(), (ssthresh == 100 ? 20 : 11) * kS);
  }
}

TEST(NewReno, AWindowThatWasNotInUseDoesNotGrow) {
  NewReno w(window(10, 100));
  Outstanding o{at(2), at(6), at(6)};
  o.answered = 2 * kS;
  w.on_ack(o, at(3));
  EXPECT_EQ(w.cwnd(), 10 * kS) << "six were in flight";
  o = {at(2), at(9), at(9)};
  o.answered = 2 * kS;
  w.on_ack(o, at(3));
  EXPECT_EQ(w.cwnd(), 11 * kS) << "nine were, and two ACKs might have gained one each";
  o.most = 10 * kS;
  w.on_ack(o, at(3));
  EXPECT_EQ(w.cwnd(), 11 * kS) << "more may not be in flight anyway";
}

// A full window of 20, of which 14 are acknowledged in one burst with what tells that the next one is lost:
// six are in flight, for nothing could leave in between.
TEST(NewReno, ALossAmongABurstOfAcksHalvesTheWindowThatWasSent) {
  Outstanding o{at(14), at(20), at(20)};
  o.answered = 14 * kS;
  NewReno w(window(20, 20)), told(window(20, 20)), marked(window(20, 20)), timed_out(window(20, 20));
  for (int i = 0; i < 3; ++i) w.on_duplicate_ack(o);
  EXPECT_EQ(w.ssthresh(), 10 * kS);
  told.on_told(o, at(14), {.delivered = 5 * kS, .pipe = 0, .lost = true});
  EXPECT_EQ(told.ssthresh(), 10 * kS);
  marked.on_mark(o);
  EXPECT_EQ(marked.ssthresh(), 10 * kS);
  EXPECT_EQ(marked.cwnd(), 10 * kS);
  timed_out.on_timeout(o, false);
  EXPECT_EQ(timed_out.ssthresh(), 3 * kS) << "it had all the time to send: FlightSize as it is";
}

TEST(NewReno, AnAckThatAlsoTellsOfALossHalvesTheWindowThatWasSent) {
  NewReno w(window(20, 20));
  w.on_told(out(0, 20), at(14), {.delivered = 19 * kS, .pipe = 0, .lost = true});
  EXPECT_EQ(w.ssthresh(), 10 * kS);
}

// What the ACK that ends recovery says has arrived counts towards the next segment.
TEST(NewReno, AWindowGrowsFromTheAckThatEndsRecoveryOn) {
  NewReno w(window(8, 8));
  w.on_told(out(0, 8), at(0), {.delivered = 3 * kS, .pipe = 4 * kS, .lost = true});
  EXPECT_TRUE(w.in_fast_recovery());
  w.on_told(out(0, 8), at(8), {.delivered = kS, .pipe = 3 * kS});
  EXPECT_EQ(w.cwnd(), 4 * kS);
  w.on_told(out(8, 4), at(11), {.delivered = 3 * kS, .pipe = 4 * kS});
  EXPECT_EQ(w.cwnd(), 5 * kS);
}

// What RFC 5681 3.2 (2) says of limited transmit.
TEST(NewReno, WhatLeftBeyondTheWindowIsNotHalved) {
  NewReno w(window(20, 20));
  w.on_told(out(0, 22), at(0), {.delivered = 3 * kS, .pipe = 18 * kS, .lost = true});
  EXPECT_EQ(w.ssthresh(), 10 * kS);
}

// RFC 5681 3.1: ACK division gains nothing.
TEST(NewReno, AcksOfSingleBytesGainSingleBytes) {
  NewReno w(window(4, 100));
  std::uint64_t una = 1;
  for (int i = 0; i < 1000; ++i, ++una) w.on_ack({una, una + 4 * kS, una + 4 * kS}, una + 1);
  EXPECT_EQ(w.cwnd(), 5 * kS) << "a thousand ACKs of one segment: as one ACK";
}

TEST(NewReno, SlowStartEndsAtSsthresh) {
  NewReno w(window(4, 5));
  w.on_ack(out(0, 4), at(1));
  EXPECT_EQ(w.cwnd(), 5 * kS);
  w.on_ack(out(1, 5), at(2));
  EXPECT_EQ(w.cwnd(), 5 * kS);
}

TEST(NewReno, CongestionAvoidanceGainsASegmentPerWindow) {
  NewReno w(window(10, 10));
  std::uint64_t una = 0;
  for (int i = 0; i < 9; ++i, ++una) w.on_ack(out(una, 10), at(una + 1));
  EXPECT_EQ(w.cwnd(), 10 * kS);
  w.on_ack(out(una, 10), at(una + 1));
  EXPECT_EQ(w.cwnd(), 11 * kS);
  for (++una; una < 20; ++una) w.on_ack(out(una, 11), at(una + 1));
  EXPECT_EQ(w.cwnd(), 11 * kS);
  w.on_ack(out(una, 11), at(una + 1));
  EXPECT_EQ(w.cwnd(), 12 * kS);
}

TEST(NewReno, OneAckGainsOneSegmentAtMost) {
  NewReno w(window(4, 4));
  w.on_ack({1, at(4), at(100)}, at(100));
  EXPECT_EQ(w.cwnd(), 5 * kS);
}

TEST(NewReno, AWindowThatIsNotUsedDoesNotGrow) {
  NewReno slow(window(10, 100)), avoiding(window(10, 10));
  for (int i = 0; i < 100; ++i) {
    slow.on_ack(out(0, 9), at(1));
    avoiding.on_ack(out(0, 9), at(9));
  }
  EXPECT_EQ(slow.cwnd(), 10 * kS);
  EXPECT_EQ(avoiding.cwnd(), 10 * kS);
  slow.on_ack({1, 1 + 9 * kS + 1, 1 + 9 * kS + 1}, at(1));
  EXPECT_EQ(slow.cwnd(), 11 * kS) << "no full segment would have fitted";
}

// RFC 5681 3.2 steps 2 to 4: ssthresh = FlightSize / 2, cwnd = ssthresh + 3, then 1 each.
TEST(NewReno, TheThirdDuplicateRetransmits) {
  NewReno w(window(10, 100));
  EXPECT_EQ(w.on_duplicate_ack(out(5, 10)), Answer::none);
  EXPECT_EQ(w.on_duplicate_ack(out(5, 10)), Answer::none);
  EXPECT_FALSE(w.in_fast_recovery());
  EXPECT_EQ(w.on_duplicate_ack(out(5, 10)), Answer::retransmit);
  EXPECT_TRUE(w.in_fast_recovery());
  EXPECT_EQ(w.ssthresh(), 5 * kS);
  EXPECT_EQ(w.cwnd(), 8 * kS);
  EXPECT_EQ(w.on_duplicate_ack(out(5, 10)), Answer::none);
  EXPECT_EQ(w.cwnd(), 9 * kS);
}

TEST(NewReno, SsthreshIsTwoSegmentsAtLeast) {
  NewReno w(window(3, 100));
  for (int i = 0; i < 3; ++i) w.on_duplicate_ack(out(0, 3));
  EXPECT_EQ(w.ssthresh(), 2 * kS);
}

TEST(NewReno, AnAckBetweenStartsTheCountAgain) {
  NewReno w(window(10, 100));
  w.on_duplicate_ack(out(0, 10));
  w.on_duplicate_ack(out(0, 10));
  w.on_ack(out(0, 10), at(1));
  EXPECT_EQ(w.on_duplicate_ack(out(1, 10)), Answer::none);
  EXPECT_EQ(w.on_duplicate_ack(out(1, 10)), Answer::none);
  EXPECT_EQ(w.on_duplicate_ack(out(1, 10)), Answer::retransmit);
}

// A peer that makes up duplicates gets no more than there can be.
TEST(NewReno, InflatesByNoMoreThanIsOut) {
  NewReno w(window(10, 100));
  for (int i = 0; i < 1000; ++i) w.on_duplicate_ack(out(5, 10));
  EXPECT_EQ(w.cwnd(), 15 * kS);  // 5 + 10
}

// RFC 6582 3.2 step 3: deflate by what is acknowledged, add back one.
TEST(NewReno, APartialAckDeflatesAndRetransmits) {
  NewReno w(window(10, 100));
  for (int i = 0; i < 8; ++i) w.on_duplicate_ack(out(0, 10));
  ASSERT_EQ(w.cwnd(), 13 * kS);
  EXPECT_EQ(w.on_ack(out(0, 13), at(4)), Answer::retransmit);
  EXPECT_TRUE(w.in_fast_recovery());
  EXPECT_EQ(w.cwnd(), 10 * kS);
  EXPECT_EQ(w.on_ack(out(4, 10), at(4) + 500), Answer::retransmit);
  EXPECT_EQ(w.cwnd(), 9500u) << "less than a segment: nothing is added back";
  EXPECT_EQ(w.on_ack({at(4) + 500, at(14), at(14)}, at(10)), Answer::none);
  EXPECT_FALSE(w.in_fast_recovery());
  EXPECT_EQ(w.cwnd(), 5 * kS);
  EXPECT_EQ(w.ssthresh(), 5 * kS);
}

TEST(NewReno, APartialAckLeavesRoomForOneSegment) {
  NewReno w(window(40, 100));
  for (int i = 0; i < 3; ++i) w.on_duplicate_ack(out(0, 40));
  w.on_ack(out(0, 40), at(39));
  EXPECT_EQ(w.cwnd(), 1 * kS);
}

// RFC 6582 3.2 step 2: recover guards against a second reaction to the same window.
TEST(NewReno, DoesNotReactTwiceToOneWindow) {
  NewReno w(window(10, 100));
  for (int i = 0; i < 3; ++i) w.on_duplicate_ack(out(0, 10));
  w.on_ack(out(0, 10), at(10));
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(w.on_duplicate_ack(out(10, 5)), Answer::none) << "not more than recover";
  w.on_ack(out(10, 5), at(11));
  w.on_duplicate_ack(out(11, 5));
  w.on_duplicate_ack(out(11, 5));
  EXPECT_EQ(w.on_duplicate_ack(out(11, 5)), Answer::retransmit);
}

TEST(NewReno, ATimeoutLeavesOneSegment) {
  NewReno w(window(10, 100));
  w.on_timeout(out(0, 10), false);
  EXPECT_EQ(w.cwnd(), 1 * kS);
  EXPECT_EQ(w.ssthresh(), 5 * kS);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(w.on_duplicate_ack({1, at(1), at(10)}), Answer::none);
}

TEST(NewReno, SsthreshIsHeldWhenFastRecoveryTimesOut) {
  NewReno w(window(10, 100));
  for (int i = 0; i < 3; ++i) w.on_duplicate_ack(out(0, 10));
  w.on_timeout(out(0, 200), false);
  EXPECT_EQ(w.ssthresh(), 5 * kS);
  EXPECT_EQ(w.cwnd(), 1 * kS);
}

TEST(NewReno, SsthreshIsHeldWhenASegmentTimesOutAgain) {
  NewReno w(window(10, 100));
  w.on_timeout(out(0, 10), false);
  w.on_timeout(out(0, 1), true);
  EXPECT_EQ(w.ssthresh(), 5 * kS);
  w.on_ack(out(0, 1), at(1));
  w.on_timeout(out(1, 2), false);
  EXPECT_EQ(w.ssthresh(), 2 * kS);
}

// RFC 5681: any new ACK ends fast recovery; and the next three duplicates are a new loss.
TEST(Reno, AnyNewAckEndsRecovery) {
  NewReno w(window(10, 100, false));
  for (int i = 0; i < 8; ++i) w.on_duplicate_ack(out(0, 10));
  EXPECT_EQ(w.on_ack(out(0, 13), at(4)), Answer::none);
  EXPECT_FALSE(w.in_fast_recovery());
  EXPECT_EQ(w.cwnd(), 5 * kS);
  w.on_duplicate_ack(out(4, 9));
  w.on_duplicate_ack(out(4, 9));
  EXPECT_EQ(w.on_duplicate_ack(out(4, 9)), Answer::retransmit);
  EXPECT_EQ(w.ssthresh(), 4500u) << "halved again";
}

TEST(Reno, IsNotMisledByWhatATimeoutRepeats) {
  NewReno w(window(10, 100, false));
  w.on_timeout(out(0, 10), false);
  w.on_ack({1, at(1), at(10)}, at(5));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(w.on_duplicate_ack({at(5), at(7), at(10)}), Answer::none);
}

// --- packet by packet, segments numbered from 0. 10 are out (20..29 say) with cwnd 10, and some are lost.

// One loss: duplicates 1-3 nothing but the retransmission; ssthresh 5, so that 5 duplicates are absorbed;
// each later one sends. RFC 5681 3.2.
TEST(NewRenoTrace, OneLoss) {
  ScriptedReceiver r(plain(TcpFlavour::newreno));
  r.params.initial_window = 10;
  ASSERT_EQ(r.open_window(10), 0u);
  EXPECT_EQ(r.on_ack(0), Trace{});
  EXPECT_EQ(r.on_ack(0), Trace{});
  EXPECT_EQ(r.on_ack(0), Trace{0});
  EXPECT_EQ(r.on_ack(0), Trace{});
  EXPECT_EQ(r.on_ack(0), Trace{});    // 5 + 5 = 10
  EXPECT_EQ(r.on_ack(0), Trace{10});  // 6th
  EXPECT_EQ(r.on_ack(0), Trace{11});
  EXPECT_EQ(r.on_ack(0), Trace{12});
  EXPECT_EQ(r.on_ack(0), Trace{13});   // 9 duplicates: all that there are
  EXPECT_EQ(r.on_ack(10), Trace{14});  // full: cwnd 5, 10..13 are out
  EXPECT_EQ(r.cwnd(), 5000u);
  EXPECT_EQ(r.on_ack(11), Trace{15});
  EXPECT_EQ(r.reading().loss_events, 1u);
  EXPECT_EQ(r.reading().retransmitted_packets, 1u);
}

// RFC 6582 3.2: three losses (0, 3, 6) of ten, one round trip for each; no timeout, ssthresh halved once.
TEST(NewRenoTrace, ThreeLossesArePartialAcks) {
  ScriptedReceiver r(plain(TcpFlavour::newreno));
  r.params.initial_window = 10;
  r.open_window(10);
  EXPECT_EQ(r.on_acks(3, 0), Trace{0});
  EXPECT_EQ(r.on_acks(4, 0), (Trace{10, 11}));  // 1 2 4 5 7 8 9 make seven duplicates
  // 0 arrives: ACK of 0-2. cwnd 12 - 3 + 1 = 10: up to 12.
  EXPECT_EQ(r.on_ack(3), (Trace{3, 12}));
  EXPECT_EQ(r.cwnd(), 10'000u);
  EXPECT_EQ(r.on_ack(3), Trace{13});  // for 10
  EXPECT_EQ(r.on_ack(3), Trace{14});  // for 11
  EXPECT_EQ(r.on_ack(6), (Trace{6, 15}));
  EXPECT_EQ(r.on_acks(3, 6), (Trace{16, 17, 18}));  // for 12, 13, 14
  // Full: everything that was out at the loss, and 10 to 14. cwnd 5, and 15..18 are out.
  EXPECT_EQ(r.on_ack(15), Trace{19});
  EXPECT_EQ(r.cwnd(), 5000u);
  EXPECT_EQ(r.reading().loss_events, 1u);
  EXPECT_EQ(r.reading().timeouts, 0u);
  EXPECT_EQ(r.reading().retransmitted_packets, 3u);
}

// The three losses of NewRenoTrace above for Reno: the first partial ACK ends recovery with 5, then new
// duplicates halve it again.
TEST(RenoTrace, ThreeLossesHalveTwiceAndTimeOut) {
  ScriptedReceiver r(plain(TcpFlavour::reno));
  r.params.initial_window = 10;
  r.open_window(10);
  EXPECT_EQ(r.on_acks(3, 0), Trace{0});
  EXPECT_EQ(r.on_acks(4, 0), (Trace{10, 11}));
  EXPECT_EQ(r.on_ack(3), Trace{});  // cwnd 5, and 3..11 are out
  EXPECT_EQ(r.cwnd(), 5000u);
  EXPECT_EQ(r.on_acks(2, 3), Trace{}) << "10 and 11 make two duplicates, one too few";
  r.pass_to_wakeup();
  EXPECT_EQ(r.sent(), Trace{3});
  EXPECT_EQ(r.reading().timeouts, 1u);
  EXPECT_EQ(r.cwnd(), 1000u);
  EXPECT_EQ(r.reading().ssthresh, 4500u);
}

TEST(RenoTrace, ASecondLossIsASecondFastRetransmit) {
  ScriptedReceiver r(plain(TcpFlavour::reno));
  r.params.initial_window = 12;
  r.open_window(12);
  EXPECT_EQ(r.on_acks(3, 0), Trace{0});  // 0 and 8 are lost
  EXPECT_EQ(r.on_acks(7, 0), (Trace{12, 13, 14, 15}));
  EXPECT_EQ(r.on_ack(8), Trace{});  // cwnd 6, 8..15 out
  EXPECT_EQ(r.on_acks(3, 8), Trace{8});
  EXPECT_EQ(r.on_acks(1, 8), Trace{});
  EXPECT_EQ(r.on_ack(16), (Trace{16, 17, 18, 19}));
  EXPECT_EQ(r.cwnd(), 4000u);
  EXPECT_EQ(r.reading().loss_events, 2u);
}

// RFC 6582 4, "Impatient": only the first partial ACK restarts the timer, so that many losses time out and
// slow start takes over.
TEST(NewRenoTrace, ManyLossesEndInATimeoutASecondAfterTheFirstPartialAck) {
  ScriptedReceiver r(plain(TcpFlavour::newreno));
  r.params.initial_window = 30;
  r.open_window(30);
  const Time sent = r.now;
  r.pass(100ms);
  EXPECT_EQ(r.on_acks(3, 0), Trace{0});  // 0..19 are lost
  EXPECT_EQ(r.sender.next_wakeup(), sent + 1s) << "a fast retransmission does not restart it";
  r.pass(100ms);
  const Time first = r.now;
  EXPECT_EQ(r.on_ack(1), Trace{1});
  EXPECT_EQ(r.sender.next_wakeup(), first + 1s);
  for (std::uint32_t i = 2; i < 11; ++i) {
    r.pass(100ms);
    EXPECT_EQ(r.on_ack(i), Trace{i});
  }
  EXPECT_EQ(r.sender.next_wakeup(), first + 1s);
  r.pass(100ms);
  EXPECT_EQ(r.sent(), Trace{10}) << "the timeout, go-back-N";
  EXPECT_EQ(r.on_ack(11), (Trace{11, 12}));
  EXPECT_EQ(r.on_ack(12), (Trace{13, 14}));
  EXPECT_EQ(r.reading().timeouts, 1u);
}

// Go-back-N after a timeout: slow start from SND.UNA, over what arrived meanwhile in one step.
TEST(NewRenoTrace, ATimeoutGoesBackToTheFirstHole) {
  ScriptedReceiver r(plain(TcpFlavour::newreno));
  r.params.initial_window = 6;
  r.open_window(6);
  r.pass_to_wakeup();
  EXPECT_EQ(r.now, kStart + 100ms + 1s);
  EXPECT_EQ(r.sent(), Trace{0});
  EXPECT_EQ(r.on_ack(1), (Trace{1, 2}));
  EXPECT_EQ(r.on_ack(2), (Trace{3, 4}));
  EXPECT_EQ(r.cwnd(), 3000u);  // = ssthresh
  EXPECT_EQ(r.on_ack(6), (Trace{6, 7, 8, 9})) << "5 had arrived: a whole window is acknowledged";
  EXPECT_EQ(r.cwnd(), 4000u);
}

}  // namespace
}  // namespace surety::endpoints
