// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/flows/flow_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "conditioners/rng.h"
#include "tests/unit/router/pipeline/flows/flow_table_bed.h"

namespace surety {
namespace {

using namespace literals;
using test::Table, test::at, test::v4, test::v6;
using testing::ElementsAre;

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
  t.put(v4(1));
  t.put(v6(1));
  EXPECT_EQ(t.find(v4(2), t.hash(v4(1)), at(0)), kNoFlow);
  EXPECT_EQ(t.find(v6(2), t.hash(v6(1)), at(0)), kNoFlow);
  EXPECT_THAT(t.look({v4(2), v6(2)}, {t.hash(v4(1)), t.hash(v6(1))}), ElementsAre(kNoFlow, kNoFlow));
}

// Most packets are of flows that nothing is to be done about; the others are looked at one by one.
TEST(FlowTable, MeetsOrdinaryFlowsAtOnce) {
  Table t(100, 10s, 1);
  const std::vector<FlowKey> keys{v4(1), v6(2), v4(3), v4(4), v6(5), v4(6), v6(7), v4(8), v4(9, 1, 0, 3)};
  std::vector<ParsedPacket> packets(keys.size());
  std::vector<std::uint64_t> hashes(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const FlowId id = t.put(keys[i]);
    if (i != 2) t.touch(t[id], at(5));
    t[id].service = static_cast<std::uint16_t>(100 + i);
    packets[i].key = keys[i], packets[i].v6 = keys[i].v6;
  }
  t[t.get(keys[3])].flags |= FlowRecord::stale;
  t[t.get(keys[4])].flags |= FlowRecord::redirect;
  t[t.get(keys[5])].flags |= FlowRecord::sticky;
  packets[7].key = v4(80);
  t.prefetch_buckets(packets, hashes.data());
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(hashes[i], t.hash(packets[i].key));
  hashes[6] = t.hash(keys[1]);  // of another flow
  std::vector<FlowId> ids(keys.size());
  t.prefetch_records(packets, hashes.data(), ids.data());
  std::vector<std::uint16_t> services(keys.size());
  const auto found = t.look_up(packets, ids.data(), services.data(), t.tick(at(9)));
  EXPECT_EQ(found.others, 0b011001100u);  // a second packet, a stale flow, two that are not known
  EXPECT_EQ(found.redirected, 0b000010000u);
  for (const std::size_t i : {0u, 1u, 4u, 5u, 8u}) {
    EXPECT_EQ(services[i], 100 + i);
    EXPECT_EQ(t[ids[i]].last_seen, t.tick(at(9)));
  }
  EXPECT_EQ(t[t.get(keys[2])].last_seen, 0);
  EXPECT_EQ(t[t.get(keys[1])].last_seen, t.tick(at(9)));
}

TEST(FlowTable, AnIdleFlowIsNotMet) {
  Table t(100, 10 * test::kTick, 1);
  const FlowKey key = v4(1);
  const FlowId id = t.put(key);
  t.touch(t[id], at(0));
  std::vector<ParsedPacket> packets(1);
  packets[0].key = key;
  const std::uint64_t hash = t.hash(key);
  std::uint16_t service = 0;
  const auto found = [&](int now) { return t.look_up(packets, &id, &service, t.tick(at(now))).others; };
  EXPECT_EQ(found(11), 1u);
  t[id].flags |= FlowRecord::sticky;  // but it is one that holds packets: verify() tells them apart
  EXPECT_EQ(found(11), 1u);
  EXPECT_EQ(t.verify(id, key, hash, t.tick(at(11))), id);
  EXPECT_EQ(found(10), 0u);
}

TEST(FlowTable, ARecordStartsClean) {
  Table t(1, 10s, 1);
  const FlowId a = t.put(v4(1));
  t[a].service = 3;
  t[a].flags |= FlowRecord::sticky | FlowRecord::redirect;
  t[a].state.meter[0] = 99;
  t.count(a, Precedence::in, 65535);
  t.count(a, Precedence::in, 65535);
  t.count(a, Precedence::out, 6);
  t.remove(a);
  EXPECT_EQ(t.size(), 0u);
  ASSERT_EQ(t.put(v4(2), at(77), true), a);
  EXPECT_EQ(t[a].service, 0);
  EXPECT_EQ(t[a].state.meter[0], 0u);
  EXPECT_EQ(t[a].flags, FlowRecord::live | FlowRecord::is_shared | FlowRecord::embryonic);
  EXPECT_EQ(t[a].last_seen, t.tick(at(77)));
  EXPECT_EQ(t.counters(a).in_bytes + t.counters(a).out_bytes, 0u);
  t.count(a, Precedence::in, 65535);
  t.count(a, Precedence::in, 1);
  EXPECT_EQ(t.counters(a).in_bytes, 65536u) << "nothing is left of what the flow before it has carried";
  EXPECT_EQ(t.counters(a).out_bytes, 0u);
}

TEST(FlowTable, AFlowOfIpv6RemembersANumber) {
  Table t(4, 10s, 1);
  const FlowId a = t.put(v6(1)), b = t.put(v6(2)), plain = t.put(v4(1)), contract = t.put(v6(3), at(0), true);
  for (const FlowId id : {a, plain, contract, kNoFlow}) {
    EXPECT_EQ(t.recall(id), 0u);
    t.remember(id, ~std::uint64_t{0});
  }
  EXPECT_EQ(t.recall(a), ~std::uint64_t{0});
  for (const FlowId id : {b, plain, contract, kNoFlow}) EXPECT_EQ(t.recall(id), 0u);
  for (const FlowKey& key : {v6(1), v6(2), v4(1), v6(3)}) EXPECT_NE(t.get(key), kNoFlow);
  EXPECT_EQ(t.key(a), v6(1));
  t.remove(a);
  EXPECT_EQ(t.get(v6(1)), kNoFlow);
  EXPECT_EQ(t.put(v6(4)), a);
  EXPECT_EQ(t.recall(a), 0u) << "it is another flow's";
}

// The low 16 bits stand in the record, whatever its state; nothing is lost where they overflow.
TEST(FlowTable, CountsEveryByteOfEachPrecedence) {
  Table t(10, 10s, 1);
  const FlowId a = t.put(v4(1)), b = t.put(v6(1));
  t[a].state.csa.held = 7;
  t[a].state.csa.domain = 8;
  for (auto& word : t[b].state.meter) word = ~std::uint64_t{0};
  Rng rng(5);
  std::uint64_t in[2] = {}, out[2] = {};
  for (int i = 0; i < 10'000; ++i) {
    const std::size_t flow = rng.next() % 2;
    const std::uint32_t bytes = rng.next() % 65536;
    const bool is_in = rng.next() % 3 == 0;
    t.count(flow == 0 ? a : b, is_in ? Precedence::in : Precedence::out, bytes);
    (is_in ? in : out)[flow] += bytes;
    ASSERT_EQ(t.counters(a).in_bytes, in[0]);
    ASSERT_EQ(t.counters(a).out_bytes, out[0]);
    ASSERT_EQ(t.counters(b).in_bytes, in[1]);
    ASSERT_EQ(t.counters(b).out_bytes, out[1]);
  }
  EXPECT_EQ(t[a].state.csa.held, 7u);
  EXPECT_EQ(t[a].state.csa.domain, 8u);
  for (const auto word : t[b].state.meter) EXPECT_EQ(word, ~std::uint64_t{0});
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
    EXPECT_GE(t.memory_bytes(), std::size_t{capacity} * (64 + 32 + 12 + 4 + 12));
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
  for (std::uint32_t i = 0; i < kBurst; ++i) {
    keys.push_back(i % 3 == 0 ? v6(i) : v4(i, 1, i, static_cast<std::uint8_t>(i)));
    expected.push_back(i % 4 == 0 ? kNoFlow : t.put(keys.back()));
  }
  EXPECT_EQ(t.look(keys), expected);
  EXPECT_EQ(t.look({}), std::vector<FlowId>{});
}

}  // namespace
}  // namespace surety
