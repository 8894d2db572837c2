// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/prefix_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/unit/router/pipeline/routes/table_sink.h"

namespace surety {
namespace {

using Table = PrefixTable<int>;

TEST(PrefixTable, KeepsOneEntryForEachPrefix) {
  Table t;
  EXPECT_EQ(t.find(prefix("10.0.0.0/8")), nullptr);
  t.add(prefix("10.0.0.0/8")).value = 1;
  t.add(prefix("10.0.0.0/9")).value = 2;
  t.add(prefix("::/0")).value = 3;
  t.add(prefix("0.0.0.0/0")).value = 4;
  t.add(prefix("10.0.0.0/8")).value += 10;
  EXPECT_EQ(t.size(), 4U);
  EXPECT_EQ(t.find(prefix("10.0.0.0/8"))->value, 11);
  EXPECT_EQ(t.find(prefix("10.0.0.0/9"))->value, 2);
  EXPECT_EQ(t.find(prefix("::/0"))->value, 3);
  EXPECT_EQ(t.find(prefix("0.0.0.0/0"))->value, 4);
  t.erase(prefix("10.0.0.0/8"));
  t.erase(prefix("10.0.0.0/8"));
  EXPECT_EQ(t.size(), 3U);
  EXPECT_EQ(t.find(prefix("10.0.0.0/8")), nullptr);
  EXPECT_EQ(t.add(prefix("10.0.0.0/8")).value, 0) << "made anew";
}

TEST(PrefixTable, EntriesStayWhereTheyAre) {
  Table t;
  auto& first = t.add(prefix("10.0.0.0/8"));
  first.value = 7;
  for (int i = 0; i < 1000; ++i)
    t.add(prefix("11." + std::to_string(i / 256) + "." + std::to_string(i % 256) + ".0/24"));
  EXPECT_EQ(&first, t.find(prefix("10.0.0.0/8")));
  EXPECT_EQ(t.at(0), &first);
  EXPECT_EQ(t.places(), 1001U);
  t.erase(prefix("10.0.0.0/8"));
  EXPECT_EQ(t.at(0), nullptr);
  t.add(prefix("12.0.0.0/8"));
  EXPECT_EQ(t.at(0)->prefix, prefix("12.0.0.0/8")) << "places come again";
  EXPECT_EQ(t.places(), 1001U);
}

TEST(PrefixTable, AgainstAMap) {
  std::mt19937 random(1);
  Table t;
  std::map<Prefix, int> map;
  for (int i = 0; i < 20000; ++i) {
    Prefix p;
    p.address = IpAddress::unspecified(random() % 2 == 0);
    p.address.data()[0] = static_cast<std::uint8_t>(random() % 16);
    p.address.data()[3] = static_cast<std::uint8_t>(random() % 16);
    p.length = static_cast<std::uint8_t>(random() % 33);
    p = p.masked();
    if (random() % 3 == 0) {
      t.erase(p);
      map.erase(p);
    } else {
      t.add(p).value = map[p] = i;
    }
  }
  ASSERT_GT(map.size(), 500U);
  EXPECT_EQ(t.size(), map.size());
  for (const auto& [p, value] : map) ASSERT_EQ(t.find(p)->value, value) << to_string(p);
  std::size_t seen = 0;
  for (std::size_t place = 0; place < t.places(); ++place)
    if (const auto* e = t.at(place); e != nullptr && map.contains(e->prefix)) ++seen;
  EXPECT_EQ(seen, map.size());
}

}  // namespace
}  // namespace surety
