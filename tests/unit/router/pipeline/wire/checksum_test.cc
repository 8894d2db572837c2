// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/wire/checksum.h"

#include <gtest/gtest.h>

#include <vector>

#include "conditioners/rng.h"
#include "tests/unit/router/pipeline/wire/frame_builder.h"

namespace surety::endpoints {
namespace {

std::uint16_t field(std::vector<std::uint8_t> data) {
  Sum s;
  s.add(data);
  return swap16(s.checksum_field());
}

// RFC 1071 section 3's example: 00 01 f2 03 f4 f5 f6 f7 sums up to ddf2.
TEST(Checksum, ExampleOfRfc1071) {
  EXPECT_EQ(field({0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}), static_cast<std::uint16_t>(~0xddf2));
}

TEST(Checksum, EveryLengthAgreesWithTheReference) {
  Rng rng(7);
  for (std::size_t n = 0; n < 200; ++n) {
    std::vector<std::uint8_t> data(n);
    for (auto& b : data) b = static_cast<std::uint8_t>(rng.next());
    std::vector<std::uint8_t> even = data;
    if (n % 2 != 0) even.push_back(0);
    EXPECT_EQ(field(data), frames::checksum(even.data(), even.size())) << n;
  }
}

TEST(Checksum, CarriesComeBack) {
  EXPECT_EQ(field(std::vector<std::uint8_t>(65534, 0xff)), 0);
  Sum s(~std::uint64_t{0});
  s.add(std::uint64_t{1});
  EXPECT_EQ(s.folded(), 1);
  s.add(Sum(~std::uint64_t{0}));
  EXPECT_EQ(s.folded(), 1);
}

// A sum of nothing but zeros is zero; any other multiple of 65535 is 65535.
TEST(Checksum, FoldsToTheRemainderOf65535) {
  Rng rng(3);
  EXPECT_EQ(Sum().folded(), 0);
  for (int i = 0; i < 10'000; ++i) {
    std::uint64_t n = std::uint64_t{rng.next()} << 32 | rng.next();
    if (i % 4 == 0) n = n / 65535 * 65535;
    if (i % 5 == 0) n >>= rng.next() % 64;
    if (n == 0) continue;
    const std::uint64_t rest = n % 65535;
    EXPECT_EQ(Sum(n).folded(), rest != 0 ? rest : 65535) << n;
  }
  EXPECT_EQ(Sum(~std::uint64_t{0}).folded(), 65535);
  EXPECT_EQ(Sum(std::uint64_t{0xffff'ffff} << 32 | 1).folded(), 1);
}

TEST(Checksum, WordsInHostOrder) {
  Sum s;
  s.add_host16(0x1234);
  EXPECT_EQ(s.folded(), swap16(0x1234));
}

TEST(Checksum, DataWithItsOwnChecksumIsValid) {
  std::vector<std::uint8_t> data{0x45, 0, 0, 28, 0, 0, 0, 0, 9, 8};
  Sum s;
  s.add(data);
  EXPECT_FALSE(s.valid());
  store(&data[6], s.checksum_field());
  Sum again;
  again.add(data);
  EXPECT_TRUE(again.valid());
}

// Pseudo headers written out: RFC 9293 3.1, RFC 8200 8.1.
TEST(Checksum, PseudoHeaderOfIpv4) {
  const std::vector<std::uint8_t> written{10, 0, 0, 1, 192, 168, 3, 4, 0, 17, 0x12, 0x34};
  const Sum s = pseudo_header(IpAddress::v4(10, 0, 0, 1), IpAddress::v4(192, 168, 3, 4), 17, 0x1234);
  EXPECT_EQ(swap16(s.checksum_field()), frames::checksum(written.data(), written.size()));
}
TEST(Checksum, PseudoHeaderOfIpv6) {
  std::vector<std::uint8_t> written(frames::kSource6.begin(), frames::kSource6.end());
  written.insert(written.end(), frames::kDestination6.begin(), frames::kDestination6.end());
  for (const int b : {0, 1, 0x12, 0x34, 0, 0, 0, 58}) written.push_back(static_cast<std::uint8_t>(b));
  const Sum s = pseudo_header(IpAddress::v6(frames::kSource6.data()),
                              IpAddress::v6(frames::kDestination6.data()), 58, 0x11234);
  EXPECT_EQ(swap16(s.checksum_field()), frames::checksum(written.data(), written.size()));
}
TEST(Checksum, PseudoHeaderOfAPacketTakesItsPayloadsLength) {
  const std::vector<std::uint8_t> payload(20);
  IpPacket p;
  p.source = IpAddress::v4(10, 0, 0, 1);
  p.destination = IpAddress::v4(10, 0, 0, 2);
  p.protocol = 6;
  p.payload = payload;
  EXPECT_EQ(pseudo_header(p).folded(), pseudo_header(p.source, p.destination, 6, 20).folded());
}

}  // namespace
}  // namespace surety::endpoints
