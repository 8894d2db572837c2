// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/wire_tcp.h"

#include <gtest/gtest.h>

#include "endpoints/engine/marker.h"
#include "tests/unit/endpoints/endpoint_wire.h"
#include "tests/unit/endpoints/tcp/scripted_sender.h"

namespace surety::endpoints {
namespace {

using tcp::Segment;

Segment plain() {
  Segment s;
  s.source_port = 40000;
  s.destination_port = 5001;
  s.sequence = 0x01020304;
  s.ack = 0x0a0b0c0d;
  s.flags = tcp::kAck | tcp::kPsh;
  s.window = 0x1234;
  return s;
}

Segment with_everything() {
  Segment s = plain();
  s.flags = tcp::kSyn;
  s.mss = 1460;
  s.window_scale = 7;
  s.timestamps = tcp::Timestamps{0x11121314, 0x21222324};
  return s;
}

// Any TCP header bytes and payload, as an IPv4 packet with a good checksum.
struct Raw {
  Octets bytes;
  IpPacket packet;
  explicit Raw(Octets b) : bytes(std::move(b)) {
    packet.source = IpAddress::v4(10, 0, 0, 1);
    packet.destination = IpAddress::v4(10, 0, 0, 2);
    packet.protocol = 6;
    packet.payload = bytes;
    packet.length = static_cast<std::uint16_t>(20 + bytes.size());
    if (bytes.size() < 20) return;
    bytes[16] = bytes[17] = 0;
    Sum sum = pseudo_header(packet);
    sum.add(packet.payload);
    store(bytes.data() + 16, sum.checksum_field());
  }
};

// A header with these option bytes, which are a multiple of four.
Octets header(const Octets& options, std::uint8_t flags = tcp::kSyn) {
  constexpr std::uint8_t kFixed[] = {0x9c, 0x40, 0x13, 0x89, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  Octets b(20 + options.size());
  std::copy(std::begin(kFixed), std::end(kFixed), b.begin());
  std::copy(options.begin(), options.end(), b.begin() + 20);
  b[12] = static_cast<std::uint8_t>((5 + options.size() / 4) << 4);
  b[13] = flags;
  return b;
}
Refusal read(const Octets& bytes, Segment& out) {
  const Raw raw(bytes);
  const Refusal r = tcp::read(raw.packet, out);
  out.payload = {};
  return r;
}
Refusal read(const Octets& bytes) {
  Segment s;
  return read(bytes, s);
}

TEST(WireTcp, WritesAHeaderByteForByte) {
  const Crafted c = crafted(plain(), reversed(sink_tuple()));
  const Octets tcp(c.packet.payload.begin(), c.packet.payload.end());
  const Octets expected = {0x9c, 0x40, 0x13, 0x89, 1,    2,    3,       4,       0xa, 0xb,
                           0xc,  0xd,  0x50, 0x18, 0x12, 0x34, tcp[16], tcp[17], 0,   0};
  EXPECT_EQ(tcp, expected);
  EXPECT_TRUE(tcp::checksum_good(c.packet));
}

TEST(WireTcp, WritesOptionsAsLinuxLaysThemOut) {
  const Crafted c = crafted(with_everything(), reversed(sink_tuple()));
  ASSERT_EQ(c.packet.payload.size(), 40u);
  EXPECT_EQ(c.packet.payload[12], 0xa0);
  const Octets options(c.packet.payload.begin() + 20, c.packet.payload.end());
  const Octets expected = {2,    4,    0x05, 0xb4,                          // MSS 1460
                           1,    1,    8,    10,                            // NOP NOP TS
                           0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24,  //
                           1,    3,    3,    7};                            // NOP WS 7
  EXPECT_EQ(options, expected);
}

TEST(WireTcp, HeaderLengthCountsTheOptions) {
  EXPECT_EQ(tcp::header_length(plain()), 20u);
  EXPECT_EQ(tcp::header_length(with_everything()), 40u);
  Segment s = plain();
  s.timestamps = tcp::Timestamps{};
  EXPECT_EQ(tcp::header_length(s), 32u);
}

TEST(WireTcp, ReadsBackWhatItWrites) {
  for (const bool v6 : {false, true}) {
    Segment s = with_everything();
    const Octets bytes = {9, 8, 7};
    s.payload = bytes;
    const Crafted c = crafted(s, reversed(sink_tuple(v6)), 46);
    Segment r;
    ASSERT_EQ(tcp::read(c.packet, r), Refusal::none);
    EXPECT_EQ(r.source_port, s.source_port);
    EXPECT_EQ(r.destination_port, s.destination_port);
    EXPECT_EQ(r.sequence, s.sequence);
    EXPECT_EQ(r.ack, s.ack);
    EXPECT_EQ(r.flags, s.flags);
    EXPECT_EQ(r.window, s.window);
    EXPECT_EQ(r.mss, s.mss);
    EXPECT_EQ(r.window_scale, s.window_scale);
    EXPECT_EQ(r.timestamps->value, 0x11121314u);
    EXPECT_EQ(r.timestamps->echo, 0x21222324u);
    EXPECT_EQ(Octets(r.payload.begin(), r.payload.end()), bytes);
    EXPECT_EQ(c.packet.dscp(), 46);
    EXPECT_EQ(r.length(), 4u);
  }
}

TEST(WireTcp, PatternPayloadIsTheStreamAndItsChecksumGood) {
  for (const std::uint64_t offset : {0ull, 1ull, 65520ull, 65519ull, 123'456'789'012ull})
    for (const std::size_t length : {0u, 1u, 2u, 5u, 1448u}) {
      Segment s = plain();
      s.timestamps = tcp::Timestamps{1, 2};
      Octets frame = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0};
      frame.resize(14 + 52 + length);
      Slot slot{frame.data() + 14, static_cast<std::uint32_t>(52 + length), 0};
      EXPECT_EQ(tcp::write(s, tcp::Payload{offset, length}, IpWriter(sink_tuple(), 6), 10, slot),
                52 + length);
      EXPECT_EQ(slot.length, 52 + length);
      Segment r;
      ASSERT_EQ(tcp::read(parsed(frame), r), Refusal::none) << offset << ' ' << length;
      ASSERT_EQ(r.payload.size(), length);
      for (std::size_t i = 0; i < length; ++i) ASSERT_EQ(r.payload[i], StreamPattern::byte(offset + i));
    }
}

TEST(WireTcp, EveryChangedBitIsAWrongChecksum) {
  Segment s = plain();
  const Octets bytes = pattern(3, 21);
  s.payload = bytes;
  Crafted c = crafted(s, reversed(sink_tuple()));
  const std::size_t tcp_at = 34;
  for (std::size_t bit = 0; bit < (c.frame.size() - tcp_at) * 8; ++bit) {
    c.frame[tcp_at + bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    Segment r;
    EXPECT_EQ(tcp::read(c.packet, r), Refusal::checksum) << bit;
    c.frame[tcp_at + bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
  }
  c.frame[tcp_at + 16] ^= 1;
  IpPacket verified = c.packet;
  verified.l4_verified = true;
  Segment r;
  EXPECT_EQ(tcp::read(verified, r), Refusal::none) << "hardware has looked at it";
}

TEST(WireTcp, RefusesWhatIsShorterThanItSays) {
  for (std::size_t n = 0; n < 20; ++n) EXPECT_EQ(read(Octets(n, 0x50)), Refusal::truncated) << n;
  Octets b = header({});
  b[12] = 0xf0;  // 60 bytes of header in 20
  EXPECT_EQ(read(b), Refusal::truncated);
}

TEST(WireTcp, RefusesHeadersThatCannotBe) {
  for (const int words : {0, 1, 4}) {
    Octets b = header({});
    b[12] = static_cast<std::uint8_t>(words << 4);
    EXPECT_EQ(read(b), Refusal::tcp_header);
  }
  using namespace tcp;
  for (const int flags : {0, kFin + 0, kPsh | kUrg, kSyn | kFin, kSyn | kRst, kSyn | kFin | kAck, 255})
    EXPECT_EQ(read(header({}, static_cast<std::uint8_t>(flags))), Refusal::tcp_header) << flags;
  for (const int flags : {kSyn + 0, kSyn | kAck, kRst + 0, kRst | kAck, kAck + 0, kAck | kFin | kPsh | kUrg,
                          kSyn | kEce | kCwr})
    EXPECT_EQ(read(header({}, static_cast<std::uint8_t>(flags))), Refusal::none) << flags;
}

TEST(WireTcp, RefusesOptionsThatCannotBe) {
  const Octets bad[] = {
      {2, 3, 5, 1},                          // MSS of length 3
      {2, 4, 5, 180, 2, 5, 5, 180},          // MSS of length 5
      {3, 2, 1, 1},                          // window scale of length 2
      {3, 4, 7, 1},                          // of length 4
      {8, 9, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1},  // timestamps of length 9
      {8, 10, 0, 0},                         // timestamps beyond the header
      {1, 1, 1, 2},                          // a kind without a length
      {99, 0, 1, 1},
      {99, 1, 1, 1},
      {99, 5, 1, 1},
      {1, 1, 99, 255},
      {4, 3, 0, 1},                           // SACK permitted of length 3
      {5, 2, 1, 1},                           // SACK without a block
      {5, 9, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1},   // with a part of one
      {1, 1, 5, 18, 0, 0, 0, 1, 0, 0, 0, 2},  // beyond the header
  };
  for (const Octets& options : bad)
    EXPECT_EQ(read(header(options)), Refusal::tcp_option) << ::testing::PrintToString(options);
}

TEST(WireTcp, ReadsBlocksInTheirOrder) {
  Segment s;
  ASSERT_EQ(
      read(header({1, 1, 5, 18, 0, 0, 0, 9, 0, 0, 0, 10, 255, 255, 255, 255, 0, 0, 0, 1}, tcp::kAck), s),
      Refusal::none);
  ASSERT_EQ(s.sack.count, 2u);
  EXPECT_EQ(s.sack.block[0], (tcp::Block{9, 10}));
  EXPECT_EQ(s.sack.block[1], (tcp::Block{0xffff'ffff, 1}));
  EXPECT_FALSE(s.sack_permitted);
}

TEST(WireTcp, SackIsPermittedInASynAndUsedInNone) {
  Segment s;
  ASSERT_EQ(read(header({4, 2, 1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 1}), s), Refusal::none);
  EXPECT_TRUE(s.sack_permitted);
  EXPECT_EQ(s.sack.count, 0u);
  ASSERT_EQ(read(header({4, 2, 1, 1}, tcp::kAck), s), Refusal::none);
  EXPECT_FALSE(s.sack_permitted);
}

TEST(WireTcp, OfTwoSackOptionsTheLastHolds) {
  Segment s;
  ASSERT_EQ(
      read(header({5, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 5, 10, 0, 0, 0, 3, 0, 0, 0, 4, 1, 1, 1}, tcp::kAck), s),
      Refusal::none);
  ASSERT_EQ(s.sack.count, 1u);
  EXPECT_EQ(s.sack.block[0], (tcp::Block{3, 4}));
}

// RFC 3168 5, over both families, with IPv4's checksum right.
TEST(WireTcp, PacketsCanBeMadeMarkable) {
  for (const bool v6 : {false, true})
    for (const int dscp : {0, 10, 46, 63}) {
      Octets frame = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0};
      if (v6) frame[12] = 0x86, frame[13] = 0xdd;
      frame.resize(14 + 60);
      Slot slot{frame.data() + 14, 60, 0};
      tcp::write(plain(), IpWriter(sink_tuple(v6), 6), static_cast<std::uint8_t>(dscp), slot);
      set_ect(slot);
      frame.resize(14 + slot.length);
      const IpPacket p = parsed(frame);
      EXPECT_EQ(p.traffic_class, dscp << 2 | 2);
      EXPECT_FALSE(marked(p));
      if (v6) continue;
      Sum sum;
      sum.add(std::span(frame).subspan(14, 20));
      EXPECT_TRUE(sum.valid()) << dscp;
    }
}

TEST(WireTcp, SkipsOptionsItDoesNotKnow) {
  Segment s;
  // Fast open, then junk of 6, MSS 536 between NOPs; END hides the rest, however broken.
  ASSERT_EQ(read(header({34, 2, 253, 6, 1, 2, 3, 4, 1, 2, 4, 2, 0x18, 0, 2, 99}), s), Refusal::none);
  EXPECT_EQ(s.mss, 536);
  EXPECT_FALSE(s.timestamps || s.window_scale);
}

TEST(WireTcp, TimestampsAreReadWhereverTheyStand) {
  Segment s;
  ASSERT_EQ(read(header({8, 10, 0, 0, 0, 5, 0, 0, 0, 6, 1, 1}, tcp::kAck), s), Refusal::none);
  ASSERT_TRUE(s.timestamps);
  EXPECT_EQ(s.timestamps->value, 5u);
  EXPECT_EQ(s.timestamps->echo, 6u);
}

TEST(WireTcp, HandshakeOptionsCountInASynOnlyAndTheScaleIsLimited) {
  Segment s;
  ASSERT_EQ(read(header({2, 4, 5, 180, 3, 3, 9, 1}, tcp::kAck), s), Refusal::none);
  EXPECT_FALSE(s.mss || s.window_scale);
  ASSERT_EQ(read(header({3, 3, 255, 1}), s), Refusal::none);
  EXPECT_EQ(s.window_scale, 14) << "RFC 7323 2.3";
}

TEST(WireTcp, SequenceNumbersCompareAroundTheirEnd) {
  EXPECT_TRUE(tcp::before(0xffff'ffff, 0));
  EXPECT_TRUE(tcp::before(1, 0x8000'0000));
  EXPECT_FALSE(tcp::before(0, 0xffff'ffff));
  EXPECT_FALSE(tcp::before(5, 5));
}

}  // namespace
}  // namespace surety::endpoints
