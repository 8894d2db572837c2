// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/send_sequence.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace surety::endpoints {
namespace {

using Kind = SendSequence::Kind;
constexpr std::uint32_t kSmss = 1000;

// A connection whose SYN is acknowledged: at most ten segments in flight.
struct Flow {
  SendSequence sequence;
  TcpPeer peer;
  std::uint64_t cwnd = 10 * kSmss;

  explicit Flow(std::uint64_t payload = 0, std::uint16_t window = 65535) : sequence(payload) {
    tcp::Segment syn;
    syn.window = window;
    peer.open(syn, false, false, false, kSmss);
    sequence.sent(sequence.due(cwnd, peer));
    sequence.on_syn_acknowledged(kSmss, 10 * kSmss);
  }
  Outstanding outstanding() const { return sequence.outstanding(peer); }
  void ack(std::uint64_t payload, bool hole = false) { sequence.on_ack(1 + payload, hole); }
  void window(std::uint64_t payload, std::uint16_t bytes) {
    tcp::Segment s;
    s.sequence = 1;
    s.window = bytes;
    peer.take_window(s, 1 + payload);
  }
  // All that is due is sent: kind, offset in the stream and length of each piece.
  std::string sent(int most = 100) {
    std::string out;
    for (int i = 0; i < most; ++i) {
      const auto p = sequence.due(cwnd, peer);
      if (p.empty()) return out;
      sequence.sent(p);
      out += (out.empty() ? "" : " ") + std::string(1, ".slpfn"[static_cast<int>(p.kind)]) +
             std::to_string(p.from - 1) + "+" + std::to_string(p.length) + (p.fin ? "F" : "");
    }
    return out + " ...";
  }
};

TEST(SendSequence, TheSynComesFirstAndAlone) {
  SendSequence s(0);
  const auto syn = s.due(1000, {});
  EXPECT_EQ(syn.kind, Kind::syn);
  EXPECT_EQ(syn.end(), 1u);
  s.sent(syn);
  EXPECT_TRUE(s.due(1000, {}).empty());
  EXPECT_EQ(s.max(), 1u);
  s.repeat_syn();
  EXPECT_EQ(s.due(1000, {}).kind, Kind::syn);
  EXPECT_EQ(s.retransmitted(), 0u);
  EXPECT_EQ(s.payload_acknowledged(), 0u);
}

TEST(SendSequence, NoMoreThanCwndTheLimitAndTheWindowPermit) {
  Flow f;
  f.cwnd = 2500;
  EXPECT_EQ(f.sent(), "n0+1000 n1000+1000") << "no part of a segment";
  f.cwnd = 20'000;
  EXPECT_EQ(f.sent(20),
            "n2000+1000 n3000+1000 n4000+1000 n5000+1000 n6000+1000 n7000+1000 n8000+1000 n9000+1000");
  Flow narrow(0, 2500);
  EXPECT_EQ(narrow.sent(), "n0+1000 n1000+1000");
  EXPECT_EQ(narrow.outstanding().flight(), 2000u);
}

// Congestion control asks whether the window was in use when the last segment left.
TEST(SendSequence, ToldIsWhatWasAnsweredSinceTheLastSegmentAndTheMostThatMayBeInFlight) {
  Flow f(0, 30'000);
  f.cwnd = 4000;
  f.sent();
  EXPECT_EQ(f.outstanding().answered, 0u);
  EXPECT_EQ(f.outstanding().most, 10'000u) << "our limit";
  f.ack(1000);
  f.ack(3000);
  EXPECT_EQ(f.outstanding().answered, 3000u);
  f.sent(1);
  EXPECT_EQ(f.outstanding().answered, 0u);
  f.window(3000, 7000);
  EXPECT_EQ(f.outstanding().most, 7000u) << "the peer's";
  EXPECT_EQ(SendSequence(0).outstanding({}).most, 0u);
}

TEST(SendSequence, TheFinComesWithTheLastBytesAndTakesOneOfTheWindow) {
  Flow f(1500);
  EXPECT_EQ(f.sent(), "n0+1000 n1000+500F");
  f.ack(1500);
  EXPECT_TRUE(f.sequence.delivered());
  EXPECT_FALSE(f.sequence.fin_acknowledged());
  EXPECT_TRUE(f.sequence.in_flight());
  f.ack(1501);
  EXPECT_TRUE(f.sequence.fin_acknowledged());
  EXPECT_EQ(f.sequence.payload_acknowledged(), 1500u);
  EXPECT_EQ(f.sent(), "");
  Flow full(1000, 1000);
  EXPECT_EQ(full.sent(), "n0+1000");
  full.ack(1000);
  full.window(1000, 1);
  EXPECT_EQ(full.sent(), "n1000+0F");
}

TEST(SendSequence, FinishingEndsTheStreamBehindWhatWasSent) {
  Flow f;
  f.cwnd = 1000;
  f.sent();
  f.sequence.finish();
  EXPECT_EQ(f.sequence.data_end(), 1001u);
  EXPECT_EQ(f.sent(), "n1000+0F") << "a FIN is none of cwnd";
}

TEST(SendSequence, ALostSegmentIsSentAgainWhateverCwnd) {
  Flow f;
  f.cwnd = 4000;
  f.sent();
  f.cwnd = 1000;
  f.sequence.retransmit();
  EXPECT_EQ(f.sent(), "l0+1000");
  f.ack(1000, true);
  EXPECT_EQ(f.sent(), "l1000+1000");
  EXPECT_EQ(f.sequence.retransmitted(), 2u);
  EXPECT_EQ(f.outstanding().next, 4001u) << "SND.NXT stays";
}

TEST(SendSequence, GoingBackSendsAllAgainOnce) {
  Flow f;
  f.cwnd = 3000;
  f.sent();
  f.sequence.retransmit();
  f.sequence.go_back();
  EXPECT_FALSE(f.sequence.in_flight());
  EXPECT_EQ(f.sent(), "n0+1000 n1000+1000 n2000+1000") << "the lost one among them";
  EXPECT_EQ(f.sequence.retransmitted(), 3u);
  f.sequence.go_back();
  f.ack(2000);
  f.cwnd = 1000;
  EXPECT_EQ(f.sent(), "n2000+1000") << "from what is acknowledged";
}

TEST(SendSequence, ForcedSegmentsAreNewAndHaveNoCwnd) {
  Flow f;
  f.cwnd = 2000;
  f.sent();
  f.sequence.force();
  f.sequence.force();
  EXPECT_EQ(f.outstanding().forced, 2000u);
  EXPECT_EQ(f.sent(), "f2000+1000 f3000+1000");
  EXPECT_EQ(f.outstanding().next, 4001u);
  f.sequence.force();
  f.sequence.forget_forced();
  EXPECT_EQ(f.sent(), "");
}

// What was forced since a timeout is in flight: go-back-N ends where it begins.
TEST(SendSequence, GoingBackDoesNotRepeatWhatWasForcedSince) {
  Flow f;
  f.cwnd = 3000;
  f.sent();
  f.sequence.go_back();
  f.cwnd = 1000;
  EXPECT_EQ(f.sent(), "n0+1000");
  f.sequence.force();
  EXPECT_EQ(f.sent(), "f3000+1000");
  f.ack(1000);
  f.cwnd = 3000;
  EXPECT_EQ(f.sent(), "n1000+1000 n2000+1000");
  EXPECT_EQ(f.outstanding().next, 4001u);
}

TEST(SendSequence, AClosedWindowIsProbedWithAByte) {
  Flow f(0, 1000);
  EXPECT_FALSE(f.sequence.blocked(f.cwnd, f.peer));
  f.sent();
  f.ack(1000);
  f.window(1000, 0);
  EXPECT_TRUE(f.sequence.blocked(f.cwnd, f.peer));
  EXPECT_EQ(f.sent(), "");
  f.sequence.probe();
  EXPECT_TRUE(f.sequence.probe_due());
  EXPECT_EQ(f.sent(), "p1000+1");
  EXPECT_FALSE(f.sequence.in_flight()) << "unless the peer takes it, it has not been";
  f.window(1000, 2000);
  EXPECT_EQ(f.sent(), "n1000+1000 n2000+1000");
}

// RFC 9293 3.8.6.2.1.
TEST(SendSequence, SillyWindowsWaitForHalfOfTheLargest) {
  Flow f(0, 800);
  EXPECT_EQ(f.sent(), "n0+800");
  f.ack(800);
  f.window(800, 399);
  EXPECT_TRUE(f.sequence.blocked(f.cwnd, f.peer));
  f.window(800, 400);
  EXPECT_EQ(f.sent(), "n800+400");
}

// --- with SACK

struct SelectiveFlow : Flow {
  explicit SelectiveFlow(std::uint64_t payload = 0, std::uint16_t window = 65535) : Flow(payload, window) {
    sequence.use_sack();
  }
  // An ACK of so many segments, with the blocks of these.
  void told(std::uint64_t acked, std::vector<std::pair<std::uint32_t, std::uint32_t>> segments = {}) {
    std::vector<tcp::Block> blocks;
    for (const auto& [from, to] : segments) blocks.push_back({1 + from * kSmss, 1 + to * kSmss});
    sequence.on_blocks(1 + acked * kSmss, blocks);
    sequence.on_ack(1 + acked * kSmss, false);
  }
};

TEST(SendSequence, WhatIsLostComesBeforeWhatIsNewAndCwndIsOfWhatIsInFlight) {
  SelectiveFlow f;
  f.cwnd = 6000;
  f.sent();
  f.told(0, {{1, 2}, {3, 6}});
  EXPECT_EQ(f.sequence.board().pipe(), 0u) << "0 and 2 are lost, the others have arrived";
  f.cwnd = 3000;
  EXPECT_EQ(f.sent(), "l0+1000 l2000+1000 n6000+1000") << "three in flight";
  f.told(6);
  EXPECT_EQ(f.sent(), "n7000+1000 n8000+1000");
  EXPECT_EQ(f.sequence.retransmitted(), 2u);
}

TEST(SendSequence, WithSackGoingBackLeavesOutWhatHasArrived) {
  SelectiveFlow f;
  f.cwnd = 5000;
  f.sent();
  f.told(0, {{1, 3}});
  f.sequence.go_back();
  EXPECT_FALSE(f.sequence.in_flight());
  f.cwnd = 1000;
  EXPECT_EQ(f.sent(), "l0+1000");
  f.sequence.force();
  EXPECT_EQ(f.sent(), "f5000+1000") << "new data is beside it";
  f.cwnd = 2000;
  EXPECT_EQ(f.sent(), "l3000+1000");
  EXPECT_EQ(f.outstanding().next, 4001u);
}

TEST(SendSequence, AfterAProbeASegmentGoesOnWithWhatIsNew) {
  SelectiveFlow f(0, 1000);
  f.sent();
  f.told(1);
  f.window(1000, 0);
  f.sequence.probe();
  EXPECT_EQ(f.sent(), "p1000+1");
  EXPECT_FALSE(f.sequence.in_flight());
  EXPECT_TRUE(f.sequence.blocked(f.cwnd, f.peer));
  f.window(1000, 2000);
  EXPECT_EQ(f.sent(), "l1000+1000 n2000+1000");
  EXPECT_EQ(f.sequence.max(), 3001u);
}

TEST(SendSequence, NothingIsSentAgainBeyondThePeersWindow) {
  SelectiveFlow f(0, 6000);
  f.sent();
  f.told(0, {{3, 6}});
  f.window(0, 1500);
  EXPECT_EQ(f.sent(), "l0+1000 l1000+500");
}

}  // namespace
}  // namespace surety::endpoints
