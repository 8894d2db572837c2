// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/route_generations.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "tests/unit/router/pipeline/routes/table_sink.h"

namespace surety {
namespace {

std::uint64_t of(const RouteGenerations& generations, const IpAddress& a) {
  return generations.of(a.high);
}

// Each address of a prefix that changes has another generation than before.
TEST(RouteGenerations, WhoIsConcernedIsTold) {
  const auto generations = std::make_unique<RouteGenerations>();
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::array<std::uint8_t, 16> bytes;
    for (auto& b : bytes) b = static_cast<std::uint8_t>(random());
    const IpAddress a = IpAddress::v6(bytes.data());
    const auto before = of(*generations, a);
    Prefix p{a, static_cast<std::uint8_t>(random() % 129)};
    if (random() % 2 == 0) p = p.masked();
    generations->changed(p);
    ASSERT_GT(of(*generations, a), before) << to_string(p);
  }
}

// How many of these addresses a change of that prefix concerns.
std::size_t concerned(const std::vector<IpAddress>& addresses, const char* text) {
  const auto generations = std::make_unique<RouteGenerations>();
  std::vector<std::uint64_t> before;
  for (const auto& a : addresses) before.push_back(of(*generations, a));
  generations->changed(prefix(text));
  std::size_t n = 0;
  for (std::size_t i = 0; i < addresses.size(); ++i) n += of(*generations, addresses[i]) != before[i];
  return n;
}

std::vector<IpAddress> every(unsigned bits) {
  std::vector<IpAddress> all;
  for (std::uint64_t i = 0; i < 10'000; ++i)
    all.push_back({.high = __builtin_bswap64(0x2001'0db8'0000'0000 + (i << (64 - bits))), .low = 0});
  return all;
}

TEST(RouteGenerations, OthersAreLeftAlone) {
  const auto sites = every(48), providers = every(32);
  const auto told = [&](const char* text) { return concerned(sites, text); };
  EXPECT_LT(told("2001:db8::/48"), 30u);
  EXPECT_LT(told("2001:db8::/128"), 30u);
  EXPECT_LT(told("2001:db8::/44"), 400u);
  EXPECT_LT(told("2001:db8::/40"), 4000u);
  EXPECT_EQ(told("2001:db8::/32"), sites.size());
  EXPECT_LT(concerned(providers, "2001:db8::/32"), 30u);
  EXPECT_LT(concerned(providers, "2001:db8::/39"), 30u);
  EXPECT_LT(concerned(providers, "2001:d00::/24"), 4000u);
  EXPECT_EQ(concerned(providers, "2001:c00::/23"), providers.size());
}

TEST(RememberedRoute, HoldsInItsGenerationOnly) {
  constexpr std::uint32_t kValue = (1u << 30) - 1;
  for (const std::uint64_t generation : {0ull, 1ull, 77ull, (1ull << 33) - 1, 1ull << 33, ~0ull}) {
    EXPECT_GT(RememberedRoute::decode(0, generation), RememberedRoute::kMaxValue) << "nothing is remembered";
    for (const std::uint32_t value : {0u, 1u, kValue}) {
      const std::uint64_t r = RememberedRoute::encode(generation, value);
      EXPECT_EQ(RememberedRoute::decode(r, generation), value);
      for (const std::uint64_t other : {1ull, 2ull, 1000ull, (1ull << 33) - 1})
        EXPECT_GT(RememberedRoute::decode(r, generation + other), RememberedRoute::kMaxValue) << other;
    }
  }
}

}  // namespace
}  // namespace surety
