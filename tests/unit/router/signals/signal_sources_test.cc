// SPDX-License-Identifier: BSD-3-Clause
#include "router/signals/signal_sources.h"

#include <gtest/gtest.h>

#include "tests/unit/router/signals/signal_packets.h"

namespace surety {
namespace {

using namespace std::chrono_literals;
using signals::v4;

constexpr Time kStart{};

IpAddress address(std::uint32_t n) {
  return IpAddress::v4(__builtin_bswap32(n));
}
int permitted(SignalSources& s, const IpAddress& a, int tries, Time now) {
  int n = 0;
  for (int i = 0; i < tries; ++i) n += s.permit(a, now);
  return n;
}

TEST(SignalSources, ATenthOfASecondAtOnceThenTheRate) {
  SignalSources s(1000, {});
  EXPECT_EQ(permitted(s, v4(10, 0, 0, 1), 1000, kStart), 100);
  EXPECT_EQ(permitted(s, v4(10, 0, 0, 1), 10, kStart + 1ms - 1ns), 0);
  EXPECT_EQ(permitted(s, v4(10, 0, 0, 1), 10, kStart + 1ms), 1);
  EXPECT_EQ(permitted(s, v4(10, 0, 0, 1), 1000, kStart + 51ms), 50);
  EXPECT_EQ(permitted(s, v4(10, 0, 0, 1), 1000, kStart + 1h), 100);
}

TEST(SignalSources, EightAtOnceWhateverTheRate) {
  SignalSources s(1, {});
  EXPECT_EQ(permitted(s, v4(10, 0, 0, 1), 1000, kStart), 8);
  EXPECT_EQ(permitted(s, v4(10, 0, 0, 1), 1000, kStart + 1s), 1);
}

TEST(SignalSources, EachHasItsOwn) {
  SignalSources s(10, {});
  for (std::uint32_t n = 0; n < 100; ++n) EXPECT_EQ(permitted(s, address(n), 20, kStart), 8) << n;
  // An address of another family is another one, though its first four bytes are equal.
  const std::uint8_t bytes[16] = {0, 0, 0, 5};
  EXPECT_EQ(permitted(s, IpAddress::v6(bytes), 20, kStart), 8);
}

TEST(SignalSources, AFloodOfAddressesRefillsNothingAndIsBoundedItself) {
  SignalSources s(10, {});
  const auto victim = v4(10, 0, 0, 1);
  EXPECT_EQ(permitted(s, victim, 20, kStart), 8);
  std::uint64_t all = 0;
  for (std::uint32_t n = 0; n < 200'000; ++n) all += s.permit(address(0xc0000000u + n), kStart);
  EXPECT_EQ(permitted(s, victim, 20, kStart), 0);
  // All the buckets there are, and not one more.
  EXPECT_EQ(all, 8 * (SignalSources::kSets * SignalSources::kWays - 1));
}

TEST(SignalSources, WhoComesAfterAFloodFindsRoomAgain) {
  SignalSources s(10, {});
  for (std::uint32_t n = 0; n < 200'000; ++n) s.permit(address(0xc0000000u + n), kStart);
  EXPECT_EQ(permitted(s, v4(10, 0, 0, 1), 20, kStart + 1s), 8);
}

TEST(SignalSources, TheSecretDecidesWhoShares) {
  // As many addresses as make one set overflow under one secret do not under another.
  const auto overflowing = [](const std::array<std::uint8_t, 16>& secret) {
    SignalSources s(10, secret);
    std::vector<std::uint32_t> out;
    for (std::uint32_t n = 0; n < 4096; ++n)
      if (permitted(s, address(n), 8, kStart) < 8) out.push_back(n);
    return out;
  };
  EXPECT_FALSE(overflowing({}).empty());
  EXPECT_NE(overflowing({}), overflowing({1}));
}

}  // namespace
}  // namespace surety
