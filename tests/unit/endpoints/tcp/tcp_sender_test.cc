// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/tcp_sender.h"

#include <gmock/gmock.h>

#include "tests/unit/endpoints/tcp/scripted_receiver.h"

namespace surety::endpoints {
namespace {

using namespace literals;
using testing::IsEmpty;

// --- handshake

TEST(TcpSender, OpensAtItsTime) {
  ScriptedReceiver r({});
  EXPECT_EQ(r.sender.state(), FlowState::idle);
  EXPECT_EQ(r.sender.next_wakeup(), kStart);
  r.now = kStart - 1ns;
  EXPECT_THAT(r.heard(), IsEmpty());
  r.now = kStart;
  const Heard h = r.syn();
  EXPECT_EQ(r.sender.state(), FlowState::connecting);
  EXPECT_EQ(h.flags, tcp::kSyn | tcp::kEce | tcp::kCwr);
  EXPECT_EQ(h.ack, 0u);
  EXPECT_EQ(h.source_port, kThere);
  EXPECT_EQ(h.destination_port, kHere);
  EXPECT_EQ(h.window, 65535);
  EXPECT_EQ(h.mss, 1460);
  EXPECT_EQ(h.window_scale, 0);
  EXPECT_TRUE(h.sack_permitted);
  ASSERT_TRUE(h.timestamps);
  EXPECT_EQ(h.timestamps->echo, 0u);
  EXPECT_TRUE(h.bytes.empty());
}

TEST(TcpSender, OffersOnlyWhatItsParametersSay) {
  TcpParams p;
  p.timestamps = p.window_scale = p.sack = p.ecn = false;
  p.common.packet = 576_B;
  ScriptedReceiver r(p);
  const Heard h = r.syn();
  EXPECT_EQ(h.flags, tcp::kSyn);
  EXPECT_EQ(h.mss, 536);
  EXPECT_FALSE(h.timestamps || h.window_scale || h.sack_permitted);
}

// The initial sequence number and the timestamps come from the seed.
TEST(TcpSender, TheSeedMakesTheSequenceNumbers) {
  const TcpParams p;
  const auto first = [&](std::uint64_t seed) {
    TcpSender s(p, reversed(sink_tuple()), {kStart, kNever}, seed);
    return polled(s, kStart).at(0).sequence;
  };
  EXPECT_EQ(first(7), first(7));
  EXPECT_NE(first(7), first(8));
}

TEST(TcpSender, SegmentsFitBothEnds) {
  struct {
    std::uint64_t packet;
    std::optional<std::uint16_t> mss;
    bool timestamps;
    std::size_t expected;
  } const cases[] = {{1500, 1460, false, 1460},
                     {1500, 1460, true, 1448},
                     {1500, 1000, false, 1000},
                     {1000, 1460, true, 948},
                     {1500, std::nullopt, false, 536},
                     {1500, 9000, false, 1460},
                     {1500, 0, false, 64},
                     {1500, 1, true, 52}};
  for (const auto& c : cases) {
    TcpParams p;
    p.common.packet = Bytes(c.packet);
    ScriptedReceiver r(p);
    if (c.timestamps) r.timestamps = tcp::Timestamps{5, 0};
    const Heard syn = r.syn();
    if (c.timestamps) r.timestamps->echo = syn.timestamps->value;
    tcp::Segment a = r.syn_ack();
    a.mss = c.mss;
    EXPECT_EQ(r.give(a), Refusal::none);
    const auto h = r.heard();
    ASSERT_GE(h.size(), 2u);
    EXPECT_EQ(h[1].bytes.size(), c.expected);
    EXPECT_EQ(h[1].timestamps.has_value(), c.timestamps);
  }
}

TEST(TcpSender, IPv6SegmentsAreTwentyBytesSmaller) {
  const TcpParams p;
  TcpSender s(p, reversed(sink_tuple(true)), {kStart, kNever}, 7);
  EXPECT_EQ(polled(s, kStart).at(0).mss, 1440);
}

TEST(TcpSender, TheInitialWindowIsAsAsked) {
  for (const auto& [flavour, asked, expected] : {std::tuple(TcpFlavour::newreno, 0u, 10u),
                                                 {TcpFlavour::reno, 0u, 10u},
                                                 {TcpFlavour::gtcp, 0u, 2u},
                                                 {TcpFlavour::newreno, 3u, 3u},
                                                 {TcpFlavour::gtcp, 4u, 4u}}) {
    TcpParams p = plain(flavour);
    p.initial_window = asked;
    ScriptedReceiver r(p);
    r.connect();
    EXPECT_EQ(r.sent(), range(0, expected));
  }
}

// RFC 6298 2.1 and 5.5: 1, 2, 4 ... s; 60 s is the most.
TEST(TcpSender, APeerThatNeverAnswersIsGivenUp) {
  ScriptedReceiver r({});
  r.syn();
  for (const Duration wait : {1s, 2s, 4s, 8s, 16s, 32s}) {
    EXPECT_EQ(r.sender.next_wakeup(), r.now + wait);
    r.pass(wait);
    const auto again = r.heard();
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].flags, tcp::kSyn);
    EXPECT_EQ(again[0].sequence, r.isn);
  }
  EXPECT_EQ(r.sender.next_wakeup(), r.now + 60s);
  r.pass(60s);
  EXPECT_THAT(r.heard(), IsEmpty());
  EXPECT_EQ(r.sender.state(), FlowState::closed);
  EXPECT_EQ(r.sender.failure(), Failure::no_answer);
  EXPECT_EQ(r.sender.next_wakeup(), kNever);
  EXPECT_EQ(r.give(r.syn_ack()), Refusal::closed);
}

