// SPDX-License-Identifier: BSD-3-Clause
// Rows and plots of an experiment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lab/papers/experiment.h"

namespace surety::lab {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

PaperResult parse(const std::string& rest) {
  return parse_paper(
      "version: 1\npaper: p\ntitle: t\nexperiments:\n"
      "  - {id: e, title: E, scenario: s.yaml, sweep: {key: n, values: [10, 20, 30], label: N}, " +
          rest + "}\n",
      "p.yaml");
}
Experiment swept(const std::string& rest) {
  auto result = parse(rest);
  for (const auto& d : result.diagnostics) ADD_FAILURE() << d.format();
  return result.paper ? result.paper->experiments.at(0) : Experiment{};
}
std::vector<Row> rows(const std::string& row) {
  return swept("rows: [{what: w, value: events, " + row + "}]").rows;
}
std::vector<std::string> errors(const std::string& rest) {
  std::vector<std::string> messages;
  for (const auto& d : parse(rest).diagnostics) messages.push_back(d.message);
  return messages;
}

TEST(ParseRow, EveryKey) {
  const auto all =
      rows("unit: kbit/s, paper: '~646', band: 630 - 700, claim: no, reason: R, pin: '= 5', judge: every");
  ASSERT_THAT(all, SizeIs(1));
  const Row& row = all[0];
  EXPECT_EQ(row.what, "w");
  EXPECT_EQ(row.unit, "kbit/s");
  EXPECT_EQ(row.paper, "~646");
  EXPECT_EQ(row.band.value().text(), "630 - 700");
  EXPECT_EQ(row.pin.value().text(), "= 5");
  EXPECT_FALSE(row.claim);
  EXPECT_EQ(row.judge, Judge::every);
  EXPECT_EQ(row.reason, "R");
  EXPECT_FALSE(row.point);
}

TEST(ParseRow, WhatIsNotSaid) {
  const auto row = rows("band: none").at(0);
  EXPECT_EQ(row.unit, "");
  EXPECT_EQ(row.paper, "");
  EXPECT_FALSE(row.band);
  EXPECT_FALSE(row.pin);
  EXPECT_TRUE(row.claim);
  EXPECT_EQ(row.judge, Judge::mean);
}

TEST(ParseRow, OneForEachPoint) {
  const auto all = rows("each: true, papers: [a, b, c], bands: ['> 1', none, '> 3'], pin: '< 9'");
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_EQ(all[0].what, "w, N 10");
  EXPECT_EQ(all[2].what, "w, N 30");
  EXPECT_EQ(all[1].point, 1u);
  EXPECT_EQ(all[1].paper, "b");
  EXPECT_EQ(all[0].band.value().text(), "> 1");
  EXPECT_FALSE(all[1].band);
  EXPECT_EQ(all[2].band.value().text(), "> 3");
  for (const auto& row : all) EXPECT_EQ(row.pin.value().text(), "< 9");
}

TEST(ParseRow, AtSomePoints) {
  EXPECT_EQ(rows("at: 20").at(0).point, 1u);
  const auto two = rows("at: [30, 10], papers: [x, y]");
  ASSERT_THAT(two, SizeIs(2));
  EXPECT_EQ(two[0].point, 2u);
  EXPECT_EQ(two[0].paper, "x");
  EXPECT_EQ(two[1].what, "w, N 10");
}

TEST(ParseRow, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"at: 25", "the sweep has no point 25; there are: 10, 20, 30"},
      {"at: 10, each: true", "`each` and `at`: leave one of them out"},
      {"each: true, papers: [a]", "1 papers for 3 rows"},
      {"bands: ['> 1', '> 2']", "2 bands for 1 row"},
      {"band: '> 1', bands: ['> 2']", "`band` and `bands`: leave one of them out"},
      {"band: 1-2",
       "`1-2` is not a band; write `630 - 700`, `>= 770`, `> 15`, `<= 0.4`, `< 120`, `= 6244` or `none`"},
      {"band: '> 1', claim: no", "a band that is not claimed needs a `reason`: why does ours differ?"},
      {"claim: no, reason: r", "`claim` without a `band`: there is nothing to claim"},
      {"judge: median", "no `judge` is called `median`; did you mean `mean`?"},
  };
  for (const auto& [row, error] : cases)
    EXPECT_THAT(errors("rows: [{what: w, value: events, " + std::string(row) + "}]"),
                testing::Contains(error))
        << row;
  EXPECT_THAT(errors("rows: [{what: w, value: 'point(5, events)'}]"),
              ElementsAre("the sweep has no point 5; there are: 10, 20, 30"));
  EXPECT_THAT(errors("rows: [{what: w, value: [events]}]"),
              ElementsAre("expected an expression like `mean(flows[f#*].ros)`"));
}

