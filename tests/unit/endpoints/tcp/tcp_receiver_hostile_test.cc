// SPDX-License-Identifier: BSD-3-Clause
// What a TcpReceiver does with segments that no honest peer sends: a named refusal,
// the right answer, and no change.
#include <gmock/gmock.h>

#include "conditioners/rng.h"
#include "tests/unit/endpoints/tcp/scripted_sender.h"

namespace surety::endpoints {
namespace {

using namespace literals;
using testing::ElementsAre;
using testing::IsEmpty;
using Acks = std::vector<std::uint32_t>;

constexpr std::uint32_t kWindow = 10'000;

// An open connection with 1000 bytes received, a window of 10,000, and nothing to be said.
class HostileSegments : public testing::Test {
 protected:
  void SetUp() override {
    peer.open();
    EXPECT_EQ(peer.data(0, 1000), Refusal::none);
    EXPECT_EQ(peer.acks(), Acks{1000});
  }
  void still_open() {
    EXPECT_EQ(peer.sink->state(), FlowState::open);
    EXPECT_EQ(peer.data(1000, 1100), Refusal::none);
    EXPECT_EQ(peer.acks(), Acks{1100});
    EXPECT_EQ(peer.reading().payload_bytes, 1100u);
    EXPECT_EQ(peer.reading().mismatched_bytes, 0u);
  }
  tcp::Segment reset(std::uint32_t at) const { return peer.segment(at, tcp::kRst); }

