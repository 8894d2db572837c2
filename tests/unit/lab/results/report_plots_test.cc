// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/report_plots.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/lab/results/results.h"

namespace surety::lab {
namespace {

using testing::ElementsAre;

std::vector<std::string> titles(const std::vector<Plot>& plots) {
  std::vector<std::string> names;
  for (const auto& p : plots) names.push_back(p.title);
  return names;
}
std::vector<std::string> names(const Plot& plot) {
  std::vector<std::string> all;
  for (const auto& l : plot.lines) all.push_back(l.name);
  return all;
}
std::vector<std::pair<std::string, double>> levels(const Plot& plot) {
  std::vector<std::pair<std::string, double>> all;
  for (const auto& l : plot.levels) all.emplace_back(l.name, l.y);
  return all;
}
using Level = std::pair<std::string, double>;

RunResult flows(std::size_t n, const std::string& stem, double target = 0) {
  RunResult r;
  for (std::size_t i = 1; i <= n; ++i) {
    FlowResult f;
    f.name = stem + '#' + std::to_string(i);
    f.protocol = "udp";
    f.target_bps = target;
    f.throughput_series = {static_cast<float>(1000 * i), i == 1 ? test::kNone : 5000.0F};
    r.flows.push_back(f);
  }
  return r;
}

TEST(ReportPlots, EverySeriesHasItsPlot) {
  EXPECT_THAT(titles(report_plots(test::sample_run())),
              ElementsAre("Throughput at the receiver", "Sending rate X (TFRC, gTFRC)",
                          "Congestion window (TCP)", "One-way delay", "Queue core.out.assured",
                          "Alpha of the congestion domains", "Temporary permitted rate of the aggregates"));
  EXPECT_TRUE(report_plots(RunResult{}).empty());
}

TEST(ReportPlots, FlowsWithTheirPromises) {
  const auto plots = report_plots(test::sample_run());
  EXPECT_THAT(names(plots[0]), ElementsAre("long", "plain"));
  EXPECT_EQ(plots[0].y_label, "throughput (kbit/s)");
  EXPECT_THAT(plots[0].lines[0].x, ElementsAre(1, 2));
  EXPECT_THAT(plots[0].lines[0].y, ElementsAre(100, 790));
  EXPECT_THAT(levels(plots[0]), ElementsAre(Level("promised", 800)));
  EXPECT_THAT(names(plots[1]), ElementsAre("long"));
  EXPECT_THAT(names(plots[2]), ElementsAre("plain"));
  EXPECT_EQ(plots[2].y_label, "window (packets)");
  EXPECT_THAT(plots[2].lines[0].y, ElementsAre(10.5, 11));
  EXPECT_EQ(plots[3].y_label, "mean delay (ms)");
  EXPECT_TRUE(std::isnan(plots[3].lines[0].y[0]));
  EXPECT_EQ(plots[3].lines[0].y[1], 250);
}

TEST(ReportPlots, QueuesWithTheirThresholds) {
  const Plot queue = report_plots(test::sample_run())[4];
  EXPECT_THAT(names(queue), ElementsAre("average, all", "average, IN"));
  EXPECT_THAT(levels(queue),
              ElementsAre(Level("out min", 10), Level("out max, in min", 20), Level("in max", 40)));
}

TEST(ReportPlots, AQueueWithoutRioHasItsDepth) {
  RunResult r = test::sample_run();
  r.queues[0].thresholds.reset();
  const Plot queue = report_plots(r)[4];
  EXPECT_THAT(names(queue), ElementsAre("depth"));
  EXPECT_TRUE(queue.levels.empty());
}

TEST(ReportPlots, AlphaAndTpr) {
  const auto plots = report_plots(test::sample_run());
  EXPECT_THAT(names(plots[5]), ElementsAre("core.out.assured at edge"));
  EXPECT_THAT(names(plots[6]), ElementsAre("edge gold"));
  EXPECT_EQ(plots[6].y_label, "TPR (kbit/s)");
  EXPECT_THAT(levels(plots[6]), ElementsAre(Level("gold max", 1000)));
}

TEST(ReportPlots, ADozenLinesFillAPlot) {
  RunResult r = flows(12, "a");
  r.flows.push_back(flows(1, "b").flows[0]);
  const auto plots = report_plots(r);
  ASSERT_EQ(plots.size(), 2u);
  EXPECT_EQ(plots[0].lines.size(), 12u);
  EXPECT_THAT(names(plots[1]), ElementsAre("b#1"));
}

TEST(ReportPlots, MoreFlowsOfOneSenderBecomeLeastMeanAndGreatest) {
  const auto plots = report_plots(flows(13, "a", 4000));
  ASSERT_EQ(plots.size(), 1u);
  EXPECT_THAT(names(plots[0]), ElementsAre("a x 13: mean", "a x 13: least", "a x 13: greatest"));
  EXPECT_THAT(plots[0].lines[0].y, ElementsAre(7, 5));
  EXPECT_THAT(plots[0].lines[1].y, ElementsAre(1, 5));
  EXPECT_THAT(plots[0].lines[2].y, ElementsAre(13, 5));
  EXPECT_THAT(levels(plots[0]), ElementsAre(Level("promised", 4)));
}

TEST(ReportPlots, AFlowWithoutASeriesIsLeftOut) {
  RunResult r = flows(1, "a", 4000);
  r.flows[0].throughput_series.clear();
  EXPECT_TRUE(report_plots(r).empty());
}

}  // namespace
}  // namespace surety::lab