TEST(ParseRow, WithoutASweepThereAreNoPoints) {
  const auto result = parse_paper(
      "version: 1\npaper: p\ntitle: t\nexperiments:\n  - {id: e, title: E, scenario: s.yaml, rows: [{what: "
      "a, value: 1, "
      "at: 0}, {what: b, value: 1, each: true}]}\n",
      "p.yaml");
  ASSERT_THAT(result.diagnostics, SizeIs(2));
  for (const auto& d : result.diagnostics) EXPECT_EQ(d.message, "there is no sweep, so there are no points");
}

TEST(ParsePlot, OverTheSweep) {
  const auto e = swept(
      "plots: [{title: T, y: Y, lines: {ours: events, paper: [1, -2.5, 3]}, levels: {target: 600}, y_min: "
      "-1, y_max: 9, "
      "log_x: true}]");
  ASSERT_THAT(e.plots, SizeIs(1));
  const auto& plot = e.plots[0];
  EXPECT_FALSE(plot.over_time);
  EXPECT_EQ(plot.frame.title, "T");
  EXPECT_EQ(plot.frame.x_label, "N");
  EXPECT_EQ(plot.frame.y_label, "Y");
  EXPECT_EQ(plot.frame.y_min, -1.0);
  EXPECT_EQ(plot.frame.y_max, 9.0);
  EXPECT_TRUE(plot.frame.log_x);
  ASSERT_THAT(plot.frame.levels, SizeIs(1));
  EXPECT_EQ(plot.frame.levels[0].name, "target");
  EXPECT_EQ(plot.frame.levels[0].y, 600);
  ASSERT_THAT(plot.lines, SizeIs(2));
  EXPECT_EQ(plot.lines[0].name, "ours");
  EXPECT_EQ(std::get<Expression>(plot.lines[0].y).paths().at(0).text, "events");
  EXPECT_EQ(plot.lines[1].name, "paper");
  EXPECT_THAT(std::get<std::vector<double>>(plot.lines[1].y), ElementsAre(1, -2.5, 3));
}

TEST(ParsePlot, OverTimeAtOnePoint) {
  const auto plot = swept("plots: [{title: T, at: 30, series: {a: 'flows[a].in_series'}}]").plots.at(0);
  EXPECT_TRUE(plot.over_time);
  EXPECT_EQ(plot.frame.x_label, "time (s)");
  EXPECT_EQ(plot.point, 2u);
}

TEST(ParsePlot, SaysWhatIsWrong) {
  const char* neither = "a plot has either `lines` (over the sweep) or `series` (over time)";
  const std::pair<const char*, const char*> cases[] = {
      {"{title: T}", neither},
      {"{title: T, lines: {a: '1'}, series: {a: '1'}}", neither},
      {"{title: T, lines: {a: [1, 2]}}", "2 numbers for 3 points"},
      {"{title: T, series: {a: [1, 2, 3]}}", "expected an expression like `mean(flows[f#*].ros)`"},
      {"{title: T, lines: {a: '1'}, levels: {a: b}}", "expected a number"},
      {"{lines: {a: '1'}}", "a plot needs `title`"},
  };
  for (const auto& [plot, error] : cases)
    EXPECT_THAT(errors("plots: [" + std::string(plot) + "]"), ElementsAre(error)) << plot;
}

}  // namespace
}  // namespace surety::lab
