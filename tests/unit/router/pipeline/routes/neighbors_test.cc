// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/neighbors.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include <array>

namespace surety {
namespace {

using State = NextHopEntry::State;

TEST(NextHopTable, StartsWithTheFixedEntries) {
  const NextHopTable table(16);
  EXPECT_EQ(table.capacity(), 16U);
  EXPECT_EQ(table.get(kNextHopNone).state, State::no_route);
  EXPECT_EQ(table.get(kNextHopBlackhole).state, State::blackhole);
  EXPECT_EQ(table.get(kNextHopLocal).state, State::local);
  EXPECT_EQ(table.get(kNextHopUnreachable).state, State::unreachable);
  EXPECT_EQ(table.get(kNextHopProhibited).state, State::prohibited);
  EXPECT_EQ(table.get(kNextHopForeign).state, State::local);
  for (std::uint32_t id = kNextHopsFixed; id < 16; ++id) EXPECT_EQ(table.get(id).state, State::no_route);
}

TEST(NextHopTable, GivesBackWhatWasSet) {
  NextHopTable table(16);
  table.set(15, {{{2, 3, 4, 5, 6, 7}}, 31, State::ready});
  const NextHopEntry e = table.get(15);
  EXPECT_EQ(e.destination, (MacAddress{{2, 3, 4, 5, 6, 7}}));
  EXPECT_EQ(e.port, 31);
  EXPECT_EQ(e.state, State::ready);
  EXPECT_EQ(table.get(14).state, State::no_route);
  table.set(15, {.port = 31, .state = State::ready, .interface = 40});
  EXPECT_EQ(table.get(15).interface, 40) << "of a host known by its address, which has no tags";
}

TEST(NextHopTable, AWordIsTheWholeEntry) {
  NextHopTable table(16);
  table.set(15, {{{2, 3, 4, 5, 6, 7}}, 31, State::ready});
  const NextHopWord word = table.word(15);
  EXPECT_TRUE(word.ready());
  EXPECT_EQ(word.port(), 31);
  EXPECT_EQ(word.bits() & 0xffffffffffff, 0x070605040302U);
  EXPECT_EQ(word.entry(0, {}).destination, table.get(15).destination);
  for (const State state : {State::no_route, State::blackhole, State::local, State::glean, State::unresolved,
                            State::waiting, State::opening}) {
    table.set(15, {{{2, 3, 4, 5, 6, 7}}, 31, state});
    EXPECT_FALSE(table.word(15).ready());
    EXPECT_EQ(table.word(15).state(), state);
  }
}

// A reader must never see the one's station with the other's tags.
TEST(NextHopTable, AnEntryIsReplacedWithItsInterfaceInOnePiece) {
  NextHopTable table(16);
  const NextHopEntry one{{{2, 0, 0, 0, 0, 1}}, 3, State::ready, 1001, VlanTags(kCustomerTag, 1, 1)},
      other{{{2, 0, 0, 0, 0, 2}}, 4, State::ready, 2002, VlanTags(kServiceTag, 2, 0)};
  table.set(15, one);
  std::atomic<bool> stop{false};
  std::jthread writer([&] {
    while (!stop)
      for (const auto& e : {other, one}) table.set(15, e);
  });
  for (int n = 0; n < 200'000; ++n) {
    const NextHopEntry e = table.get(15);
    ASSERT_TRUE(e == one || e == other) << e.interface << " " << int{e.destination[5]};
  }
  stop = true;
}

TEST(NextHopTable, AnInterfaceIsAPortUnlessItHasTags) {
  NextHopTable table(16);
  table.set(15, {{{2, 3, 4, 5, 6, 7}}, 31, State::ready});
  EXPECT_EQ(table.get(15).interface, 31);
  EXPECT_FALSE(table.word(15).tagged());
  table.set(15, {{{2, 3, 4, 5, 6, 7}}, 31, State::ready, 65000, VlanTags(kServiceTag, 4094, 4000)});
  EXPECT_EQ(table.get(15).interface, 65000);
  EXPECT_EQ(table.get(15).tags, VlanTags(kServiceTag, 4094, 4000));
  EXPECT_TRUE(table.word(15).tagged());
  EXPECT_TRUE(table.word(15).ready());
  EXPECT_EQ(table.word(15).port(), 31);
}

TEST(NextHopTable, SelectSharesTheHashesEvenly) {
  EXPECT_EQ(NextHopTable::select({7, 1}, 0), 7U);
  EXPECT_EQ(NextHopTable::select({7, 1}, 0xffffffff), 7U);
  EXPECT_EQ(NextHopTable::select({7, 64}, 0xffffffff), 70U);
  std::array<int, 3> times{};
  for (std::uint64_t hash = 0; hash < 1ULL << 32; hash += (1ULL << 32) / 300)
    ++times[NextHopTable::select({10, 3}, static_cast<std::uint32_t>(hash)) - 10];
  EXPECT_EQ(times[0], 101);  // 301 steps: the division is not exact
  EXPECT_EQ(times[1], 100);
  EXPECT_EQ(times[2], 100);
}

constexpr std::uint32_t kFirst = kNextHopsFixed;

TEST(NextHopIds, AreConsecutiveAndBehindTheFixedOnes) {
  NextHopIds ids(kFirst + 13);
  EXPECT_EQ(ids.allocate(1), kFirst);
  EXPECT_EQ(ids.allocate(4), kFirst + 1);
  EXPECT_EQ(ids.allocate(2), kFirst + 5);
  EXPECT_EQ(ids.used(), 7U);
}

TEST(NextHopIds, AReleasedOneComesAgainLast) {
  NextHopIds ids(kFirst + 5);
  EXPECT_EQ(ids.allocate(1), kFirst);
  ids.release(kFirst, 1);
  for (const std::uint32_t expected : {1U, 2U, 3U, 4U, 0U}) EXPECT_EQ(ids.allocate(1), kFirst + expected);
  EXPECT_EQ(ids.allocate(1), std::nullopt);
}

TEST(NextHopIds, FindsABlockAcrossTheCursor) {
  NextHopIds ids(kFirst + 7);
  EXPECT_EQ(ids.allocate(3), kFirst);
  EXPECT_EQ(ids.allocate(2), kFirst + 3);
  EXPECT_EQ(ids.allocate(2), kFirst + 5);
  ids.release(kFirst + 3, 2);
  EXPECT_EQ(ids.allocate(1), kFirst + 3);
  ids.release(kFirst + 3, 1);
  ids.release(kFirst + 5, 2);
  EXPECT_EQ(ids.allocate(4), kFirst + 3);  // begins before the cursor, which stands behind it
}

TEST(NextHopIds, RefusesWhatDoesNotFit) {
  NextHopIds ids(kFirst + 5);
  EXPECT_EQ(ids.allocate(0), std::nullopt);
  EXPECT_EQ(ids.allocate(6), std::nullopt);
  for (int i = 0; i < 5; ++i) ids.allocate(1);
  ids.release(kFirst, 1);
  ids.release(kFirst + 2, 1);
  EXPECT_EQ(ids.allocate(2), std::nullopt) << "two are free, not side by side";
  EXPECT_EQ(ids.used(), 3U);
  EXPECT_EQ(ids.allocate(1), kFirst);
}

TEST(NextHopIds, NoneIsHandedOutTwice) {
  NextHopIds ids(203);
  std::array<bool, 203> taken{};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> blocks;
  std::uint32_t x = 1, used = 0;
  for (int i = 0; i < 20000; ++i) {
    x = x * 1664525 + 1013904223;
    if (x >> 31 && !blocks.empty()) {
      const auto at = blocks.begin() + (x >> 8) % blocks.size();
      for (std::uint32_t k = 0; k < at->second; ++k) taken[at->first + k] = false;
      ids.release(at->first, at->second);
      used -= at->second;
      blocks.erase(at);
    } else if (const std::uint32_t count = 1 + (x >> 8) % 9; const auto first = ids.allocate(count)) {
      ASSERT_GE(*first, 3U);
      for (std::uint32_t k = 0; k < count; ++k) {
        ASSERT_FALSE(taken.at(*first + k));
        taken[*first + k] = true;
      }
      used += count;
      blocks.emplace_back(*first, count);
    }
    ASSERT_EQ(ids.used(), used);
  }
}

}  // namespace
}  // namespace surety
