// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/host/ordinary_packet.h"

#include <gtest/gtest.h>

#include "conditioners/rng.h"
#include "tests/unit/router/pipeline/wire/parse_verdict.h"

namespace surety::endpoints {
namespace {

using namespace frames;

// Reads a copy that ends where the frame ends, as parse_exact() does.
bool reads(const Octets& frame, IpPacket& out) {
  const auto copy = std::make_unique<std::uint8_t[]>(frame.size());
  std::copy(frame.begin(), frame.end(), copy.get());
  const bool read = OrdinaryPackets(our_context()).read({copy.get(), frame.size()}, out);
  if (read) out.payload = {frame.data() + (out.payload.data() - copy.get()), out.payload.size()};
  return read;
}

void expect_same(const IpPacket& got, const IpPacket& expected) {
  EXPECT_EQ(got.source, expected.source);
  EXPECT_EQ(got.destination, expected.destination);
  EXPECT_EQ(got.payload.data(), expected.payload.data());
  EXPECT_EQ(got.payload.size(), expected.payload.size());
  EXPECT_EQ(got.length, expected.length);
  EXPECT_EQ(got.protocol, expected.protocol);
  EXPECT_EQ(got.traffic_class, expected.traffic_class);
  EXPECT_EQ(got.l4_verified, expected.l4_verified);
  EXPECT_EQ(got.udp_source, expected.udp_source);
  EXPECT_EQ(got.udp_destination, expected.udp_destination);
}

// What it reads is what parse() lets through, and the same packet.
bool agrees(const Octets& frame) {
  IpPacket got;
  if (!reads(frame, got)) return false;
  ParsedPacket p;
  EXPECT_EQ(words(parse_exact(frame, p)), "forward");
  EXPECT_EQ(p.vlan, 0);
  EXPECT_FALSE(p.fragment);
  expect_same(got, ip_packet(frame, p));
  return true;
}

const std::vector<Octets> kOrdinary{
    ethernet(kIpv4) + ip4(17, udp(1, 2, 8)), ethernet(kIpv4) + ip4(6, tcp(1, 2, 30)),
    ethernet(kIpv4) + ip4(6, tcp(1, 2, 20, 8)), ethernet(kIpv4) + ip4(33, dccp(1, 2, 4, true)),
    ethernet(kIpv4) + ip4(33, dccp(1, 2, 3, false))};

TEST(OrdinaryPacket, TransportsAreReadPaddedOrNot) {
  for (const Octets& frame : kOrdinary) {
    EXPECT_TRUE(agrees(frame));
    EXPECT_TRUE(agrees(pad(frame, 100)));
  }
}

TEST(OrdinaryPacket, EverythingElseIsLeftToTheParser) {
  IpPacket out;
  EXPECT_FALSE(reads(ethernet(kIpv6) + ip6(17, udp(1, 2, 8)), out));
  EXPECT_FALSE(reads(ethernet(kIpv4, kTheirMac) + ip4(17, udp(1, 2, 8)), out));
  EXPECT_FALSE(reads(ethernet(kIpv4, kBroadcast) + ip4(17, udp(1, 2, 8)), out));
  EXPECT_FALSE(reads(ethernet(0x8100) + vlan(9, kIpv4) + ip4(17, udp(1, 2, 8)), out));
  EXPECT_FALSE(reads(ethernet(kIpv4) + ip4(1, zeros(8)), out));
  EXPECT_FALSE(reads(ethernet(kIpv4) + ip4(132, zeros(12)), out));
  EXPECT_FALSE(reads(ethernet(kIpv4) + ip4(6, tcp(1, 2, 8, 4)), out));
  EXPECT_FALSE(reads(ethernet(kIpv4) + ip4(33, dccp(1, 2, 3, true)), out));
}

TEST(OrdinaryPacket, NoLengthIsTakenThatTheParserDrops) {
  for (const Octets& frame : kOrdinary)
    for (std::size_t n = 0; n < frame.size(); ++n) EXPECT_FALSE(agrees({frame.data(), frame.data() + n}));
}

// With a header checksum that is right again every second time, or nothing else would be looked at.
TEST(OrdinaryPacket, DamagedHeadersAreReadAsTheParserDoesOrNotAtAll) {
  Rng rng(1);
  int read = 0;
  for (int i = 0; i < 200'000; ++i) {
    Octets frame = kOrdinary[rng.next() % kOrdinary.size()];
    for (std::uint32_t k = rng.next() % 3 + 1; k > 0; --k)
      frame[rng.next() % std::min<std::size_t>(frame.size(), 54)] = static_cast<std::uint8_t>(rng.next());
    if (i % 2 == 0 && frame[14] == 0x45) fix_checksum(frame.data() + 14);
    read += agrees(frame) ? 1 : 0;
  }
  EXPECT_GT(read, 20'000);
}

}  // namespace
}  // namespace surety::endpoints
