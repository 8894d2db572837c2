// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/engine/flow_map.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "conditioners/rng.h"

namespace surety::endpoints {
namespace {

Tuple tuple_of(std::uint32_t i) {
  return {IpAddress::v4(10, 0, 0, 1), IpAddress::v4(i), 5001, static_cast<std::uint16_t>(i * 7)};
}
FlowIndex insert(FlowMap& map, const Tuple& t, Transport transport = Transport::tcp) {
  return map.insert(t, transport, map.hash(t, transport));
}
FlowIndex find(const FlowMap& map, const Tuple& t, Transport transport = Transport::tcp) {
  return map.find(t, transport, map.hash(t, transport));
}

TEST(FlowMap, FindsWhatWasInserted) {
  FlowMap map(10, 1);
  EXPECT_EQ(find(map, tuple_of(1)), kNoFlowIndex);
  const FlowIndex f = insert(map, tuple_of(1));
  EXPECT_EQ(f, 1u);
  EXPECT_EQ(find(map, tuple_of(1)), f);
  EXPECT_EQ(map.candidate(map.hash(tuple_of(1), Transport::tcp)), f);
  EXPECT_EQ(map.size(), 1u);
  EXPECT_TRUE(map[f].live);
  EXPECT_EQ(map[f].tuple, tuple_of(1));
}

TEST(FlowMap, EveryPartOfATupleCounts) {
  FlowMap map(100, 1);
  const Tuple t{IpAddress{1, 2}, IpAddress{3, 4}, 5, 6};
  const FlowIndex f = insert(map, t);
  for (const Tuple& other :
       {Tuple{{9, 2}, {3, 4}, 5, 6}, Tuple{{1, 9}, {3, 4}, 5, 6}, Tuple{{1, 2}, {9, 4}, 5, 6},
        Tuple{{1, 2}, {3, 9}, 5, 6}, Tuple{{1, 2}, {3, 4}, 9, 6}, Tuple{{1, 2}, {3, 4}, 5, 9},
        Tuple{{3, 4}, {1, 2}, 6, 5}})
    EXPECT_EQ(find(map, other), kNoFlowIndex);
  for (const Transport other : {Transport::udp, Transport::dccp, Transport::dccp_udp})
    EXPECT_EQ(find(map, t, other), kNoFlowIndex);
  EXPECT_EQ(find(map, t), f);
}

TEST(FlowMap, IsFullAtItsCapacityAndTakesAgainAfterAnErasure) {
  FlowMap map(3, 1);
  std::set<FlowIndex> indexes;
  for (std::uint32_t i = 0; i < 3; ++i) indexes.insert(insert(map, tuple_of(i)));
  EXPECT_EQ(indexes, (std::set<FlowIndex>{1, 2, 3}));
  EXPECT_EQ(insert(map, tuple_of(3)), kNoFlowIndex);
  const FlowIndex f = find(map, tuple_of(1));
  map.erase(f);
  EXPECT_FALSE(map[f].live);
  EXPECT_EQ(find(map, tuple_of(1)), kNoFlowIndex);
  EXPECT_EQ(insert(map, tuple_of(3)), f);
  EXPECT_EQ(map.size(), 3u);
}

TEST(FlowMap, AnErasedIndexIsTheLastToComeAgain) {
  FlowMap map(3, 1);
  const FlowIndex first = insert(map, tuple_of(0));
  map.erase(first);
  EXPECT_NE(insert(map, tuple_of(1)), first);
  EXPECT_NE(insert(map, tuple_of(2)), first);
  EXPECT_EQ(insert(map, tuple_of(3)), first);
}

// The full table included: buckets overflow into each other and empty again.
TEST(FlowMap, BehavesLikeAMap) {
  constexpr std::uint32_t kFlows = 500;
  FlowMap map(kFlows, 3);
  std::map<std::uint32_t, FlowIndex> model;
  Rng rng(11);
  for (int step = 0; step < 200'000; ++step) {
    const std::uint32_t i = rng.next() % 1000;
    const auto known = model.find(i);
    ASSERT_EQ(find(map, tuple_of(i)), known == model.end() ? kNoFlowIndex : known->second);
    const bool growing = step / 20'000 % 2 == 0;
    if (known == model.end() && (growing || rng.next() % 4 == 0)) {
      const FlowIndex f = insert(map, tuple_of(i));
      ASSERT_EQ(f == kNoFlowIndex, model.size() == kFlows);
      if (f != kNoFlowIndex) model[i] = f;
    } else if (known != model.end() && (!growing || rng.next() % 4 == 0)) {
      map.erase(known->second);
      model.erase(known);
    }
    ASSERT_EQ(map.size(), model.size());
  }
}

// All in one bucket's chain: 40 flows of one home.
TEST(FlowMap, FlowsThatAreDisplacedAreFoundAndErasedInAnyOrder) {
  FlowMap map(400, 5);
  std::vector<Tuple> same;
  const std::uint64_t home = map.hash(tuple_of(0), Transport::tcp) & 63;
  for (std::uint32_t i = 0; same.size() < 40; ++i)
    if ((map.hash(tuple_of(i), Transport::tcp) & 63) == home) same.push_back(tuple_of(i));
  std::vector<FlowIndex> indexes;
  for (const Tuple& t : same) indexes.push_back(insert(map, t));
  for (std::size_t i = 0; i < same.size(); ++i) EXPECT_EQ(find(map, same[i]), indexes[i]);
  for (std::size_t i = 0; i < same.size(); i += 2) map.erase(indexes[i]);
  for (std::size_t i = 0; i < same.size(); ++i)
    EXPECT_EQ(find(map, same[i]), i % 2 == 0 ? kNoFlowIndex : indexes[i]);
}

TEST(FlowMap, HashesDependOnTheSeed) {
  EXPECT_NE(FlowMap(8, 1).hash(tuple_of(1), Transport::tcp), FlowMap(8, 2).hash(tuple_of(1), Transport::tcp));
  EXPECT_EQ(FlowMap(8, 1).hash(tuple_of(1), Transport::tcp), FlowMap(8, 1).hash(tuple_of(1), Transport::tcp));
}

TEST(FlowMap, MemoryPerFlowIsBounded) {
  EXPECT_LE(FlowMap(100'000, 1).memory_bytes(), 100'000u * 80);
}

}  // namespace
}  // namespace surety::endpoints
