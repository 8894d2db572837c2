// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/fib.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "router/pipeline/routes/prefix_table.h"
#include "tests/unit/router/pipeline/routes/table_sink.h"

namespace surety {
namespace {

std::uint32_t find(const ShortPrefixes& prefixes, const IpAddress& a) {
  return prefixes.slots() == nullptr ? 0 : prefixes.slots()->of(a.data());
}
std::uint32_t find(const ShortPrefixes& prefixes, const char* a) {
  return find(prefixes, address(a));
}

TEST(ShortPrefixes, HoldsSixteenBitsOfIpv6AndNoDefault) {
  for (const auto* p : {"8000::/1", "2000::/3", "2001::/16"})
    EXPECT_TRUE(ShortPrefixes::holds(prefix(p))) << p;
  for (const auto* p : {"::/0", "2001::/17", "2001:db8::/32", "10.0.0.0/8", "0.0.0.0/0"})
    EXPECT_FALSE(ShortPrefixes::holds(prefix(p))) << p;
}

TEST(ShortPrefixes, HasNothingUntilThereIsOne) {
  ShortPrefixes prefixes;
  EXPECT_FALSE(prefixes.remove(prefix("2000::/3")));
  EXPECT_EQ(prefixes.slots(), nullptr);
  prefixes.set(prefix("2000::/3"), 7);
  EXPECT_NE(prefixes.slots(), nullptr);
}

TEST(ShortPrefixes, LongestWinsAndRemovalUncovers) {
  ShortPrefixes prefixes;
  prefixes.set(prefix("2001::/16"), 3);
  prefixes.set(prefix("2000::/3"), 1);
  prefixes.set(prefix("2000::/8"), 2);
  EXPECT_EQ(find(prefixes, "2001:db8::1"), 3u);
  EXPECT_EQ(find(prefixes, "2002::1"), 2u);
  EXPECT_EQ(find(prefixes, "3fff::1"), 1u);
  EXPECT_EQ(find(prefixes, "4000::1"), 0u);
  EXPECT_EQ(find(prefixes, "1fff::1"), 0u);
  EXPECT_TRUE(prefixes.remove(prefix("2000::/8")));
  EXPECT_FALSE(prefixes.remove(prefix("2000::/8")));
  EXPECT_EQ(find(prefixes, "2002::1"), 1u);
  EXPECT_EQ(find(prefixes, "2001::1"), 3u);
  EXPECT_TRUE(prefixes.remove(prefix("2000::/3")));
  EXPECT_EQ(find(prefixes, "2002::1"), 0u);
  EXPECT_EQ(find(prefixes, "2001::1"), 3u);
}

// A table searched from the longest prefix down must say the same, at every edge of the one that changed.
TEST(ShortPrefixes, AgreeWithATableAfterRandomChanges) {
  std::mt19937 random(1);
  ShortPrefixes prefixes;
  std::map<Prefix, std::uint32_t> table;
  for (std::uint32_t i = 1; i <= 2000; ++i) {
    Prefix p;
    p.address = {random() & 0xffff, 0};
    p.length = static_cast<std::uint8_t>(1 + random() % ShortPrefixes::kBits);
    if (random() % 2 == 0) {
      prefixes.set(p, i);
      table[p.masked()] = i;
    } else {
      const auto known = table.empty() ? table.end() : std::prev(table.end());
      if (known != table.end()) p = known->first;
      EXPECT_EQ(prefixes.remove(p), table.erase(p.masked()) == 1);
    }
    for (const auto& a : {p.address, p.masked().address, last_address(p)}) {
      std::uint32_t expected = 0;
      int longest = 0;
      for (const auto& [q, value] : table)
        if (q.length > longest && q.contains(a)) expected = value, longest = q.length;
      ASSERT_EQ(find(prefixes, a), expected) << i << ": " << to_string(p);
    }
  }
}

}  // namespace
}  // namespace surety
