// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/field_table.h"

#include <gmock/gmock.h>

#include "router/operate/observe/reading.h"

namespace surety::fields {
namespace {

using testing::ElementsAre;

struct Thing {
  std::string name;
  bool open = false;
  std::uint64_t count = 0;
  std::optional<double> ratio;
  double age = 0;
  std::vector<unsigned> cores;
};
using T = Thing;

const Table<Thing> kThings({.columns = "ratio"},
                           {{"name", first(&T::name), {"THING", text}},
                            {"open", most(&T::open)},
                            {"count", when(&T::open, sum(&T::count)), {"COUNT", total}},
                            {"ratio", &T::ratio, {"RATIO", percent}},
                            {"age_seconds", least(&T::age)},
                            {"cores", present(&T::cores)},
                            {"", [](const T& t) { return t.age; }, {}, {"thing_age_seconds", "Its age."}}});

std::string titles(const Columns& columns) {
  std::string all;
  for (const Column& c : columns) all += c.title + (c.counts ? "+ " : " ");
  return all;
}

TEST(FieldTable, ARowHasTheMembersThatItHasAValueOf) {
  EXPECT_EQ(
      kThings.json_row({.name = "a", .open = true, .count = 7, .ratio = 0.5, .age = 2, .cores = {1}}),
      Json::parse(
          R"({"name": "a", "open": true, "count": 7, "ratio": 0.5, "age_seconds": 2.0, "cores": [1]})"));
  EXPECT_EQ(kThings.json_rows(std::vector<Thing>(1)),
            Json::parse(R"([{"name": "", "open": false, "age_seconds": 0.0}])"));
}

TEST(FieldTable, ColumnsAreInTheirOwnOrder) {
  EXPECT_EQ(titles(kThings.shown()), "RATIO THING COUNT+ ");
  EXPECT_EQ(kThings.metrics.size(), 1u);
}

TEST(FieldTable, RowsOfTwoWorkersMergeAsEachFieldSays) {
  Thing all{.name = "", .open = false, .count = 7, .ratio = 0.5, .age = 3, .cores = {1}};
  kThings.merge(all, {.name = "a", .open = true, .count = 2, .ratio = 0.1, .age = 2, .cores = {2}});
  kThings.merge(all, {.name = "b", .open = false, .count = 1, .ratio = 0.2, .age = 4, .cores = {}});
  EXPECT_EQ(all.name, "a");
  EXPECT_TRUE(all.open);
  EXPECT_EQ(all.count, 10u);
  EXPECT_EQ(all.ratio, 0.5);
  EXPECT_EQ(all.age, 2);
  EXPECT_THAT(all.cores, ElementsAre(1u));
}

TEST(FieldTable, HasTheRestInTheOrderOfTheTable) {
  using A = AggregateReading;
  const auto keys = [](const char* order) {
    const Table<A> table(
        {.json = order},
        counters<A>(AggregateCounters::table(), [](const A& a, auto member) { return a.counters.*member; }));
    std::string all;
    for (const Field<A>* f : table.json) all += std::string(f->key) + ' ';
    return all;
  };
  EXPECT_EQ(keys("passed_out passed_in remarked"), "passed_out passed_in remarked dropped ");
  EXPECT_EQ(keys("passed_out ... remarked"), "passed_out dropped passed_in remarked ");
}

}  // namespace
}  // namespace surety::fields
