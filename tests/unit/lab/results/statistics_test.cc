// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/statistics.h"

#include <gtest/gtest.h>

#include "tests/unit/lab/results/results.h"

namespace surety::lab {
namespace {

using Json = nlohmann::ordered_json;

TEST(Statistics, JainsIndexIsOneWhereAllAreAlike) {
  EXPECT_EQ(jain_index(std::vector{3.0, 3.0, 3.0}), 1);
  EXPECT_DOUBLE_EQ(jain_index(std::vector{1.0, 0.0, 0.0, 0.0}), 0.25);
  EXPECT_DOUBLE_EQ(jain_index(std::vector{1.0, 2.0}), 0.9);
  EXPECT_EQ(jain_index(std::vector{0.0, 0.0}), 1);
}

TEST(Statistics, OfNothingIsZero) {
  const Summary s = summary_of({});
  EXPECT_EQ(s.n, 0u);
  EXPECT_EQ(s.mean, 0);
  EXPECT_EQ(s.sd, 0);
}

TEST(Statistics, OfOneValueHasNoDeviation) {
  const double one[] = {7};
  const Summary s = summary_of(one);
  EXPECT_EQ(s.n, 1u);
  EXPECT_EQ(s.mean, 7);
  EXPECT_EQ(s.sd, 0);
  EXPECT_EQ(s.min, 7);
  EXPECT_EQ(s.max, 7);
}

TEST(Statistics, DeviationIsThatOfASample) {
  const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
  const Summary s = summary_of(values);
  EXPECT_EQ(s.mean, 5);
  EXPECT_DOUBLE_EQ(s.sd * s.sd, 32.0 / 7);
  EXPECT_EQ(s.min, 2);
  EXPECT_EQ(s.max, 9);
}

TEST(Statistics, EveryNumberOfEveryTable) {
  const RunResult runs[] = {test::sample_run(1, 700'000), test::sample_run(2, 800'000),
                            test::sample_run(3, 750'000)};
  const Json all = summarize(runs);
  EXPECT_EQ(all["scenario"], "sample");
  EXPECT_EQ(all["seeds"], 3);
  const Json& s = all["statistics"];
  EXPECT_EQ(s["flows"][0]["name"], "long");
  EXPECT_EQ(s["flows"][0]["throughput_bps"].dump(),
            R"({"mean":750000,"sd":50000,"min":700000,"max":800000,"n":3})");
  EXPECT_EQ(s["flows"][0]["rtt_mean_s"].dump(),
            R"({"mean":0.680123457,"sd":0.0,"min":0.680123457,"max":0.680123457,"n":3})");
  EXPECT_EQ(s["queues"][0]["in"]["early_drops"].dump(), R"({"mean":2.0,"sd":0.0,"min":2.0,"max":2.0,"n":3})");
  EXPECT_EQ(s["queues"][1]["queue"], "rest");
  EXPECT_EQ(s["domains"][0]["alpha_mean"]["mean"], 0.21);
  EXPECT_EQ(s["domains"][0]["at"], "edge");
  EXPECT_EQ(s["aggregates"][0]["tpr_bps"]["mean"], 700'000);
}

TEST(Statistics, LeavesNullsOutAndCountsTheRest) {
  RunResult runs[] = {test::sample_run(1), test::sample_run(2), test::sample_run(3)};
  runs[0].flows[0].time_to_target_s = 2;
  runs[1].flows[0].time_to_target_s.reset();
  runs[2].flows[0].time_to_target_s = 4;
  const Json s = summarize(runs)["statistics"]["flows"];
  EXPECT_EQ(s[0]["time_to_target_s"].dump(), R"({"mean":3.0,"sd":1.414213562,"min":2.0,"max":4.0,"n":2})");
  EXPECT_EQ(s[1]["time_to_target_s"].dump(), R"({"mean":null,"sd":null,"min":null,"max":null,"n":0})");
}

TEST(Statistics, FindsARowWhereverItStands) {
  RunResult runs[] = {test::sample_run(1), test::sample_run(2)};
  runs[0].domains.clear();
  runs[0].domains.push_back({"core", "out", "assured", "west", 0.1, 0.1, 0.1, {}});
  runs[1].domains.push_back({"core", "out", "assured", "west", 0.3, 0.1, 0.1, {}});
  const Json domains = summarize(runs)["statistics"]["domains"];
  ASSERT_EQ(domains.size(), 2u);
  EXPECT_EQ(domains[0]["at"], "west");
  EXPECT_EQ(domains[0]["alpha_mean"]["mean"], 0.2);
  EXPECT_EQ(domains[1]["at"], "edge");
  EXPECT_EQ(domains[1]["alpha_mean"]["n"], 1);
}

// A flow's drops name only the routers that dropped of it.
TEST(Statistics, WhereOnlyOneRunHasDroppedTheOthersCountAsNone) {
  RunResult runs[] = {test::sample_run(1), test::sample_run(2), test::sample_run(3)};
  runs[0].flows[0].drops["edge"] = {0, 6};
  runs[1].flows[0].drops["exit"] = {3, 0};
  runs[2].flows.erase(runs[2].flows.begin());
  const Json drops = summarize(runs)["statistics"]["flows"][0]["drops"];
  EXPECT_EQ(drops["core"]["out"].dump(), R"({"mean":150.0,"sd":0.0,"min":150.0,"max":150.0,"n":2})");
  EXPECT_EQ(drops["edge"]["out"].dump(), R"({"mean":3.0,"sd":4.242641,"min":0.0,"max":6.0,"n":2})");
  EXPECT_EQ(drops["exit"]["in"].dump(), R"({"mean":1.5,"sd":2.12132,"min":0.0,"max":3.0,"n":2})");
}

TEST(Statistics, OfNoRunHasEmptyTables) {
  EXPECT_EQ(
      summarize({}).dump(),
      R"({"scenario":"","seeds":0,"statistics":{"flows":[],"queues":[],"domains":[],"aggregates":[]}})");
}

}  // namespace
}  // namespace surety::lab