  ScriptedSender peer{{.ack = AckPolicy::every, .window = Bytes(kWindow)}};
};

// --- acceptability (RFC 9293 3.4, table 6)

TEST_F(HostileSegments, BytesBeyondTheWindowAreRefusedAndAnswered) {
  EXPECT_EQ(peer.data(1000 + kWindow, 1100 + kWindow), Refusal::tcp_sequence);
  EXPECT_EQ(peer.acks(), Acks{1000});
  still_open();
}

TEST_F(HostileSegments, OfBytesThatOverlapTheRightEdgeThoseInsideAreTaken) {
  EXPECT_EQ(peer.data(900 + kWindow, 1100 + kWindow, tcp::kFin), Refusal::none);
  EXPECT_EQ(peer.acks(), Acks{1000});
  for (std::uint32_t at = 1000; at < 900 + kWindow; at += 1100)
    peer.data(at, std::min(at + 1100, 900 + kWindow));
  EXPECT_EQ(peer.acks().back(), 1000 + kWindow) << "and no FIN, that lay outside";
  EXPECT_EQ(peer.sink->state(), FlowState::open);
}

TEST_F(HostileSegments, AFinJustBeyondTheWindowIsNotTaken) {
  EXPECT_EQ(peer.data(900 + kWindow, 1000 + kWindow, tcp::kFin), Refusal::none);
  peer.acks();
  for (std::uint32_t at = 1000; at < 900 + kWindow; at += 1100)
    peer.data(at, std::min(at + 1100, 900 + kWindow));
  EXPECT_EQ(peer.acks().back(), 1000 + kWindow);
  EXPECT_EQ(peer.sink->state(), FlowState::open);
}

TEST_F(HostileSegments, EmptySegmentsOutsideTheWindowAreRefusedAndAnswered) {
  for (const std::uint32_t at : {999u, 0u, 1000 + kWindow, 0x8000'0000u}) {
    EXPECT_EQ(peer.give(peer.segment(at)), Refusal::tcp_sequence) << at;
    EXPECT_EQ(peer.acks(), Acks{1000}) << at;
  }
  EXPECT_EQ(peer.give(peer.segment(999 + kWindow)), Refusal::none);
  still_open();
}

TEST(TcpReceiverHostile, AClosedWindowTakesNothingButAcks) {
  ScriptedSender peer({.ack = AckPolicy::every, .window = Bytes(0)});
  peer.open();
  EXPECT_EQ(peer.data(0, 1), Refusal::tcp_sequence);
  EXPECT_EQ(peer.acks(), Acks{0});
  EXPECT_EQ(peer.give(peer.segment(0)), Refusal::none);
  EXPECT_EQ(peer.give(peer.segment(1)), Refusal::tcp_sequence);
  EXPECT_EQ(peer.acks(), Acks{0});
  EXPECT_EQ(peer.give(peer.segment(0, tcp::kRst)), Refusal::none);
  EXPECT_EQ(peer.sink->failure(), Failure::reset);
}

// --- reassembly

TEST_F(HostileSegments, TenThousandHolesAreKeptAndFilled) {
  peer.params.window = Bytes(1'000'000);
  peer.open();
  constexpr std::uint32_t kHoles = 10'000;
  for (std::uint32_t i = 0; i < kHoles; ++i) ASSERT_EQ(peer.data(2 * i + 1, 2 * i + 2), Refusal::none);
  EXPECT_EQ(peer.reading().loss_events, kHoles);
  peer.acks();
  for (std::uint32_t i = 0; i < kHoles; ++i) {
    ASSERT_EQ(peer.data(2 * i, 2 * i + 1), Refusal::none);
    ASSERT_EQ(peer.acks(), Acks{2 * i + 2});
  }
  EXPECT_EQ(peer.reading().payload_bytes, 2 * kHoles);
}

// A duplicate ACK would say that it had arrived.
TEST_F(HostileSegments, WhatIsNotKeptIsRefusedByNameAndNotAnswered) {
  peer.params.window = Bytes(1'000'000);
  tcp::Segment syn = peer.syn();
  syn.window_scale = 7;
  peer.open(syn);
  constexpr auto kMost = static_cast<std::uint32_t>(RangeSet::kMost);
  for (std::uint32_t i = 0; i < kMost; ++i) ASSERT_EQ(peer.data(2 * i + 1, 2 * i + 2), Refusal::none);
  EXPECT_EQ(peer.acks().size(), 16u);
  EXPECT_EQ(peer.data(100'000, 100'001), Refusal::tcp_reassembly);
  EXPECT_THAT(peer.acks(), IsEmpty());
  EXPECT_EQ(peer.data(0, 1), Refusal::none);
  EXPECT_EQ(peer.acks(), Acks{2});
  EXPECT_EQ(peer.data(100'000, 100'001), Refusal::none) << "there is room again";
  EXPECT_EQ(peer.acks(), Acks{2});
}

TEST_F(HostileSegments, OneByteAtATimeBackwards) {
  for (std::uint32_t at = 1999; at > 1000; --at) ASSERT_EQ(peer.data(at, at + 1), Refusal::none);
  peer.acks();
  EXPECT_EQ(peer.data(1000, 1001), Refusal::none);
  EXPECT_EQ(peer.acks(), Acks{2000});
  EXPECT_EQ(peer.reading().payload_bytes, 2000u);
}

// --- resets (RFC 5961 3)

TEST_F(HostileSegments, OnlyAResetAtTheExactPlaceIsBelieved) {
  EXPECT_EQ(peer.give(reset(1001)), Refusal::tcp_reset);
  EXPECT_EQ(peer.acks(), Acks{1000}) << "in the window: a challenge";
  EXPECT_EQ(peer.give(reset(999 + kWindow)), Refusal::tcp_reset);
  EXPECT_EQ(peer.acks(), Acks{1000});
  EXPECT_EQ(peer.give(reset(999)), Refusal::tcp_reset);
  EXPECT_EQ(peer.give(reset(1000 + kWindow)), Refusal::tcp_reset);
  EXPECT_THAT(peer.acks(), IsEmpty()) << "outside: silence";
  still_open();
  EXPECT_EQ(peer.give(reset(1100)), Refusal::none);
  EXPECT_EQ(peer.sink->state(), FlowState::closed);
  EXPECT_EQ(peer.sink->failure(), Failure::reset);
  EXPECT_THAT(peer.answers(), IsEmpty());
}

TEST_F(HostileSegments, ChallengesAreTenInASecond) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(peer.give(reset(2000)), Refusal::tcp_reset);
  EXPECT_EQ(peer.acks(), Acks(10, 1000));
  peer.pass(1s - 1ns);
  EXPECT_EQ(peer.give(reset(2000)), Refusal::tcp_reset);
  EXPECT_THAT(peer.acks(), IsEmpty());
  peer.pass(1ns);
  EXPECT_EQ(peer.give(reset(2000)), Refusal::tcp_reset);
  EXPECT_EQ(peer.acks(), Acks{1000});
  still_open();
}

TEST_F(HostileSegments, AFloodOfEmptySegmentsIsNotAnsweredWithAFlood) {
  for (int i = 0; i < 100; ++i) peer.give(peer.segment(500));
  EXPECT_EQ(peer.acks(), Acks(10, 1000)) << "else two such ends would answer each other for ever";
}

TEST(TcpReceiverHostile, AResetEndsAHandshakeOnlyAtTheExactPlace) {
  ScriptedSender peer;
  peer.connect(peer.syn());
  EXPECT_EQ(peer.give(peer.segment(1, tcp::kRst)), Refusal::tcp_reset);
  EXPECT_EQ(peer.sink->state(), FlowState::connecting);
  EXPECT_EQ(peer.give(peer.segment(0, tcp::kRst)), Refusal::none);
  EXPECT_EQ(peer.sink->state(), FlowState::closed);
}

TEST(TcpReceiverHostile, AResetAfterTheEndIsNoFailure) {
  ScriptedSender peer;
  peer.open();
  peer.give(peer.segment(0, tcp::kFin | tcp::kAck));
  EXPECT_EQ(peer.give(peer.segment(1, tcp::kRst)), Refusal::none);
  EXPECT_EQ(peer.sink->state(), FlowState::closed);
  EXPECT_EQ(peer.sink->failure(), Failure::none) << "everything had been delivered";
}

// --- SYNs (RFC 5961 4)

TEST_F(HostileSegments, ASynInAConnectionIsChallenged) {
  for (const std::uint32_t at : {1000u, 5000u, 0x8000'0000u}) {
    EXPECT_EQ(peer.give(peer.segment(at, tcp::kSyn)), Refusal::tcp_syn);
    EXPECT_EQ(peer.acks(), Acks{1000});
    EXPECT_EQ(peer.give(peer.segment(at, tcp::kSyn | tcp::kAck)), Refusal::tcp_syn);
    EXPECT_EQ(peer.acks(), Acks{1000});
  }
  EXPECT_EQ(peer.give(peer.syn()), Refusal::tcp_syn);
  EXPECT_EQ(peer.acks(), Acks{1000});
  still_open();
}

TEST(TcpReceiverHostile, AnotherSynInTheHandshakeIsChallengedToo) {
  ScriptedSender peer;
  peer.connect(peer.syn());
  tcp::Segment other = peer.syn();
  other.sequence += 12345;
  EXPECT_EQ(peer.give(other), Refusal::tcp_syn);
  EXPECT_EQ(peer.acks(), Acks{0}) << "a peer that has started again will reset this one";
  EXPECT_EQ(peer.sink->state(), FlowState::connecting);
}

TEST(TcpReceiverHostile, AFloodOfTheSameSynIsAnsweredTenTimesASecond) {
  ScriptedSender peer;
  peer.connect(peer.syn());
  std::size_t answers = 0;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(peer.give(peer.syn()), Refusal::none);
    answers += peer.answers().size();
  }
  EXPECT_EQ(answers, 10u);
}

// --- acknowledgements (RFC 9293 3.10.7.4, RFC 5961 5)

TEST(TcpReceiverHostile, AWrongAckInTheHandshakeIsAnsweredWithAReset) {
  ScriptedSender peer;
  peer.connect(peer.syn());
  for (const std::uint32_t off : {0u, 2u, 0x8000'0001u}) {
    tcp::Segment s = peer.segment(0);
    s.ack = peer.their_isn + off;
    EXPECT_EQ(peer.give(s), Refusal::tcp_ack) << off;
    const auto a = peer.answers();
    ASSERT_EQ(a.size(), 1u);
    EXPECT_EQ(a[0].flags, tcp::kRst);
    EXPECT_EQ(a[0].sequence, s.ack);
    EXPECT_EQ(peer.sink->state(), FlowState::connecting);
  }
  EXPECT_EQ(peer.data(0, 100), Refusal::none);
}

TEST_F(HostileSegments, AcksOfWhatWasNeverSent) {
  tcp::Segment s = peer.segment(1000);
  const Octets bytes = pattern(1000, 10);
  s.payload = bytes;
  s.ack = peer.their_isn + 2;
  EXPECT_EQ(peer.give(s), Refusal::tcp_ack);
  EXPECT_EQ(peer.acks(), Acks{1000}) << "the bytes that came with it are not taken";
  s.ack = peer.their_isn + 0x7fff'ffff;
  EXPECT_EQ(peer.give(s), Refusal::tcp_ack);
  peer.acks();
  still_open();
}

TEST_F(HostileSegments, AcksOfLongAgo) {
  tcp::Segment s = peer.segment(1000);
  s.ack = peer.their_isn + 1 - 65000;  // MAX.SND.WND: just within
  EXPECT_EQ(peer.give(s), Refusal::none);
  EXPECT_THAT(peer.acks(), IsEmpty());
  s.ack -= 1;
  EXPECT_EQ(peer.give(s), Refusal::tcp_old_ack);
  EXPECT_EQ(peer.acks(), Acks{1000});
  still_open();
}

// --- timestamps (RFC 7323 5)

TEST(TcpReceiverHostile, OldTimestampsAreRefusedAndAnswered) {
  ScriptedSender peer;
  peer.timestamp = 5;
  peer.open();
  peer.data(0, 100);
  peer.acks();
  peer.timestamp = 4;
  EXPECT_EQ(peer.data(100, 200), Refusal::tcp_paws);
  EXPECT_EQ(peer.acks(), Acks{100});
  peer.timestamp = 5 + 0x8000'0000u;
  EXPECT_EQ(peer.data(100, 200), Refusal::tcp_paws) << "2^31 ahead is behind";
  peer.timestamp = 5;
  EXPECT_EQ(peer.data(100, 200), Refusal::none) << "the same is not older";
  peer.timestamp = 4;
  EXPECT_EQ(peer.give(peer.segment(200, tcp::kRst)), Refusal::none) << "resets are not looked at";
}

TEST(TcpReceiverHostile, SegmentsWithoutTimestampsAreDroppedWhereTheyWereAgreed) {
  ScriptedSender peer;
  peer.timestamp = 5;
  peer.open();
  peer.timestamp.reset();
  EXPECT_EQ(peer.data(0, 100), Refusal::tcp_paws);
  EXPECT_THAT(peer.acks(), IsEmpty()) << "RFC 7323 3.2: silently";
  peer.timestamp = 5;
  EXPECT_EQ(peer.data(0, 100), Refusal::none);
}

TEST_F(HostileSegments, TimestampsThatWereNotAgreedAreIgnored) {
  peer.timestamp = 7;
  EXPECT_EQ(peer.data(1000, 1050), Refusal::none);
  EXPECT_FALSE(peer.answers().at(0).timestamps);
  peer.timestamp = 3;
  EXPECT_EQ(peer.data(1050, 1060), Refusal::none);
}

// --- FINs

TEST_F(HostileSegments, BytesBehindAFinAreNotTaken) {
  peer.data(2000, 2100);
  EXPECT_EQ(peer.data(1500, 1600, tcp::kFin), Refusal::none);  // contradicts what came before
  EXPECT_EQ(peer.data(1700, 1800, tcp::kFin), Refusal::none);  // a second one counts for nothing
  peer.acks();
  EXPECT_EQ(peer.data(1000, 1500), Refusal::none);
  const auto a = peer.answers();
  ASSERT_EQ(a.size(), 1u);
  EXPECT_EQ(a[0].flags, tcp::kFin | tcp::kAck);
  EXPECT_EQ(a[0].ack, kIsn + 1 + 1601);
  EXPECT_EQ(peer.reading().payload_bytes, 1600u);
  EXPECT_EQ(peer.data(1601, 1700), Refusal::state);
  EXPECT_EQ(peer.reading().payload_bytes, 1600u);
}

TEST_F(HostileSegments, AFinInsideWhatIsThereAlreadyEndsTheStreamThere) {
  peer.data(1500, 2000);
  peer.data(1600, 1700, tcp::kFin);
  peer.acks();
  peer.data(1000, 1500);
  EXPECT_EQ(peer.answers().at(0).ack, kIsn + 1 + 1701);
  EXPECT_EQ(peer.reading().payload_bytes, 1700u);
}

// --- bytes

TEST_F(HostileSegments, EveryChangedBitOfThePacketIsRefusedAndHarmless) {
  tcp::Segment s = peer.segment(1000);
  const Octets bytes = pattern(1000, 40);
  s.payload = bytes;
  Crafted c = crafted(s, reversed(peer.tuple));
  for (std::size_t bit = 34 * 8; bit < c.frame.size() * 8; ++bit) {
    c.frame[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    EXPECT_EQ(peer.sink->receive(c.packet, peer.now), Refusal::checksum) << bit;
    c.frame[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
  }
  EXPECT_THAT(peer.acks(), IsEmpty());
  still_open();
}

TEST_F(HostileSegments, TruncatedPacketsAreRefused) {
  const Crafted c = crafted(peer.segment(1000), reversed(peer.tuple));
  for (std::size_t n = 0; n < 20; ++n) {
    IpPacket p = c.packet;
    p.payload = p.payload.first(n);
    EXPECT_EQ(peer.sink->receive(p, peer.now), Refusal::truncated);
  }
  still_open();
}

TEST_F(HostileSegments, AnAbsurdMssIsNotFollowed) {
  for (const int mss : {0, 1, 63}) {
    ScriptedSender other;
    tcp::Segment syn = other.syn();
    syn.mss = static_cast<std::uint16_t>(mss);
    other.timestamp = 1;
    other.open(syn);
    other.give(other.segment(0, tcp::kFin | tcp::kAck));
    EXPECT_EQ(other.answers().size(), 1u) << mss;
  }
}

// Segments that are in turn everything above: whatever comes, what is delivered is the pattern or counted.
TEST(TcpReceiverHostile, RandomSegmentsNeverConfuseIt) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    ScriptedSender peer(
        {.ack = seed % 2 != 0 ? AckPolicy::every : AckPolicy::delayed, .window = Bytes(3000)});
    if (seed % 3 == 0) peer.timestamp = 50;
    peer.open();
    std::uint32_t last = 0;
    for (int step = 0; step < 300 && peer.sink->state() == FlowState::open; ++step) {
      const std::uint32_t at = last + rng.next() % 5000 - 1000;
      tcp::Segment s = peer.segment(at);
      if (rng.next() % 8 == 0) s.flags = static_cast<std::uint8_t>(rng.next() % 32);
      if (rng.next() % 200 == 0) s.flags = tcp::kFin | tcp::kAck;
      if (rng.next() % 8 == 0) s.ack += rng.next() % 5 - 2;
      if (s.timestamps && rng.next() % 8 == 0) s.timestamps->value += rng.next() % 5 - 2;
      const Octets bytes = pattern(at, rng.next() % 1000);
      s.payload = bytes;
      const FlowReading before = peer.reading();
      const Refusal r = peer.give(s);
      if (r != Refusal::none) {
        EXPECT_EQ(peer.reading().payload_bytes, before.payload_bytes) << name(r);
      }
      for (const Heard& h : peer.answers()) {
        if (h.has(tcp::kRst)) continue;
        const std::uint32_t ack = h.ack - kIsn - 1;
        EXPECT_LE(last, ack) << "never backwards";
        last = ack;
      }
      peer.pass(10ms);
    }
    EXPECT_EQ(peer.reading().mismatched_bytes, 0u);
    const std::uint64_t delivered = peer.reading().payload_bytes;
    EXPECT_TRUE(last <= delivered + 1) << "an ACK of what was not there";
  }
}

}  // namespace
}  // namespace surety::endpoints
