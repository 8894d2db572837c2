// SPDX-License-Identifier: BSD-3-Clause
// Segments byte for byte as scapy 2.5 makes them: an independent writer of the same headers and checksums.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/endpoints/tcp/scripted_sender.h"

namespace surety::endpoints {
namespace {

constexpr const char* kSynAck =
    "13899c4001020304ffffff01a012ffff1bb00000020405b40101080a111213142122232401030306";
constexpr const char* kData =
    "13899c4001020305ffffff018018f42475da00000101080a00000007000000084deaf93495a969";
constexpr const char* kSynAckWithSackAndEcn =
    "13899c4001020304ffffff01a052ffff186f0000020405b40402080a111213142122232401030306";
constexpr const char* kSynWithSackAndEcn = "13899c40000000090000000070c2ffffbe880000020405b401010402";
constexpr const char* kThreeBlocksAndAnEcho =
    "13899c4001020305ffffff01f050f42446cf00000101080a00000007000000080101051affffff02ffffff0300000005000000"
    "100000002000000030";
constexpr const char* kFinOverIpv6 = "13899c40fffffffe0000000350110001a4900000";
constexpr const char* kReset = "13899c40000000090000000050040000ec090000";

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string s;
  for (const std::uint8_t b : bytes)
    for (const int nibble : {b >> 4, b & 15}) s += "0123456789abcdef"[nibble];
  return s;
}

// From 10.1.0.1 or 2001:db8:1::1, port 5001, to 10.2.0.1 or 2001:db8:2::1, port 40000.
std::string written(tcp::Segment s, bool v6 = false) {
  s.source_port = kHere;
  s.destination_port = kThere;
  const Crafted c = crafted(s, sink_tuple(v6));
  return hex(c.packet.payload);
}

tcp::Segment segment(std::uint32_t sequence, std::uint32_t ack, int flags, std::uint16_t window) {
  tcp::Segment s;
  s.sequence = sequence;
  s.ack = ack;
  s.flags = static_cast<std::uint8_t>(flags);
  s.window = window;
  return s;
}

TEST(TcpGolden, SynAckWithAllOptions) {
  tcp::Segment s = segment(0x01020304, 0xffffff01, tcp::kSyn | tcp::kAck, 65535);
  s.mss = 1460;
  s.timestamps = tcp::Timestamps{0x11121314, 0x21222324};
  s.window_scale = 6;
  EXPECT_EQ(written(s), kSynAck);
}

TEST(TcpGolden, SynsWithSackAndEcn) {
  tcp::Segment s = segment(0x01020304, 0xffffff01, tcp::kSyn | tcp::kAck | tcp::kEce, 65535);
  s.mss = 1460;
  s.timestamps = tcp::Timestamps{0x11121314, 0x21222324};
  s.window_scale = 6;
  s.sack_permitted = true;
  EXPECT_EQ(written(s), kSynAckWithSackAndEcn);
  s = segment(9, 0, tcp::kSyn | tcp::kEce | tcp::kCwr, 65535);
  s.mss = 1460;
  s.sack_permitted = true;
  EXPECT_EQ(written(s), kSynWithSackAndEcn);
}

TEST(TcpGolden, AnAckWithBlocks) {
  tcp::Segment s = segment(0x01020305, 0xffffff01, tcp::kAck | tcp::kEce, 62500);
  s.timestamps = tcp::Timestamps{7, 8};
  for (const tcp::Block& b : {tcp::Block{0xffffff02, 0xffffff03}, {5, 0x10}, {0x20, 0x30}}) s.sack.add(b);
  EXPECT_EQ(written(s), kThreeBlocksAndAnEcho);
}

TEST(TcpGolden, DataOfAnOddLengthWithTimestamps) {
  tcp::Segment s = segment(0x01020305, 0xffffff01, tcp::kPsh | tcp::kAck, 62500);
  s.timestamps = tcp::Timestamps{7, 8};
  const Octets bytes = pattern(0, 7);
  s.payload = bytes;
  EXPECT_EQ(written(s), kData);

  std::array<std::uint8_t, 59> packet;  // the same bytes as a piece of the stream
  Slot slot{packet.data(), packet.size(), 0};
  s.source_port = kHere;
  s.destination_port = kThere;
  ASSERT_EQ(tcp::write(s, tcp::Payload{0, 7}, IpWriter(sink_tuple(), 6), 0, slot), 59u);
  EXPECT_EQ(hex(std::span(packet).subspan(20)), kData);
}

TEST(TcpGolden, FinOverIpv6) {
  EXPECT_EQ(written(segment(0xfffffffe, 3, tcp::kFin | tcp::kAck, 1), true), kFinOverIpv6);
}

TEST(TcpGolden, Reset) {
  EXPECT_EQ(written(segment(9, 0, tcp::kRst, 0)), kReset);
}

}  // namespace
}  // namespace surety::endpoints
