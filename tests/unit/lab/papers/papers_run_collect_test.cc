// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/papers/papers_run_collect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace surety::lab {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsNan;
using testing::SizeIs;

Experiment experiment(const std::string& rest) {
  auto result = parse_paper(
      "version: 1\npaper: p\ntitle: t\nexperiments:\n  - {id: e, title: E, scenario: s.yaml, " + rest + "}\n",
      "p.yaml");
  for (const auto& d : result.diagnostics) ADD_FAILURE() << d.format();
  return result.paper ? result.paper->experiments.at(0) : Experiment{};
}

// Two flows, of which the second's RoS may be null.
RunResult run(double first_bps, std::optional<double> ros = 1) {
  RunResult r;
  r.flows.resize(2);
  r.flows[0].name = "f#1";
  r.flows[1].name = "f#2";
  r.flows[0].throughput_bps = first_bps;
  r.flows[1].throughput_bps = 2 * first_bps;
  r.flows[1].ros = ros;
  const auto bin = static_cast<float>(first_bps);
  r.flows[0].throughput_series = {bin, bin + 1};
  return r;
}
const std::string kValue = "rows: [{what: w, value: 'flows[f#1].throughput_bps', ";

// The verdict on a row with these seeds.
Verdict verdict(const std::string& row, const std::vector<double>& seeds) {
  const auto e = experiment(kValue + row + "}]");
  Collector collector(e, seeds.size());
  for (std::size_t i = 0; i < seeds.size(); ++i) collector.add(0, 0, i, run(seeds[i]));
  return collector.result().rows.at(0).verdict;
}

TEST(Verdict, OfABand) {
  EXPECT_EQ(verdict("unit: x", {5}), Verdict::printed);
  EXPECT_EQ(verdict("band: 4 - 6", {5}), Verdict::met);
  EXPECT_EQ(verdict("band: '> 5'", {5}), Verdict::missed);
  EXPECT_EQ(verdict("band: '> 5', claim: no, reason: r", {5}), Verdict::differs);
  EXPECT_EQ(verdict("band: '> 4', claim: no, reason: r", {5}), Verdict::met);
}

TEST(Verdict, OfAPin) {
  EXPECT_EQ(verdict("pin: = 5", {5}), Verdict::pinned);
  EXPECT_EQ(verdict("pin: = 6", {5}), Verdict::pin_missed);
  EXPECT_EQ(verdict("band: '> 5', claim: no, reason: r, pin: = 5", {5}), Verdict::pinned);
  EXPECT_EQ(verdict("band: '> 5', claim: no, reason: r, pin: = 6", {5}), Verdict::pin_missed);
  EXPECT_EQ(verdict("band: '> 4', pin: = 5", {5}), Verdict::met);
  EXPECT_EQ(verdict("band: '> 4', pin: = 6", {5}), Verdict::pin_missed);
  EXPECT_EQ(verdict("band: '> 5', pin: = 5", {5}), Verdict::missed);
}

TEST(Verdict, OnWhatOfTheSeeds) {
  EXPECT_EQ(verdict("band: = 5", {4, 6}), Verdict::met);
  EXPECT_EQ(verdict("band: = 5, judge: every", {4, 6}), Verdict::missed);
  EXPECT_EQ(verdict("band: 4 - 6, judge: every", {4, 6}), Verdict::met);
  EXPECT_EQ(verdict("band: = 4, judge: min", {4, 6}), Verdict::met);
  EXPECT_EQ(verdict("band: = 4, judge: max", {4, 6}), Verdict::missed);
  EXPECT_EQ(verdict("band: = 6, judge: max", {4, 6}), Verdict::met);
}

TEST(Verdict, WhatFails) {
  for (const auto v : {Verdict::missed, Verdict::pin_missed, Verdict::broken}) EXPECT_TRUE(fails(v));
  for (const auto v : {Verdict::met, Verdict::differs, Verdict::pinned, Verdict::printed, Verdict::not_run})
    EXPECT_FALSE(fails(v));
}

