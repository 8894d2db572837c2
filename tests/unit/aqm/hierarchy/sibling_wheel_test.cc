// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/hierarchy/sibling_wheel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "conditioners/rng.h"

namespace surety {
namespace {

// Children that are nothing else.
struct Family {
  explicit Family(const std::vector<std::uint32_t>& weights)
      : wheel(Plane::data, arena), sent(weights.size()) {
    for (const std::uint32_t w : weights) {
      lines.push_back(arena.take(2));
      new (arena.address(lines.back())) ShareNode;
      params.emplace_back(PortShaperParams{}, w);
      all.include(params.back().weight());
    }
  }
  std::size_t front() {
    const LineNumber line = wheel.front();
    return static_cast<std::size_t>(std::ranges::find(lines, line) - lines.begin());
  }
  std::uint64_t tag_after(std::size_t child, std::uint32_t bytes) {
    const ShareNode& node = arena.at<ShareNode>(lines[child]);
    sent[child] += bytes;
    return node.turns[index(Plane::data)].tag +
           (bytes * SiblingWheel::price(params[child].inverse(), all) >> SiblingWheel::kPriceShift);
  }
  LineArena arena{4000};
  SiblingWheel wheel;
  SiblingWeights all;
  std::vector<LineNumber> lines;
  std::vector<ShareParams> params;
  std::vector<std::uint64_t> sent;
};

// Any children come and go; those that stay are served as the header promises.
TEST(SiblingWheel, KeepsItsGuaranteeWhoeverComesAndGoes) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Rng rng(seed);
    std::vector<std::uint32_t> weights;
    const std::uint32_t widest = seed % 4 == 0 ? 10'000 : 10;
    for (std::uint32_t n = 2 + rng.next() % 30; n > 0; --n) weights.push_back(1 + rng.next() % widest);
    Family f(weights);
    std::vector<bool> in(weights.size());
    in[0] = in[1] = true;
    f.wheel.insert(f.lines[0]);
    f.wheel.insert(f.lines[1]);
    const double reference = static_cast<double>(f.all.reference());
    const double bound = 2 * SiblingWheel::kRound / reference + 9000.0 / weights[0] + 9000.0 / weights[1];
    double lead = 0, least = 0, most = 0;
    for (int step = 0; step < 5000; ++step) {
      const std::size_t other = 2 + rng.next() % weights.size();
      if (other < weights.size() && !in[other] && rng.next() % 4 == 0) {
        f.wheel.insert(f.lines[other]);
        in[other] = true;
      }
      const std::size_t child = f.front();
      ASSERT_TRUE(in[child]);
      const std::uint32_t bytes = 64 + rng.next() % 8937;
      const std::uint64_t tag = f.tag_after(child, bytes);
      if (child > 1 && rng.next() % 3 == 0) {
        f.wheel.dismiss(f.lines[child], tag);
        in[child] = false;
      } else {
        f.wheel.keep(f.lines[child], tag);
      }
      if (child > 1) continue;
      lead += (child == 0 ? 1.0 : -1.0) * bytes / weights[child];
      least = std::min(least, lead);
      most = std::max(most, lead);
    }
    EXPECT_LE(most - least, bound * 1.0001) << seed;
    EXPECT_GT(f.sent[0] + f.sent[1], 0u);
  }
}

TEST(SiblingWheel, TakesOutAnybody) {
  Family f({1, 1, 1, 1});
  for (const LineNumber line : f.lines) f.wheel.insert(line);
  f.wheel.remove(f.lines[1]);
  f.wheel.remove(f.lines[3]);
  EXPECT_EQ(f.front(), 0u);
  f.wheel.remove(f.lines[0]);
  EXPECT_EQ(f.front(), 2u);
  f.wheel.insert(f.lines[1]);
  f.wheel.remove(f.lines[2]);
  EXPECT_EQ(f.front(), 1u);
  f.wheel.remove(f.lines[1]);
  EXPECT_TRUE(f.wheel.empty());
}

// It may run far ahead while there is nobody else; that is not held against it.
TEST(SiblingWheel, OneThatIsAloneHasNothingToPay) {
  Family f({1, 1});
  f.wheel.insert(f.lines[0]);
  for (int i = 0; i < 1000; ++i) f.wheel.keep(f.lines[f.front()], f.tag_after(0, 60'000));
  f.wheel.insert(f.lines[1]);
  std::array<int, 2> seen{};
  for (int i = 0; i < 100; ++i) {
    const std::size_t child = f.front();
    ++seen[child];
    f.wheel.keep(f.lines[child], f.tag_after(child, 1500));
  }
  EXPECT_NEAR(seen[0], 50, 2);
}

}  // namespace
}  // namespace surety
