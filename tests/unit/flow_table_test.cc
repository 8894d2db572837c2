#include "router/flow_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "conditioners/rng.h"

namespace surety {
namespace {

using namespace literals;
using testing::ElementsAre;

constexpr Duration kTick{1 << 20};
constexpr Time at(std::int64_t ticks) {
  return Time(kTick * ticks);
}

FlowKey v4(std::uint32_t source, std::uint32_t destination = 1, std::uint32_t ports = 0,
           std::uint8_t dscp = 0) {
  FlowKey k;
  k.rest = std::uint64_t{2} << 61 | ports;
  k.address[0] = source | std::uint64_t{destination} << 32;
  k.dscp = dscp;
  return k;
}
FlowKey v6(std::uint64_t source, std::uint64_t destination = 1, std::uint8_t dscp = 0) {
  FlowKey k;
  k.rest = std::uint64_t{2} << 61;
  k.address = {0xb80d0120, source, 0xb80d0120, destination};
  k.dscp = dscp;
  k.v6 = true;
  return k;
}

struct Table : FlowTable {
  using FlowTable::FlowTable;
  std::vector<FlowId> removed;
  FlowId put(const FlowKey& k, Time now = at(0), bool shared = false) {
    return insert(k, hash(k), shared, now, [this](FlowId id) { removed.push_back(id); });
  }
  FlowId get(const FlowKey& k, Time now = at(0)) const { return find(k, hash(k), now); }
  std::vector<FlowId> look(const std::vector<FlowKey>& keys, Time now = at(0)) const {
    std::vector<const FlowKey*> p;
    std::vector<std::uint64_t> hashes;
    for (const auto& k : keys) p.push_back(&k), hashes.push_back(hash(k));
    std::vector<FlowId> ids(keys.size(), 12345);
    lookup(p, hashes, ids, now);
    return ids;
  }
  void sweep(Time now, std::uint32_t records) {
    age(now, records, [this](FlowId id) { removed.push_back(id); });
  }
};

TEST(FlowTable, FindsWhatWasInsertedAndNothingElse) {
  Table t(100, 10s, 1);
  const FlowId a = t.put(v4(1)), b = t.put(v6(1));
  EXPECT_NE(a, b);
  EXPECT_EQ(t.size(), 2u);
  EXPECT_THAT(t.look({v4(1), v4(2), v6(1), v6(2)}), ElementsAre(a, kNoFlow, b, kNoFlow));
  EXPECT_EQ(t.key(a), v4(1));
  EXPECT_EQ(t.key(b), v6(1));
}

TEST(FlowTable, EveryPartOfTheKeyCounts) {
  Table t(100, 10s, 1);
  for (const FlowKey& base : {v4(7, 8, 9, 10), v6(7, 8, 10)}) {
    const FlowId id = t.put(base);
    for (int bit = 0; bit < 64; ++bit) {
      FlowKey k = base;
      k.rest ^= std::uint64_t{1} << bit;
      EXPECT_EQ(t.get(k), kNoFlow) << bit;
      for (std::size_t word = 0; word < (base.v6 ? 4u : 1u); ++word) {
        k = base;
        k.address[word] ^= std::uint64_t{1} << bit;
        EXPECT_EQ(t.get(k), kNoFlow) << word << ' ' << bit;
      }
    }
    FlowKey k = base;
    k.dscp = 11;
    EXPECT_EQ(t.get(k), kNoFlow);
    EXPECT_EQ(t.get(base), id);
  }
}

// The hash is the caller's word: the comparison must not rely on it.
TEST(FlowTable, EqualHashesDoNotMakeEqualFlows) {
  Table t(100, 10s, 1);
  const FlowId a = t.put(v4(1)), b = t.put(v6(1));
  EXPECT_EQ(t.find(v4(2), t.hash(v4(1)), at(0)), kNoFlow);
  EXPECT_EQ(t.find(v6(2), t.hash(v6(1)), at(0)), kNoFlow);
  const FlowKey strangers[] = {v4(2), v6(2)};
  const FlowKey* const keys[] = {&strangers[0], &strangers[1]};
  const std::uint64_t hashes[] = {t.hash(v4(1)), t.hash(v6(1))};
  FlowId ids[] = {a, b};
  t.lookup(keys, hashes, ids, at(0));
  EXPECT_THAT(ids, ElementsAre(kNoFlow, kNoFlow));
}

TEST(FlowTable, ARecordStartsClean) {
  Table t(1, 10s, 1);
  const FlowId a = t.put(v4(1));
  t[a].service = 3;
  t[a].flags |= FlowRecord::sticky | FlowRecord::redirect;
  t[a].state.meter[0] = 99;
  t.counters(a) = {5, 6};
  t.remove(a);
  EXPECT_EQ(t.size(), 0u);
  ASSERT_EQ(t.put(v4(2), at(77), true), a);
  EXPECT_EQ(t[a].service, 0);
  EXPECT_EQ(t[a].state.meter[0], 0u);
  EXPECT_EQ(t[a].flags, FlowRecord::live | FlowRecord::is_shared);
  EXPECT_EQ(t[a].last_seen, 77u);
  EXPECT_EQ(t.counters(a).in_bytes + t.counters(a).out_bytes, 0u);
}

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
  t.counters(a).in_bytes = 42;
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

// 2^32 ticks are 52 days.
TEST(FlowTable, TicksWrap) {
  constexpr std::int64_t wrap = std::int64_t{1} << 32;
  Table t(10, 10 * kTick, 1);
  const FlowId a = t.put(v4(1), at(wrap - 5));
  EXPECT_EQ(t.get(v4(1), at(wrap + 5)), a);
  EXPECT_EQ(t.get(v4(1), at(wrap + 6)), kNoFlow);
  EXPECT_EQ(t.get(v4(1), at(wrap - 6)), a) << "a packet stamped before the last one";
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

TEST(FlowTable, FillsToTheCeilingAndNotBeyond) {
  for (const std::uint32_t capacity : {0u, 1u, 4u, 5u, 6u, 10u, 11u, 64u, 1000u, 1u << 20}) {
    Table t(capacity, 10s, 99);
    Rng rng(capacity);
    std::vector<FlowKey> keys;
    for (std::uint32_t i = 0; i < capacity; ++i) keys.push_back(v4(i, rng.next(), rng.next()));
    for (std::uint32_t i = 0; i < capacity; ++i)
      ASSERT_NE(t.put(keys[i]), kNoFlow) << i << " of " << capacity;
    EXPECT_EQ(t.put(v4(capacity)), kNoFlow);
    EXPECT_EQ(t.size(), capacity);
    for (std::uint32_t i = 0; i < capacity; ++i) {
      const FlowId id = t.get(keys[i]);
      ASSERT_LT(id, capacity);
      ASSERT_EQ(t.key(id), keys[i]);
    }
    if (capacity == 0) continue;
    t.remove(t.get(keys[0]));
    EXPECT_NE(t.put(v4(capacity)), kNoFlow);
  }
}

TEST(FlowTable, TakesAtMost128BytesPerFlow) {
  for (const std::uint32_t capacity : {4096u, 65536u, 100'000u, 1u << 20}) {
    const FlowTable t(capacity, 10s, 1);
    EXPECT_LE(t.memory_bytes(), std::size_t{capacity} * 128);
    EXPECT_GE(t.memory_bytes(), std::size_t{capacity} * (64 + 32 + 16 + 12));
    EXPECT_EQ(t.buckets(), (capacity + 4) / 5);
  }
}

// Keys that stand in these two buckets and no others.
std::vector<FlowKey> keys_of(const FlowTable& t, std::set<std::uint32_t> pair, std::size_t count,
                             std::uint32_t salt) {
  std::vector<FlowKey> keys;
  for (std::uint32_t i = 0; keys.size() < count; ++i) {
    const FlowKey k = v4(i, salt);
    const FlowChoice c = FlowChoice::of(t.hash(k), t.buckets());
    if (std::set{c.first, c.second} == pair) keys.push_back(k);
  }
  return keys;
}

TEST(FlowTable, TwoBucketsHoldTwentyFlows) {
  Table t(100, 10s, 1);
  const auto keys = keys_of(t, {3, 7}, 21, 1);
  std::vector<FlowId> ids;
  for (std::size_t i = 0; i < 20; ++i) ids.push_back(t.put(keys[i]));
  EXPECT_EQ(t.put(keys[20]), kNoFlow);
  EXPECT_EQ(t.look({keys.begin(), keys.begin() + 20}), ids);
  t.remove(ids[11]);
  EXPECT_EQ(t.put(keys[20]), ids[11]);
  EXPECT_EQ(t.get(keys[11]), kNoFlow);
  EXPECT_EQ(t.get(keys[20]), ids[11]);
}

TEST(FlowTable, EntriesMoveToMakeRoomAndFlowIdsDoNot) {
  Table t(100, 10s, 1);
  std::map<FlowId, FlowKey> all;
  const auto put = [&](std::set<std::uint32_t> pair, std::size_t count, std::uint32_t salt) {
    for (const auto& k : keys_of(t, pair, count, salt)) {
      const FlowId id = t.put(k);
      ASSERT_NE(id, kNoFlow);
      all[id] = k;
    }
  };
  put({0, 1}, 19, 1);
  put({1, 2}, 1, 2);   // 0 and 1 are full, one of theirs could go to 2
  put({2, 3}, 10, 3);  // 2 fills up (3 where that is their first choice)
  put({2, 3}, 9, 4);   // 2 and 3: one place left between them
  put({0, 1}, 1, 5);   // there: one step (1 -> 2) or two (2 -> 3, 1 -> 2)
  EXPECT_EQ(t.size(), 40u);
  for (const auto& [id, key] : all) EXPECT_EQ(t.get(key), id);
  EXPECT_EQ(t.put(keys_of(t, {0, 1}, 20, 6).back()), kNoFlow) << "four full buckets, closed among themselves";
  for (const auto& [id, key] : all) t.remove(id);
  for (const auto& [id, key] : all) EXPECT_EQ(t.get(key), kNoFlow);
  EXPECT_EQ(t.size(), 0u);
}

TEST(FlowTable, AVectorOf64OfEveryKind) {
  Table t(60, 10s, 5);
  std::vector<FlowKey> keys;
  std::vector<FlowId> expected;
  for (std::uint32_t i = 0; i < kVector; ++i) {
    keys.push_back(i % 3 == 0 ? v6(i) : v4(i, 1, i, static_cast<std::uint8_t>(i)));
    expected.push_back(i % 4 == 0 ? kNoFlow : t.put(keys.back()));
  }
  EXPECT_EQ(t.look(keys), expected);
  EXPECT_EQ(t.look({}), std::vector<FlowId>{});
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
  bool shared, sticky;
};
constexpr std::int64_t kTimeout = 50;
bool idle(const ModelFlow& f, std::int64_t now) {
  return !f.sticky && now - f.seen > kTimeout * (f.shared ? 2 : 1);
}

class Model : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Model, RandomLife) {
  Rng rng(GetParam());
  constexpr std::uint32_t capacity = 120;
  Table t(capacity, kTimeout * kTick, GetParam());
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
    switch (rng.next() % 6) {
      case 0:
      case 1: {  // as the classify stage does
        if (const FlowId id = alive(k); id != kNoFlow) {
          EXPECT_EQ(t.get(k, at(now)), id);
          break;
        }
        const bool shared = rng.next() % 4 == 0;
        const FlowId id = t.insert(k, t.hash(k), shared, at(now), forget);
        EXPECT_EQ(id == kNoFlow, model.size() == capacity);
        if (id != kNoFlow) model[model_key(k)] = {id, now, shared, false};
        break;
      }
      case 2: {
        std::vector<FlowKey> keys(rng.next() % (kVector + 1));
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
        if (rng.next() % 8 == 0) {
          t[it->second.id].flags ^= FlowRecord::sticky;
          it->second.sticky = !it->second.sticky;
        }
        break;
      case 5:
        t.age(at(now), rng.next() % 8, forget);
        break;
    }
    ASSERT_EQ(t.size(), model.size());
  }
  now += 10 * kTimeout;
  t.age(at(now), capacity, forget);
  for (const auto& [key, flow] : model) EXPECT_TRUE(flow.sticky);
}
INSTANTIATE_TEST_SUITE_P(Seeds, Model, testing::Range<std::uint64_t>(1, 9));

// --- the hash ---

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

// Addresses that count up, as customers' do, must fill buckets as random ones would: Poisson, whatever the
// pattern.
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
