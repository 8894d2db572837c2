// SPDX-License-Identifier: BSD-3-Clause
// SACK, D-SACK and congestion marks of a TcpReceiver.
#include <gmock/gmock.h>

#include "tests/unit/endpoints/tcp/scripted_sender.h"

namespace surety::endpoints {
namespace {

using namespace literals;
using tcp::Block;
using testing::ElementsAre;
using testing::IsEmpty;

struct SackingReceiver : testing::Test {
  void SetUp() override {
    tcp::Segment syn = peer.syn();
    syn.sack_permitted = true;
    peer.open(syn);
  }
  // Blocks of each ACK, as offsets in the stream.
  std::vector<std::vector<Block>> said() {
    std::vector<std::vector<Block>> out;
    for (const Heard& h : peer.answers()) {
      out.emplace_back();
      for (const Block& b : h.sack.all()) out.back().push_back({b.begin - kIsn - 1, b.end - kIsn - 1});
    }
    return out;
  }
  std::vector<Block> on(std::uint32_t from, std::uint32_t to) {
    peer.data(from, to);
    const auto s = said();
    EXPECT_EQ(s.size(), 1u);
    return s.size() == 1 ? s[0] : std::vector<Block>{};
  }
  ScriptedSender peer;
};

TEST(TcpReceiverSack, IsPermittedOnlyToWhoPermitsIt) {
  for (const bool permitted : {false, true}) {
    ScriptedSender peer;
    tcp::Segment syn = peer.syn();
    syn.sack_permitted = permitted;
    EXPECT_EQ(peer.connect(syn).sack_permitted, permitted);
    peer.give(peer.segment(0));
    peer.data(100, 200);
    EXPECT_EQ(peer.answers().at(0).sack.count, permitted ? 1u : 0u);
  }
}

TEST_F(SackingReceiver, TellsWhatHasArrivedBeyondAHole) {
  EXPECT_THAT(on(0, 100), IsEmpty());
  EXPECT_THAT(on(200, 300), ElementsAre(Block{200, 300}));
  EXPECT_THAT(on(400, 500), ElementsAre(Block{400, 500}, Block{200, 300}));
  EXPECT_THAT(on(500, 600), ElementsAre(Block{400, 600}, Block{200, 300}));
  EXPECT_THAT(on(100, 150), ElementsAre(Block{400, 600}, Block{200, 300})) << "in order, and there are holes";
  EXPECT_THAT(on(150, 200), ElementsAre(Block{400, 600}));
  EXPECT_THAT(on(300, 400), IsEmpty());
}

// RFC 2018 4: each ACK begins with the block of the segment that caused it, also when several are received
// before one is sent.
TEST_F(SackingReceiver, EachAckOfABurstTellsItsOwnSegmentFirst) {
  peer.data(200, 300);
  peer.data(400, 500);
  peer.data(600, 700);
  const auto s = said();
  ASSERT_EQ(s.size(), 3u);
  EXPECT_EQ(s[0].at(0), (Block{200, 300}));
  EXPECT_EQ(s[1].at(0), (Block{400, 500}));
  EXPECT_THAT(s[2], ElementsAre(Block{600, 700}, Block{400, 500}, Block{200, 300}));
}

TEST(TcpReceiverSack, FourBlocksFitAndThreeBesideTimestamps) {
  for (const bool timestamps : {false, true}) {
    ScriptedSender peer;
    if (timestamps) peer.timestamp = 1;
    tcp::Segment syn = peer.syn();
    syn.sack_permitted = true;
    peer.open(syn);
    for (std::uint32_t at = 100; at < 1300; at += 200) peer.data(at, at + 100);
    const auto a = peer.answers();
    EXPECT_EQ(a.back().sack.count, timestamps ? 3u : 4u);
    EXPECT_EQ(a.back().ip_length, timestamps ? 80u : 76u);
  }
}

// RFC 2883 4.
TEST_F(SackingReceiver, TellsWhatCameTwice) {
  on(0, 100);
  EXPECT_THAT(on(0, 100), ElementsAre(Block{0, 100}));
  on(200, 300);
  EXPECT_THAT(on(200, 300), ElementsAre(Block{200, 300}, Block{200, 300}));
  on(300, 400);
  EXPECT_THAT(on(250, 450), ElementsAre(Block{250, 400}, Block{200, 450})) << "a part of it";
  EXPECT_THAT(on(50, 80), ElementsAre(Block{50, 80}, Block{200, 450}));
}

TEST_F(SackingReceiver, WhatIsCarriedCountsEachTimeWhatIsDeliveredOnce) {
  on(0, 100);
  on(0, 100);
  on(200, 300);
  on(200, 300);
  EXPECT_EQ(peer.reading().carried_bytes, 400u);
  EXPECT_EQ(peer.reading().payload_bytes, 100u);
  on(100, 200);
  EXPECT_EQ(peer.reading().carried_bytes, 500u);
  EXPECT_EQ(peer.reading().payload_bytes, 300u);
}

TEST_F(SackingReceiver, TenThousandHolesAreTold) {
  for (std::uint32_t i = 0; i < 10'000; ++i)
    ASSERT_EQ(on(2 * i + 1, 2 * i + 2).at(0), (Block{2 * i + 1, 2 * i + 2}));
}

// --- marks (RFC 3168)

struct MarkedReceiver : testing::Test {
  void open(int syn_flags) {
    tcp::Segment syn = peer.syn();
    syn.flags = static_cast<std::uint8_t>(syn.flags | syn_flags);
    answer = peer.connect(syn).flags;
    peer.give(peer.segment(0));
  }
  // The ACK's flags after a segment of 100 bytes with this ECN field.
  int on_data(std::uint8_t ecn, int flags = 0) {
    tcp::Segment s = peer.segment(at, static_cast<std::uint8_t>(tcp::kAck | flags));
    const Octets bytes = pattern(at, 100);
    s.payload = bytes;
    Crafted c = crafted(s, reversed(peer.tuple));
    c.packet.traffic_class = static_cast<std::uint8_t>(c.packet.traffic_class | ecn);
    EXPECT_EQ(peer.sink->receive(c.packet, peer.now), Refusal::none);
    at += 100;
    return peer.answers().at(0).flags;
  }
  static constexpr int kAck = tcp::kAck, kEcho = tcp::kAck | tcp::kEce;
  ScriptedSender peer;
  std::uint8_t answer = 0;
  std::uint32_t at = 0;
};

TEST_F(MarkedReceiver, EchoesAMarkUntilTheWindowIsReduced) {
  open(tcp::kEce | tcp::kCwr);
  EXPECT_EQ(answer, tcp::kSyn | tcp::kAck | tcp::kEce);
  EXPECT_EQ(on_data(2), kAck);
  EXPECT_EQ(on_data(3), kEcho);
  EXPECT_EQ(on_data(2), kEcho);
  EXPECT_EQ(on_data(0), kEcho) << "bleached";
  EXPECT_EQ(on_data(2, tcp::kCwr), kAck);
  EXPECT_EQ(on_data(1), kAck);
  EXPECT_EQ(peer.reading().marks, 1u);
}

TEST_F(MarkedReceiver, EchoesNothingThatWasNotAgreedOn) {
  for (const int flags : {0, +tcp::kEce, +tcp::kCwr}) {
    at = 0;
    open(flags);
    EXPECT_EQ(answer, tcp::kSyn | tcp::kAck) << flags;
    EXPECT_EQ(on_data(3), kAck) << flags;
  }
}

TEST_F(MarkedReceiver, ASynThatIsRepeatedWithoutAskingIsAnsweredWithoutIt) {
  tcp::Segment syn = peer.syn();
  syn.flags |= tcp::kEce | tcp::kCwr;
  peer.connect(syn);
  peer.give(peer.syn());
  EXPECT_EQ(peer.answers().at(0).flags, tcp::kSyn | tcp::kAck);
}

TEST_F(MarkedReceiver, ItsOwnPacketsCannotBeMarked) {
  open(tcp::kEce | tcp::kCwr);
  tcp::Segment s = peer.segment(0);
  const Octets bytes = pattern(0, 100);
  s.payload = bytes;
  peer.give(s);
  std::array<std::uint8_t, 100> packet;
  Slot slot{packet.data(), packet.size(), 0};
  ASSERT_EQ(peer.sink->poll({&slot, 1}, peer.now), 1u);
  EXPECT_EQ(packet[1], 0) << "6.1.4: no pure ACK is ECT";
}

}  // namespace
}  // namespace surety::endpoints
