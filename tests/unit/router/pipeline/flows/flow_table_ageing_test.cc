// SPDX-License-Identifier: BSD-3-Clause
// Who leaves the flow table, and when; and all of it against a model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>
#include <unordered_map>

#include "conditioners/rng.h"
#include "tests/unit/router/pipeline/flows/flow_table_bed.h"

namespace surety {
namespace {

using namespace literals;
using test::Table, test::at, test::kTick, test::v4, test::v6;
using testing::ElementsAre;

TEST(FlowTable, IdleForLongerThanTheTimeoutIsGone) {
  Table t(10, 10 * kTick, 1);
  const FlowId a = t.put(v4(1), at(100));
  EXPECT_EQ(t.get(v4(1), at(110)), a);
  EXPECT_EQ(t.get(v4(1), at(111)), kNoFlow);
  EXPECT_THAT(t.look({v4(1)}, at(110)), ElementsAre(a));
  EXPECT_THAT(t.look({v4(1)}, at(111)), ElementsAre(kNoFlow));
  EXPECT_EQ(t.size(), 1u) << "looking changes nothing";
  t.touch(t[a], at(105));
  EXPECT_EQ(t.get(v4(1), at(115)), a);
  EXPECT_EQ(t.get(v4(1), at(116)), kNoFlow);
}

TEST(FlowTable, TheTimeoutIsRoundedUpToATick) {
  Table t(10, 10 * kTick + 1ns, 1);
  const FlowId a = t.put(v4(1), at(100) + kTick - 1ns);
  EXPECT_EQ(t.get(v4(1), at(111) + kTick - 1ns), a);
  EXPECT_EQ(t.get(v4(1), at(112)), kNoFlow);
}

TEST(FlowTable, AnExpiredFlowIsToldOfBeforeItsKeyComesBack) {
  Table t(1, 10 * kTick, 1);
  const FlowId a = t.put(v4(1), at(0));
  t.count(a, Precedence::in, 42);
  std::uint64_t seen = 0;
  const FlowKey key = v4(1);
  const FlowId again =
      t.insert(key, t.hash(key), false, at(11), [&](FlowId id) { seen = t.counters(id).in_bytes; });
  EXPECT_EQ(seen, 42u);
  EXPECT_EQ(again, a);
  EXPECT_EQ(t.counters(again).in_bytes, 0u);
  EXPECT_EQ(t.size(), 1u);
}

TEST(FlowTable, ASharedRecordLivesTwiceAsLong) {
  Table t(10, 10 * kTick, 1);
  const FlowId s = t.put(v4(1), at(0), true);
  EXPECT_EQ(t.get(v4(1), at(20)), s);
  EXPECT_EQ(t.get(v4(1), at(21)), kNoFlow);
  t.sweep(at(20), 10);
  EXPECT_THAT(t.removed, ElementsAre());
  t.sweep(at(21), 10);
  EXPECT_THAT(t.removed, ElementsAre(s));
}

TEST(FlowTable, AStickyRecordStays) {
  Table t(10, 10 * kTick, 1);
  const FlowId a = t.put(v4(1));
  t[a].flags |= FlowRecord::sticky;
  t.sweep(at(1000), 10);
  EXPECT_EQ(t.get(v4(1), at(1000)), a);
  EXPECT_THAT(t.look({v4(1)}, at(1000)), ElementsAre(a));
  t[a].flags &= static_cast<std::uint8_t>(~FlowRecord::sticky);
  t.sweep(at(1000), 10);
  EXPECT_THAT(t.removed, ElementsAre(a));
}

// A tick has 16 bits.
TEST(FlowTable, TicksWrap) {
  constexpr std::int64_t wrap = std::int64_t{1} << 16;
  Table t(10, 10 * kTick, 1);
  const FlowId a = t.put(v4(1), at(wrap - 5));
  EXPECT_EQ(t.get(v4(1), at(wrap + 5)), a);
  EXPECT_EQ(t.get(v4(1), at(wrap + 6)), kNoFlow);
  EXPECT_EQ(t.get(v4(1), at(wrap - 6)), a) << "a packet stamped before the last one";
}

TEST(FlowTable, LongTimeoutsHaveLongTicks) {
  Table t(10, 30s, 1);  // 2^23 ns
  const FlowId a = t.put(v4(1), Time(1h));
  EXPECT_EQ(t.get(v4(1), Time(1h + 30s)), a);
  EXPECT_EQ(t.get(v4(1), Time(1h + 30s + 17ms)), kNoFlow);
  EXPECT_NEAR(seconds(t.idle(a, Time(1h + 20s))), 20, 0.0084);
  Table longest(10, Duration::max(), 1);
  longest.put(v4(1), Time(0s));
  EXPECT_NE(longest.get(v4(1), Time(24h * 13)), kNoFlow);
  EXPECT_EQ(longest.get(v4(1), Time(24h * 14)), kNoFlow);
}

// The worker was away until all 16-bit ticks have gone by: what was idle must not look as
// if it had just been seen.
TEST(FlowTable, TimeStandsStillWhileNobodySweeps) {
  constexpr std::int64_t timeout = 4096, away = std::int64_t{1} << 16, round = 8192;
  Table t(100, timeout * kTick, 1);
  const FlowId a = t.put(v4(1), at(0)), s = t.put(v4(2), at(0), true);
  t.sweep(at(0), 1);
  t.sweep(at(away), 1);  // the round has taken 8192 ticks and no more
  EXPECT_EQ(t.get(v4(1), at(away)), kNoFlow);
  EXPECT_EQ(t.get(v4(2), at(away)), s) << "idle for twice the timeout";
  EXPECT_EQ(t.get(v4(2), at(away + 1)), kNoFlow);
  EXPECT_EQ(t.idle(s, at(away)), round * kTick);
  t.touch(t[s], at(away));
  EXPECT_EQ(t.get(v4(2), at(away + round)), s);
  for (int i = 0; i < 4; ++i) t.sweep(at(away), 25);
  EXPECT_THAT(t.removed, ElementsAre(a));
}

TEST(FlowTable, AnEmptyTableHasNothingToKeepUpWith) {
  Table t(100, 10 * kTick, 1);
  t.sweep(at(0), 10);
  t.sweep(at(1'000'000), 10);
  const FlowId a = t.put(v4(1), at(1'000'000));
  EXPECT_EQ(t.get(v4(1), at(1'000'010)), a);
  EXPECT_EQ(t.get(v4(1), at(1'000'011)), kNoFlow);
}

TEST(FlowTable, AgeingLooksAtSoManyRecordsAndSweepsRound) {
  Table t(100, 10 * kTick, 1);
  for (std::uint32_t i = 0; i < 100; ++i) t.put(v4(i));
  for (int i = 0; i < 4; ++i) t.sweep(at(11), 25);
  EXPECT_EQ(std::set<FlowId>(t.removed.begin(), t.removed.end()).size(), 100u);
  EXPECT_EQ(t.size(), 0u);
  for (std::uint32_t i = 0; i < 100; ++i) t.put(v4(i), at(11));
  t.sweep(at(22), 30);
  EXPECT_EQ(t.size(), 70u);
}

TEST(FlowTable, OneSliceRemovesABatchAtMost) {
  Table t(1000, 10 * kTick, 1);
  for (std::uint32_t i = 0; i < 1000; ++i) t.put(v4(i));
  EXPECT_EQ(t.sweep(at(11), 1000), FlowTable::kRemovals) << "full at the 64th record";
  EXPECT_EQ(t.size(), 1000 - FlowTable::kRemovals);
  EXPECT_EQ(t.sweep(at(11), 10), 10u);
  EXPECT_EQ(t.sweep(at(5), 1000), 1000u) << "once round is enough";
}

// --- of one packet only ---

TEST(FlowTable, AFlowIsEmbryonicUntilItsSecondPacket) {
  Table t(10, 10 * kTick, 1, 3 * kTick);
  const FlowId a = t.put(v4(1), at(100)), s = t.put(v4(2), at(100), true);
  EXPECT_EQ(t.get(v4(1), at(103)), a);
  EXPECT_EQ(t.get(v4(1), at(104)), kNoFlow);
  EXPECT_THAT(t.look({v4(1)}, at(104)), ElementsAre(kNoFlow));
  EXPECT_EQ(t.get(v4(2), at(106)), s) << "twice as long, as it is a contract's";
  EXPECT_EQ(t.get(v4(2), at(107)), kNoFlow);
  t.touch(t[a], at(102));
  EXPECT_EQ(t.get(v4(1), at(112)), a);
  EXPECT_EQ(t.get(v4(1), at(113)), kNoFlow);
}

TEST(FlowTable, NoFlowIsEmbryonicForLongerThanTheTimeout) {
  Table t(10, 3 * kTick, 1, 10 * kTick);
  const FlowId a = t.put(v4(1), at(100));
  EXPECT_EQ(t.get(v4(1), at(103)), a);
  EXPECT_EQ(t.get(v4(1), at(104)), kNoFlow);
}

TEST(FlowTable, EmbryonicFlowsGoInTheOrderTheyCame) {
  Table t(10, 10 * kTick, 1, 3 * kTick);
  const FlowId a = t.put(v4(1), at(0)), b = t.put(v4(2), at(1)), c = t.put(v4(3), at(1)),
               d = t.put(v4(4), at(2));
  t.touch(t[b], at(2));
  t.sweep_embryonic(at(3));
  EXPECT_THAT(t.removed, ElementsAre());
  t.sweep_embryonic(at(4));
  EXPECT_THAT(t.removed, ElementsAre(a));
  t.sweep_embryonic(at(5));
  EXPECT_THAT(t.removed, ElementsAre(a, c));
  t.sweep_embryonic(at(6));
  EXPECT_THAT(t.removed, ElementsAre(a, c, d));
  EXPECT_EQ(t.get(v4(2), at(12)), b);
  EXPECT_EQ(t.size(), 1u);
}

TEST(FlowTable, AnEmbryonicContractDoesNotHoldUpTheFlowsBehindIt) {
  Table t(10, 10 * kTick, 1, 3 * kTick);
  const FlowId s = t.put(v4(1), at(0), true), a = t.put(v4(2), at(0)), b = t.put(v4(3), at(4));
  t.sweep_embryonic(at(4));
  EXPECT_THAT(t.removed, ElementsAre(a));
  t.sweep_embryonic(at(6));
  EXPECT_THAT(t.removed, ElementsAre(a));
  t.sweep_embryonic(at(8));
  EXPECT_THAT(t.removed, ElementsAre(a, b, s));
}

// It waits for tokens: not to be removed, and not to be waited for.
TEST(FlowTable, AStickyEmbryonicFlowDoesNotHoldUpTheOthers) {
  Table t(10, 10 * kTick, 1, 3 * kTick);
  const FlowId a = t.put(v4(1)), b = t.put(v4(2));
  t[a].flags |= FlowRecord::sticky;
  t.sweep_embryonic(at(4));
  EXPECT_THAT(t.removed, ElementsAre(b));
  t[a].flags &= static_cast<std::uint8_t>(~FlowRecord::sticky);
  t.sweep(at(4), 10);
  EXPECT_THAT(t.removed, ElementsAre(b, a)) << "the sweep finds it";
}

// Many times round the ring, a batch at a time, with every third flow staying.
TEST(FlowTable, AFloodMakesRoomForItself) {
  Table t(300, 1000 * kTick, 1, 3 * kTick);
  for (std::uint32_t i = 0; i < 100; ++i) t.touch(t[t.put(v4(i))], at(0));
  t.sweep_embryonic(at(0));  // they are embryonic no more
  std::uint32_t next = 1000;
  for (std::int64_t now = 0; now < 400; now += 4) {
    for (int i = 0; i < 200; ++i) ASSERT_NE(t.put(v4(next++), at(now)), kNoFlow);
    ASSERT_EQ(t.put(v4(next), at(now)), kNoFlow);
    for (const std::uint32_t left : {236u, 172u, 108u, 100u, 100u}) {
      t.sweep_embryonic(at(now + 4));
      ASSERT_EQ(t.size(), left);
    }
  }
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_NE(t.get(v4(i), at(400)), kNoFlow);
}

// --- against a model ---

using ModelKey = std::tuple<bool, std::uint64_t, std::uint64_t, std::uint8_t>;
ModelKey model_key(const FlowKey& k) {
  return {k.v6, k.address[0], k.address[1], k.dscp};
}
struct ModelKeyHash {
  std::size_t operator()(const ModelKey& k) const {
    return std::hash<std::uint64_t>{}(std::get<1>(k) + std::get<2>(k));
  }
};
struct ModelFlow {
  FlowId id;
  std::int64_t seen;
  bool shared, sticky, embryonic;
};
constexpr std::int64_t kTimeout = 50, kEmbryonic = 20;
bool idle(const ModelFlow& f, std::int64_t now) {
  return !f.sticky && now - f.seen > (f.embryonic ? kEmbryonic : kTimeout) * (f.shared ? 2 : 1);
}

class Model : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Model, RandomLife) {
  Rng rng(GetParam());
  constexpr std::uint32_t capacity = 120;
  Table t(capacity, kTimeout * kTick, GetParam(), kEmbryonic * kTick);
  std::unordered_map<ModelKey, ModelFlow, ModelKeyHash> model;
  std::int64_t now = (std::int64_t{1} << 32) - 2000;  // over the wrap
  const auto any_key = [&] {
    const std::uint32_t n = rng.next() % 60;
    const auto dscp = static_cast<std::uint8_t>(rng.next() % 2);
    return rng.next() % 2 != 0 ? v6(n, 1, dscp) : v4(n, 1, 0, dscp);
  };
  const auto alive = [&](const FlowKey& k) {
    const auto it = model.find(model_key(k));
    return it == model.end() || idle(it->second, now) ? kNoFlow : it->second.id;
  };
  const auto forget = [&](FlowId id) {
    const auto it = model.find(model_key(t.key(id)));
    ASSERT_NE(it, model.end());
    EXPECT_EQ(it->second.id, id);
    EXPECT_TRUE(idle(it->second, now));
    model.erase(it);
  };
  for (int step = 0; step < 20'000; ++step) {
    now += rng.next() % 3 == 0;
    const FlowKey k = any_key();
    const auto it = model.find(model_key(k));
    switch (rng.next() % 7) {
      case 0:
      case 1: {  // as the classify stage does
        if (const FlowId id = alive(k); id != kNoFlow) {
          EXPECT_EQ(t.get(k, at(now)), id);
          break;
        }
        const bool shared = rng.next() % 4 == 0;
        const FlowId id = t.insert(k, t.hash(k), shared, at(now), forget);
        EXPECT_EQ(id == kNoFlow, model.size() == capacity);
        if (id != kNoFlow) model[model_key(k)] = {id, now, shared, false, true};
        break;
      }
      case 2: {
        std::vector<FlowKey> keys(rng.next() % (kBurst + 1));
        std::vector<FlowId> expected;
        for (auto& key : keys) key = any_key(), expected.push_back(alive(key));
        EXPECT_EQ(t.look(keys, at(now)), expected);
        break;
      }
      case 3:
        if (it == model.end() || rng.next() % 4 != 0) break;
        t.remove(it->second.id);
        model.erase(it);
        break;
      case 4:
        if (alive(k) == kNoFlow) break;
        t.touch(t[it->second.id], at(now));
        it->second.seen = now;
        it->second.embryonic = false;
        if (rng.next() % 8 == 0) {
          t[it->second.id].flags ^= FlowRecord::sticky;
          it->second.sticky = !it->second.sticky;
        }
        break;
      case 5:
        t.age(at(now), rng.next() % 8, forget);
        break;
      case 6:
        t.age_embryonic(at(now), forget);
        break;
    }
    ASSERT_EQ(t.size(), model.size());
  }
  now += 10 * kTimeout;
  for (int i = 0; i < 3; ++i) t.age(at(now), capacity, forget);
  for (const auto& [key, flow] : model) EXPECT_TRUE(flow.sticky);
}
INSTANTIATE_TEST_SUITE_P(Seeds, Model, testing::Range<std::uint64_t>(1, 9));

// --- mark()

TEST(FlowTableMark, GivesFlowsButNoContractsTheFlagASliceAtATime) {
  Table t(100, 10s, 1);
  EXPECT_FALSE(t.marking());
  std::vector<FlowId> flows, contracts;
  for (std::uint32_t k = 0; k < 60; ++k)
    (k % 3 == 0 ? contracts : flows).push_back(t.put(v4(k), at(0), k % 3 == 0));
  const auto stale = [&](const std::vector<FlowId>& ids) {
    return std::ranges::count_if(ids, [&](FlowId id) { return (t[id].flags & FlowRecord::stale) != 0; });
  };
  t.begin_marking();
  EXPECT_TRUE(t.marking());
  EXPECT_EQ(stale(flows), 0);
  t.mark(30, 1000);
  EXPECT_EQ(stale(flows), 20);
  t.mark(30, 1000);
  t.mark(39, 1000);
  EXPECT_TRUE(t.marking());
  t.mark(30, 1000);
  EXPECT_FALSE(t.marking());
  EXPECT_EQ(stale(flows), 40);
  EXPECT_EQ(stale(contracts), 0);
  for (std::uint32_t k = 0; k < 60; ++k) EXPECT_NE(t.get(v4(k)), kNoFlow) << "found as before";
}

TEST(FlowTableMark, BeginsAnewAtAnyTime) {
  Table t(100, 10s, 1);
  const FlowId first = t.put(v4(1));
  t.begin_marking();
  t.mark(50, 1000);
  t[first].flags &= static_cast<std::uint8_t>(~FlowRecord::stale);
  t.begin_marking();
  t.mark(50, 1000);
  EXPECT_NE(t[first].flags & FlowRecord::stale, 0);
  EXPECT_TRUE(t.marking());
  t.mark(50, 1000);
  EXPECT_FALSE(t.marking());
}

TEST(FlowTableMark, AnEmptyTableIsMarkedAtOnceAndARecordUsedAgainIsNotStale) {
  Table t(100, 10s, 1);
  t.begin_marking();
  t.mark(1, 1000);
  EXPECT_FALSE(t.marking());
  const FlowId id = t.put(v4(1));
  t.begin_marking();
  t.mark(100, 1000);
  t.remove(id);
  const FlowId again = t.put(v4(2));
  EXPECT_EQ(again, id);
  EXPECT_EQ(t[again].flags & FlowRecord::stale, 0);
}

TEST(FlowTableMark, StopsAtSoManyFlows) {
  Table t(100, 10s, 1);
  for (std::uint32_t k = 0; k < 20; ++k) t.put(v4(k));
  t.begin_marking();
  const auto marked = [&] {
    std::uint32_t n = 0;
    for (FlowId id = 0; id < t.capacity(); ++id) n += (t[id].flags & FlowRecord::stale) != 0;
    return n;
  };
  for (std::uint32_t calls = 1; calls <= 2; ++calls) {
    t.mark(1000, 8);
    EXPECT_EQ(marked(), 8 * calls);
    EXPECT_TRUE(t.marking());
  }
  t.mark(1000, 8);
  EXPECT_EQ(marked(), 20u);
  EXPECT_FALSE(t.marking());
}

}  // namespace
}  // namespace surety
