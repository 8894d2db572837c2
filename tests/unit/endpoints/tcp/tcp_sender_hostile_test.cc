// SPDX-License-Identifier: BSD-3-Clause
// What a peer, or somebody else, may send to a TcpSender that is no part of an honest transfer.
#include <gmock/gmock.h>

#include "conditioners/rng.h"
#include "tests/unit/endpoints/tcp/scripted_receiver.h"

namespace surety::endpoints {
namespace {

using namespace literals;
using testing::IsEmpty;

struct HostileTest : testing::Test {
  HostileTest() { open(plain(TcpFlavour::newreno)); }
  void open(const TcpParams& p) {
    peer.emplace(p);
    peer->connect();
    EXPECT_EQ(peer->sent(), range(0, 10));
  }
  // Exactly one pure ACK with our numbers, as an answer to what was refused.
  void expect_challenge() {
    const auto h = peer->heard();
    ASSERT_EQ(h.size(), 1u);
    EXPECT_EQ(h[0].flags, tcp::kAck);
    EXPECT_TRUE(h[0].bytes.empty());
    EXPECT_EQ(h[0].sequence, peer->isn + 1 + 10'000);
    EXPECT_EQ(h[0].ack, kPeerIsn + 1);
  }
  void expect_silence() { EXPECT_THAT(peer->heard(), IsEmpty()); }
  // Nothing that was refused has changed anything.
  void expect_unharmed() {
    EXPECT_EQ(peer->sender.state(), FlowState::open);
    EXPECT_EQ(peer->cwnd(), 10'000u);
    EXPECT_EQ(peer->on_ack(1), (Trace{10, 11}));
  }
  std::optional<ScriptedReceiver> peer;
};

// --- resets (RFC 5961 3)

TEST_F(HostileTest, AResetAtTheExpectedNumberEndsIt) {
  tcp::Segment s = peer->segment(0, tcp::kRst);
  EXPECT_EQ(peer->give(s), Refusal::none);
  EXPECT_EQ(peer->sender.state(), FlowState::closed);
  EXPECT_EQ(peer->sender.failure(), Failure::reset);
  expect_silence();
}

TEST_F(HostileTest, AResetWithinTheWindowIsChallenged) {
  tcp::Segment s = peer->segment(0, tcp::kRst);
  for (const std::uint32_t off : {1u, 1000u, 65534u}) {
    s.sequence = peer->sequence + off;
    EXPECT_EQ(peer->give(s), Refusal::tcp_reset) << off;
    expect_challenge();
  }
  expect_unharmed();
}

TEST_F(HostileTest, AResetBeyondTheWindowIsNothing) {
  tcp::Segment s = peer->segment(0, tcp::kRst | tcp::kAck);
  for (const std::uint32_t off : {65535u, 0x8000'0000u, 0xffff'ffffu}) {
    s.sequence = peer->sequence + off;
    EXPECT_EQ(peer->give(s), Refusal::tcp_reset) << off;
    expect_silence();
  }
  expect_unharmed();
}

TEST_F(HostileTest, AResetAfterAllWasDeliveredIsNoFailure) {
  peer->sender.close(peer->now);
  peer->heard();
  peer->ack(10);
  EXPECT_EQ(peer->give(peer->segment(10'000, tcp::kRst)), Refusal::none);
  EXPECT_EQ(peer->sender.state(), FlowState::closed);
  EXPECT_EQ(peer->sender.failure(), Failure::none);
}

// --- SYNs (RFC 5961 4)

TEST_F(HostileTest, ASynIsChallengedWhereverItIs) {
  for (const std::uint8_t flags : {std::uint8_t{tcp::kSyn}, std::uint8_t(tcp::kSyn | tcp::kAck)})
    for (const std::uint32_t off : {0u, 1000u, 0x7000'0000u, 0xffff'ffffu}) {
      tcp::Segment s = peer->segment(0, flags);
      s.sequence = peer->sequence + off;
      EXPECT_EQ(peer->give(s), Refusal::tcp_syn);
      expect_challenge();
    }
  expect_unharmed();
}

// --- acknowledgements (RFC 5961 5)

TEST_F(HostileTest, AnAckOfWhatWasNeverSentIsChallenged) {
  EXPECT_EQ(peer->ack_bytes(10'001), Refusal::tcp_ack);
  expect_challenge();
  EXPECT_EQ(peer->ack_bytes(0x7fff'0000), Refusal::tcp_ack);
  expect_challenge();
  expect_unharmed();
}

TEST_F(HostileTest, AnOldAckIsIgnoredAndAVeryOldOneChallenged) {
  peer->window = 60'000 >> 4;
  EXPECT_EQ(peer->on_ack(2).size(), 3u);
  const std::uint64_t cwnd = peer->cwnd();
  EXPECT_EQ(peer->ack(1), Refusal::none);
  expect_silence();
  EXPECT_EQ(peer->give(peer->segment(2000u - 65'535u)), Refusal::none) << "the largest window was the SYN's";
  expect_silence();
  EXPECT_EQ(peer->give(peer->segment(2000u - 65'536u)), Refusal::tcp_old_ack);
  EXPECT_EQ(peer->heard().size(), 1u);
  EXPECT_EQ(peer->cwnd(), cwnd);
  EXPECT_EQ(peer->reading().loss_events, 0u);
}

// Savage et al. 1999: ACK division.
TEST_F(HostileTest, AcksOfSingleBytesDoNotBlowTheWindow) {
  std::size_t sent = 0;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    EXPECT_EQ(peer->ack_bytes(i), Refusal::none);
    sent += peer->heard().size();
  }
  EXPECT_EQ(peer->cwnd(), 11'000u) << "one segment was acknowledged";
  EXPECT_EQ(sent, 2u);
}

// Savage et al. 1999: made-up duplicates.
TEST_F(HostileTest, AFloodOfDuplicatesSendsNoMoreThanTheWindowAllows) {
  for (int i = 0; i < 10'000; ++i) peer->ack(0);
  peer->heard();
  EXPECT_LE(peer->reading().in_flight, 5000u + 10'000u);
  EXPECT_EQ(peer->reading().loss_events, 1u);
}

TEST_F(HostileTest, DuplicatesThatAreNoneDoNotCount) {
  for (int i = 0; i < 10; ++i) {
    peer->window = static_cast<std::uint16_t>(60'000 + i);  // updates
    EXPECT_EQ(peer->ack(0), Refusal::none);
  }
  const Octets bytes(1, 0xaa);
  for (int i = 0; i < 10; ++i) {  // data
    tcp::Segment s = peer->segment(0);
    s.payload = bytes;
    EXPECT_EQ(peer->give(s), Refusal::none);
    ++peer->sequence;
  }
  EXPECT_EQ(peer->reading().loss_events, 0u);
}

// --- sequence numbers and data

TEST_F(HostileTest, SegmentsOutsideTheWindowAreAnswered) {
  for (const std::uint32_t off : {65535u, 0x7fff'ffffu, 0xffff'ffffu}) {
    tcp::Segment s = peer->segment(5000);
    s.sequence = peer->sequence + off;
    EXPECT_EQ(peer->give(s), Refusal::tcp_sequence) << off;
    expect_challenge();
  }
  expect_unharmed();
}

TEST_F(HostileTest, DataIsTakenInOrderAndForgotten) {
  const Octets bytes(300, 0x55);
  tcp::Segment s = peer->segment(0);
  s.payload = bytes;
  s.sequence += 100;
  EXPECT_EQ(peer->give(s), Refusal::none);
  EXPECT_EQ(peer->heard().at(0).ack, kPeerIsn + 1) << "a gap: repeat it";
  s.sequence -= 100;
  EXPECT_EQ(peer->give(s), Refusal::none);
  EXPECT_EQ(peer->heard().at(0).ack, kPeerIsn + 1 + 300);
  s.sequence += 200;  // 100 old bytes, 200 new
  EXPECT_EQ(peer->give(s), Refusal::none);
  EXPECT_EQ(peer->heard().at(0).ack, kPeerIsn + 1 + 500);
}

TEST_F(HostileTest, ChallengesAreLimited) {
  std::size_t answers = 0;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(peer->ack_bytes(20'000), Refusal::tcp_ack);
    answers += peer->heard().size();
  }
  EXPECT_EQ(answers, std::size_t{ChallengeLimit::kPerSecond});
}

// --- timestamps (RFC 7323)

struct TimestampedHostileTest : testing::Test {
  TimestampedHostileTest() : peer(TcpParams{}) {
    peer.timestamps = tcp::Timestamps{1000, 0};
    const Heard syn = peer.syn();
    peer.timestamps->echo = syn.timestamps->value;
    peer.pass(100ms);
    peer.give(peer.syn_ack());
    EXPECT_EQ(peer.heard().size(), 11u);
  }
  ScriptedReceiver peer;
};

TEST_F(TimestampedHostileTest, OlderTimestampsAreAnswered) {
  peer.timestamps->value = 999;
  EXPECT_EQ(peer.ack_bytes(1448), Refusal::tcp_paws);
  EXPECT_EQ(peer.heard().size(), 1u);
  EXPECT_EQ(peer.reading().payload_bytes, 0u);
  peer.timestamps->value = 1000;
  EXPECT_EQ(peer.ack_bytes(1448), Refusal::none);
}

TEST_F(TimestampedHostileTest, NewerTimestampsAreEchoedUnlessTheSegmentIsAhead) {
  peer.timestamps->value = 2000;
  peer.ack_bytes(1448);
  EXPECT_EQ(peer.heard().at(0).timestamps->echo, 2000u);
  const Octets bytes(10, 1);
  tcp::Segment ahead = peer.segment(1448);
  ahead.sequence += 50;
  ahead.timestamps->value = 3000;
  ahead.payload = bytes;
  peer.give(ahead);
  EXPECT_EQ(peer.heard().at(0).timestamps->echo, 2000u);
}

TEST_F(TimestampedHostileTest, SegmentsWithoutThemAreDropped) {
  peer.timestamps.reset();
  EXPECT_EQ(peer.ack_bytes(1448), Refusal::tcp_paws);
  EXPECT_THAT(peer.heard(), IsEmpty());
}

TEST_F(TimestampedHostileTest, EchoesOfWhatWasNeverSaidAreNoSamples) {
  const Duration rtt = peer.reading().rtt;
  std::uint64_t acked = 0;
  for (const std::uint32_t off : {1'000'000u, 0x7fff'ffffu, 0x8000'0000u, 0u - 10'000'000u}) {
    tcp::Segment s = peer.segment(acked += 100);
    s.timestamps->echo += off;
    EXPECT_EQ(peer.give(s), Refusal::none);
    EXPECT_EQ(peer.reading().rtt, rtt) << off;
    EXPECT_GT(peer.reading().min_rtt, 99ms);
  }
}

// --- before the connection stands (RFC 9293 3.10.7.3)

struct ConnectingTest : testing::Test {
  ConnectingTest() : peer(plain(TcpFlavour::newreno)) { peer.syn(); }
  ScriptedReceiver peer;
};

TEST_F(ConnectingTest, NothingIsTakenBeforeTheStart) {
  ScriptedReceiver early(plain(TcpFlavour::newreno));
  EXPECT_EQ(early.give(early.syn_ack()), Refusal::state);
  EXPECT_EQ(early.sender.state(), FlowState::idle);
}

TEST_F(ConnectingTest, AResetThatAcknowledgesTheSynIsARefusal) {
  EXPECT_EQ(peer.give(peer.segment(0, tcp::kRst | tcp::kAck)), Refusal::none);
  EXPECT_EQ(peer.sender.state(), FlowState::closed);
  EXPECT_EQ(peer.sender.failure(), Failure::refused);
}

TEST_F(ConnectingTest, OtherResetsAreNot) {
  EXPECT_EQ(peer.give(peer.segment(0, tcp::kRst)), Refusal::tcp_reset);
  EXPECT_EQ(peer.give(peer.segment(1, tcp::kRst | tcp::kAck)), Refusal::tcp_reset);
  EXPECT_THAT(peer.heard(), IsEmpty());
  EXPECT_EQ(peer.sender.state(), FlowState::connecting);
}

TEST_F(ConnectingTest, AWrongAckIsReset) {
  tcp::Segment s = peer.syn_ack();
  s.ack += 5;
  EXPECT_EQ(peer.give(s), Refusal::tcp_ack);
  const auto h = peer.heard();
  ASSERT_EQ(h.size(), 1u);
  EXPECT_EQ(h[0].flags, tcp::kRst);
  EXPECT_EQ(h[0].sequence, s.ack);
  EXPECT_EQ(peer.give(peer.syn_ack()), Refusal::none) << "and the right one is taken";
  EXPECT_EQ(peer.sender.state(), FlowState::open);
}

TEST_F(ConnectingTest, AnAckWithoutSynIsNoAnswer) {
  EXPECT_EQ(peer.give(peer.segment(0)), Refusal::state);
  EXPECT_EQ(peer.sender.state(), FlowState::connecting);
}

// Bytes and a FIN that come with the SYN-ACK are not acknowledged: they will come again.
TEST_F(ConnectingTest, DataWithTheSynAckIsLeft) {
  tcp::Segment s = peer.syn_ack();
  const Octets bytes(10, 1);
  s.payload = bytes;
  EXPECT_EQ(peer.give(s), Refusal::none);
  EXPECT_EQ(peer.heard().at(0).ack, kPeerIsn + 1);
}

// --- anything

TEST_F(HostileTest, NoBitMayBeWrong) {
  const Crafted c = crafted(peer->segment(1000), sink_tuple());
  for (std::size_t i = 0; i < c.packet.payload.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      Octets bytes(c.packet.payload.begin(), c.packet.payload.end());
      bytes[i] = static_cast<std::uint8_t>(bytes[i] ^ 1 << bit);
      IpPacket flipped = c.packet;
      flipped.payload = bytes;
      EXPECT_EQ(peer->sender.receive(flipped, peer->now), Refusal::checksum) << i << "." << bit;
    }
  expect_unharmed();
}

TEST_F(HostileTest, NoByteMayBeMissing) {
  const Crafted c = crafted(peer->segment(1000), sink_tuple());
  for (std::size_t n = 0; n < c.packet.payload.size(); ++n) {
    IpPacket cut = c.packet;
    cut.payload = c.packet.payload.first(n);
    EXPECT_EQ(peer->sender.receive(cut, peer->now), Refusal::truncated) << n;
  }
  expect_unharmed();
}

// Segments that no honest peer would send, with good checksums, at random: counters and windows stay sound,
// and the sender neither stops nor spins.
TEST(HostileSender, SurvivesArbitrarySegments) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    ScriptedReceiver r(seed % 3 == 0 ? reserved(5)
                                     : plain(seed % 3 == 1 ? TcpFlavour::reno : TcpFlavour::newreno));
    r.params.common.total_payload = seed % 2 ? 50'000 : 0;
    r.connect();
    for (int step = 0; step < 300 && r.sender.state() != FlowState::closed; ++step) {
      const FlowReading f = r.reading();
      tcp::Segment s = r.segment(f.payload_bytes + rng.next() % (f.in_flight + 3));
      s.window = static_cast<std::uint16_t>(rng.next() % 4 ? 65535 : rng.next());
      if (rng.next() % 8 == 0) s.flags = static_cast<std::uint8_t>(rng.next() & 0xff);
      if (rng.next() % 8 == 0) s.ack = rng.next();
      if (rng.next() % 8 == 0) s.sequence += rng.next() % 4 ? rng.next() % 5 : rng.next();
      if (s.has(tcp::kRst) && rng.next() % 8) s.flags = tcp::kAck;
      const Octets bytes(rng.next() % 6 == 0 ? rng.next() % 50 : 0, 7);
      s.payload = bytes;
      r.give(s);
      if (rng.next() % 5 == 0 && r.sender.next_wakeup() != kNever) r.pass_to_wakeup();
      ASSERT_LT(r.heard().size(), 2000u);
      const FlowReading after = r.reading();
      ASSERT_GE(after.payload_bytes, f.payload_bytes);
      ASSERT_LE(after.in_flight, 1'000'000u);
      ASSERT_GE(after.cwnd, kSegment);
      ASSERT_GT(r.sender.next_wakeup(), r.now) << "a busy loop";
    }
  }
}

}  // namespace
}  // namespace surety::endpoints