// RFC 6928 2: a SYN that was lost more than once leaves one segment. RFC 6298 5.7: and an RTO of 3 s.
TEST(TcpSender, LostSynsMakeItCareful) {
  ScriptedReceiver r(plain(TcpFlavour::newreno));
  r.syn();
  r.pass(1s);
  r.heard();
  r.pass(2s);
  r.heard();
  EXPECT_EQ(r.give(r.syn_ack()), Refusal::none);
  EXPECT_EQ(r.heard().size(), 2u) << "the ACK, and one segment";
  EXPECT_EQ(r.reading().rtt, 0ns) << "Karn: nobody knows which SYN was answered";
  EXPECT_EQ(r.sender.next_wakeup(), r.now + 3s);
}

// RFC 9293 3.5, figure 7.
TEST(TcpSender, BothEndsMayOpenAtOnce) {
  ScriptedReceiver r(plain(TcpFlavour::newreno));
  r.syn();
  tcp::Segment syn = r.syn_ack();
  syn.flags = tcp::kSyn;
  syn.ack = 0;
  EXPECT_EQ(r.give(syn), Refusal::none);
  const auto h = r.heard();
  ASSERT_EQ(h.size(), 1u);
  EXPECT_EQ(h[0].flags, tcp::kSyn | tcp::kAck);
  EXPECT_EQ(h[0].sequence, r.isn);
  EXPECT_EQ(h[0].ack, kPeerIsn + 1);
  EXPECT_EQ(r.sender.state(), FlowState::connecting);
  EXPECT_EQ(r.give(r.segment(0)), Refusal::none);
  EXPECT_EQ(r.sender.state(), FlowState::open);
}

// --- windows

TEST(TcpSender, SendsNoMoreThanThePeersWindow) {
  ScriptedReceiver r(plain(TcpFlavour::newreno));
  r.scale = 0;
  r.window = 4500;
  r.connect();
  EXPECT_EQ(r.sent(), range(0, 4)) << "half a segment is not worth sending (RFC 9293 3.8.6.2.1)";
  EXPECT_EQ(r.on_ack(1), Trace{4});
  r.window = 6000;
  EXPECT_EQ(r.on_ack(1), (Trace{5, 6})) << "a window update, not a duplicate ACK";
  EXPECT_EQ(r.reading().peer_window, 6000u);
}

