// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/listener.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <random>

namespace surety {
namespace {

TEST(ConnectionParts, OneTooManyCostsTheOldestOfWhoHasTheMost) {
  ConnectionParts parts(4, 1);
  int next = 0;
  EXPECT_FALSE(parts.opened(next++, "scraper"));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(parts.opened(next++, "attacker"));
  for (int i = 1; i < 1000; ++i) EXPECT_EQ(parts.opened(next++, "attacker"), i);
  EXPECT_EQ(parts.opened(next++, "scraper"), 1000) << "there is room for him";
}

TEST(ConnectionParts, OneAddressAloneLosesItsOldest) {
  ConnectionParts parts(2, 1);
  EXPECT_FALSE(parts.opened(7, "a"));
  EXPECT_FALSE(parts.opened(8, "a"));
  EXPECT_EQ(parts.opened(9, "a"), 7);
}

TEST(ConnectionParts, AClosedOneMakesRoom) {
  ConnectionParts parts(2, 1);
  EXPECT_FALSE(parts.opened(7, "a"));
  EXPECT_FALSE(parts.opened(8, "a"));
  parts.closed(8);
  EXPECT_FALSE(parts.opened(8, "a")) << "the number is used again";
  EXPECT_EQ(parts.opened(9, "b"), 7);
}

// Among addresses with one connection each, all lose equally often, whatever their value and order of
// arrival.
TEST(ConnectionParts, AmongEqualPartsNoAddressIsFavoured) {
  constexpr int kAddresses = 65, kRounds = 200;  // one address more than there are connections
  std::array<int, kAddresses> lost_by_address{}, lost_by_turn{};
  std::array<int, kAddresses> turns{};
  std::iota(turns.begin(), turns.end(), 0);
  std::mt19937 order(1);
  for (int seed = 0; seed < kRounds * kAddresses; ++seed) {
    std::ranges::shuffle(turns, order);
    ConnectionParts parts(kAddresses - 1, static_cast<std::uint64_t>(seed));
    std::optional<int> victim;
    for (const int address : turns)
      victim = parts.opened(address, {10, 0, 0, static_cast<char>(address + 1)});
    ASSERT_TRUE(victim);
    ++lost_by_address[static_cast<std::size_t>(*victim)];
    ++lost_by_turn[static_cast<std::size_t>(std::ranges::find(turns, *victim) - turns.begin())];
  }
  constexpr double kSpread = 5 * 14.1;  // five standard deviations of 200
  for (int i = 0; i < kAddresses; ++i) {
    EXPECT_NEAR(lost_by_address[static_cast<std::size_t>(i)], kRounds, kSpread) << i;
    EXPECT_NEAR(lost_by_turn[static_cast<std::size_t>(i)], kRounds, kSpread) << i;
  }
}

// Sixty-four addresses of an attacker come again and again, one connection of each; the scraper's is the
// lowest address, and it reads during two of the attacker's connections.
TEST(ConnectionParts, AScraperReadsBesideManyAddressesWithOneConnectionEach) {
  ConnectionParts parts(64, 7);
  int next = 0;
  const auto attack = [&](int n) {
    bool scraper_lost = false;
    for (int i = 0; i < n; ++i, ++next)
      scraper_lost |= parts.opened(next, {20, 0, 0, static_cast<char>(next % 64)}) == -1;
    return scraper_lost;
  };
  attack(1000);
  int scraped = 0;
  for (int i = 0; i < 30; ++i) {
    const auto victim = parts.opened(-1, {10, 0, 0, 1});
    scraped += victim != -1 && !attack(2);
    parts.closed(-1);
    attack(100);
  }
  EXPECT_GE(scraped, 25);
}

}  // namespace
}  // namespace surety
