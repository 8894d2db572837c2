// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lab/results/result_json.h"
#include "tests/unit/lab/results/results.h"

namespace surety::lab {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

Scenario sample_scenario() {
  Scenario s;
  s.name = "sample";
  Link link;
  link.name = "h1 <edge.a>";
  link.forth.rate = Rate::bits_per_second(10'000'000);
  link.forth.delay = std::chrono::milliseconds(317);
  link.back = link.forth;
  link.back.rate.reset();
  link.back.loss = Probability(0.01);
  link.back.queue = 50;
  s.links.push_back(link);
  return s;
}

Json recorded(const std::vector<RunResult>& runs, std::size_t most = kMostValues) {
  return recording_of(sample_scenario(), runs, most);
}

std::vector<std::string> titles(const Json& recording) {
  std::vector<std::string> all;
  for (const auto& table : recording["results"]) all.push_back(table["title"]);
  return all;
}

TEST(Recording, AFlowIsAContractOfItsSender) {
  RunResult run = test::sample_run();
  run.flows[0].name = "long#7";
  run.flows[0].buffer_drops = 2;
  EXPECT_EQ(recorded({run})["tables"]["contracts"][0], Json::parse(R"({
    "customer": "long", "service": "gtfrc", "contract": "#7", "committed_bytes_per_second": 100000,
    "delivered_bytes_per_second": 96875, "respect_ratio": 0.998765, "conformance_ratio": 0.75, "met": false, "end_to_end": "kept",
    "dropped_conditioner": 2, "dropped_queue": 151,
    "over_time": {"throughput_bytes_per_second": [12500, 98750], "rate_bytes_per_second": [15000, 100000],
                  "delay_seconds": [null, 0.25]}})"));
}

TEST(Recording, WithoutAContractNothingIsMet) {
  const Json row = recorded({test::sample_run()})["tables"]["contracts"][1];
  EXPECT_FALSE(row.contains("met"));
  EXPECT_FALSE(row.contains("end_to_end"));
  EXPECT_FALSE(row.contains("committed_bytes_per_second"));
  EXPECT_EQ(row["over_time"]["window"], Json::parse("[10.5, 11.0]"));
}

TEST(Recording, AQueueHasItsThresholdsBesideItsAverages) {
  const Json queues = recorded({test::sample_run()})["tables"]["queues"];
  ASSERT_EQ(queues.size(), 1u) << "the other one has nothing to show over time";
  EXPECT_EQ(queues[0], Json::parse(R"({
    "port": "core.out", "name": "assured", "rio": true, "average_total": 15.0,
    "in": {"arrivals": 1000, "early_drops": 2, "forced_drops": 0, "overflow_drops": 0, "min": 20.0, "max": 40.0},
    "out": {"arrivals": 500, "early_drops": 30, "forced_drops": 4, "overflow_drops": 1, "min": 10.0, "max": 20.0},
    "average_in": 11.25, "over_time": {"average_in": [10.0, 12.0], "average_total": [14.0, 16.0]}})"));
}

TEST(Recording, DomainsAndAggregates) {
  const Json tables = recorded({test::sample_run()})["tables"];
  EXPECT_EQ(tables["domains"], Json::parse(R"([{"name": "core.out.assured at edge", "alpha_ratio": 0.18,
                                                "over_time": {"alpha_ratio": [0.2, 0.18]}}])"));
  EXPECT_EQ(tables["aggregates"], Json::parse(R"([{"name": "edge gold", "tpr_bytes_per_second": 87500,
                                                   "over_time": {"tpr_bytes_per_second": [87500, 87500]}}])"));
}

TEST(Recording, OfManyValuesSeveralAreOne) {
  RunResult run = test::sample_run();
  run.sample_s = 0.5;
  for (auto& f : run.flows) f.throughput_series = {8, 24, test::kNone, 40, 80};
  const Json all = recorded({run}), few = recorded({run}, 12);  // of 24
  EXPECT_EQ(all["step_seconds"], 0.5);
  EXPECT_EQ(few["step_seconds"], 1.0);
  const auto values = [](const Json& r) {
    return r["tables"]["contracts"][0]["over_time"]["throughput_bytes_per_second"];
  };
  EXPECT_EQ(values(all), Json::parse("[1, 3, null, 5, 10]"));
  EXPECT_EQ(values(few), Json::parse("[2, 5, 10]"));
}

TEST(Recording, HasTheTablesOfTheText) {
  EXPECT_THAT(titles(recorded({test::sample_run()})),
              testing::IsSupersetOf(
                  {"Flows", "Queues", "Congestion domains", "Aggregates", "Drops, whole run", "Links"}));
  const Json links = recorded({})["results"].back();
  EXPECT_EQ(
      links["rows"],
      Json::parse(R"([["h1 <edge.a>", "10 Mbit/s, 317 ms", "unlimited, 317 ms, loss 1 %, queue 50"]])"));
}

TEST(Recording, SeveralSeedsHaveATableOfTheirOwn) {
  const Json r = recorded({test::sample_run(1, 780'000), test::sample_run(2, 790'000)});
  EXPECT_THAT(titles(r), testing::Contains("Delivered, over the seeds"));
  EXPECT_THAT(to_line(r), HasSubstr("780.0 +- 7.1 kbit/s"));
  EXPECT_EQ(
      r["about"],
      "sample, 2 s, 2 seeds from 1 to 2, mean +- standard deviation; over time: seed 1, a value every 1 s, "
      "all of them in the CSV files beside this");
}

TEST(Recording, OfNoRunSaysSo) {
  const Json r = recorded({});
  EXPECT_EQ(r["about"], "no runs");
  EXPECT_EQ(r["tables"], Json::object());
}

}  // namespace
}  // namespace surety::lab
