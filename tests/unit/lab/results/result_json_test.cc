// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/result_json.h"

#include <gmock/gmock.h>

#include "tests/unit/lab/results/results.h"

namespace surety::lab {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return names;
}

TEST(ResultJson, IsOneLineWithTheKeysInTheirOrder) {
  RunResult r = test::sample_run();
  r.flows.pop_back();
  r.queues.pop_back();
  EXPECT_EQ(
      to_line(to_json(r)),
      R"({"scenario":"sample","seed":1,"duration_s":2.0,"events":12345,)"
      R"("flows":[{"name":"long","protocol":"gtfrc","target_bps":800000,"committed_bps":0,)"
      R"("throughput_bps":780001,"goodput_bps":760000,"sent_packets":20000,"received_packets":19790,)"
      R"("lost_packets":200,"in_share":0.941176,"in_throughput_bps":750000,"ros":0.998765,)"
      R"("time_to_target_s":3.0,"rtt_mean_s":0.680123457,"one_way_delay_mean_s":0.3,"buffer_drops":0,)"
      R"("retransmitted_packets":0,"timeouts":0,"loss_events":33,"reordered_packets":3,"contract_in_bytes":1250000,)"
      R"("delivered_bps":775000,"drops":{"core":{"in":1,"out":150}},"conformance":0.75}],)"
      R"("queues":[{"router":"core","port":"out","queue":"assured",)"
      R"("in":{"arrivals":1000,"early_drops":2,"forced_drops":0,"overflow_drops":0,"marked":0},)"
      R"("out":{"arrivals":500,"early_drops":30,"forced_drops":4,"overflow_drops":1,"marked":0},)"
      R"("average_in_mean":11.25,"average_total_mean":15.0,"utilisation":0.997,"rate_bps":1000000,"departed_bps":0}],)"
      R"("domains":[{"router":"core","port":"out","queue":"assured","alpha_mean":0.21,"alpha_min":0.04,)"
      R"("alpha_last":0.18,"at":"edge","applied":true}],)"
      R"("aggregates":[{"name":"gold","tpr_bps":700000,"lambda_in_bps":500000,"lambda_out_bps":200000,)"
      R"("remarked":30,"dropped":4,"router":"edge","tpr_max_bps":1000000,"passed_in":1000,"passed_out":200,)"
      R"("tokens_mean_bytes":52500.0,"below_threshold":0.25,"expected_remarked":29.5,"expected_dropped":4.25}],)"
      R"("measure_s":[0.0,2.0],"drops":{"core":{"early_in":2},"links":{"loss":5}},)"
      R"("signals":{"core":{"sent":9},"edge":{"applied":7},"links":{"lost":2}}})"
      "\n");
}

TEST(ResultJson, HasNullForWhatThereIsNot) {
  const Json flow = to_json(test::sample_run())["flows"][1];
  for (const char* key :
       {"in_share", "ros", "conformance", "time_to_target_s", "rtt_mean_s", "one_way_delay_mean_s"})
    EXPECT_TRUE(flow[key].is_null()) << key;
  EXPECT_EQ(flow["throughput_bps"], 150'000);
}

TEST(ResultJson, OfNothingHasEmptyTables) {
  const Json json = to_json(RunResult{});
  EXPECT_THAT(keys(json), ElementsAre("scenario", "seed", "duration_s", "events", "flows", "queues",
                                      "domains", "aggregates", "measure_s", "drops", "signals"));
  for (const char* table : {"flows", "queues", "domains", "aggregates"})
    EXPECT_EQ(json[table], Json::array()) << table;
  EXPECT_EQ(json["drops"], Json::object());
  EXPECT_EQ(json["signals"], Json::object());
}

TEST(ResultJson, HasInterfacesAndGroupsWhereThereAre) {
  RunResult r = test::sample_run();
  EXPECT_FALSE(to_json(r).contains("groups"));
  EXPECT_FALSE(to_json(r)["queues"][0].contains("interface"));
  r.queues[0].interface = "homes.7";
  r.groups = {{"core", "out", "street", 9, 8, 20'000, 10'000, 0.925}};
  EXPECT_EQ(to_json(r)["queues"][0]["interface"], "homes.7");
  EXPECT_EQ(to_json(r)["groups"].dump(),
            R"([{"router":"core","port":"out","group":"street","interfaces":9,"sending":8,)"
            R"("limit_bps":20000,"departed_bps":10000,"jain":0.925}])");
}

TEST(ResultJson, HasSeriesWhenAsked) {
  RunResult r = test::sample_run();
  r.sample_s = 0.5;
  r.flows[0].throughput_series = {1.4F, std::numeric_limits<float>::quiet_NaN()};
  r.flows[0].delay_series = {0.1F};
  r.domains[0].alpha_series = {0.04F, 0.4F};
  const Json json = with_series(r);
  EXPECT_EQ(json["sample_s"], 0.5);
  EXPECT_EQ(json["flows"][0]["throughput_series"].dump(), "[1,null]");
  EXPECT_EQ(json["flows"][0]["delay_series"].dump(), "[0.1]");
  EXPECT_EQ(json["domains"][0]["alpha_series"].dump(), "[0.04,0.4]");
  EXPECT_EQ(json["aggregates"][0]["tokens_series"].dump(), "[60000,45000]");
  EXPECT_FALSE(to_json(r)["flows"][0].contains("throughput_series"));
}

TEST(ResultJson, SaysThatARunWasInterruptedOnlyThen) {
  RunResult r = test::sample_run();
  EXPECT_FALSE(to_json(r).contains("interrupted"));
  r.interrupted = true;
  EXPECT_EQ(to_json(r)["interrupted"], true);
}

TEST(ResultJson, RoundsToDecimalsThatPrintShort) {
  EXPECT_EQ(rounded(2.0 / 3, 6).dump(), "0.666667");
  EXPECT_EQ(rounded(0.1 + 0.2, 9).dump(), "0.3");
  EXPECT_EQ(rounded(-1e-9, 6).dump(), "0.0");
  EXPECT_EQ(rounded(299.9999999999, 9).dump(), "300.0");
  EXPECT_EQ(rounded(1.5, 0).dump(), "2");
  EXPECT_EQ(rounded(1e12, 0).dump(), "1000000000000");
}

TEST(ResultJson, HasNullForWhatIsNoNumber) {
  EXPECT_TRUE(rounded(std::numeric_limits<double>::quiet_NaN(), 6).is_null());
  EXPECT_TRUE(rounded(std::numeric_limits<double>::infinity(), 0).is_null());
}

TEST(ResultJson, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(to_line(Json{{"name", "a\xff"}}), "{\"name\":\"a\xEF\xBF\xBD\"}\n");
}

}  // namespace
}  // namespace surety::lab
