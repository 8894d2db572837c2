// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/gtcp.h"

#include "conditioners/rng.h"
#include "tests/unit/endpoints/tcp/scripted_receiver.h"

namespace surety::endpoints {
namespace {

using namespace literals;

constexpr std::uint64_t kS = 1000;

GtcpParams control(std::uint64_t g, std::uint64_t initial, std::uint64_t ssthresh) {
  return {.window = {.smss = kS, .initial = initial * kS, .ssthresh = ssthresh * kS},
          .reserved = Rate::bits_per_second(g * 8 * 1040 * 10),
          .packet = 1040};
}
// With cwnd_G = g segments, at a least RTT of 100 ms.
Gtcp with(std::uint64_t g, std::uint64_t initial, std::uint64_t ssthresh = 1000) {
  Gtcp w(control(g, initial, ssthresh));
  w.on_least_rtt(100ms);
  return w;
}
std::uint64_t at(std::uint64_t segment) {
  return 1 + segment * kS;
}
Outstanding out(std::uint64_t una, std::uint64_t flight) {
  return {at(una), at(una + flight), at(una + flight)};
}

// III.A: rate_G counts IP packets, cwnd_G is payload: 4 Mbit/s at 50 ms is 25 kB,
// in packets of 1500 bytes that carry 1448.
TEST(Gtcp, TheReservedWindowIsRateTimesLeastRtt) {
  Gtcp w({.window = {.smss = 1448}, .reserved = 4_Mbps, .packet = 1500});
  EXPECT_EQ(w.cwnd_g(), 0u) << "before any round trip was timed";
  w.on_least_rtt(50ms);
  EXPECT_EQ(w.cwnd_g(), 24'133u);  // 25,000 * 1448 / 1500
  w.on_least_rtt(25ms);
  EXPECT_EQ(w.cwnd_g(), 12'066u);
  Gtcp fast({.window = {.smss = 8948}, .reserved = 400_Gbps, .packet = 9000});
  fast.on_least_rtt(10s);
  EXPECT_EQ(fast.cwnd_g(), 497'111'111'111u) << "no overflow";
}

// III.B.
TEST(Gtcp, SlowStartEndsAtSsthreshPlusTheReservedWindow) {
  Gtcp w = with(5, 2, 3);
  for (std::uint64_t una = 0; una < 20; ++una) w.on_ack(out(una, w.cwnd() / kS), at(una + 1));
  EXPECT_EQ(w.cwnd(), 9 * kS);  // 2 + 6 of slow start, and 14 ACKs at 8: one more
}

// III.C: +1 for a window of ACKs, whatever is reserved.
TEST(Gtcp, CongestionAvoidanceIsNewRenos) {
  Gtcp w = with(5, 10, 3);
  for (std::uint64_t i = 0; i < 10; ++i) w.on_ack(out(i, 10), at(i + 1));
  EXPECT_EQ(w.cwnd(), 11 * kS);
}

// III.D: cwnd 100 of which 50 are reserved becomes 75 (the example of II.B).
TEST(Gtcp, ALossHalvesTheBestEffortPart) {
  Gtcp w = with(50, 100);
  for (int i = 0; i < 3; ++i) w.on_duplicate_ack(out(0, 100));
  EXPECT_EQ(w.ssthresh(), 25 * kS);
  w.on_ack(out(0, 100), at(100));
  EXPECT_EQ(w.cwnd(), 75 * kS);
}

// A recovery of many round trips leaves hundreds of segments beyond the next hole,
// most of which have arrived.
TEST(Gtcp, ASecondLossHalvesWhatTheFirstOneLeft) {
  Gtcp w = with(50, 100);
  for (int i = 0; i < 3; ++i) w.on_duplicate_ack(out(0, 100));
  w.on_ack(out(0, 900), at(101));
  ASSERT_FALSE(w.in_fast_recovery());
  ASSERT_EQ(w.cwnd(), 75 * kS);
  for (int i = 0; i < 3; ++i) w.on_duplicate_ack(out(101, 799));
  ASSERT_TRUE(w.in_fast_recovery());
  EXPECT_EQ(w.ssthresh(), 12'500u);
  w.on_ack(out(101, 799), at(901));
  EXPECT_EQ(w.cwnd(), 62'500u);
}

TEST(Gtcp, AFlowBelowItsReservationLosesNothing) {
  Gtcp w = with(50, 20);
  for (int i = 0; i < 3; ++i) w.on_duplicate_ack(out(0, 20));
  w.on_ack(out(0, 20), at(20));
  EXPECT_EQ(w.cwnd(), 52 * kS);  // RFC 5681: ssthresh is two segments at least
}

// Duplicate ACKs can be lost too; what is reserved may be out all the same.
TEST(Gtcp, RecoveryNeverGoesBelowTheReservedWindow) {
  Gtcp w = with(10, 40);
  for (int i = 0; i < 3; ++i) w.on_duplicate_ack(out(0, 40));
  w.on_ack(out(0, 40), at(39));
  EXPECT_TRUE(w.in_fast_recovery());
  EXPECT_EQ(w.cwnd(), 10 * kS);
}

// II.B: cwnd = 1, the true best-effort part; past ss_exit the reserved part comes back.
TEST(Gtcp, ATimeoutIsSlowStartOfTheBestEffortPart) {
  Gtcp w = with(10, 30);
  w.on_timeout(out(0, 30), false);
  EXPECT_TRUE(w.in_timeout_recovery());
  EXPECT_EQ(w.cwnd(), 1 * kS);
  EXPECT_EQ(w.ssthresh(), 10 * kS);
  w.on_ack({at(0), at(1), at(30)}, at(1));
  w.on_ack({at(1), at(3), at(30)}, at(3));
  EXPECT_EQ(w.cwnd(), 3 * kS);
  w.on_ack({at(3), at(6), at(30)}, at(29));
  EXPECT_TRUE(w.in_timeout_recovery());
  w.on_ack({at(29), at(33), at(40)}, at(30));
  EXPECT_FALSE(w.in_timeout_recovery());
  EXPECT_EQ(w.cwnd(), 15 * kS);  // 5 + 10
}

TEST(Gtcp, SlowStartAfterATimeoutEndsAtSsthreshAlone) {
  Gtcp w = with(10, 16);
  w.on_timeout(out(0, 16), false);
  ASSERT_EQ(w.ssthresh(), 3 * kS);
  for (std::uint64_t una = 0; una < 4; ++una) w.on_ack({at(una), at(una + 4), at(16)}, at(una + 1));
  EXPECT_EQ(w.cwnd(), 3 * kS) << "1 + 2, then one of each three";
}

// Duplicates of mere reordering, long acknowledged, say nothing about what is outstanding at a timeout.
TEST(Gtcp, OnlyDuplicatesOfThisWindowCountAsArrived) {
  Gtcp w = with(2, 8);
  for (std::uint64_t una = 0; una < 50; ++una) {
    w.on_duplicate_ack(out(una, 8));
    w.on_ack(out(una, 8), at(una + 1));
  }
  w.on_timeout(out(50, 8), false);
  const Outstanding o{at(50), at(51), at(58)};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(w.on_duplicate_ack(o), Answer::send_new);
  for (int i = 2; i < 8; ++i) EXPECT_EQ(w.on_duplicate_ack(o), Answer::none) << i;
  EXPECT_EQ(w.on_duplicate_ack(o), Answer::send_new);
}

TEST(Gtcp, AShorterRttFoundDuringTimeoutRecoveryCountsAfterIt) {
  Gtcp w = with(10, 16);
  w.on_timeout(out(0, 16), false);
  w.on_least_rtt(50ms);
  EXPECT_EQ(w.cwnd(), 1 * kS);
  w.on_ack({at(0), at(1), at(16)}, at(16));
  EXPECT_EQ(w.cwnd(), 7 * kS);  // 2 + 5
}

// Whatever happens: the same answers and the same window.
TEST(Gtcp, WithoutAReservationItIsNewReno) {
  Rng rng(1);
  for (int run = 0; run < 300; ++run) {
    Gtcp g = with(0, 4, 20);
    NewReno n(control(0, 4, 20).window);
    Outstanding o = out(0, 4);
    for (int step = 0; step < 300; ++step) {
      const std::uint32_t dice = rng.next() % 100;
      if (dice < 40 && o.flight() > 0) {
        const std::uint64_t ack = o.una + rng.next() % (o.max - o.una) + 1;
        ASSERT_EQ(g.on_ack(o, ack), n.on_ack(o, ack));
        o.una = ack;
        o.next = std::max(o.next, ack);
      } else if (dice < 95 && o.flight() > 0) {
        ASSERT_EQ(g.on_duplicate_ack(o), n.on_duplicate_ack(o));
      } else if (o.flight() > 0) {
        const bool again = dice == 95;
        g.on_timeout(o, again);
        n.on_timeout(o, again);
        o.next = o.una;
      }
      ASSERT_EQ(g.cwnd(), n.cwnd());
      ASSERT_EQ(g.ssthresh(), n.ssthresh());
      ASSERT_EQ(g.in_fast_recovery(), n.in_fast_recovery());
      o.next = std::max(o.next, std::min(o.una + n.cwnd(), at(100'000)));
      o.max = std::max(o.max, o.next);
    }
  }
}

// --- Figure 2, packet by packet: the figure is missing from the text that we have; these are its rules.

struct GtcpTrace : testing::Test {
  // cwnd_G and cwnd_BE segments in flight, numbered from 0.
  ScriptedReceiver& fly(std::uint32_t g, std::uint32_t be) {
    peer.emplace(reserved(g));
    peer->params.initial_window = g + be;
    EXPECT_EQ(peer->open_window(g + be), 0u);
    EXPECT_EQ(peer->reading().cwnd_guaranteed, g * kS);
    return *peer;
  }
  std::optional<ScriptedReceiver> peer;
};

// cwnd_G 10, cwnd_BE 10, k = 2 (0 and 7): FR_ideal = max(10, 20 - 2 - 5) = 13 new segments in the first round
// trip. NewReno's number for that window; its order is switched.
TEST_F(GtcpTrace, FewLossesSendNewRenosNumberButForcedFirst) {
  ScriptedReceiver& r = fly(10, 10);
  EXPECT_EQ(r.on_acks(2, 0), Trace{});
  EXPECT_EQ(r.on_ack(0), Trace{0});
  for (std::uint32_t i = 20; i < 30; ++i) EXPECT_EQ(r.on_ack(0), Trace{i});  // cwnd_G forced
  EXPECT_EQ(r.on_acks(2, 0), Trace{});  // with the first three: cwnd_BE / 2 = 5 that send nothing
  for (std::uint32_t i = 30; i < 33; ++i) EXPECT_EQ(r.on_ack(0), Trace{i});  // 18 duplicates in all
  // 0 arrives: partial. The next hole, and no gain in the number of new segments.
  EXPECT_EQ(r.on_ack(7), Trace{7});
  for (std::uint32_t i = 33; i < 46; ++i) EXPECT_EQ(r.on_ack(7), Trace{i});  // for 20..32
  EXPECT_EQ(r.on_ack(33), (Trace{46, 47}));  // full: cwnd_update = 15, 33..45 are out
  EXPECT_EQ(r.cwnd(), 15 * kS);
  EXPECT_EQ(r.reading().ssthresh, 5 * kS);
  EXPECT_EQ(r.reading().loss_events, 1u);
  EXPECT_EQ(r.reading().retransmitted_packets, 2u);
}

// k = 6 > cwnd_BE / 2 (0..5): 14 duplicates. cwnd_G = 10 new segments in the first round trip, cwnd_BE - k =
// 4 duplicates ignored (three and the last), and again 10 in every round trip of recovery.
TEST_F(GtcpTrace, ManyLossesSendTheReservedWindowEachRoundTrip) {
  ScriptedReceiver& r = fly(10, 10);
  EXPECT_EQ(r.on_acks(3, 0), Trace{0});
  for (std::uint32_t i = 20; i < 30; ++i) EXPECT_EQ(r.on_ack(0), Trace{i});
  EXPECT_EQ(r.on_ack(0), Trace{});
  // From here on each new segment is a duplicate ACK a round trip later, and each of those sends again.
  for (std::uint32_t hole = 1, next = 30; hole < 6; ++hole, next += 10) {
    EXPECT_EQ(r.on_ack(hole), Trace{hole});
    EXPECT_EQ(r.on_acks(10, hole), range(next, next + 10)) << "round trip " << hole;
  }
  EXPECT_EQ(r.on_ack(20), Trace{}) << "full: cwnd_update 15, and more than that is out";
  EXPECT_EQ(r.cwnd(), 15 * kS);
  EXPECT_EQ(r.reading().timeouts, 0u);
}

// III.D.2: a timeout is for a retransmission that was lost; one that arrived is no reason, however many are
// still to come.
TEST_F(GtcpTrace, EachPartialAckRestartsTheTimer) {
  ScriptedReceiver& r = fly(10, 10);
  EXPECT_EQ(r.on_acks(3, 0), Trace{0});
  for (std::uint32_t hole = 1; hole < 6; ++hole) {
    r.pass(400ms);
    EXPECT_EQ(r.on_ack(hole).at(0), hole);
    EXPECT_EQ(r.sender.next_wakeup(), r.now + 1s);
  }
  EXPECT_EQ(r.reading().timeouts, 0u);
}

// The six losses of the test above for NewReno, whose self-clock starves: 4 new, then none for a partial ACK
// whose predecessor released none.
TEST_F(GtcpTrace, NewRenoStarvesWhereGtcpDoesNot) {
  TcpParams p = plain(TcpFlavour::newreno);
  p.initial_window = 20;
  ScriptedReceiver r(p);
  r.open_window(20);
  EXPECT_EQ(r.on_acks(14, 0), (Trace{0, 20, 21, 22, 23}));
  EXPECT_EQ(r.on_ack(1), (Trace{1, 24}));
}

// k = 8 (0..7): 12 duplicates, one more of them than cwnd_BE - k = 2 goes into the detection, so 9 are new:
// with the retransmission, cwnd_G packets each round trip.
TEST_F(GtcpTrace, LossesOfNearlyAllBestEffortStillSendTheReservedWindow) {
  ScriptedReceiver& r = fly(10, 10);
  EXPECT_EQ(r.on_acks(12, 0), (Trace{0, 20, 21, 22, 23, 24, 25, 26, 27, 28}));
  EXPECT_EQ(r.on_ack(1), Trace{1});
  EXPECT_EQ(r.on_acks(9, 1), range(29, 38));
  EXPECT_EQ(r.on_ack(2), Trace{2});
  EXPECT_EQ(r.on_acks(9, 2), range(38, 47));
}

// III.D.2: the retransmission of 0 is lost again. cwnd_G 4, cwnd_BE 8.
TEST_F(GtcpTrace, ATimeoutKeepsTheReservedWindowRunning) {
  ScriptedReceiver& r = fly(4, 8);
  EXPECT_EQ(r.on_acks(11, 0), (Trace{0, 12, 13, 14, 15, 16, 17, 18}));
  r.pass_to_wakeup();
  EXPECT_EQ(r.sent(), Trace{0});
  EXPECT_EQ(r.cwnd(), 1 * kS);
  EXPECT_EQ(r.reading().ssthresh, 4 * kS) << "the loss was answered for";
  for (std::uint32_t i = 19; i < 23; ++i) EXPECT_EQ(r.on_ack(0), Trace{i});  // the first cwnd_G
  EXPECT_EQ(r.on_acks(4, 0), Trace{});                                       // 19 - 11 were outstanding
  EXPECT_EQ(r.on_ack(0), Trace{23});                                         // from here on each sends
  EXPECT_EQ(r.on_ack(0), Trace{24});
  // 0 arrives; 3 and 6 are missing too. Slow start of cwnd_BE, over old segments only.
  EXPECT_EQ(r.on_ack(3), (Trace{3, 4}));
  EXPECT_EQ(r.cwnd(), 2 * kS);
  EXPECT_EQ(r.on_ack(6), (Trace{6, 7, 8}));
  EXPECT_EQ(r.cwnd(), 3 * kS);
  // Past ss_exit = 19: cwnd = 4 + 4; 19..24 are in flight, and none of them is sent again.
  EXPECT_EQ(r.on_ack(19), (Trace{25, 26}));
  EXPECT_EQ(r.cwnd(), 8 * kS);
  EXPECT_EQ(r.on_ack(20), Trace{27}) << "8 = ssthresh + cwnd_G: avoidance";
  EXPECT_EQ(r.reading().timeouts, 1u);
  EXPECT_EQ(r.reading().retransmitted_packets, 7u);
}

TEST_F(GtcpTrace, AForcedSegmentStaysWithinThePeersWindow) {
  peer.emplace(reserved(10));
  ScriptedReceiver& r = *peer;
  r.params.initial_window = 20;
  r.scale = 0;
  r.window = 22'000;
  EXPECT_EQ(r.open_window(20), 0u);
  EXPECT_EQ(r.on_acks(6, 0), (Trace{0, 20, 21}));
  r.window = 40'000;
  EXPECT_EQ(r.on_ack(0), Trace{}) << "what was not forced in its time is not made up for";
}

// A driver receives in bursts: sixteen duplicates before it polls force as many as one by one.
TEST_F(GtcpTrace, DuplicatesThatComeAtOnceForceAsManyAsOneByOne) {
  ScriptedReceiver& r = fly(20, 14);
  EXPECT_EQ(r.on_acks(3, 0), Trace{0});
  for (int i = 0; i < 16; ++i) EXPECT_EQ(r.ack(0), Refusal::none);
  EXPECT_EQ(r.sent(), range(34, 50));
}

TEST_F(GtcpTrace, StartsWithTwoSegments) {
  peer.emplace(reserved(10));
  peer->connect();
  EXPECT_EQ(peer->sent(), (Trace{0, 1}));
  EXPECT_EQ(peer->on_ack(1), (Trace{2, 3}));
}

}  // namespace
}  // namespace surety::endpoints