TEST(Collector, MeansOverSeeds) {
  const auto e = experiment(kValue + "band: '> 0'}]");
  Collector collector(e, 3);
  for (std::size_t seed = 0; seed < 3; ++seed)
    collector.add(0, 0, seed, run(10 + 2 * static_cast<double>(seed)));
  const auto result = collector.result();
  EXPECT_EQ(result.experiment, &e);
  EXPECT_EQ(result.seeds, 3u);
  EXPECT_EQ(result.runs, 3u);
  const auto& row = result.rows.at(0);
  EXPECT_THAT(row.seeds, ElementsAre(10, 12, 14));
  EXPECT_EQ(row.summary.value().mean, 12);
  EXPECT_EQ(row.summary.value().sd, 2);
  EXPECT_EQ(row.summary.value().min, 10);
  EXPECT_EQ(row.summary.value().max, 14);
  EXPECT_FALSE(result.failed());
}

TEST(Collector, ANullSeedMissesTheBand) {
  const auto e = experiment(
      "rows: [{what: w, value: 'flows[f#2].ros', band: '>= 0'}, {what: v, value: 'flows[f#2].ros'}]");
  Collector collector(e, 2);
  collector.add(0, 0, 0, run(1, 0.5));
  collector.add(0, 0, 1, run(1, std::nullopt));
  const auto result = collector.result();
  EXPECT_THAT(result.rows[0].seeds, ElementsAre(0.5, IsNan()));
  EXPECT_FALSE(result.rows[0].summary);
  EXPECT_EQ(result.rows[0].verdict, Verdict::missed);
  EXPECT_EQ(result.rows[1].verdict, Verdict::printed);
  EXPECT_TRUE(result.failed());
}

TEST(Collector, TakesTheSeedsThatAreComplete) {
  const auto e = experiment(
      "variants: {a: {}, b: {}}, rows: [{what: w, value: 'a.flows[f#1].throughput_bps + "
      "b.flows[f#1].throughput_bps'}, "
      "{what: w, value: 'b.flows[f#1].throughput_bps', band: '> 0'}]");
  Collector collector(e, 2);
  collector.add(0, 0, 0, run(1));
  collector.add(1, 0, 0, run(2));
  collector.add(0, 0, 1, run(3));
  auto result = collector.result();
  EXPECT_THAT(result.rows[0].seeds, ElementsAre(3));
  EXPECT_EQ(Collector(e, 2).result().rows[1].verdict, Verdict::not_run);
  EXPECT_EQ(Collector(e, 2).result().runs, 0u);
  collector.add(1, 0, 1, run(4));
  EXPECT_THAT(collector.result().rows[0].seeds, ElementsAre(3, 7));
}

TEST(Collector, PointsOfASweep) {
  const auto e = experiment(
      "sweep: {key: n, values: [10, 20]}, rows: ["
      "{what: each, each: true, value: 'flows[f#1].throughput_bps'}, "
      "{what: all, value: 'count(flows[*].throughput_bps) * 1000 + min(flows[f#2].throughput_bps)'}, "
      "{what: two, value: 'point(20, flows[f#1].throughput_bps) / point(10, flows[f#1].throughput_bps)'}, "
      "{what: list, value: 'flows[f#1].throughput_bps'}]");
  Collector collector(e, 1);
  collector.add(0, 0, 0, run(5));
  collector.add(0, 1, 0, run(20));
  const auto rows = collector.result().rows;
  ASSERT_THAT(rows, SizeIs(5));
  EXPECT_THAT(rows[0].seeds, ElementsAre(5));
  EXPECT_THAT(rows[1].seeds, ElementsAre(20));
  EXPECT_THAT(rows[2].seeds, ElementsAre(4010));
  EXPECT_THAT(rows[3].seeds, ElementsAre(4));
  EXPECT_EQ(rows[4].verdict, Verdict::broken);
  EXPECT_EQ(rows[4].error, "a list of 2 items where a number is needed");
}

