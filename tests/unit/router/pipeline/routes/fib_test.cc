// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/fib.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <stdexcept>
#include <vector>

#include "router/pipeline/routes/prefix_table.h"
#include "router/pipeline/routes/route_events.h"
#include "tests/unit/router/pipeline/routes/table_sink.h"

namespace surety {
namespace {

std::uint64_t lookup(const Fib& fib, const IpAddress& a) {
  std::uint64_t value = ~0ULL;
  if (a.is_v6()) {
    std::uint8_t ip[1][16];
    std::memcpy(ip[0], a.data(), 16);
    fib.lookup6(ip, &value, 1);
  } else {
    const std::uint32_t ip = a.v4_host_order();
    fib.lookup4(&ip, &value, 1);
  }
  return value;
}
std::uint64_t lookup(const Fib& fib, const std::string& text) {
  return lookup(fib, address(text));
}

TEST(Fib, EmptyAnswersNone) {
  const Fib fib("fib", 64);
  for (const auto* a : {"0.0.0.0", "10.0.0.1", "255.255.255.255", "::", "2001:db8::1",
                        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"})
    EXPECT_EQ(lookup(fib, a), kNextHopNone) << a;
}

TEST(Fib, LongestPrefixWins) {
  Fib fib("fib", 64);
  const std::pair<const char*, std::uint32_t> routes[] = {
      {"0.0.0.0/0", 10},
      {"10.0.0.0/8", 11},
      {"10.1.0.0/16", 12},
      {"10.1.2.0/24", 13},
      {"10.1.2.128/25", 14},
      {"10.1.2.200/32", 15},
      {"255.255.255.255/32", 16},
      {"::/0", 20},
      {"2001:db8::/32", 21},
      {"2001:db8:1::/48", 22},
      {"2001:db8:1:1::/64", 23},
      {"2001:db8:1:1::7/128", 24},
      {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128", 25}};
  for (const auto& [to, value] : routes) ASSERT_TRUE(fib.add(prefix(to), value)) << to;
  const std::pair<const char*, std::uint64_t> expected[] = {{"0.0.0.0", 10},
                                                            {"9.255.255.255", 10},
                                                            {"10.0.0.0", 11},
                                                            {"10.1.0.1", 12},
                                                            {"10.1.2.1", 13},
                                                            {"10.1.2.127", 13},
                                                            {"10.1.2.128", 14},
                                                            {"10.1.2.200", 15},
                                                            {"10.1.2.201", 14},
                                                            {"10.1.3.0", 12},
                                                            {"255.255.255.255", 16},
                                                            {"255.255.255.254", 10},
                                                            {"::", 20},
                                                            {"2001:db8::", 21},
                                                            {"2001:db8:1::", 22},
                                                            {"2001:db8:1:1::", 23},
                                                            {"2001:db8:1:1::7", 24},
                                                            {"2001:db8:1:1::8", 23},
                                                            {"2001:db9::", 20},
                                                            {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 25},
                                                            {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe", 20}};
  for (const auto& [a, value] : expected) EXPECT_EQ(lookup(fib, a), value) << a;
}

TEST(Fib, AVectorIsAnsweredInOrder) {
  Fib fib("fib", 64);
  ASSERT_TRUE(fib.add(prefix("10.0.0.0/26"), 7));
  ASSERT_TRUE(fib.add(prefix("2001:db8::/122"), 8));
  std::uint32_t v4[64];
  std::uint8_t v6[64][16];
  std::uint64_t values[64];
  for (std::uint32_t i = 0; i < 64; ++i) {
    v4[i] = (10u << 24) + i * 2;
    std::memcpy(v6[i], address("2001:db8::").data(), 16);
    v6[i][15] = static_cast<std::uint8_t>(i * 2);
  }
  fib.lookup4(v4, values, 64);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(values[i], i < 32 ? 7U : 0U) << i;
  fib.lookup6(v6, values, 64);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(values[i], i < 32 ? 8U : 0U) << i;
}

TEST(Fib, AddReplacesAndRemoveUncovers) {
  Fib fib("fib", 64);
  for (const auto& [outer, inner, a] : {std::tuple{"10.0.0.0/8", "10.1.1.64/26", "10.1.1.65"},
                                        std::tuple{"2001:db8::/32", "2001:db8::40/122", "2001:db8::41"}}) {
    ASSERT_TRUE(fib.add(prefix(outer), 3));
    ASSERT_TRUE(fib.add(prefix(inner), 4));
    ASSERT_TRUE(fib.add(prefix(inner), 5));
    EXPECT_EQ(lookup(fib, a), 5U);
    EXPECT_TRUE(fib.remove(prefix(inner)));
    EXPECT_EQ(lookup(fib, a), 3U);
    EXPECT_FALSE(fib.remove(prefix(inner)));
    EXPECT_TRUE(fib.remove(prefix(outer)));
    EXPECT_EQ(lookup(fib, a), kNextHopNone);
  }
}

TEST(Fib, HoldsEveryRouteTargetAndNoMore) {
  Fib fib("fib", 64);
  const std::uint32_t largest = RouteTarget{RouteTarget::kMaxFirst, RouteTarget::kMaxCount, 0x7f}.encode();
  for (const auto* to : {"10.0.0.0/8", "2001:db8::/32"}) {
    EXPECT_TRUE(fib.add(prefix(to), largest));
    EXPECT_FALSE(fib.add(prefix(to), largest + 1));
  }
  EXPECT_EQ(lookup(fib, "10.0.0.1"), largest);
  EXPECT_EQ(lookup(fib, "2001:db8::1"), largest);
}

TEST(Fib, HostBitsAreIgnored) {
  Fib fib("fib", 64);
  ASSERT_TRUE(fib.add(prefix("10.1.2.3/24"), 3));
  ASSERT_TRUE(fib.add(prefix("2001:db8::5/64"), 4));
  EXPECT_EQ(lookup(fib, "10.1.2.77"), 3U);
  EXPECT_EQ(lookup(fib, "2001:db8::77"), 4U);
  EXPECT_TRUE(fib.remove(prefix("10.1.2.9/24")));
  EXPECT_TRUE(fib.remove(prefix("2001:db8::9/64")));
}

TEST(Fib, RefusesWhenFullAndKeepsWhatItHas) {
  Fib fib("fib", 16);
  const auto route = [](std::uint8_t i) { return prefix("10." + std::to_string(i) + ".0.0/16"); };
  std::uint8_t accepted = 0;
  while (accepted < 255 && fib.add(route(accepted), accepted + 1U)) ++accepted;
  EXPECT_GE(accepted, 16);
  EXPECT_LT(accepted, 33);
  for (std::uint8_t i = 0; i < accepted; ++i)
    EXPECT_EQ(lookup(fib, "10." + std::to_string(i) + ".0.1"), i + 1U);
  EXPECT_EQ(lookup(fib, "10." + std::to_string(accepted) + ".0.1"), kNextHopNone);
  EXPECT_TRUE(fib.remove(route(0)));
  EXPECT_TRUE(fib.add(route(100), 100));
}

TEST(Fib, AnIpv6RouteThatFlapsIsNeverRefused) {
  Fib fib("fib", 64);
  ASSERT_TRUE(fib.add(prefix("::/0"), 3));
  ASSERT_TRUE(fib.add(prefix("2001:db8::/32"), 4));
  int quiesced = 0;
  fib.set_quiesce([&] { ++quiesced; });
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(fib.add(prefix("2001:db9::1/128"), 5)) << i;
    ASSERT_TRUE(fib.remove(prefix("2001:db9::1/128")));
  }
  EXPECT_GT(quiesced, 0) << "what was freed is used again";
  EXPECT_LT(quiesced, 50) << "much of it at a time";
  EXPECT_EQ(lookup(fib, "2001:db8::1"), 4U);
  EXPECT_EQ(lookup(fib, "2001:db9::1"), 3U);
}

TEST(Fib, AnIpv4RouteThatFlapsIsNeverRefused) {
  Fib fib("fib", 64);
  ASSERT_TRUE(fib.add(prefix("10.0.0.0/8"), 3));
  for (int i = 0; i < 10000; ++i) {
    ASSERT_TRUE(fib.add(prefix("10.0.0.7/32"), 3)) << i;  // the value of the route around it
    ASSERT_TRUE(fib.remove(prefix("10.0.0.7/32")));
  }
  EXPECT_EQ(lookup(fib, "10.0.0.7"), 3U);
}

// No table more, until it goes out of scope.
struct NoMemory {
  NoMemory() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    getrlimit(RLIMIT_AS, &before);
    const rlimit now{pages * 4096 + (32 << 20), before.rlim_max};
    setrlimit(RLIMIT_AS, &now);
  }
  ~NoMemory() { setrlimit(RLIMIT_AS, &before); }
  rlimit before{};
};

TEST(Fib, HasItsIpv6MemoryFromTheStart) {
  Fib fib("fib", 2000);
  const auto route = [](int i) {
    Prefix p = prefix("2001:db8::/64");
    p.address.data()[2] = static_cast<std::uint8_t>(i >> 8);
    p.address.data()[3] = static_cast<std::uint8_t>(i);
    return p;
  };
  const NoMemory none;
  int added = 0;
  while (fib.add(route(added), static_cast<std::uint32_t>(added) + 1)) ++added;
  EXPECT_EQ(added, 2000);
  EXPECT_FALSE(fib.add(route(added), 7)) << "again";
  for (int i = 0; i < added; ++i) EXPECT_EQ(lookup(fib, route(i).address), static_cast<std::uint64_t>(i) + 1);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(fib.remove(route(i)));
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(fib.add(route(i), 7)) << i;
  EXPECT_EQ(lookup(fib, route(99).address), 7U);
  EXPECT_EQ(lookup(fib, route(100).address), 101U);
}

TEST(Fib, WithoutMemoryToGrowItKeepsWhatItHas) {
  Fib fib("fib", 200'000);  // room for 2048 of IPv4 at first
  const auto route = [](std::uint32_t i) {
    return Prefix{IpAddress::v4(__builtin_bswap32(0x0a000000 + (i << 8))), 24};
  };
  const NoMemory none;
  std::uint32_t added = 0;
  while (fib.add(route(added), added + 1)) ++added;
  EXPECT_GE(added, 2048u);
  EXPECT_LT(added, 200'000u);
  EXPECT_FALSE(fib.add(route(added), 7)) << "again";
  for (std::uint32_t i = 0; i < added; ++i) ASSERT_EQ(lookup(fib, route(i).address), i + 1);
}

// DPDK 22.11 by itself answers 1 for 10.0.0.1 then.
TEST(Fib, PrefixesThatFillOneUpToTheEndOfTheAddressSpace) {
  Fib fib("fib", 64);
  ASSERT_TRUE(fib.add(prefix("0.0.0.0/0"), 7));
  ASSERT_TRUE(fib.add(prefix("128.0.0.0/2"), 2));
  ASSERT_TRUE(fib.add(prefix("192.0.0.0/2"), 3));
  ASSERT_TRUE(fib.add(prefix("128.0.0.0/1"), 1));
  EXPECT_EQ(lookup(fib, "10.0.0.1"), 7U);
  EXPECT_EQ(lookup(fib, "128.0.0.1"), 2U);
  EXPECT_EQ(lookup(fib, "223.0.0.1"), 3U);
  EXPECT_TRUE(fib.remove(prefix("128.0.0.0/2")));
  EXPECT_TRUE(fib.remove(prefix("192.0.0.0/2")));
  EXPECT_FALSE(fib.remove(prefix("192.0.0.0/2")));
  EXPECT_EQ(lookup(fib, "128.0.0.1"), 1U);
  EXPECT_EQ(lookup(fib, "223.0.0.1"), 1U);
  ASSERT_TRUE(fib.add(prefix("192.0.0.0/3"), 5));
  EXPECT_EQ(lookup(fib, "223.0.0.1"), 5U);
  EXPECT_TRUE(fib.remove(prefix("128.0.0.0/1")));
  EXPECT_EQ(lookup(fib, "128.0.0.1"), 7U);
  EXPECT_EQ(lookup(fib, "223.0.0.1"), 5U);
}

TEST(Fib, DefaultRoutesOfBothFamilies) {
  Fib fib("fib", 64);
  ASSERT_TRUE(fib.add(prefix("10.0.0.0/8"), 3));
  ASSERT_TRUE(fib.add(prefix("2001:db8::/32"), 4));
  EXPECT_FALSE(fib.remove(prefix("0.0.0.0/0"))) << "there is none";
  ASSERT_TRUE(fib.add(prefix("0.0.0.0/0"), 5));
  EXPECT_EQ(lookup(fib, "11.0.0.1"), 5U);
  EXPECT_EQ(lookup(fib, "10.0.0.1"), 3U);
  EXPECT_EQ(lookup(fib, "2001:db9::1"), kNextHopNone) << "the other family has none";
  ASSERT_TRUE(fib.add(prefix("0.0.0.0/0"), 6));
  ASSERT_TRUE(fib.add(prefix("::/0"), 7));
  EXPECT_EQ(lookup(fib, "11.0.0.1"), 6U);
  EXPECT_EQ(lookup(fib, "2001:db9::1"), 7U);
  EXPECT_EQ(lookup(fib, "2001:db8::1"), 4U);
  EXPECT_TRUE(fib.remove(prefix("::/0")));
  EXPECT_EQ(lookup(fib, "2001:db9::1"), kNextHopNone);
  EXPECT_TRUE(fib.remove(prefix("0.0.0.0/0")));
  EXPECT_EQ(lookup(fib, "11.0.0.1"), kNextHopNone);
}

TEST(Fib, WorkersQuiesceBeforeAGroupIsTakenAgain) {
  Fib fib("fib", 64);
  int quiesced = 0;
  fib.set_quiesce([&] { ++quiesced; });
  ASSERT_TRUE(fib.add(prefix("10.0.0.7/32"), 3));
  EXPECT_EQ(quiesced, 0) << "nothing has been freed yet";
  ASSERT_TRUE(fib.remove(prefix("10.0.0.7/32")));
  EXPECT_EQ(quiesced, 0) << "not needed until somebody takes a group";
  ASSERT_TRUE(fib.add(prefix("10.2.0.0/24"), 3));
  EXPECT_EQ(quiesced, 0) << "a /24 takes none";
  ASSERT_TRUE(fib.add(prefix("10.1.0.7/32"), 3));
  EXPECT_EQ(quiesced, 1);
}

TEST(Fib, AdditionsWaitForWorkersOnlyIfAGroupMayHaveBeenFreed) {
  Fib fib("fib", 1024);
  int quiesced = 0;
  fib.set_quiesce([&] { ++quiesced; });
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(fib.add(prefix("10.0." + std::to_string(i) + ".128/26"), 3));
  }
  EXPECT_EQ(quiesced, 0);
  ASSERT_TRUE(fib.add(prefix("10.0.0.128/25"), 3));  // has a longer one inside
  ASSERT_TRUE(fib.add(prefix("10.1.0.0/26"), 3));
  EXPECT_EQ(quiesced, 1);
  ASSERT_TRUE(fib.add(prefix("10.0.0.0/25"), 3)) << "all of 10.0.0.0/24 has one value now";
  ASSERT_TRUE(fib.add(prefix("10.1.1.0/26"), 3));
  EXPECT_EQ(quiesced, 2);
}

IpAddress host_order(std::uint32_t a) {
  return IpAddress::v4(__builtin_bswap32(a));
}

std::size_t resident() {
  std::size_t all = 0, there = 0;
  std::ifstream("/proc/self/statm") >> all >> there;
  return there * 4096;
}

// These tests run without hugepages.
TEST(Fib, TakesMemoryForTheRoutesThatThereAre) {
  const Fib warm("warm", 64);  // what DPDK takes once
  const std::size_t before = resident();
  Fib fib("fib", 1'000'000);
  const auto says = Fib::resident(1'000'000);
  EXPECT_NEAR(static_cast<double>(resident() - before), static_cast<double>(says.least4 + says.least6), 2e6);
  for (std::uint32_t i = 0; i < 1 << 20; i += 64) lookup(fib, host_order(i << 12));
  EXPECT_LT(resident() - before, says.least4 + says.least6 + 2'000'000) << "a lookup takes none";
}

TEST(Fib, GrowsToTheRoutesThatItIsFor) {
  constexpr std::uint32_t kRoutes = 10'000;
  Fib fib("fib", 1'100'000);  // more than a power of two, which the ring of nodes is rounded up from
  unsigned quiesced = 0;
  fib.set_quiesce([&] { ++quiesced; });
  const auto address4 = [](std::uint32_t i) { return host_order(0x0a000000 + (i << 6)); };
  const auto address6 = [](std::uint32_t i) {
    IpAddress a = address("2001:db8::");
    a.data()[4] = static_cast<std::uint8_t>(i >> 8);
    a.data()[5] = static_cast<std::uint8_t>(i);
    return a;
  };
  for (std::uint32_t i = 0; i < kRoutes; ++i) {
    ASSERT_TRUE(fib.add({address4(i), 27}, i + 1)) << i;
    ASSERT_TRUE(fib.add({address6(i), 64}, i + 1)) << i;
  }
  EXPECT_GE(quiesced, 1u) << "before the small table went";
  for (std::uint32_t i = 0; i < kRoutes; ++i) {
    ASSERT_EQ(lookup(fib, address4(i)), i + 1);
    ASSERT_EQ(lookup(fib, address6(i)), i + 1);
  }
  EXPECT_EQ(lookup(fib, "10.0.0.32"), kNextHopNone);
}

TEST(Fib, SaysWhenThereIsNoMemory) {
  {
    const NoMemory none;
    EXPECT_THROW(Fib("fib", 64), std::runtime_error);
  }
  EXPECT_NO_THROW(Fib("fib", 64)) << "nothing is left behind";
}

// Random changes against a table searched from the longest prefix down;
// every address at an edge of a prefix is asked.
class FibAgainstTable : public testing::TestWithParam<bool> {};

TEST_P(FibAgainstTable, AfterRandomChanges) {
  const bool v6 = GetParam();
  std::mt19937 random(v6 ? 6 : 4);
  const auto draw = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const auto random_prefix = [&] {
    Prefix p;
    std::array<std::uint8_t, 16> bytes{};
    // Few different bytes, so that prefixes contain each other, and both ends of the address space.
    for (unsigned i = 0; i < (v6 ? 16U : 4U); ++i)
      bytes[i] = static_cast<std::uint8_t>(std::array{0, 1, 0x80, 0xff}[draw(4)]);
    if (!v6 && bytes[0] == 0xff) bytes[0] = 0xdf;  // the last that is forwarded to
    p.address = IpAddress::load(bytes.data(), v6);
    p.length = static_cast<std::uint8_t>(draw(v6 ? 129 : 33));
    return p.masked();
  };
  Fib fib("fib", 512);
  std::map<Prefix, std::uint32_t> table;
  const auto expected = [&](const IpAddress& a) {
    std::uint32_t value = kNextHopNone;
    int longest = -1;
    for (const auto& [p, v] : table)
      if (p.length > longest && p.contains(a)) value = v, longest = p.length;
    return value;
  };
  for (int i = 0; i < 2000; ++i) {
    Prefix p = random_prefix();
    if (!table.empty() && draw(2) == 0) {
      auto it = table.lower_bound(p);
      if (it == table.end()) it = table.begin();
      p = it->first;
      ASSERT_TRUE(fib.remove(p)) << to_string(p);
      table.erase(it);
    } else {
      const std::uint32_t value = 1 + draw(3);  // few, so that a route often equals the one around it
      ASSERT_TRUE(fib.add(p, value)) << to_string(p);
      table[p] = value;
    }
    IpAddress after = last_address(p), before = p.address;
    std::uint8_t *const up = after.data(), *const down = before.data();
    for (std::size_t b = v6 ? 16 : 4; b-- > 0 && ++up[b] == 0;) {
    }
    for (std::size_t b = v6 ? 16 : 4; b-- > 0 && down[b]-- == 0;) {
    }
    for (const auto& a : {p.address, last_address(p), after, before, random_prefix().address}) {
      if (a.is_v6() != v6) continue;            // ::ffff:0:0/96 is no IPv6 address here
      if (!v6 && a.data()[0] >= 224) continue;  // nothing is forwarded there
      ASSERT_EQ(lookup(fib, a), expected(a)) << i << ": " << to_string(p) << " " << to_string(a);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Families, FibAgainstTable, testing::Bool(),
                         [](const auto& family) { return family.param ? "IPv6" : "IPv4"; });

}  // namespace
}  // namespace surety