TEST(TcpSender, ScalesTheWindowButNotThatOfASyn) {
  ScriptedReceiver r(plain(TcpFlavour::newreno));
  r.params.initial_window = 40;
  r.scale = 2;
  r.window = 5000;
  r.connect();
  EXPECT_EQ(r.sent(), range(0, 5));
  EXPECT_EQ(r.on_ack(1), range(5, 21));
}

TEST(TcpSender, DoesNotScaleWhatItDidNotOffer) {
  TcpParams p = plain(TcpFlavour::newreno);
  p.window_scale = false;
  ScriptedReceiver r(p);
  r.scale = 7;
  r.window = 3000;
  r.connect();
  EXPECT_EQ(r.sent(), range(0, 3));
  EXPECT_EQ(r.on_ack(1), Trace{3});
}

TEST(TcpSender, AFixedWindowIsInSegments) {
  TcpParams p = plain(TcpFlavour::reno);
  p.window_packets = 4;
  ScriptedReceiver r(p);
  r.connect();
  EXPECT_EQ(r.sent(), range(0, 4));
  EXPECT_EQ(r.on_ack(3), range(4, 7));
  TcpParams q = plain(TcpFlavour::reno);
  q.window = 3500_B;
  ScriptedReceiver bytes(q);
  bytes.connect();
  EXPECT_EQ(bytes.sent(), range(0, 3));
}

// An old segment's window does not count (SND.WL1, SND.WL2): RFC 9293 3.10.7.4.
TEST(TcpSender, AnOldAckChangesNoWindow) {
  ScriptedReceiver r(plain(TcpFlavour::newreno));
  r.scale = 0;
  r.window = 5000;
  r.connect();
  EXPECT_EQ(r.sent(), range(0, 5));
  EXPECT_EQ(r.on_ack(2), (Trace{5, 6}));
  r.window = 60'000;
  EXPECT_EQ(r.on_ack(1), Trace{});
  EXPECT_EQ(r.reading().peer_window, 5000u);
}

TEST(TcpSender, APeerMayShrinkItsWindow) {
  ScriptedReceiver r(plain(TcpFlavour::newreno));
  r.scale = 0;
  r.window = 10'000;
  r.connect();
  EXPECT_EQ(r.sent(), range(0, 10));
  r.window = 2500;
  EXPECT_EQ(r.on_ack(1), Trace{}) << "9000 are out";
  EXPECT_EQ(r.on_ack(9), Trace{10});
  r.pass_to_wakeup();
  EXPECT_EQ(r.sent(), (Trace{9})) << "what was lost is sent again, within the new window";
}

// --- the end

TEST(TcpSender, TheLastSegmentCarriesTheFin) {
  TcpParams p = plain(TcpFlavour::newreno);
  p.common.total_payload = 2500;
  ScriptedReceiver r(p);
  r.connect();
  const auto h = r.heard();
  ASSERT_EQ(h.size(), 3u);
  EXPECT_EQ(h[2].bytes, pattern(2000, 500));
  EXPECT_EQ(h[1].flags, tcp::kAck);
  EXPECT_EQ(h[2].flags, tcp::kAck | tcp::kPsh | tcp::kFin);
  EXPECT_EQ(r.sender.state(), FlowState::closing);
  r.ack_bytes(2501);  // FIN-WAIT-2
  EXPECT_EQ(r.reading().payload_bytes, 2500u);
  EXPECT_EQ(r.sender.next_wakeup(), r.now + TcpSender::kFinWait2);
  EXPECT_EQ(r.give(r.segment(2501, tcp::kAck | tcp::kFin)), Refusal::none);  // TIME-WAIT
  const auto last = r.heard();
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].ack, r.sequence + 1);
  EXPECT_EQ(last[0].sequence, r.isn + 1 + 2501);
  EXPECT_EQ(r.sender.next_wakeup(), r.now + TcpSender::kTimeWait);
  r.pass(1s);
  EXPECT_EQ(r.give(r.segment(2501, tcp::kAck | tcp::kFin)), Refusal::tcp_sequence);
  EXPECT_EQ(r.heard().size(), 1u) << "the FIN again: our ACK was lost";
  EXPECT_EQ(r.sender.next_wakeup(), r.now + TcpSender::kTimeWait);
  r.pass_to_wakeup();
  r.heard();
  EXPECT_EQ(r.sender.state(), FlowState::closed);
  EXPECT_EQ(r.sender.failure(), Failure::none);
}

