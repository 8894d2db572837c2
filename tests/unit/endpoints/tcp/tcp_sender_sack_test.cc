// SPDX-License-Identifier: BSD-3-Clause
// SACK and congestion marks of a TcpSender, packet by packet.
#include <gmock/gmock.h>

#include "tests/unit/endpoints/tcp/scripted_receiver.h"

namespace surety::endpoints {
namespace {

using namespace literals;
using testing::IsEmpty;

TcpParams selective(TcpFlavour flavour = TcpFlavour::newreno) {
  TcpParams p = plain(flavour);
  p.sack = true;
  return p;
}

// Numbers of segments: [from, to) of each block.
using Told = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

struct SelectiveSender : testing::Test {
  ScriptedReceiver& fly(TcpParams p, std::uint32_t segments) {
    p.initial_window = segments;
    peer.emplace(p);
    peer->syn();
    peer->pass(100ms);
    tcp::Segment a = peer->syn_ack();
    a.sack_permitted = true;
    EXPECT_EQ(peer->give(a), Refusal::none);
    EXPECT_EQ(peer->heard().size(), segments + 1);
    return *peer;
  }
  Trace on(std::uint64_t ack, const Told& told) {
    tcp::Segment s = peer->segment(ack * kSegment);
    for (const auto& [from, to] : told)
      s.sack.add({peer->isn + 1 + from * kSegment, peer->isn + 1 + to * kSegment});
    EXPECT_EQ(name(peer->give(s)), "none");
    return peer->sent();
  }
  std::optional<ScriptedReceiver> peer;
};

TEST_F(SelectiveSender, OffersIt) {
  ScriptedReceiver r(selective());
  EXPECT_TRUE(r.syn().sack_permitted);
  ScriptedReceiver without(plain(TcpFlavour::newreno));
  EXPECT_FALSE(without.syn().sack_permitted);
}

TEST_F(SelectiveSender, BlocksOfAPeerThatDidNotPermitThemAreNothing) {
  peer.emplace(selective());
  peer->connect();
  EXPECT_EQ(peer->sent(), range(0, 10));
  EXPECT_EQ(on(0, {{1, 9}}), Trace{});
  EXPECT_EQ(peer->reading().loss_events, 0u);
}

// RFC 6675 5 and RFC 6937: 0 is lost of 10. The first two tell of an arrival each, so that a new one may
// leave (RFC 3042); ssthresh counts neither (RFC 5681 3.2, step 2): it is five. The retransmission is the
// half of what arrives until five are in flight, and from there on each arrival sends.
TEST_F(SelectiveSender, OneLoss) {
  fly(selective(), 10);
  EXPECT_EQ(on(0, {{1, 2}}), Trace{10});
  EXPECT_EQ(on(0, {{1, 3}}), Trace{11});
  EXPECT_EQ(on(0, {{1, 4}}), Trace{0}) << "three beyond it";
  EXPECT_EQ(peer->reading().ssthresh, 5000u) << "half of ten";
  Trace sent;
  for (std::uint32_t to = 5; to <= 12; ++to)
    for (const std::uint32_t s : on(0, {{1, to}})) sent.push_back(s);
  EXPECT_EQ(sent, range(12, 16));
  EXPECT_EQ(on(12, {}), Trace{16}) << "five in flight";
  EXPECT_EQ(peer->cwnd(), 5000u);
  EXPECT_EQ(peer->reading().loss_events, 1u);
  EXPECT_EQ(peer->reading().retransmitted_packets, 1u);
}

// As NewRenoTrace.ThreeLossesArePartialAcks, which takes three round trips.
TEST_F(SelectiveSender, ThreeLossesAreRepairedInOneRoundTrip) {
  fly(selective(), 10);
  EXPECT_EQ(on(0, {{1, 3}}), (Trace{10, 11}));
  EXPECT_EQ(on(0, {{4, 6}, {1, 3}}), Trace{0}) << "3 has but two beyond it";
  EXPECT_EQ(on(0, {{7, 10}, {4, 6}, {1, 3}}), (Trace{3, 6})) << "up to five in flight: 0, 10 and 11 are";
  EXPECT_EQ(on(3, {{7, 12}, {4, 6}}), (Trace{12, 13, 14}));
  EXPECT_EQ(on(6, {{7, 12}}), Trace{15});
  EXPECT_EQ(on(12, {}), Trace{16}) << "full: 12 to 15 are out, and cwnd is 5";
  EXPECT_EQ(peer->reading().retransmitted_packets, 3u);
  EXPECT_EQ(peer->reading().timeouts, 0u);
}

TEST_F(SelectiveSender, ALossAfterTheRecoveryHalvesAgain) {
  fly(selective(), 10);
  EXPECT_EQ(on(0, {{1, 10}}).at(0), 0u);
  on(10, {});
  const std::uint64_t ssthresh = peer->reading().ssthresh;
  EXPECT_EQ(on(10, {{11, 14}}).at(0), 10u);
  EXPECT_LT(peer->reading().ssthresh, ssthresh);
  EXPECT_EQ(peer->reading().loss_events, 2u);
}

// What has arrived is not sent again, and what was lost beyond it is.
TEST_F(SelectiveSender, ATimeoutRepeatsOnlyWhatIsMissing) {
  fly(selective(), 6);
  EXPECT_EQ(on(0, {{3, 5}}), (Trace{6, 7}));
  peer->pass_to_wakeup();
  EXPECT_EQ(peer->sent(), Trace{0});
  EXPECT_EQ(peer->reading().timeouts, 1u);
  EXPECT_EQ(on(1, {{3, 5}}), (Trace{1, 2}));
  EXPECT_EQ(on(5, {}), (Trace{5, 6, 7})) << "slow start of three";
  EXPECT_EQ(on(8, {}), range(8, 12));
  EXPECT_EQ(peer->reading().retransmitted_packets, 6u);
}

TEST_F(SelectiveSender, AFinThatIsLostIsSentAgain) {
  TcpParams p = selective();
  p.common.total_payload = 2500;
  fly(p, 3);
  peer->pass_to_wakeup();
  EXPECT_EQ(peer->sent(), Trace{0});
  peer->ack(1);
  EXPECT_EQ(peer->heard().size(), 2u);
  peer->ack_bytes(2500);
  EXPECT_THAT(peer->heard(), IsEmpty()) << "it was with the bytes before it";
  peer->pass_to_wakeup();
  const auto h = peer->heard();
  ASSERT_EQ(h.size(), 1u);
  EXPECT_TRUE(h[0].has(tcp::kFin));
  EXPECT_TRUE(h[0].bytes.empty());
  peer->ack_bytes(2501);
  EXPECT_EQ(peer->sender.next_wakeup(), peer->now + TcpSender::kFinWait2);
}

TEST_F(SelectiveSender, AClosedWindowIsProbedAndOpens) {
  fly(selective(), 10);
  peer->window = 0;
  EXPECT_EQ(on(10, {}), Trace{});
  for (int i = 0; i < 3; ++i) {
    peer->pass_to_wakeup();
    const auto h = peer->heard();
    ASSERT_EQ(h.size(), 1u);
    EXPECT_EQ(peer->offset(h[0]), 10'000u);
    EXPECT_EQ(h[0].bytes, pattern(10'000, 1));
    EXPECT_EQ(peer->ack(10), Refusal::none);
  }
  peer->window = 65535;
  EXPECT_EQ(on(10, {}).at(0), 10u) << "a whole segment, the probed byte first";
  EXPECT_EQ(peer->reading().timeouts, 0u);
}

// --- what no honest peer says

// RFC 2018 8: the data receiver is permitted to discard what it has not acknowledged.
TEST_F(SelectiveSender, APeerThatRenegesGetsAllOfItAgain) {
  fly(selective(), 10);
  EXPECT_EQ(on(0, {{1, 10}}).at(0), 0u);
  EXPECT_EQ(peer->reading().retransmitted_packets, 1u);
  on(5, {});  // and nothing beyond it any more
  for (std::uint32_t at = 5, turns = 0; at < 12 && turns < 40; ++turns) {
    peer->pass_to_wakeup();
    for (const std::uint32_t s : peer->sent())
      if (s == at) ++at;
    on(at, {});
  }
  EXPECT_GE(peer->reading().payload_bytes, 12'000u);
}

TEST_F(SelectiveSender, BlocksThatCannotBeChangeNothing) {
  ScriptedReceiver& r = fly(selective(), 10);
  const std::uint64_t cwnd = r.cwnd();
  EXPECT_EQ(on(0, {{0, 9}, {5, 50}, {9, 5}, {0, 10}}), Trace{}) << "over SND.UNA, beyond SND.MAX, backwards";
  EXPECT_EQ(r.cwnd(), cwnd);
  EXPECT_EQ(r.reading().loss_events, 0u);
  EXPECT_EQ(r.on_ack(1), (Trace{10, 11}));
}

TEST_F(SelectiveSender, TheSameBlocksAgainAreNoNews) {
  fly(selective(), 10);
  EXPECT_EQ(on(0, {{1, 3}}), (Trace{10, 11}));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(on(0, {{1, 3}, {1, 2}, {2, 3}}), Trace{});
  EXPECT_EQ(peer->reading().loss_events, 0u);
}

// Duplicate ACKs whose blocks a network has taken away: a timeout finds out.
TEST_F(SelectiveSender, WithoutBlocksATimeoutRepairs) {
  fly(selective(), 10);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(on(0, {}), Trace{});
  peer->pass_to_wakeup();
  EXPECT_EQ(peer->sent(), Trace{0});
  EXPECT_EQ(on(10, {}), (Trace{10, 11}));
}

TEST_F(SelectiveSender, DSackIsCounted) {
  fly(selective(), 10);
  on(5, {{3, 4}});
  EXPECT_EQ(peer->reading().duplicate_packets, 1u);
  EXPECT_EQ(peer->reading().loss_events, 0u);
}

// --- GTCP

TcpParams promised(std::uint32_t segments) {
  TcpParams p = reserved(segments);
  p.sack = true;
  return p;
}

// As GtcpTrace.ManyLossesSendTheReservedWindowEachRoundTrip: six of 20 are lost, of which ten are reserved.
TEST_F(SelectiveSender, GtcpSendsTheReservedWindowWhateverIsLost) {
  fly(promised(10), 20);
  Trace sent;
  for (std::uint32_t to = 7; to <= 20; ++to)
    for (const std::uint32_t s : on(0, {{6, to}})) sent.push_back(s);
  EXPECT_GE(sent.size(), 10u) << "cwnd_G";
  EXPECT_THAT(sent, testing::IsSupersetOf(range(0, 6))) << "the holes, in the first round trip";
  EXPECT_EQ(peer->reading().ssthresh, 5000u) << "half of cwnd_BE";
  on(22, {});
  EXPECT_EQ(peer->cwnd(), 15'000u) << "cwnd_update";
  EXPECT_EQ(peer->reading().retransmitted_packets, 6u);
}

// III.D.2: what was sent again is lost again. New data goes on, one for each of the first cwnd_G that arrive;
// of what was out then, only what has not arrived is repeated.
TEST_F(SelectiveSender, GtcpKeepsTheReservedWindowRunningAfterATimeout) {
  ScriptedReceiver& r = fly(promised(4), 12);
  EXPECT_EQ(on(0, {{1, 12}}).at(0), 0u);
  const std::uint64_t next = r.reading().in_flight / kSegment;
  r.pass_to_wakeup();
  EXPECT_EQ(r.sent(), Trace{0});
  EXPECT_EQ(r.cwnd(), 1000u);
  EXPECT_EQ(on(0, {{1, 13}}), Trace{static_cast<std::uint32_t>(next)});
  EXPECT_EQ(on(0, {{1, 14}}), Trace{static_cast<std::uint32_t>(next + 1)});
  EXPECT_EQ(on(14, {}), (Trace{14, 15}));
  EXPECT_EQ(r.reading().timeouts, 1u);
}

// --- marks (RFC 3168)

struct MarkedSender : testing::Test {
  ScriptedReceiver& open(bool answer = true) {
    TcpParams p = plain(TcpFlavour::newreno);
    p.ecn = true;
    peer.emplace(p);
    EXPECT_EQ(peer->syn().flags, tcp::kSyn | tcp::kEce | tcp::kCwr);
    peer->pass(100ms);
    tcp::Segment a = peer->syn_ack();
    if (answer) a.flags |= tcp::kEce;
    peer->give(a);
    return *peer;
  }
  // The next packet: ECN field, and flags.
  std::pair<int, int> packet() {
    std::array<std::uint8_t, 1500> bytes;
    Slot slot{bytes.data(), bytes.size(), 0};
    if (peer->sender.poll({&slot, 1}, peer->now) == 0) return {-1, -1};
    std::uint32_t sum = 0;
    for (int i = 0; i < 20; i += 2) sum += load_be16(bytes.data() + i);
    EXPECT_EQ((sum & 0xffff) + (sum >> 16), 0xffffu) << "the header's checksum";
    return {bytes[1] & 3, bytes[33]};
  }
  static constexpr int kEct = 2;
  std::optional<ScriptedReceiver> peer;
};

TEST_F(MarkedSender, OnlyNewDataCanBeMarked) {
  open();
  EXPECT_EQ(packet(), (std::pair(0, +tcp::kAck))) << "the ACK of the handshake";
  for (int i = 0; i < 10; ++i) EXPECT_EQ(packet(), (std::pair(kEct, +tcp::kAck)));
  peer->pass_to_wakeup();
  EXPECT_EQ(packet(), (std::pair(0, +tcp::kAck))) << "a retransmission";
}

TEST_F(MarkedSender, NothingIsIfThePeerIsNotCapable) {
  open(false);
  packet();
  EXPECT_EQ(packet(), (std::pair(0, +tcp::kAck)));
}

TEST_F(MarkedSender, AnEchoHalvesTheWindowOnceAndIsAnswered) {
  ScriptedReceiver& r = open();
  EXPECT_EQ(r.heard().size(), 11u);
  tcp::Segment echo = r.segment(kSegment, tcp::kAck | tcp::kEce);
  for (std::uint32_t i = 1; i <= 5; ++i, echo.ack += kSegment) EXPECT_EQ(r.give(echo), Refusal::none);
  EXPECT_EQ(r.cwnd(), 5000u) << "ssthresh: half of what was out";
  EXPECT_EQ(r.reading().marks, 1u);
  EXPECT_EQ(r.reading().loss_events, 0u);
  EXPECT_THAT(r.heard(), IsEmpty());
  r.ack(6);
  EXPECT_EQ(packet(), (std::pair(kEct, tcp::kAck | tcp::kCwr)));
  r.ack(7);
  EXPECT_EQ(packet(), (std::pair(kEct, +tcp::kAck)));
}

// RFC 3168 6.1.2: of the losses and marks of one window only the first halves it.
TEST_F(MarkedSender, ALossInTheWindowOfAMarkHalvesNoMore) {
  ScriptedReceiver& r = open();
  EXPECT_EQ(r.heard().size(), 11u);
  r.give(r.segment(kSegment, tcp::kAck | tcp::kEce));
  EXPECT_EQ(r.reading().ssthresh, 5000u);
  for (int i = 0; i < 3; ++i) r.ack(1);
  EXPECT_EQ(r.sent(), Trace{1}) << "the retransmission";
  EXPECT_EQ(r.reading().ssthresh, 5000u);
  r.ack(10);
  EXPECT_EQ(r.cwnd(), 5000u);
  EXPECT_EQ(r.heard().size(), 5u);
  r.ack(11);
  r.heard();
  for (int i = 0; i < 3; ++i) r.ack(11);
  EXPECT_LT(r.reading().ssthresh, 5000u) << "another window, another loss";
}

TEST_F(MarkedSender, AnAckThatEchoesMakesNothingGrow) {
  ScriptedReceiver& r = open();
  EXPECT_EQ(r.heard().size(), 11u);
  r.give(r.segment(kSegment, tcp::kAck | tcp::kEce));
  for (std::uint64_t acked = 2; acked <= 10; ++acked) {
    r.give(r.segment(acked * kSegment, tcp::kAck | tcp::kEce));
    r.heard();
    EXPECT_EQ(r.cwnd(), 5000u) << acked;
  }
}

// The bits are mangled, or the peer never stops: a halving a round trip, down to two segments, and no
// further.
TEST_F(MarkedSender, AnEchoWithoutEndLeavesTwoSegments) {
  ScriptedReceiver& r = open();
  for (std::uint64_t acked = 0; acked < 200'000;) {
    r.heard();
    acked += r.reading().in_flight;
    r.pass(100ms);
    ASSERT_EQ(r.give(r.segment(acked, tcp::kAck | tcp::kEce)), Refusal::none);
    ASSERT_GE(r.cwnd(), 2000u);
  }
  EXPECT_LE(r.cwnd(), 3000u);
  EXPECT_EQ(r.reading().timeouts, 0u);
}

TEST_F(MarkedSender, EchoesThatWereNotAgreedOnAreNothing) {
  ScriptedReceiver& r = open(false);
  EXPECT_EQ(r.heard().size(), 11u);
  r.give(r.segment(kSegment, tcp::kAck | tcp::kEce));
  EXPECT_EQ(r.cwnd(), 11'000u);
  EXPECT_EQ(r.reading().marks, 0u);
}

TEST_F(MarkedSender, ALossTellsTheReceiverToo) {
  ScriptedReceiver& r = open();
  EXPECT_EQ(r.heard().size(), 11u);
  for (int i = 0; i < 3; ++i) r.ack(0);
  EXPECT_EQ(packet(), (std::pair(0, +tcp::kAck))) << "the retransmission";
  r.ack(10);
  EXPECT_EQ(packet(), (std::pair(kEct, tcp::kAck | tcp::kCwr)));
  EXPECT_EQ(packet(), (std::pair(kEct, +tcp::kAck)));
}

TEST_F(MarkedSender, ALostSynIsRepeatedWithoutIt) {
  TcpParams p = plain(TcpFlavour::newreno);
  p.ecn = true;
  ScriptedReceiver r(p);
  EXPECT_EQ(r.syn().flags, tcp::kSyn | tcp::kEce | tcp::kCwr);
  r.pass_to_wakeup();
  EXPECT_EQ(r.syn().flags, tcp::kSyn);
}

}  // namespace
}  // namespace surety::endpoints
