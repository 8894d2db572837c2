// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/prefix_trie6.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "router/pipeline/routes/prefix_table.h"
#include "tests/unit/router/pipeline/routes/table_sink.h"

namespace surety {
namespace {

std::uint64_t find(const PrefixTrie6& trie, const IpAddress& a) {
  std::uint64_t value = ~0ULL;
  trie.lookup(reinterpret_cast<const std::uint8_t(*)[16]>(&a), &value, 1);
  return value;
}

// Searched from the longest prefix down.
class Model {
 public:
  void add(const Prefix& p, std::uint32_t value) { routes_[p.length][p] = value; }
  void remove(const Prefix& p) { routes_[p.length].erase(p); }
  std::uint32_t find(const IpAddress& a) const {
    for (auto length = routes_.size(); length-- > 0;) {
      if (routes_[length].empty()) continue;
      const auto it = routes_[length].find(Prefix{a, static_cast<std::uint8_t>(length)}.masked());
      if (it != routes_[length].end()) return it->second;
    }
    return 0;
  }

 private:
  std::array<std::map<Prefix, std::uint32_t>, 129> routes_;
};

IpAddress flipped(IpAddress a, unsigned bit) {
  a.data()[bit / 8] ^= static_cast<std::uint8_t>(0x80 >> bit % 8);
  return a;
}

TEST(PrefixTrie6, HoldsWhatShortPrefixesDoNot) {
  EXPECT_TRUE(PrefixTrie6::holds(prefix("2001::/17")));
  EXPECT_TRUE(PrefixTrie6::holds(prefix("2001:db8::1/128")));
  EXPECT_FALSE(PrefixTrie6::holds(prefix("2001::/16")));
  EXPECT_FALSE(PrefixTrie6::holds(prefix("10.0.0.0/24")));
}

// A route of each length around one address, coming and going in any order.
TEST(PrefixTrie6, EveryLengthOfOneAddress) {
  for (const auto* text :
       {"2001:db8:1234:5678:9abc:def0:1357:9bdf", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::8"}) {
    PrefixTrie6 trie(200);
    std::set<unsigned> there;  // lengths; the value of each route is its length
    const IpAddress a = address(text);
    std::vector<Prefix> prefixes;
    for (unsigned length = 17; length <= 128; ++length)
      prefixes.push_back(Prefix{a, static_cast<std::uint8_t>(length)}.masked());
    std::mt19937 random(1);
    const auto check = [&](const Prefix& changed) {
      unsigned longest = 0;  // of those that end before `bit`, as the address does whose `bit` is another
      for (unsigned bit = 0; bit < 128; ++bit) {
        if (there.contains(bit)) longest = bit;
        ASSERT_EQ(find(trie, flipped(a, bit)), longest) << to_string(changed) << " " << bit;
      }
      ASSERT_EQ(find(trie, a), there.contains(128) ? 128 : longest) << to_string(changed);
    };
    for (int round = 0; round < 3; ++round) {
      std::shuffle(prefixes.begin(), prefixes.end(), random);
      for (const Prefix& p : prefixes) {
        ASSERT_TRUE(trie.add(p, p.length));
        there.insert(p.length);
        check(p);
      }
      std::shuffle(prefixes.begin(), prefixes.end(), random);
      for (const Prefix& p : prefixes) {
        ASSERT_TRUE(trie.remove(p));
        ASSERT_FALSE(trie.remove(p));
        there.erase(p.length);
        check(p);
      }
      EXPECT_EQ(trie.units(), 0u) << "nothing is left behind";
    }
  }
}

// Many below one prefix become groups, and nodes again as they go; at every depth.
TEST(PrefixTrie6, ManySideBySide) {
  for (const auto length :
       std::initializer_list<std::uint8_t>{24, 32, 41, 48, 56, 60, 64, 88, 96, 120, 127, 128}) {
    PrefixTrie6 trie(5000);
    Model model;
    std::mt19937 random(length);
    std::vector<Prefix> prefixes;
    const IpAddress base = address("2001:db8:1234:5678:9abc:def0:1357:9bdf");
    for (int i = 0; i < 1500; ++i) {
      Prefix p{base, length};
      for (unsigned bit = length < 28 ? 16 : length - 12; bit < length; ++bit)
        if (random() % 2 == 0) p.address = flipped(p.address, bit);
      prefixes.push_back(p.masked());
    }
    std::ranges::sort(prefixes);
    prefixes.erase(std::unique(prefixes.begin(), prefixes.end()), prefixes.end());
    std::ranges::shuffle(prefixes, random);
    const auto check = [&](const Prefix& p) {
      for (const auto& a : {p.address, last_address(p), flipped(p.address, p.length - 1u)})
        ASSERT_EQ(find(trie, a), model.find(a)) << to_string(p);
    };
    for (std::uint32_t i = 0; i < prefixes.size(); ++i) {
      ASSERT_TRUE(trie.add(prefixes[i], i + 1));
      model.add(prefixes[i], i + 1);
      check(prefixes[i]);
    }
    for (const Prefix& p : prefixes) check(p);
    for (const Prefix& p : prefixes) {
      ASSERT_TRUE(trie.remove(p));
      model.remove(p);
      check(p);
    }
    EXPECT_EQ(trie.units(), 0u) << int{length};
  }
}

// All lengths, in one another and side by side, few values; a look-up of the whole vector at every step.
TEST(PrefixTrie6, AgreesWithAModelAfterRandomChanges) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    std::mt19937 random(seed);
    const auto draw = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    PrefixTrie6 trie(4000);
    Model model;
    std::vector<Prefix> there;
    std::array<IpAddress, 100> asked;
    std::array<std::uint64_t, 100> values, expected{};
    std::size_t next = 0;
    const auto random_address = [&] {
      IpAddress a = address("2001:db8::");
      for (unsigned b = 3; b < 16; ++b)
        a.data()[b] =
            static_cast<std::uint8_t>(draw(3) == 0 ? draw(256) : std::array{0u, 1u, 0xffu}[draw(3)]);
      return a;
    };
    for (auto& a : asked) a = random_address();
    for (int i = 0; i < 12'000; ++i) {
      const bool grows = i % 6000 < 3000;
      const std::size_t place = next++ % asked.size();  // of the address that is asked from here on
      Prefix p;
      if (there.empty() || draw(4) < (grows ? 3u : 1u)) {
        p.address = there.empty() || draw(3) == 0 ? random_address()
                                                  : there[draw(static_cast<unsigned>(there.size()))].address;
        p.length = static_cast<std::uint8_t>(17 + draw(112));
        p = p.masked();
        const std::uint32_t value = 1 + draw(3);
        ASSERT_TRUE(trie.add(p, value));
        model.add(p, value);
        there.push_back(p);
      } else {
        const std::size_t at = draw(static_cast<unsigned>(there.size()));
        p = there[at];
        trie.remove(p);  // it may be there twice
        model.remove(p);
        there[at] = there.back();
        there.pop_back();
      }
      asked[place] = draw(2) == 0 ? p.address : last_address(p);
      const IpAddress mask = p.mask();  // a change concerns what it contains
      for (std::size_t k = 0; k < asked.size(); ++k)
        if (IpAddress{asked[k].high & mask.high, asked[k].low & mask.low} == p.address)
          expected[k] = model.find(asked[k]);
      trie.lookup(reinterpret_cast<const std::uint8_t(*)[16]>(asked.data()), values.data(), 100);
      ASSERT_EQ(values, expected) << i << " " << to_string(p);
    }
    for (const Prefix& p : there) trie.remove(p);
    EXPECT_EQ(trie.size(), 0u);
    EXPECT_EQ(trie.units(), 0u);
  }
}

TEST(PrefixTrie6, RefusesMoreThanItIsFor) {
  PrefixTrie6 trie(16);
  const auto route = [](int i) { return prefix("2001:db8:" + std::to_string(i) + "::/48"); };
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(trie.add(route(i), 3));
  EXPECT_FALSE(trie.add(route(16), 3));
  EXPECT_EQ(find(trie, address("2001:db8:16::1")), 0u);
  EXPECT_TRUE(trie.add(route(15), 4)) << "it is there";
  EXPECT_FALSE(trie.add(route(15), PrefixTrie6::kMaxValue + 1));
  EXPECT_EQ(find(trie, address("2001:db8:15::1")), 4u);
  EXPECT_TRUE(trie.remove(route(0)));
  EXPECT_TRUE(trie.add(route(16), PrefixTrie6::kMaxValue));
  EXPECT_EQ(find(trie, address("2001:db8:16::1")), PrefixTrie6::kMaxValue);
}

// The most that a route can take: each alone in its first 24 bits, with all of its 128.
TEST(PrefixTrie6, HasRoomForTheWorstRoutes) {
  constexpr std::uint32_t kRoutes = 20'000;
  PrefixTrie6 trie(kRoutes);
  std::mt19937_64 random(1);
  std::vector<Prefix> routes;
  for (std::uint32_t i = 0; i < kRoutes; ++i) {
    IpAddress a{random(), random()};
    a.data()[0] = static_cast<std::uint8_t>(0x20 | (a.data()[0] & 0x1f));
    routes.push_back(host_prefix(a));
    ASSERT_TRUE(trie.add(routes.back(), i + 1)) << i;
  }
  for (std::uint32_t i = 0; i < kRoutes; ++i) ASSERT_EQ(find(trie, routes[i].address), i + 1);
  EXPECT_LT(trie.units() * 64 * 5 / 4, PrefixTrie6::bytes(kRoutes));
}

TEST(PrefixTrie6, UsesMemoryAgainOnceReadersHaveLeft) {
  trie6::Memory memory(16);
  const auto node = memory.take_node(), group = memory.take_group();
  memory.give_node(node);
  memory.give_group(group);
  EXPECT_EQ(memory.used(), 0u);
  EXPECT_NE(memory.take_node(), node);
  EXPECT_NE(memory.take_group(), group);
  memory.reclaim();
  EXPECT_EQ(memory.take_node(), node);
  EXPECT_EQ(memory.take_group(), group);
}

}  // namespace
}  // namespace surety
