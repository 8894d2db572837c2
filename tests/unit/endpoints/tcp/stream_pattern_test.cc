// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/wire_tcp.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace surety::endpoints {
namespace {

using Octets = std::vector<std::uint8_t>;

Octets expected(std::uint64_t offset, std::size_t n) {
  Octets b(n);
  for (std::size_t i = 0; i < n; ++i) b[i] = StreamPattern::byte(offset + i);
  return b;
}

// Around everything that is special: the period, its half, an odd place, far away.
constexpr std::array<std::uint64_t, 9> kOffsets = {
    0, 1, 2, 32760, 65519, 65520, 65521, 65522, (std::uint64_t{1} << 40) + 77};
constexpr std::array<std::size_t, 10> kLengths = {0, 1, 2, 3, 4, 31, 1448, 9216, 9217, 200'000};

TEST(StreamPattern, WritesTheStream) {
  for (const auto offset : kOffsets)
    for (const auto n : kLengths) {
      Octets b(n);
      StreamPattern::write(b, offset);
      ASSERT_EQ(b, expected(offset, n)) << offset << ' ' << n;
      ASSERT_TRUE(StreamPattern::matches(b, offset));
    }
}

TEST(StreamPattern, SumIsThatOfTheBytes) {
  for (const auto offset : kOffsets)
    for (const auto n : kLengths) {
      Octets b(n);
      Sum of_bytes(1);  // one's complement has two zeros: not here
      Sum of_write(1), of_sum(1);
      of_write.add(StreamPattern::write(b, offset));
      of_sum.add(StreamPattern::sum(offset, n));
      of_bytes.add(b);
      EXPECT_EQ(of_write.folded(), of_bytes.folded()) << offset << ' ' << n;
      EXPECT_EQ(of_sum.folded(), of_bytes.folded()) << offset << ' ' << n;
    }
}

TEST(StreamPattern, OneWrongByteDoesNotMatch) {
  for (const std::uint64_t offset : {0ull, 65000ull}) {
    Octets b = expected(offset, 1448);
    for (std::size_t i = 0; i < b.size(); ++i) {
      b[i] ^= 0x10;
      EXPECT_FALSE(StreamPattern::matches(b, offset)) << i;
      b[i] ^= 0x10;
    }
  }
}

TEST(StreamPattern, NothingMatchesAnywhere) {
  EXPECT_TRUE(StreamPattern::matches({}, 5));
}

TEST(StreamPattern, ShiftedStreamsDoNotMatch) {
  const Octets b = expected(1000, 64);
  for (int k = 0; k < 40; ++k)
    EXPECT_FALSE(StreamPattern::matches(b, 1000 + (std::uint64_t{1} << k))) << "by 2^" << k;
  EXPECT_TRUE(StreamPattern::matches(b, 1000 + StreamPattern::kPeriod));
}

TEST(StreamPattern, IsTheSameInEveryProgram) {
  EXPECT_EQ(expected(0, 8), (Octets{77, 234, 249, 52, 149, 169, 105, 48}));
  EXPECT_EQ(expected(65521 - 4, 8), (Octets{209, 221, 13, 46, 77, 234, 249, 52}));
}

TEST(StreamPattern, EveryByteValueIsAboutAsFrequent) {
  std::array<int, 256> seen{};
  for (std::uint64_t i = 0; i < StreamPattern::kPeriod; ++i) ++seen[StreamPattern::byte(i)];
  for (const int n : seen) {
    EXPECT_GT(n, 256 - 80);  // five standard deviations
    EXPECT_LT(n, 256 + 80);
  }
}

}  // namespace
}  // namespace surety::endpoints
