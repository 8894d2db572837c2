// SPDX-License-Identifier: BSD-3-Clause
// That there is room for as many routes as were asked for, and that a change is made or is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "conditioners/rng.h"
#include "router/pipeline/routes/prefix_table.h"
#include "router/pipeline/routes/prefix_trie6.h"
#include "tests/unit/router/pipeline/routes/table_sink.h"

// How many times memory can be had before there is none.
thread_local std::size_t allocations_left = std::numeric_limits<std::size_t>::max();

[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  if (allocations_left == 0) return nullptr;
  if (allocations_left != std::numeric_limits<std::size_t>::max()) --allocations_left;
  return std::malloc(size);
}
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const p = operator new(size, std::nothrow);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
[[gnu::noinline]] void operator delete(void* p) noexcept {
  std::free(p);
}
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}

namespace surety {
namespace {

Prefix prefix6(std::uint64_t high, std::uint64_t low, std::uint8_t length) {
  return Prefix{{__builtin_bswap64(high), __builtin_bswap64(low)}, length}.masked();
}

constexpr std::uint32_t kRoutes = 20'000;

struct Mix {
  const char* name;
  std::vector<Prefix> routes;
};

// Those that take most memory of one kind or the other.
std::vector<Mix> mixes() {
  std::mt19937_64 random(3);
  std::vector<Mix> all(7);
  all[0].name = "a /48 in each /16";
  all[1].name = "a /128 in each /16";
  all[2].name = "a /128 in each /24";
  all[3].name = "many /56 in each /48";
  all[4].name = "many /128 in each /40";
  all[5].name = "many /128 in each /80";
  all[6].name = "many /128 in each /120";
  for (std::uint64_t i = 0; i < kRoutes; ++i) {
    const std::uint64_t few = i % 33, group = i / 33;
    const std::uint64_t own = (i * 40503 & 0xffff) << 48;
    all[0].routes.push_back(prefix6(own | (random() & 0xffff'ffff) << 16, 0, 48));
    all[1].routes.push_back(prefix6(own | random() >> 16, random(), 128));
    all[2].routes.push_back(prefix6((i * 2654435761u & 0xff'ffff) << 40 | random() >> 24, random(), 128));
    const std::uint64_t cell = (group * 2654435761u & 0xff'ffff) << 40;
    all[3].routes.push_back(prefix6(cell | few * 5 << 8, 0, 56));
    all[4].routes.push_back(prefix6(cell | few * 5 << 16 | random() % 65536, random(), 128));
    all[5].routes.push_back(prefix6(cell | group, few * 5 << 40 | random() >> 24, 128));
    all[6].routes.push_back(prefix6(cell | group, group << 8 | few * 5, 128));
  }
  return all;
}

void fill(PrefixTrie6& trie, const Mix& mix) {
  for (std::uint32_t i = 0; i < kRoutes; ++i)
    ASSERT_TRUE(trie.add(mix.routes[i], 1 + i)) << mix.name << " " << i;
  ASSERT_EQ(trie.size(), kRoutes) << mix.name;
}

TEST(PrefixTrie6Room, IsThereForAnyMix) {
  for (const Mix& mix : mixes()) {
    PrefixTrie6 trie(kRoutes);
    fill(trie, mix);
    EXPECT_FALSE(trie.add(prefix("3fff::/32"), 1)) << "and for no more";
  }
  PrefixTrie6 all(1 << 16);
  for (std::uint64_t i = 0; i < 1 << 16; ++i) ASSERT_TRUE(all.add(prefix6(i << 48 | 1 << 16, 0, 48), 1)) << i;
}

// One mix after the other; of some routes are left, in parts that cost most for each.
TEST(PrefixTrie6Room, IsThereWhateverWasBefore) {
  PrefixTrie6 trie(kRoutes);
  const auto all = mixes();
  Rng rng(5);
  const auto random = [&] { return rng.next(); };
  for (int round = 0; round < 8; ++round) {
    const Mix& first = all[random() % all.size()];
    const Mix& second = all[random() % all.size()];
    fill(trie, first);
    const std::uint32_t kept = random() % 33;  // of each 33
    for (std::uint32_t i = 0; i < kRoutes; ++i)
      if (i % 33 >= kept) trie.remove(first.routes[i]);
    for (std::uint32_t i = 0; trie.size() < kRoutes; ++i)
      ASSERT_TRUE(trie.add(second.routes[i], 1 + i))
          << first.name << ", " << second.name << " " << trie.size();
    for (const Mix* const mix : {&first, &second})
      for (const Prefix& p : mix->routes) trie.remove(p);
    ASSERT_EQ(trie.units(), 0u);
  }
}

// Of a mapping of 5 GB and more: how many there are, and how many the kernel is to have memory for.
struct Mappings {
  int all = 0, reserved = 0;
};
Mappings large_mappings() {
  Mappings found;
  std::ifstream file("/proc/self/smaps");
  std::size_t size = 0;
  for (std::string word; file >> word;) {
    if (word == "Size:") file >> size;
    if (word != "VmFlags:") continue;
    std::string flags;
    std::getline(file, flags);
    if (size < 5'000'000) continue;
    ++found.all;
    found.reserved += (flags + " ").find(" nr ") == flags.npos;
  }
  return found;
}

// Memory is there once it is written to; a machine that has less than all of it must not refuse.
TEST(PrefixTrie6Room, ReservesNothing) {
  const Mappings before = large_mappings();
  const PrefixTrie6 trie(1 << 24);
  const Mappings now = large_mappings();
  EXPECT_EQ(now.all, before.all + 1);
  EXPECT_EQ(now.reserved, before.reserved);
}

// Whatever can be had of the heap, a change is made, or none of it.
TEST(PrefixTrie6Room, ChangesAreWholeWithoutMemory) {
  PrefixTrie6 trie(4000);
  std::map<Prefix, std::uint32_t> model;
  Rng rng(9);
  const auto random = [&] { return rng.next(); };
  const auto all = mixes();
  std::size_t refused = 0;  // there are prefixes of 56 and 128 bits
  for (std::uint32_t i = 0; i < 40'000; ++i) {
    const Prefix& p = all[2 + random() % 5].routes[random() % 800];
    const bool adds = random() % 2 == 0, known = model.contains(p);
    const std::uint32_t value = 1 + random() % 1000;
    bool done = false;
    allocations_left = random() % 3;
    try {
      done = adds ? trie.add(p, value) : trie.remove(p);
    } catch (const std::bad_alloc&) {
      allocations_left = std::numeric_limits<std::size_t>::max();
      FAIL() << "in the midst of " << to_string(p);
    }
    allocations_left = std::numeric_limits<std::size_t>::max();
    if (adds && done) model[p] = value;
    if (!adds) {
      ASSERT_EQ(done, known);
      model.erase(p);
    }
    refused += adds && !done;
    ASSERT_EQ(trie.size(), model.size());
    std::uint64_t found = 0;
    trie.lookup(reinterpret_cast<const std::uint8_t(*)[16]>(&p.address), &found, 1);
    auto longest = model.find(Prefix{p.address, 128});
    if (longest == model.end()) longest = model.find(Prefix{p.address, 56}.masked());
    ASSERT_EQ(found, longest == model.end() ? 0 : longest->second) << to_string(p);
  }
  EXPECT_GT(refused, 10u);
  for (const auto& [p, value] : model) ASSERT_TRUE(trie.remove(p));
  EXPECT_EQ(trie.units(), 0u);
}

}  // namespace
}  // namespace surety
