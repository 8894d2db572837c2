// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/interfaces/prefix_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace surety {
namespace {

constexpr std::uint32_t kNone = PrefixMap::kNone;

std::uint32_t of(const PrefixMap& sources, const char* address) {
  return sources.of(parse_address(address).value());
}
std::pair<Prefix, std::uint32_t> entry(const char* prefix, std::uint32_t aggregate) {
  return {parse_prefix(prefix).value(), aggregate};
}

TEST(PrefixMap, WithoutPrefixesAllIsTheRest) {
  const PrefixMap none, whole({}, 3);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(of(none, "10.0.0.1"), kNone);
  EXPECT_TRUE(whole.empty());
  EXPECT_EQ(whole.rest(), 3u);
  EXPECT_EQ(of(whole, "10.0.0.1"), 3u);
  EXPECT_EQ(of(whole, "2001:db8::1"), 3u);
}

TEST(PrefixMap, TheLongestPrefixCountsOfBothFamilies) {
  const PrefixMap sources({entry("10.1.0.0/16", 1), entry("10.0.0.0/8", 0), entry("10.1.2.0/24", 2),
                           entry("10.1.0.0/24", 3), entry("2001:db8::/32", 4), entry("::/0", 5)},
                          kNone);
  EXPECT_FALSE(sources.empty());
  const std::pair<const char*, std::uint32_t> cases[] = {
      {"10.0.255.255", 0},
      {"10.1.0.0", 3},
      {"10.1.0.255", 3},
      {"10.1.1.0", 1},
      {"10.1.2.3", 2},
      {"10.1.3.0", 1},
      {"10.2.0.0", 0},
      {"11.0.0.0", kNone},
      {"9.255.255.255", kNone},
      {"2001:db8::1", 4},
      {"2001:db9::", 5},
      {"::1", 5},
      {"255.255.255.255", kNone},
  };
  for (const auto& [address, aggregate] : cases) EXPECT_EQ(of(sources, address), aggregate) << address;
}

// Searching all prefixes for the longest must say the same, also at the edges of each.
TEST(PrefixMap, AgreeWithASearchOfAll) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::map<Prefix, std::uint32_t> table;
    const auto address = [&] {  // few enough that they meet
      const bool v6 = random() % 3 == 0;
      IpAddress a = IpAddress::unspecified(v6);
      for (std::size_t i = 0; i < a.size(); i += 1) a.data()[i] = random() % 4 == 0 ? 0xff : 0;
      return a;
    };
    for (std::uint32_t i = 0; i < 1 + random() % 60; ++i) {
      const IpAddress a = address();
      table[Prefix{a, static_cast<std::uint8_t>(random() % (a.bits() + 1u))}.masked()] = i;
    }
    const PrefixMap sources({table.begin(), table.end()}, 1000);
    const auto check = [&](const IpAddress& a) {
      std::uint32_t expected = 1000;
      int longest = -1;
      for (const auto& [prefix, aggregate] : table)
        if (prefix.contains(a) && prefix.length > longest) longest = prefix.length, expected = aggregate;
      ASSERT_EQ(sources.of(a), expected) << to_string(a);
    };
    for (const auto& [prefix, aggregate] : table) check(prefix.address);
    for (int i = 0; i < 200; ++i) check(address());
  }
}

}  // namespace
}  // namespace surety
