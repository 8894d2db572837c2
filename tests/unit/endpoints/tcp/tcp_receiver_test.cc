// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/tcp_receiver.h"

#include <gmock/gmock.h>

#include "tests/unit/endpoints/tcp/scripted_sender.h"

namespace surety::endpoints {
namespace {

using namespace literals;
using testing::ElementsAre;
using testing::IsEmpty;
using Acks = std::vector<std::uint32_t>;

constexpr SinkParams kDelayed{.ack = AckPolicy::delayed};

// --- handshake

TEST(TcpReceiver, AnswersASynWithWhatBothKnow) {
  ScriptedSender peer;
  peer.timestamp = 1000;
  tcp::Segment syn = peer.syn();
  syn.mss = 1460;
  syn.window_scale = 7;
  const Heard h = peer.connect(syn);
  EXPECT_EQ(h.flags, tcp::kSyn | tcp::kAck);
  EXPECT_EQ(h.source_port, kHere);
  EXPECT_EQ(h.destination_port, kThere);
  EXPECT_EQ(h.ack, kIsn + 1);
  EXPECT_EQ(h.mss, 1460);
  EXPECT_EQ(h.window_scale, 6) << "4 MB in 16 bits";
  ASSERT_TRUE(h.timestamps);
  EXPECT_EQ(h.timestamps->echo, 1000u);
  EXPECT_EQ(h.window, 65535) << "RFC 7323 2.2: not scaled in a SYN";
  EXPECT_EQ(peer.sink->state(), FlowState::connecting);
}

TEST(TcpReceiver, OffersNoOptionThatWasNotOffered) {
  ScriptedSender peer;
  const Heard h = peer.connect(peer.syn());
  EXPECT_EQ(h.mss, 1460);
  EXPECT_FALSE(h.window_scale || h.timestamps);
  EXPECT_EQ(peer.give(peer.segment(0)), Refusal::none);
  EXPECT_EQ(peer.data(0, 100), Refusal::none);
  const auto a = peer.answers();
  ASSERT_EQ(a.size(), 1u);
  EXPECT_EQ(a[0].window, 65535);
  EXPECT_FALSE(a[0].timestamps);
  EXPECT_EQ(a[0].ip_length, 40u);
}

TEST(TcpReceiver, OffersTheMssOfItsPort) {
  ScriptedSender jumbo({.mtu = 9000});
  EXPECT_EQ(jumbo.connect(jumbo.syn()).mss, 8960);
  ScriptedSender v6({}, true);
  EXPECT_EQ(v6.connect(v6.syn()).mss, 1440);
}

TEST(TcpReceiver, TheWindowIsWhatTheParametersSay) {
  struct {
    std::uint64_t bytes;
    std::uint8_t scale;
    std::uint16_t in_syn, later;
  } const cases[] = {{1000, 0, 1000, 1000},
                     {65535, 0, 65535, 65535},
                     {65536, 1, 65535, 32768},
                     {4'000'000, 6, 65535, 62500},
                     {1ull << 40, 14, 65535, 65535}};
  for (const auto& c : cases) {
    ScriptedSender peer({.ack = AckPolicy::every, .window = Bytes(c.bytes)});
    tcp::Segment syn = peer.syn();
    syn.window_scale = 2;
    const Heard h = peer.connect(syn);
    EXPECT_EQ(h.window_scale, c.scale) << c.bytes;
    EXPECT_EQ(h.window, c.in_syn) << c.bytes;
    peer.give(peer.segment(0));
    peer.data(0, 1);
    EXPECT_EQ(peer.answers().at(0).window, c.later) << c.bytes;
  }
}

TEST(TcpReceiver, RepeatsItsAnswerWithBackoffAndGivesUp) {
  ScriptedSender peer;
  peer.connect(peer.syn());
  const Time start = peer.now;
  std::vector<int> at;
  while (peer.sink->state() != FlowState::closed) {
    peer.now = peer.sink->next_wakeup();
    for (const Heard& h : peer.answers()) {
      EXPECT_EQ(h.flags, tcp::kSyn | tcp::kAck);
      EXPECT_EQ(h.sequence, peer.their_isn);
      at.push_back(static_cast<int>((peer.now - start) / 1s));
    }
  }
  EXPECT_THAT(at, ElementsAre(1, 3, 7, 15, 31));
  EXPECT_EQ(peer.now - start, 63s);
  EXPECT_EQ(peer.sink->failure(), Failure::timeout);
  EXPECT_EQ(peer.sink->next_wakeup(), kNever);
}

TEST(TcpReceiver, ARepeatedSynGetsTheSameAnswer) {
  ScriptedSender peer;
  peer.connect(peer.syn());
  EXPECT_EQ(peer.give(peer.syn()), Refusal::none);
  const auto a = peer.answers();
  ASSERT_EQ(a.size(), 1u);
  EXPECT_EQ(a[0].flags, tcp::kSyn | tcp::kAck);
  EXPECT_EQ(a[0].sequence, peer.their_isn);
}

TEST(TcpReceiver, TheAckOfTheHandshakeMayCarryData) {
  ScriptedSender peer;
  peer.connect(peer.syn());
  EXPECT_EQ(peer.data(0, 100), Refusal::none);
  EXPECT_EQ(peer.sink->state(), FlowState::open);
  EXPECT_EQ(peer.acks(), Acks{100});
}

// --- acknowledging

TEST(TcpReceiver, AcknowledgesEveryPacketAtOnce) {
  ScriptedSender peer;
  peer.open();
  peer.data(0, 100);
  EXPECT_EQ(peer.sink->next_wakeup(), kNow);
  EXPECT_EQ(peer.acks(), Acks{100});
  peer.data(100, 200);
  EXPECT_EQ(peer.acks(), Acks{200});
}

TEST(TcpReceiver, EveryPacketOfABurstHasItsOwnAck) {
  ScriptedSender peer;
  peer.open();
  for (std::uint32_t i = 0; i < 5; ++i) peer.data(100 * i, 100 * i + 100);
  EXPECT_THAT(peer.acks(), ElementsAre(100, 200, 300, 400, 500));
}

TEST(TcpReceiver, AVeryLargeBurstEndsWithTheLastAck) {
  ScriptedSender peer;
  peer.open();
  for (std::uint32_t i = 0; i < 40; ++i) peer.data(100 * i, 100 * i + 100);
  const Acks acks = peer.acks();
  EXPECT_EQ(acks.size(), 16u);
  EXPECT_EQ(acks.front(), 100u);
  EXPECT_EQ(acks.back(), 4000u);
}

TEST(TcpReceiver, DelayedIsEverySecondPacket) {
  ScriptedSender peer(kDelayed);
  peer.open();
  peer.data(0, 100);
  EXPECT_THAT(peer.acks(), IsEmpty());
  peer.data(100, 200);
  EXPECT_EQ(peer.acks(), Acks{200});
  peer.data(200, 300);
  EXPECT_THAT(peer.acks(), IsEmpty());
}

TEST(TcpReceiver, DelayedIsFortyMilliseconds) {
  ScriptedSender peer(kDelayed);
  peer.open();
  peer.data(0, 100);
  EXPECT_EQ(peer.sink->next_wakeup(), peer.now + 40ms);
  peer.pass(40ms - 1ns);
  EXPECT_THAT(peer.acks(), IsEmpty());
  peer.pass(1ns);
  EXPECT_EQ(peer.acks(), Acks{100});
  EXPECT_GT(peer.sink->next_wakeup(), peer.now + 1s);
}

TEST(TcpReceiver, DuplicateAcksOnePerPacketOutOfOrder) {
  for (const AckPolicy policy : {AckPolicy::every, AckPolicy::delayed}) {
    ScriptedSender peer({.ack = policy});
    peer.open();
    for (std::uint32_t i = 1; i <= 4; ++i) EXPECT_EQ(peer.data(100 * i, 100 * i + 100), Refusal::none);
    EXPECT_THAT(peer.acks(), ElementsAre(0, 0, 0, 0));
    EXPECT_EQ(peer.reading().loss_events, 1u) << "one gap";
  }
}

TEST(TcpReceiver, FillingAGapIsAcknowledgedAtOnce) {
  ScriptedSender peer(kDelayed);
  peer.open();
  peer.data(100, 200);
  peer.data(300, 400);
  peer.acks();
  peer.data(0, 50);
  EXPECT_EQ(peer.acks(), Acks{50}) << "a part of it";
  peer.data(50, 100);
  EXPECT_EQ(peer.acks(), Acks{200});
  peer.data(200, 300);
  EXPECT_EQ(peer.acks(), Acks{400});
  peer.data(400, 500);
  EXPECT_THAT(peer.acks(), IsEmpty()) << "in order again";
}

TEST(TcpReceiver, WhatWasReceivedBeforeIsAnsweredAndCountedAsADuplicate) {
  ScriptedSender peer(kDelayed);
  peer.open();
  peer.data(0, 100);
  peer.data(100, 200);
  peer.acks();
  EXPECT_EQ(peer.data(0, 100), Refusal::tcp_sequence);
  EXPECT_EQ(peer.acks(), Acks{200});
  EXPECT_EQ(peer.reading().duplicate_packets, 1u);
  EXPECT_EQ(peer.reading().payload_bytes, 200u);
}

TEST(TcpReceiver, OfAnOverlapOnlyTheNewPartCounts) {
  ScriptedSender peer;
  peer.open();
  peer.data(0, 100);
  EXPECT_EQ(peer.data(50, 150), Refusal::none);
  EXPECT_THAT(peer.acks(), ElementsAre(100, 150));
  peer.data(200, 300);
  EXPECT_EQ(peer.data(140, 260), Refusal::none);
  EXPECT_THAT(peer.acks(), ElementsAre(150, 300));
  EXPECT_EQ(peer.reading().payload_bytes, 300u);
  EXPECT_EQ(peer.reading().mismatched_bytes, 0u);
}

// --- counting

TEST(TcpReceiver, CountsIpBytesAndPrecedence) {
  ScriptedSender peer;
  peer.open();  // SYN and ACK: two packets of 40 bytes, DSCP 0: OUT
  const FlowReading before = peer.reading();
  EXPECT_EQ(before.received_packets, 2u);
  EXPECT_EQ(before.received_bytes, 80u);
  EXPECT_EQ(before.received_in_packets, 0u);
  tcp::Segment s = peer.segment(0);
  const Octets bytes = pattern(0, 960);
  s.payload = bytes;
  peer.give(s, 10);  // AF11
  const FlowReading r = peer.reading();
  EXPECT_EQ(r.received_packets, 3u);
  EXPECT_EQ(r.received_bytes, 1080u);
  EXPECT_EQ(r.received_in_packets, 1u);
  EXPECT_EQ(r.received_in_bytes, 1000u);
  EXPECT_EQ(r.payload_bytes, 960u);
  peer.answers();
  EXPECT_EQ(peer.reading().sent_packets, 2u);
  EXPECT_EQ(peer.reading().sent_bytes, 44u + 40u);
}

TEST(TcpReceiver, CountsBytesThatAreNotThePattern) {
  ScriptedSender peer;
  peer.open();
  peer.data(0, 1000);
  Octets b = pattern(1000, 1000);
  b[10] ^= 1;
  b[999] ^= 0x80;
  EXPECT_EQ(peer.bytes(1000, b), Refusal::none) << "delivered all the same";
  EXPECT_EQ(peer.reading().mismatched_bytes, 2u);
  Octets later = pattern(3000, 100);
  later[0] ^= 1;
  peer.bytes(3000, later);
  EXPECT_EQ(peer.reading().mismatched_bytes, 3u) << "out of order too";
  peer.data(2000, 3000);
  EXPECT_EQ(peer.reading().payload_bytes, 3100u);
}

TEST(TcpReceiver, AStreamOfSomebodyElseIsNotCompared) {
  ScriptedSender peer;
  peer.open();
  peer.bytes(2000, Octets(1000, 'x'));  // what comes first may be out of order
  peer.bytes(0, Octets(1000, 'x'));
  peer.bytes(1000, Octets(1000, 'x'));
  EXPECT_EQ(peer.reading().mismatched_bytes, 0u);
  EXPECT_EQ(peer.reading().payload_bytes, 3000u);
}

TEST(TcpReceiver, SixteenBytesTellThePattern) {
  for (const std::size_t wrong : {15u, 16u}) {
    ScriptedSender peer;
    peer.open();
    Octets b = pattern(0, 100);
    b[wrong] ^= 1;
    for (std::uint32_t i = 0; i < 100; ++i) peer.bytes(i, {b[i]});  // however they come
    EXPECT_EQ(peer.reading().mismatched_bytes, wrong == 16 ? 1u : 0u);
  }
}

// --- timestamps

TEST(TcpReceiver, EchoesTheTimestampOfTheFirstUnacknowledgedPacket) {
  ScriptedSender peer(kDelayed);
  peer.timestamp = 1000;
  peer.open();
  peer.timestamp = 1001;
  peer.data(0, 100);
  peer.timestamp = 1002;
  peer.data(100, 200);
  const auto a = peer.answers();
  ASSERT_EQ(a.size(), 1u);
  EXPECT_EQ(a[0].timestamps->echo, 1001u) << "RFC 7323 4.3 (A)";
}

TEST(TcpReceiver, EchoesTheLastInOrderTimestampWhileThereIsAGap) {
  ScriptedSender peer;
  peer.timestamp = 1000;
  peer.open();
  const auto echo = [&](std::uint32_t stamp, std::uint32_t from, std::uint32_t to) {
    peer.timestamp = stamp;
    EXPECT_EQ(peer.data(from, to), Refusal::none);
    return peer.answers().at(0).timestamps->echo;
  };
  EXPECT_EQ(echo(1001, 0, 100), 1001u);
  EXPECT_EQ(echo(1003, 200, 300), 1001u) << "RFC 7323 4.3 (B)";
  EXPECT_EQ(echo(1004, 300, 400), 1001u);
  EXPECT_EQ(echo(1002, 100, 200), 1002u) << "(C): of what filled the gap";
  EXPECT_EQ(echo(1005, 400, 500), 1005u);
}

TEST(TcpReceiver, ItsOwnTimestampsCountMilliseconds) {
  ScriptedSender peer;
  peer.timestamp = 1;
  peer.open();
  peer.data(0, 1);
  const std::uint32_t first = peer.answers().at(0).timestamps->value;
  peer.pass(1234ms);
  peer.data(1, 2);
  EXPECT_EQ(peer.answers().at(0).timestamps->value - first, 1234u);
}

// --- the end

TEST(TcpReceiver, ClosesWhenItsPeerDoes) {
  ScriptedSender peer;
  peer.open();
  EXPECT_EQ(peer.data(0, 100, tcp::kFin), Refusal::none);
  EXPECT_EQ(peer.sink->state(), FlowState::closing);
  const auto a = peer.answers();
  ASSERT_EQ(a.size(), 1u) << "one segment says both";
  EXPECT_EQ(a[0].flags, tcp::kFin | tcp::kAck);
  EXPECT_EQ(a[0].sequence, peer.their_isn + 1);
  EXPECT_EQ(a[0].ack, kIsn + 1 + 101);
  tcp::Segment last = peer.segment(101);
  last.ack = peer.their_isn + 2;
  EXPECT_EQ(peer.give(last), Refusal::none);
  EXPECT_EQ(peer.sink->state(), FlowState::closed);
  EXPECT_EQ(peer.sink->failure(), Failure::none);
  EXPECT_EQ(peer.reading().payload_bytes, 100u);
  EXPECT_EQ(peer.give(last), Refusal::closed);
}

TEST(TcpReceiver, AFinBeyondAGapWaits) {
  ScriptedSender peer;
  peer.open();
  EXPECT_EQ(peer.data(100, 200, tcp::kFin), Refusal::none);
  EXPECT_EQ(peer.acks(), Acks{0});
  EXPECT_EQ(peer.sink->state(), FlowState::open);
  EXPECT_EQ(peer.data(0, 100), Refusal::none);
  const auto a = peer.answers();
  ASSERT_EQ(a.size(), 1u);
  EXPECT_EQ(a[0].flags, tcp::kFin | tcp::kAck);
  EXPECT_EQ(a[0].ack, kIsn + 1 + 201);
}

TEST(TcpReceiver, RepeatsItsFinAndAcknowledgesThePeersAgain) {
  ScriptedSender peer;
  peer.open();
  peer.give(peer.segment(0, tcp::kFin | tcp::kAck));
  peer.answers();
  EXPECT_EQ(peer.give(peer.segment(0, tcp::kFin | tcp::kAck)), Refusal::tcp_sequence);
  EXPECT_EQ(peer.acks(), Acks{1});
  peer.now = peer.sink->next_wakeup();
  const auto a = peer.answers();
  ASSERT_EQ(a.size(), 1u);
  EXPECT_EQ(a[0].flags, tcp::kFin | tcp::kAck);
  EXPECT_EQ(a[0].sequence, peer.their_isn + 1);
}

TEST(TcpReceiver, CloseSendsAFinAndWaitsForThePeers) {
  ScriptedSender peer;
  peer.open();
  peer.sink->close(peer.now);
  peer.sink->close(peer.now);
  const auto a = peer.answers();
  ASSERT_EQ(a.size(), 1u);
  EXPECT_EQ(a[0].flags, tcp::kFin | tcp::kAck);
  peer.their_isn += 1;  // from now on the FIN is acknowledged
  EXPECT_EQ(peer.data(0, 100), Refusal::none) << "half-closed: data still comes";
  EXPECT_EQ(peer.acks(), Acks{100});
  peer.give(peer.segment(100, tcp::kFin | tcp::kAck));
  EXPECT_EQ(peer.acks(), Acks{101});
  EXPECT_EQ(peer.sink->state(), FlowState::closed) << "TIME-WAIT: it only answers";
  peer.pass(2s);
  peer.give(peer.segment(100, tcp::kFin | tcp::kAck));  // our ACK was lost
  EXPECT_EQ(peer.acks(), Acks{101});
  EXPECT_EQ(peer.sink->next_wakeup(), peer.now + TcpReceiver::kTimeWait);
  peer.now = peer.sink->next_wakeup();
  peer.answers();
  EXPECT_EQ(peer.sink->state(), FlowState::closed);
  EXPECT_EQ(peer.sink->failure(), Failure::none);
}

TEST(TcpReceiver, BothMayCloseAtOnce) {
  ScriptedSender peer;
  peer.open();
  peer.sink->close(peer.now);
  peer.answers();
  peer.give(peer.segment(0, tcp::kFin | tcp::kAck));  // does not acknowledge ours yet
  EXPECT_EQ(peer.acks(), Acks{1});
  peer.their_isn += 1;
  peer.give(peer.segment(1));
  EXPECT_EQ(peer.sink->state(), FlowState::closed);
  EXPECT_EQ(peer.sink->next_wakeup(), peer.now + TcpReceiver::kTimeWait);
  peer.pass(TcpReceiver::kTimeWait);
  peer.answers();
  EXPECT_EQ(peer.sink->next_wakeup(), kNever);
}

TEST(TcpReceiver, CloseBeforeTheHandshakeEndsAfterIt) {
  ScriptedSender peer;
  peer.connect(peer.syn());
  peer.sink->close(peer.now);
  EXPECT_THAT(peer.answers(), IsEmpty());
  peer.give(peer.segment(0));
  EXPECT_EQ(peer.answers().at(0).flags, tcp::kFin | tcp::kAck);
  EXPECT_EQ(peer.sink->state(), FlowState::closing);
}

TEST(TcpReceiver, ASilentPeerIsGivenUpAfterFiveMinutes) {
  ScriptedSender peer;
  peer.open();
  peer.pass(100s);
  peer.data(0, 100);
  peer.answers();
  const Time heard = peer.now;
  while (peer.sink->state() != FlowState::closed) {
    ASSERT_NE(peer.sink->next_wakeup(), kNever);
    peer.now = peer.sink->next_wakeup();
    EXPECT_THAT(peer.answers(), IsEmpty());
  }
  EXPECT_EQ(peer.now - heard, 5min);
  EXPECT_EQ(peer.sink->failure(), Failure::timeout);
}

TEST(TcpReceiver, AKeepAliveIsAnsweredAndKeepsItAlive) {
  ScriptedSender peer;
  peer.open();
  for (int i = 0; i < 10; ++i) {
    peer.pass(200s);
    tcp::Segment probe = peer.segment(0);
    probe.sequence -= 1;
    EXPECT_EQ(peer.give(probe), Refusal::tcp_sequence);
    EXPECT_EQ(peer.acks(), Acks{0});
  }
  EXPECT_EQ(peer.sink->state(), FlowState::open);
}

}  // namespace
}  // namespace surety::endpoints
