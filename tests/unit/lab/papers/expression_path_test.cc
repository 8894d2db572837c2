// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/papers/expression_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lab/papers/expression.h"

namespace surety::lab {
namespace {

using testing::ElementsAre;
using testing::IsNan;

RunResult sample() {
  RunResult run;
  run.events = 77;
  run.sample_s = 0.5;
  for (const char* name : {"long", "f#1", "f#2"}) {
    auto& f = run.flows.emplace_back();
    f.name = name;
    f.throughput_bps = 1000.0 * static_cast<double>(run.flows.size());
  }
  run.flows[0].throughput_series = {1, 2.5F, 4};
  run.flows[1].ros = 0.25;
  for (const char* queue : {"assured", "rest"}) {
    auto& q = run.queues.emplace_back();
    q.router = "core";
    q.port = "out";
    q.queue = queue;
    q.by_precedence[0].early_drops = 3 * run.queues.size();
    q.average_in_series = {5};
    q.average_total_series = {6};
  }
  run.domains.emplace_back().router = "core";
  run.domains[0].port = "out";
  run.domains[0].queue = "assured";
  run.domains[0].alpha_mean = 0.4;
  run.domains[0].alpha_series = {0.5F};
  run.aggregates.emplace_back().name = "agg";
  run.aggregates[0].tpr_series = {9};
  run.drops["core"]["early"] = 5;
  run.drops["edge-1"]["buffer"] = 2;
  run.drops["links"];
  run.signals["core"]["sent"] = 9;
  run.signals["edge-1"]["applied"] = 7;
  return run;
}

Value value(const std::string& text) {
  const Expression e(text);
  return look_up(e.paths().at(0), tree_of(sample()));
}
double number(const std::string& text) {
  return value(text).number();
}
std::string error_of(const std::string& text) {
  try {
    value(text);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "no error";
}

TEST(LookUp, PlainNamesGiveANumber) {
  EXPECT_EQ(number("events"), 77);
  EXPECT_EQ(number("flows[f#2].throughput_bps"), 3000);
  EXPECT_EQ(number("queues[core/out/assured].in.early_drops"), 3);
  EXPECT_EQ(number("domains[core/out/assured].alpha_mean"), 0.4);
  EXPECT_EQ(number("aggregates[agg].remarked"), 0);
  EXPECT_EQ(number("drops.core.early"), 5);
  EXPECT_EQ(number("drops[edge-1].buffer"), 2);
}

TEST(LookUp, PatternsGiveAListInTheOrderOfTheResult) {
  EXPECT_THAT(value("flows[*].throughput_bps").items, ElementsAre(1000, 2000, 3000));
  EXPECT_THAT(value("flows[f#?].throughput_bps").items, ElementsAre(2000, 3000));
  EXPECT_THAT(value("queues[core/*].in.early_drops").items, ElementsAre(3, 6));
  EXPECT_TRUE(value("flows[lo*].throughput_bps").list);
}

TEST(LookUp, NullsStay) {
  EXPECT_THAT(value("flows[f#*].ros").items, ElementsAre(0.25, IsNan()));
}

TEST(LookUp, DropsThatDidNotOccurAreZero) {
  EXPECT_EQ(number("drops.core.police"), 0);
  EXPECT_EQ(number("drops.links.lost"), 0);
  EXPECT_THAT(value("drops[*].early").items, ElementsAre(5, 0, 0));
  EXPECT_THAT(value("drops[*][*]").items, ElementsAre(5, 2, 0));
}

TEST(LookUp, SignalsAreByRouterAndResult) {
  EXPECT_EQ(number("signals.core.sent"), 9);
  EXPECT_EQ(number("signals[edge-1].applied"), 7);
  EXPECT_EQ(number("signals.core.unsent"), 0);
  EXPECT_EQ(number("signals[edge-1].replayed"), 0);
  EXPECT_EQ(error_of("signals.core.applid"),
            "nothing is called `applid`; there are none (column 1 of the expression)");
}

TEST(LookUp, ASeriesHasItsTimes) {
  const auto v = value("flows[long].throughput_series");
  EXPECT_TRUE(v.list);
  EXPECT_THAT(v.items, ElementsAre(1, 2.5, 4));
  EXPECT_EQ(v.start_s, 0);
  EXPECT_EQ(v.sample_s, 0.5);
  EXPECT_THAT(value("queues[*/rest].average_in_series").items, ElementsAre(5));
  EXPECT_THAT(value("queues[*/rest].average_total_series").items, ElementsAre(6));
  EXPECT_THAT(value("domains[*].alpha_series").items, ElementsAre(0.5));
  EXPECT_THAT(value("aggregates[agg].tpr_series").items, ElementsAre(9));
  EXPECT_TRUE(value("flows[long].in_series").items.empty());
  EXPECT_TRUE(value("flows[long].control_series").items.empty());
  EXPECT_TRUE(value("flows[long].delay_series").items.empty());
}

TEST(LookUp, SaysWhatThereIsInstead) {
  EXPECT_EQ(error_of("flows[lnog].ros"), "nothing is called `lnog`; did you mean `long`?");
  EXPECT_EQ(error_of("flows[x*].ros"), "nothing is called `x*`; there are: long, f#1, f#2");
  EXPECT_EQ(error_of("queues[core/out/be].rate_bps"),
            "nothing is called `core/out/be`; did you mean `core/out/rest`?");
  EXPECT_EQ(error_of("drops.coer.early"), "nothing is called `coer`; did you mean `core`?");
  EXPECT_EQ(error_of("flows[*].throughput_series"),
            "`flows[*].throughput_series` is several series; name one");
}

// Known before anything ran.
TEST(CheckPath, RefusesWhatCanNeverBeANumber) {
  EXPECT_EQ(
      error_of("flows[long].throughput_bsp"),
      "nothing is called `throughput_bsp`; did you mean `throughput_bps`? (column 1 of the expression)");
  EXPECT_EQ(error_of("flwos[long].ros"),
            "nothing is called `flwos`; did you mean `flows`? (column 1 of the expression)");
  EXPECT_EQ(error_of("flows.ros"),
            "nothing is inside that would be called `ros` (column 1 of the expression)");
  EXPECT_EQ(error_of("events.x"), "nothing is inside that would be called `x` (column 1 of the expression)");
  EXPECT_EQ(error_of("flows[long].name"), "`flows[long].name` is not a number (column 1 of the expression)");
  EXPECT_EQ(
      error_of("queues[*].in"),
      "`queues[*].in` is not a number; it holds: arrivals, early_drops, forced_drops, overflow_drops, marked "
      "(column 1 of the expression)");
  EXPECT_EQ(error_of("drops.core.erly"),
            "nothing is called `erly`; there are none (column 1 of the expression)");
}

}  // namespace
}  // namespace surety::lab