TEST(Collector, WhatDoesNotFitIsBroken) {
  const auto e = experiment(
      "rows: [{what: w, value: '1 + flows[g].ros'}], plots: [{title: T, series: {a: 'flows[f#1].ros'}}]");
  Collector collector(e, 1);
  collector.add(0, 0, 0, run(5));
  const auto result = collector.result();
  EXPECT_EQ(result.rows[0].verdict, Verdict::broken);
  EXPECT_EQ(result.rows[0].error, "nothing is called `g`; there are: f#1, f#2 (column 5 of the expression)");
  EXPECT_THAT(result.errors, ElementsAre("plot \"T\": not a series"));
  EXPECT_TRUE(result.failed());
}

TEST(CollectorPlot, OverTimeIsOfTheFirstSeed) {
  const auto e = experiment("plots: [{title: T, series: {a: 'flows[f#1].throughput_series * 2'}}]");
  Collector collector(e, 2);
  collector.add(0, 0, 0, run(10));
  collector.add(0, 0, 1, run(90));
  const auto plot = collector.result().plots.at(0);
  EXPECT_EQ(plot.title, "T");
  ASSERT_THAT(plot.lines, SizeIs(1));
  EXPECT_EQ(plot.lines[0].name, "a");
  EXPECT_THAT(plot.lines[0].x, ElementsAre(1, 2));  // a value stands at the end of its bin
  EXPECT_THAT(plot.lines[0].y, ElementsAre(20, 22));
  EXPECT_THAT(plot.lines[0].low, IsEmpty());
  EXPECT_FALSE(plot.lines[0].points);
}

TEST(CollectorPlot, OverTheSweepHasMeansAndBars) {
  const auto e = experiment(
      "sweep: {key: n, values: [10, 20]}, plots: [{title: T, lines: {ours: 'flows[f#1].throughput_bps', "
      "paper: [7, 8]}}]");
  Collector collector(e, 2);
  collector.add(0, 0, 0, run(4));
  collector.add(0, 1, 0, run(9));
  collector.add(0, 0, 1, run(4));
  const auto lines = collector.result().plots.at(0).lines;
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_TRUE(lines[0].points);
  EXPECT_THAT(lines[0].x, ElementsAre(10, 20));
  EXPECT_THAT(lines[0].y, ElementsAre(4, 9));
  collector.add(0, 1, 1, run(11));
  const auto ours = collector.result().plots.at(0).lines.at(0);
  EXPECT_THAT(ours.y, ElementsAre(4, 10));
  EXPECT_THAT(ours.low, ElementsAre(4, 10 - std::sqrt(2.0)));
  EXPECT_THAT(ours.high, ElementsAre(4, 10 + std::sqrt(2.0)));
  EXPECT_THAT(lines[1].x, ElementsAre(10, 20));
  EXPECT_THAT(lines[1].y, ElementsAre(7, 8));
  EXPECT_THAT(lines[1].low, IsEmpty());
}

TEST(CollectorPlot, OverTheItemsOfAList) {
  const auto e = experiment(
      "sweep: {key: n, values: [10, 20]}, plots: [{title: T, at: 20, lines: {ours: "
      "'flows[*].throughput_bps'}}]");
  Collector collector(e, 2);
  collector.add(0, 0, 0, run(1));
  collector.add(0, 1, 0, run(3));
  collector.add(0, 1, 1, run(5));
  const auto line = collector.result().plots.at(0).lines.at(0);
  EXPECT_THAT(line.x, ElementsAre(1, 2));
  EXPECT_THAT(line.y, ElementsAre(4, 8));
  EXPECT_EQ(line.high[1], 8 + std::sqrt(8.0));
}

}  // namespace
}  // namespace surety::lab
