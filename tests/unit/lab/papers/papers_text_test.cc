// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/papers/papers_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace surety::lab {
namespace {

using testing::ElementsAre;

Experiment experiment(const std::string& rest) {
  auto result = parse_paper(
      "version: 1\npaper: p\ntitle: t\nexperiments:\n  - {id: e, title: E, scenario: s.yaml, " + rest + "}\n",
      "p.yaml");
  for (const auto& d : result.diagnostics) ADD_FAILURE() << d.format();
  return result.paper ? result.paper->experiments.at(0) : Experiment{};
}
// Of runs whose only number is `events`.
ExperimentResult result_of(const Experiment& e, const std::vector<std::uint64_t>& events, std::size_t seeds) {
  Collector collector(e, seeds);
  for (std::size_t i = 0; i < events.size(); ++i) {
    RunResult run;
    run.events = events[i];
    collector.add(0, 0, i, run);
  }
  return collector.result();
}
RowResult row_of(const std::vector<double>& seeds) {
  return {seeds, summary_of(seeds), Verdict::printed, ""};
}

TEST(ShownNumber, HasFourDigitsOrSo) {
  EXPECT_EQ(shown_number(12345.6), "12346");
  EXPECT_EQ(shown_number(646.17), "646.2");
  EXPECT_EQ(shown_number(98.443), "98.44");
  EXPECT_EQ(shown_number(-1.23456), "-1.235");
  EXPECT_EQ(shown_number(0.78567), "0.7857");
  EXPECT_EQ(shown_number(6244), "6244");
  EXPECT_EQ(shown_number(0), "0");
  EXPECT_EQ(shown_number(-0.00001), "0.0000");
  EXPECT_EQ(shown_number(std::numeric_limits<double>::quiet_NaN()), "-");
}

TEST(ShownMean, HasItsStandardDeviationFromTwoSeedsOn) {
  EXPECT_EQ(shown_mean(row_of({646.17})), "646.2");
  EXPECT_EQ(shown_mean(row_of({640, 660})), "650.0 (14.1)");
  EXPECT_EQ(shown_mean(row_of({6244, 6244})), "6244 (0)");
  EXPECT_EQ(shown_mean({}), "-");
}

TEST(BandOf, SaysWhatIsJudgedAndWhatIsPinned) {
  const auto e = experiment(
      "rows: [{what: a, value: events}, {what: b, value: events, band: 1 - 2}, {what: c, value: events, "
      "band: '> 1', "
      "judge: min}, {what: d, value: events, band: '> 1', pin: = 3}, {what: f, value: events, pin: = 3}]");
  std::vector<std::string> bands;
  for (const auto& row : e.rows) bands.push_back(band_of(row));
  EXPECT_THAT(bands, ElementsAre("-", "1 - 2", "> 1 (min)", "> 1; = 3 (pin)", "= 3 (pin)"));
}

TEST(Reasons, ArePrintedOnce) {
  const auto e = experiment(
      "rows: [{what: a, value: events, reason: R}, {what: b, value: events}, {what: c, value: events, "
      "reason: S}, "
      "{what: d, value: events, reason: R}]");
  const auto reasons = reasons_of(e);
  EXPECT_THAT(reasons.texts, ElementsAre("R", "S"));
  EXPECT_THAT(reasons.of_row, ElementsAre(1, 0, 2, 1));
}

TEST(ExperimentText, IsATableWithReasons) {
  const auto e = experiment(
      "rows: [{what: sent, unit: packets, value: events, paper: ~9, band: 8 - 10}, "
      "{what: late, value: events / 4, band: '> 5', claim: no, reason: It is not.}, "
      "{what: gone, value: 'flows[x].ros'}], plots: [{title: T, series: {a: events}}]");
  EXPECT_EQ(experiment_text(result_of(e, {9, 10}, 3)),
            "e: E\n"
            "WHAT  UNIT     PAPER      OURS (SD)   SEEDS  BAND    VERDICT\n"
            "sent  packets     ~9  9.500 (0.707)  2 of 3  8 - 10  met\n"
            "late                  2.375 (0.177)  2 of 3  > 5     differs [1]\n"
            "gone                              -  0 of 3  -       BROKEN\n"
            "[1] It is not.\n"
            "gone: nothing is called `x`; there are none (column 1 of the expression)\n"
            "plot \"T\": not a series\n"
            "\n");
}

TEST(ExperimentText, WithoutRuns) {
  const auto e = experiment("rows: [{what: sent, value: events}]");
  EXPECT_EQ(experiment_text(result_of(e, {}, 3)), "e: E\nnot run\n\n");
  ExperimentResult left_out;
  left_out.experiment = &e;
  left_out.left_out = true;
  EXPECT_EQ(experiment_text(left_out), "e: E\nleft out of --quick\n\n");
}

TEST(ExperimentText, OfPlotsAlone) {
  const auto e = experiment("plots: [{title: T, lines: {a: events}}]");
  EXPECT_EQ(experiment_text(result_of(e, {1}, 1)), "e: E\n\n");
}

TEST(SummaryText, CountsVerdicts) {
  Tally t{.paper = "csa"};
  using enum Verdict;
  for (const auto v : {met, met, missed, differs, pinned, pin_missed, printed, broken, not_run}) t.add(v);
  EXPECT_EQ(summary_text(std::vector{t, Tally{.paper = "ard"}}),
            "PAPER  ROWS  MET  MISSED  DIFFERS  PINNED  PRINTED  NOT RUN\n"
            "csa       9    2       3        1       1        1        1\n"
            "ard       0    0       0        0       0        0        0\n");
}

TEST(Merged, NeighboursOfOnePaperAreOne) {
  const std::vector<Tally> all{{.paper = "csa", .title = "C", .rows = 1, .met = 1},
                               {.paper = "csa", .title = "D", .rows = 2, .missed = 1, .not_run = 1},
                               {.paper = "ard", .title = "A", .rows = 4, .differs = 4}};
  const auto papers = merged(all);
  ASSERT_EQ(papers.size(), 2u);
  EXPECT_EQ(papers[0].title, "C");
  EXPECT_EQ(papers[0].rows, 3u);
  EXPECT_EQ(papers[0].met, 1u);
  EXPECT_EQ(papers[0].missed, 1u);
  EXPECT_EQ(papers[0].not_run, 1u);
  EXPECT_EQ(papers[1].differs, 4u);
}

TEST(RowJson, HasEveryKey) {
  const auto e = experiment(
      "sweep: {key: n, values: [2.5]}, rows: [{what: w, unit: u, at: 2.5, value: events / 3, paper: ~3, "
      "band: 1 - 4, "
      "pin: '> 2', judge: every, reason: R}]");
  EXPECT_EQ(
      row_json("csa", e, 0, result_of(e, {9, 10}, 2).rows[0]).dump(),
      R"({"paper":"csa","experiment":"e","what":"w, n 2.5","unit":"u","x":2.5,"printed":"~3",)"
      R"("mean":3.166666667,"sd":0.23570226,"min":3.0,"max":3.333333333,"seeds":2,"band":"1 - 4","pin":"> 2",)"
      R"("claim":true,"judge":"every","verdict":"met","reason":"R","error":null})");
}

TEST(RowJson, WhatThereIsNotIsNull) {
  const auto e = experiment("rows: [{what: w, value: 'flows[x].ros'}]");
  EXPECT_EQ(
      row_json("csa", e, 0, result_of(e, {9}, 1).rows[0]).dump(),
      R"({"paper":"csa","experiment":"e","what":"w","unit":null,"x":null,"printed":null,"mean":null,"sd":null,)"
      R"("min":null,"max":null,"seeds":0,"band":null,"pin":null,"claim":false,"judge":"mean","verdict":"BROKEN",)"
      R"~("reason":null,"error":"nothing is called `x`; there are none (column 1 of the expression)"})~");
}

}  // namespace
}  // namespace surety::lab
