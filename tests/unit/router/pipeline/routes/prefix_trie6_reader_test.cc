// SPDX-License-Identifier: BSD-3-Clause
// Readers that look up while the table changes.
#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "router/pipeline/routes/prefix_trie6.h"
#include "tests/unit/router/pipeline/routes/table_sink.h"

namespace surety {
namespace {

constexpr std::size_t kAsked = 64;

// Two addresses' first bits differ in `half`, and so do the values of all routes there: who steps into memory
// that has been used again meets the other half's, or nothing.
Prefix random_prefix(std::mt19937& random, unsigned half) {
  Prefix p = prefix("2001:db8::/128");
  p.address.data()[2] = static_cast<std::uint8_t>(0x10 * half);
  for (unsigned b = 3; b < 16; ++b)
    p.address.data()[b] = static_cast<std::uint8_t>(random() % (b < 6 ? 16 : 2));
  p.length = static_cast<std::uint8_t>(25 + random() % 104);
  return p.masked();
}
std::uint32_t random_value(std::mt19937& random, unsigned half) {
  return 2 * (1 + static_cast<std::uint32_t>(random() % 1000)) + half;
}

class Reader {
 public:
  Reader(const PrefixTrie6& trie, unsigned seed) : trie_(trie), seed_(seed), thread_([this] { run(); }) {}
  // It has no look-up under way that began before.
  void wait() const {
    for (const auto until = turns_.load() + 2; turns_.load() < until;) std::this_thread::yield();
  }
  std::uint64_t stop() {
    done_ = true;
    thread_.join();
    return strange_;
  }

 private:
  void run() {
    cpu_set_t all;  // EAL pins the main thread, and those it starts, to one
    std::memset(&all, 0xff, sizeof all);
    sched_setaffinity(0, sizeof all, &all);
    std::mt19937 random(seed_);
    std::array<IpAddress, kAsked> asked;
    std::array<std::uint64_t, kAsked> values;
    while (!done_) {
      for (std::size_t i = 0; i < kAsked; ++i) asked[i] = random_prefix(random, i % 2).address;
      trie_.lookup(reinterpret_cast<const std::uint8_t(*)[16]>(asked.data()), values.data(), kAsked);
      for (std::size_t i = 0; i < kAsked; ++i) strange_ += values[i] == 0 || values[i] % 2 != i % 2;
      ++turns_;
    }
  }

  const PrefixTrie6& trie_;
  const unsigned seed_;
  std::uint64_t strange_ = 0;
  std::atomic<bool> done_{false};
  std::atomic<std::uint64_t> turns_{0};
  std::thread thread_;
};

// Each half is all below a /24 that never goes: no answer is none, nor one of the other half.
TEST(PrefixTrie6Reader, NeverStandsInMemoryThatIsUsedAgain) {
  PrefixTrie6 trie(3000);
  std::mt19937 random(1);
  for (unsigned half : {0u, 1u})
    ASSERT_TRUE(trie.add(prefix(half == 0 ? "2001::/24" : "2001:1000::/24"), 2 + half));
  std::array<Reader, 2> readers{Reader(trie, 2), Reader(trie, 3)};
  int quiesced = 0;
  trie.set_quiesce([&] {
    ++quiesced;
    for (const Reader& r : readers) r.wait();
  });
  std::array<std::vector<Prefix>, 2> there;
  for (int i = 0; i < 30'000; ++i) {
    const auto half = static_cast<unsigned>(random() % 2);
    auto& routes = there[half];
    const bool grows = i % 6000 < 3000;
    if (routes.empty() || random() % 4 < (grows ? 3u : 1u)) {
      routes.push_back(random_prefix(random, half));
      trie.add(routes.back(), random_value(random, half));
    } else {
      const std::size_t at = random() % routes.size();
      trie.remove(routes[at]);
      routes[at] = routes.back();
      routes.pop_back();
    }
  }
  for (Reader& r : readers) EXPECT_EQ(r.stop(), 0u);
  EXPECT_GT(quiesced, 20) << "memory was used again";
}

}  // namespace
}  // namespace surety
