// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/tcp_sender.h"

#include <gtest/gtest.h>

#include "tests/unit/endpoints/tcp/scripted_sender.h"

namespace surety::endpoints {
namespace {

using namespace literals;

constexpr std::uint32_t kIss = 0xffff'fff0;

SegmentWriter writer(const SenderParams& params, bool v6 = false) {
  return SegmentWriter(params, sink_tuple(v6), kIss, Time(1s));
}

TEST(SegmentWriter, OffersWhatFitsThePacket) {
  SenderParams p;
  EXPECT_EQ(writer(p).mss(), 1460);
  EXPECT_EQ(writer(p, true).mss(), 1440);
  p.packet = 1_B;
  EXPECT_EQ(writer(p).mss(), 64) << "at least so many";
  p.packet = 65535_B;
  EXPECT_EQ(writer(p).mss(), kMaxPacket - 40);
  EXPECT_EQ(writer(p).default_mss(), 536);
  EXPECT_EQ(writer(p, true).default_mss(), 1220);
}

TEST(SegmentWriter, PositionsWrap) {
  EXPECT_EQ(writer({}).sequence(0), kIss);
  EXPECT_EQ(writer({}).sequence(16), 0u);
  EXPECT_EQ(writer({}).sequence((std::uint64_t{1} << 32) + 17), 1u);
}

TEST(SegmentWriter, WritesWholePacketsAndCountsThem) {
  SenderParams p;
  p.dscp = 10;
  SegmentWriter w = writer(p);
  tcp::Segment s = w.segment(7, tcp::kAck);
  s.timestamps = tcp::Timestamps{1, 2};
  Octets frame = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0};
  frame.resize(14 + 1500);
  Slot slot{frame.data() + 14, 1500, 0};
  w.write(s, {.offset = 5, .length = 100}, slot, Time(1s));
  EXPECT_EQ(slot.length, 20u + 32 + 100);
  EXPECT_EQ(w.packet_length(s, 100), slot.length);
  frame.resize(14 + slot.length);
  const IpPacket packet = parsed(frame);
  tcp::Segment out;
  ASSERT_EQ(tcp::read(packet, out), Refusal::none);
  EXPECT_EQ(packet.dscp(), 10);
  EXPECT_EQ(out.source_port, kHere);
  EXPECT_EQ(out.destination_port, kThere);
  EXPECT_EQ(out.sequence, 7u);
  EXPECT_EQ(out.flags, tcp::kAck);
  EXPECT_EQ(Octets(out.payload.begin(), out.payload.end()), pattern(5, 100));
  FlowReading r;
  w.read(r);
  EXPECT_EQ(r.sent_packets, 1u);
  EXPECT_EQ(r.sent_bytes, 152u);
  EXPECT_EQ(r.sent_in_packets, 1u);
}

}  // namespace
}  // namespace surety::endpoints
