// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/flows/flow_hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <vector>

#include "conditioners/rng.h"
#include "tests/unit/router/pipeline/flows/flow_table_bed.h"

namespace surety {
namespace {

using test::v4, test::v6;

TEST(FlowHasher, DependsOnItsSeedAndNothingElse) {
  EXPECT_EQ(FlowHasher(1)(v4(1)), FlowHasher(1)(v4(1)));
  EXPECT_NE(FlowHasher(1)(v4(1)), FlowHasher(2)(v4(1)));
  EXPECT_NE(FlowHasher(1)(v6(1)), FlowHasher(2)(v6(1)));
}

// Every bit of the key turns every bit of the hash over with a probability near 1/2.
TEST(FlowHasher, Avalanche) {
  const FlowHasher hash(7);
  Rng rng(7);
  constexpr int trials = 4000;
  for (const bool six : {false, true}) {
    for (int bit = 0; bit < (six ? 320 : 128) + 6; ++bit) {
      std::array<int, 64> turned{};
      for (int n = 0; n < trials; ++n) {
        FlowKey k = six ? v6(rng.next(), rng.next()) : v4(rng.next(), rng.next(), rng.next());
        const std::uint64_t before = hash(k);
        const int word = bit / 64;
        if (bit >= (six ? 320 : 128))
          k.dscp ^= static_cast<std::uint8_t>(1 << (bit & 7));
        else
          (word == 0 ? k.rest : k.address[static_cast<std::size_t>(word - 1)]) ^= std::uint64_t{1}
                                                                                  << (bit % 64);
        for (std::uint64_t d = before ^ hash(k); d != 0; d &= d - 1)
          ++turned[static_cast<std::size_t>(std::countr_zero(d))];
      }
      for (const int count : turned)
        EXPECT_NEAR(count, trials / 2, 6.5 * 31.6) << "v6 " << six << " bit " << bit;
    }
  }
}

// Addresses that count up, as customers' do, must fill buckets as random ones would:
// Poisson, whatever the pattern.
TEST(FlowHasher, SpreadsPatternsEvenly) {
  constexpr std::uint32_t buckets = 4096, flows = 5 * buckets;
  const FlowHasher hash(3);
  const std::function<FlowKey(std::uint32_t)> patterns[] = {
      [](std::uint32_t i) { return v4(i); },
      [](std::uint32_t i) { return v4(i << 12); },
      [](std::uint32_t i) { return v4(1, i << 8); },
      [](std::uint32_t i) { return v4(1, 2, i); },
      [](std::uint32_t i) { return v4(i % 256, i / 256, i); },
      [](std::uint32_t i) { return v6(i); },
      [](std::uint32_t i) { return v6(std::uint64_t{i} << 40, i); },
  };
  for (const auto& pattern : patterns) {
    std::array<std::vector<int>, 3> load{std::vector<int>(buckets), std::vector<int>(buckets),
                                         std::vector<int>(1 << 12)};
    for (std::uint32_t i = 0; i < flows; ++i) {
      const std::uint64_t h = hash(pattern(i));
      const FlowChoice c = FlowChoice::of(h, buckets);
      EXPECT_NE(c.first, c.second);
      ++load[0][c.first];
      ++load[1][c.second];
      ++load[2][FlowChoice::tag(h) >> 4];
    }
    for (const auto& l : load) {
      double chi2 = 0;
      for (const int n : l) chi2 += (n - 5.0) * (n - 5.0) / 5.0;
      EXPECT_NEAR(chi2, buckets - 1, 6 * 90.5) << &pattern - patterns;  // standard deviation sqrt(2 * 4095)
    }
  }
}

}  // namespace
}  // namespace surety