TEST(TcpSender, ALostFinIsSentAgain) {
  TcpParams p = plain(TcpFlavour::newreno);
  p.common.total_payload = 1000;
  ScriptedReceiver r(p);
  r.connect();
  r.heard();
  r.ack_bytes(1000);
  r.pass_to_wakeup();
  const auto h = r.heard();
  ASSERT_EQ(h.size(), 1u);
  EXPECT_EQ(h[0].flags, tcp::kAck | tcp::kFin);
  EXPECT_EQ(r.offset(h[0]), 1000u);
  EXPECT_TRUE(h[0].bytes.empty());
}

TEST(TcpSender, FinsMayCross) {
  ScriptedReceiver r(plain(TcpFlavour::newreno));
  r.connect();
  EXPECT_EQ(r.sent(), range(0, 10));
  r.sender.close(r.now);
  r.sender.close(r.now);
  const auto fin = r.heard();
  ASSERT_EQ(fin.size(), 1u);
  EXPECT_EQ(fin[0].flags, tcp::kAck | tcp::kFin);
  EXPECT_EQ(r.give(r.segment(0, tcp::kAck | tcp::kFin)), Refusal::none);  // CLOSING
  EXPECT_EQ(r.heard().size(), 1u);
  ++r.sequence;
  EXPECT_EQ(r.ack_bytes(10'001), Refusal::none);  // TIME-WAIT
  EXPECT_EQ(r.sender.next_wakeup(), r.now + TcpSender::kTimeWait);
  EXPECT_EQ(r.reading().payload_bytes, 10'000u);
}

// The peer may close its half: we go on (RFC 9293 3.6).
TEST(TcpSender, APeersFinDoesNotEndTheTransfer) {
  ScriptedReceiver r(plain(TcpFlavour::newreno));
  r.connect();
  EXPECT_EQ(r.sent(), range(0, 10));
  EXPECT_EQ(r.give(r.segment(1000, tcp::kAck | tcp::kFin)), Refusal::none);
  ++r.sequence;
  const auto h = r.heard();
  ASSERT_EQ(h.size(), 3u);
  EXPECT_TRUE(h[0].bytes.empty());
  EXPECT_EQ(h[0].ack, r.sequence);
  EXPECT_EQ(r.sender.state(), FlowState::open);
  r.sender.close(r.now);
  r.heard();
  EXPECT_EQ(r.ack_bytes(12'001), Refusal::none);  // LAST-ACK, closed
  EXPECT_EQ(r.sender.state(), FlowState::closed);
  EXPECT_EQ(r.sender.failure(), Failure::none);
}

TEST(TcpSender, StopEndsTheStreamWhereItIs) {
  ScriptedReceiver r(plain(TcpFlavour::newreno), kStart + 500ms);
  r.connect();
  EXPECT_EQ(r.sent(), range(0, 10));
  EXPECT_EQ(r.sender.next_wakeup(), kStart + 500ms);
  r.pass_to_wakeup();
  auto h = r.heard();
  ASSERT_EQ(h.size(), 1u) << "nothing is left to send, whatever cwnd";
  EXPECT_EQ(h[0].flags, tcp::kAck | tcp::kFin);
  EXPECT_EQ(r.offset(h[0]), 10'000u);
  r.pass_to_wakeup();
  EXPECT_EQ(r.sent(), Trace{0});
  r.ack(9);
  h = r.heard();
  ASSERT_EQ(h.size(), 1u);
  EXPECT_EQ(r.offset(h[0]), 9000u);
  EXPECT_EQ(h[0].flags, tcp::kAck | tcp::kPsh | tcp::kFin) << "what was lost comes before the FIN";
}

TEST(TcpSender, StopBeforeTheStartOrAnAnswer) {
  ScriptedReceiver early(plain(TcpFlavour::newreno), kStart - 1s);
  early.now = kStart - 1s;
  EXPECT_THAT(early.heard(), IsEmpty());
  EXPECT_EQ(early.sender.state(), FlowState::closed);
  EXPECT_EQ(early.sender.failure(), Failure::none);

  ScriptedReceiver unanswered(plain(TcpFlavour::newreno), kStart + 2s);
  unanswered.syn();
  unanswered.pass(1s);
  EXPECT_EQ(unanswered.heard().size(), 1u);
  unanswered.pass_to_wakeup();
  EXPECT_EQ(unanswered.now, kStart + 2s);
  EXPECT_THAT(unanswered.heard(), IsEmpty());
  EXPECT_EQ(unanswered.sender.failure(), Failure::no_answer);
}

TEST(TcpSender, AFinWaitsForAClosedWindow) {
  TcpParams p = plain(TcpFlavour::newreno);
  p.common.total_payload = 2000;
  ScriptedReceiver r(p);
  r.scale = 0;
  r.window = 2000;
  r.connect();
  auto h = r.heard();
  ASSERT_EQ(h.size(), 2u);
  EXPECT_FALSE(h[1].has(tcp::kFin)) << "it takes a byte of the window";
  r.window = 0;
  r.ack_bytes(2000);
  EXPECT_THAT(r.heard(), IsEmpty());
  r.pass_to_wakeup();
  h = r.heard();
  ASSERT_EQ(h.size(), 1u);
  EXPECT_TRUE(h[0].has(tcp::kFin)) << "the probe";
}

TEST(TcpSender, ReadsItsCounters) {
  ScriptedReceiver r(plain(TcpFlavour::newreno));
  r.connect();
  EXPECT_EQ(r.sent(), range(0, 10));
  r.on_ack(2);
  const FlowReading f = r.reading();
  EXPECT_EQ(f.sent_packets, 2u + 13u);
  EXPECT_EQ(f.sent_bytes, 48u + 40 + 13 * 1040);  // the SYN has MSS and window scale
  EXPECT_EQ(f.sent_in_packets, f.sent_packets);
  EXPECT_EQ(f.payload_bytes, 2000u);
  EXPECT_EQ(f.in_flight, 11'000u);
  EXPECT_EQ(f.cwnd, 11'000u);
  EXPECT_EQ(f.cwnd_guaranteed, 0u);
  EXPECT_EQ(f.received_packets, 0u);
}

// RFC 9293 3.5, figure 7: both ends open at once. Every byte is sent all the same.
TEST(TcpSender, SimultaneousOpenLosesNoByte) {
  ScriptedReceiver r(plain(TcpFlavour::newreno));
  r.syn();
  tcp::Segment syn = r.syn_ack();
  syn.flags = tcp::kSyn;
  EXPECT_EQ(r.give(syn), Refusal::none);
  EXPECT_EQ(r.sender.state(), FlowState::connecting);
  const auto answer = r.heard();
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_EQ(answer[0].flags, tcp::kSyn | tcp::kAck);
  EXPECT_EQ(answer[0].sequence, r.isn);
  r.pass(100ms);
  EXPECT_EQ(r.ack(0), Refusal::none);
  EXPECT_EQ(r.sender.state(), FlowState::open);
  FlowReading reading;
  r.sender.read(reading);
  EXPECT_EQ(reading.payload_bytes, 0u);
  EXPECT_EQ(reading.in_flight, 0u);
  const auto data = r.heard();
  std::size_t first = 0;
  while (first < data.size() && data[first].bytes.empty()) ++first;  // an ACK may go before
  ASSERT_LT(first, data.size());
  EXPECT_EQ(r.offset(data[first]), 0u);
}

}  // namespace
}  // namespace surety::endpoints
