// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/udp/wire_udp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/endpoints/endpoint_wire.h"

namespace surety::endpoints::udp {
namespace {

using testing::Each;
using testing::ElementsAreArray;

using Bytes8 = std::vector<std::uint8_t>;

const Tuple kV4{IpAddress::v4(10, 1, 0, 65), IpAddress::v4(198, 51, 100, 1), 49152, 5001};
Tuple v6_tuple() {
  std::array<std::uint8_t, 16> a{0x20, 0x01, 0x0d, 0xb8}, b = a;
  a[15] = 1;
  b[15] = 2;
  return {IpAddress::v6(a.data()), IpAddress::v6(b.data()), 49152, 5001};
}

// The frame of a data packet.
Bytes8 data_frame(const Tuple& tuple, std::uint32_t sequence, std::uint64_t time, std::size_t payload) {
  Bytes8 frame(14 + 9216, 0xcc);
  const bool v6 = tuple.local.is_v6();
  const std::uint8_t ethernet[] = {
      2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, std::uint8_t(v6 ? 0x86 : 0x08), std::uint8_t(v6 ? 0xdd : 0)};
  std::copy(std::begin(ethernet), std::end(ethernet), frame.begin());
  Slot slot{frame.data() + 14, 9216, 0};
  const std::size_t length = write_data(IpWriter(tuple, kProtocol), 10, tuple, sequence, time, payload, slot);
  EXPECT_EQ(length, slot.length);
  frame.resize(14 + length);
  return frame;
}

// Two bytes at a time, as RFC 1071 has it; over pseudo header and datagram.
std::uint16_t plain_sum(const IpPacket& p, std::span<const std::uint8_t> datagram) {
  std::uint32_t sum = static_cast<std::uint32_t>(kProtocol + datagram.size());
  const auto add = [&](const std::uint8_t* at, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) sum += std::uint32_t{at[i]} << (i % 2 == 0 ? 8 : 0);
  };
  for (const IpAddress& a : {p.source, p.destination}) {
    std::uint8_t bytes[16];
    store(bytes, a.high);
    store(bytes + 8, a.low);
    a.is_v6() ? add(bytes, 16) : add(bytes + 12, 4);
  }
  add(datagram.data(), datagram.size());
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

TEST(WireUdp, ADataPacketByteByByte) {
  const auto frame = data_frame(kV4, 0x01020304, 0x1122334455667788, 20);
  const Bytes8 expected{0xc0, 0x00, 0x13, 0x89, 0,    28,             // ports, length
                        0x8e, 0xfc,                                   // checksum
                        0x53, 0x75, 1,    1,    1,    2,    3,    4,  // "Su", version, data, sequence
                        0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0, 0, 0, 0};
  Bytes8 datagram(frame.begin() + 34, frame.end());
  const IpPacket p = parsed(frame);
  EXPECT_EQ(plain_sum(p, datagram), 0xffff);
  EXPECT_EQ(p.dscp(), 10);
  EXPECT_EQ(p.length, 48);
  datagram[6] = expected[6];  // the checksum is checked by its sum
  datagram[7] = expected[7];
  EXPECT_THAT(datagram, ElementsAreArray(expected));
}

TEST(WireUdp, EverySizeAndFamilyHasAGoodChecksumAndZerosBehindTheHeader) {
  for (const Tuple& tuple : {kV4, v6_tuple()}) {
    for (const std::size_t payload : {16u, 17u, 18u, 31u, 64u, 1472u, 9000u}) {
      const auto frame = data_frame(tuple, 7, 1'000'000'007, payload);
      const IpPacket p = parsed(frame);
      EXPECT_EQ(plain_sum(p, p.payload), 0xffff);
      Datagram d;
      ASSERT_EQ(read(p, d), Refusal::none);
      EXPECT_EQ(d.source_port, 49152);
      EXPECT_EQ(d.destination_port, 5001);
      ASSERT_EQ(d.payload.size(), payload);
      EXPECT_THAT(d.payload.subspan(16), Each(0));
      PayloadHeader h;
      ASSERT_EQ(read_payload(d.payload, h), Refusal::none);
      EXPECT_EQ(h.type, Type::data);
      EXPECT_EQ(h.sequence, 7u);
      EXPECT_EQ(h.time, 1'000'000'007u);
    }
  }
}

// Over all 2^16 values of two bytes the sum takes the value whose complement is zero.
TEST(WireUdp, AChecksumOfZeroIsSentAsAllOnes) {
  int all_ones = 0;
  for (std::uint32_t sequence = 0; sequence < 65536; ++sequence) {
    std::uint8_t packet[64];
    Slot slot{packet, sizeof packet, 0};
    write_data(IpWriter(kV4, kProtocol), 0, kV4, sequence, 0, 16, slot);
    const auto checksum = load<std::uint16_t>(packet + 26);
    EXPECT_NE(checksum, 0);
    all_ones += checksum == 0xffff ? 1 : 0;
  }
  EXPECT_EQ(all_ones, 1);
}

struct WireUdpReceived : testing::Test {
  Bytes8 frame = data_frame(kV4, 1, 2, 24);
  const IpPacket packet = parsed(frame);  // a view: changes of the frame are in it
  Datagram out;
  std::uint8_t* udp() { return frame.data() + 34; }
  // The datagram of `size` bytes.
  Refusal read_first(std::size_t size) {
    IpPacket p = packet;
    p.payload = p.payload.first(size);
    return read(p, out);
  }
  // Sets the length field; the checksum is then that of the datagram so cut.
  void cut(std::uint16_t length) {
    store(udp() + 4, swap16(length));
    store(udp() + 6, std::uint16_t{0});
    store(udp() + 6, swap16(static_cast<std::uint16_t>(~plain_sum(packet, packet.payload.first(length)))));
  }
};

TEST_F(WireUdpReceived, ShorterThanItsHeadersSay) {
  EXPECT_EQ(read_first(0), Refusal::truncated);
  EXPECT_EQ(read_first(7), Refusal::truncated);
  EXPECT_EQ(read_first(31), Refusal::truncated);
  EXPECT_EQ(read_first(32), Refusal::none);
}

TEST_F(WireUdpReceived, ALengthThatCannotBe) {
  store(udp() + 4, swap16(7));
  EXPECT_EQ(read_first(32), Refusal::length);
  store(udp() + 4, swap16(0));
  EXPECT_EQ(read_first(32), Refusal::length);
}

TEST_F(WireUdpReceived, BytesBehindTheDatagramAreIgnored) {
  cut(28);
  EXPECT_EQ(read_first(32), Refusal::none);
  EXPECT_EQ(out.payload.size(), 20u);
  cut(8);
  EXPECT_EQ(read_first(32), Refusal::none);
  EXPECT_EQ(out.payload.size(), 0u);
}

TEST_F(WireUdpReceived, EveryFlippedBitIsSeen) {
  for (std::size_t bit = 0; bit < 32 * 8; ++bit) {
    udp()[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    EXPECT_NE(read_first(32), Refusal::none) << bit;
    udp()[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
  }
  EXPECT_EQ(read_first(32), Refusal::none);
}

TEST_F(WireUdpReceived, WhatHardwareHasVerifiedIsNotSummedAgain) {
  udp()[20] ^= 1;
  IpPacket p = packet;
  EXPECT_EQ(read(p, out), Refusal::checksum);
  p.l4_verified = true;
  EXPECT_EQ(read(p, out), Refusal::none);
}

TEST_F(WireUdpReceived, NoChecksumIsAllowedOverIpv4Only) {
  store(udp() + 6, std::uint16_t{0});
  EXPECT_EQ(read_first(32), Refusal::none);
  auto v6 = data_frame(v6_tuple(), 1, 2, 24);
  store(v6.data() + 14 + 40 + 6, std::uint16_t{0});
  EXPECT_EQ(read(parsed(v6), out), Refusal::checksum);
}

TEST(WireUdpPayload, IsOursByMagicVersionAndType) {
  Bytes8 payload{0x53, 0x75, 1, 1, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 5};
  PayloadHeader h;
  EXPECT_EQ(read_payload(payload, h), Refusal::none);
  EXPECT_EQ(h.sequence, 9u);
  EXPECT_EQ(h.time, 5u);
  EXPECT_EQ(read_payload(std::span(payload).first(15), h), Refusal::not_ours);
  EXPECT_EQ(read_payload({}, h), Refusal::not_ours);
  for (const std::size_t i : {0u, 1u, 2u}) {
    payload[i] ^= 1;
    EXPECT_EQ(read_payload(payload, h), Refusal::not_ours) << i;
    payload[i] ^= 1;
  }
  payload[3] = 2;
  EXPECT_EQ(read_payload(payload, h), Refusal::none);
  EXPECT_EQ(h.type, Type::report);
  for (const int type : {0, 3, 255}) {
    payload[3] = static_cast<std::uint8_t>(type);
    EXPECT_EQ(read_payload(payload, h), Refusal::not_ours) << type;
  }
}

TEST(WireUdpReport, GoesThereAndBack) {
  for (const Tuple& tuple : {kV4, v6_tuple()}) {
    const ReceiverReport report{1, 2, 3, 4, 0xffffffffffffffff, 6, 7, 8};
    Bytes8 frame(14 + 256);
    std::copy_n(data_frame(tuple, 0, 0, 16).begin(), 14, frame.begin());
    Slot slot{frame.data() + 14, 256, 0};
    const std::size_t headers = tuple.local.is_v6() ? 48 : 28;
    EXPECT_EQ(write_report(IpWriter(tuple, kProtocol), tuple, 3, 77, report, slot), headers + 80);
    frame.resize(14 + slot.length);
    Datagram d;
    ASSERT_EQ(read(parsed(frame), d), Refusal::none);
    PayloadHeader h;
    ASSERT_EQ(read_payload(d.payload, h), Refusal::none);
    EXPECT_EQ(h.type, Type::report);
    EXPECT_EQ(h.sequence, 3u);
    EXPECT_EQ(h.time, 77u);
    ReceiverReport back;
    ASSERT_EQ(read_report(d.payload, back), Refusal::none);
    EXPECT_EQ(back, report);
    EXPECT_EQ(d.payload[16 + 7], 1) << "packets come first";
    EXPECT_EQ(d.payload[16 + 7 * 8 + 7], 8) << "reordered comes last";
  }
}

TEST(WireUdpReport, HasExactlyItsLength) {
  const Bytes8 payload(81);
  ReceiverReport r;
  EXPECT_EQ(read_report(std::span(payload).first(79), r), Refusal::truncated);
  EXPECT_EQ(read_report(std::span(payload).first(80), r), Refusal::none);
  EXPECT_EQ(read_report(payload, r), Refusal::length);
}

TEST(UdpWire, AReportFollowsOneThatHasNotMore) {
  const udp::ReceiverReport early{.packets = 10, .bytes = 1000, .lost = 3};
  udp::ReceiverReport late{.packets = 12, .bytes = 1200, .duplicates = 1};
  EXPECT_TRUE(late.follows(early)) << "what was lost may have arrived";
  EXPECT_FALSE(early.follows(late));
  late.in_bytes = 700;
  const udp::ReceiverReport between = late - udp::ReceiverReport{.packets = 10, .bytes = 1000};
  EXPECT_EQ(between.packets, 2u);
  EXPECT_EQ(between.bytes, 200u);
  EXPECT_EQ(between.in_bytes, 700u);
  FlowReading r;
  late.read(r);
  EXPECT_EQ(r.received_packets, 12u);
  EXPECT_EQ(r.received_in_bytes, 700u);
  EXPECT_EQ(r.duplicate_packets, 1u);
}

}  // namespace
}  // namespace surety::endpoints::udp
