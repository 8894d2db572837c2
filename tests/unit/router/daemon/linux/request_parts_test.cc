// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/request_parts.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

using namespace std::chrono_literals;

constexpr Time at(Duration d) {
  return Time(d);
}
const IpAddress kScanner = IpAddress::v4(10, 0, 0, 1), kOther = IpAddress::v4(10, 0, 0, 2);

// How many of `per_second` attempts within `seconds` are permitted.
unsigned permitted(RequestParts& parts, std::size_t port, const IpAddress& source, unsigned per_second,
                   unsigned seconds) {
  unsigned n = 0;
  for (unsigned i = 0; i < per_second * seconds; ++i)
    n += parts.permit(port, source, at(std::chrono::nanoseconds(1s) * i / per_second));
  return n;
}

TEST(RequestParts, WhoeverScansHasTheSharedRateAndHisPart) {
  RequestParts parts(1);
  const unsigned rate = RequestParts::kShared + RequestParts::kOfEach;
  const unsigned expected = 10 * rate + 2 * RequestParts::kAtOnce;
  EXPECT_NEAR(permitted(parts, 0, kScanner, 30'000, 10), expected, 1e-3 * expected);
}

TEST(RequestParts, OtherSourcesOfTheSamePortHaveTheirs) {
  RequestParts parts(1);
  unsigned refused = 0;
  for (unsigned ms = 0; ms < 10'000; ++ms) {
    for (int i = 0; i < 30; ++i) parts.permit(0, kScanner, at(1ms * ms));
    if (ms % 50 == 0) refused += !parts.permit(0, kOther, at(1ms * ms));
  }
  EXPECT_EQ(refused, 0U);
}

TEST(RequestParts, OtherPortsHaveTheirsWhateverSourcesAreForged) {
  RequestParts parts(1);
  for (unsigned i = 0; i < 30'000; ++i)
    parts.permit(0, IpAddress::v4(10, 0, 0, static_cast<std::uint8_t>(i)), at(0s));
  EXPECT_FALSE(parts.permit(0, kOther, at(0s)));
  EXPECT_TRUE(parts.permit(7, kOther, at(0s)));
}

TEST(RequestParts, AnIpv6SubnetIsOneSource) {
  RequestParts parts(1);
  const auto host = [](std::uint8_t subnet, std::uint8_t i) {
    const std::array<std::uint8_t, 16> bytes{0x20, 1, 0xd, 0xb8, 0, 0, 0, subnet, 0, 0, 0, 0, 0, 0, 0, i};
    return IpAddress::v6(bytes.data());
  };
  for (unsigned i = 0; i < 1000; ++i) parts.permit(0, host(1, static_cast<std::uint8_t>(i)), at(0s));
  EXPECT_FALSE(parts.permit(0, host(1, 250), at(0s)));
  EXPECT_TRUE(parts.permit(0, host(2, 250), at(0s)));
}

// With another seed other sources share a part, so that nobody chooses one of another's: of 256 neighbours of
// a scanner, each meets him under one seed in sixteen.
TEST(RequestParts, WhoSharesAPartDependsOnTheSeed) {
  constexpr int kSeeds = 320;
  const auto shares = [](std::uint64_t seed, const IpAddress& other) {
    RequestParts parts(seed);
    while (parts.permit(0, kScanner, at(0s))) continue;
    return !parts.permit(0, other, at(0s));
  };
  for (int host = 2; host < 256; ++host) {
    const IpAddress other = IpAddress::v4(10, 0, 0, static_cast<std::uint8_t>(host));
    int together = 0;
    for (int seed = 0; seed < kSeeds; ++seed) together += shares(static_cast<std::uint64_t>(seed), other);
    EXPECT_GT(together, 0) << host;
    EXPECT_LT(together, kSeeds / 4) << host;
  }
}

}  // namespace
}  // namespace surety
