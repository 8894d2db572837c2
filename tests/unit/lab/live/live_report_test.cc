// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/live/live_report.h"

#include <gmock/gmock.h>

#include "tests/lab/live/live_process.h"

namespace surety::lab {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* kReport = R"({"version": 1, "kept": true, "flows": [
  {"name": "f", "protocol": "gtfrc", "target_bps": 800000, "throughput_bps": 790000, "goodput_bps": 770000,
   "sent_packets": 1000, "received_packets": 990, "lost_packets": 10, "in_share": 0.875, "rtt_mean_s": 0.64, "kept": true},
  {"name": "g", "protocol": "newreno", "target_bps": null, "throughput_bps": null, "goodput_bps": null,
   "sent_packets": 3, "received_packets": 0, "lost_packets": 3, "in_share": null, "rtt_mean_s": null, "kept": null}],
  "accepted": [{"name": "others"}]})";

TEST(LabLiveReport, FlowsComeInTheirOrder) {
  const auto flows = live_flows(kReport);
  ASSERT_EQ(flows.size(), 2u);
  EXPECT_EQ(flows[0].name, "f");
  EXPECT_EQ(flows[0].protocol, "gtfrc");
  EXPECT_EQ(flows[0].target_bps, 800000);
  EXPECT_EQ(flows[0].throughput_bps, 790000);
  EXPECT_EQ(flows[0].goodput_bps, 770000);
  EXPECT_EQ(flows[0].in_share, 0.875);
  EXPECT_EQ(flows[0].rtt_mean_s, 0.64);
  EXPECT_EQ(flows[0].sent_packets, 1000u);
  EXPECT_EQ(flows[0].lost_packets, 10u);
}

TEST(LabLiveReport, WhatIsNotKnownIsNoNumber) {
  const auto flows = live_flows(kReport);
  EXPECT_EQ(flows[1].target_bps, 0);
  EXPECT_EQ(flows[1].throughput_bps, std::nullopt);
  EXPECT_EQ(flows[1].in_share, std::nullopt);
  EXPECT_EQ(flows[1].lost_packets, 3u);
}

TEST(LabLiveReport, WhatIsNoReportIsAnError) {
  for (const char* text : {"", "{", "{}", R"({"flows": [{"name": "f"}]})"})
    EXPECT_THAT([&] { live_flows(text); },
                ThrowsMessage<LiveError>(HasSubstr("the endpoint's report cannot be read: ")))
        << text;
}

Json row(std::uint64_t n) {
  const auto counters = [](std::uint64_t k) {
    return Json{
        {"depth", 1},           {"arrivals", k},         {"departures", k},         {"departed_bytes", k},
        {"early_drops", 2 * k}, {"forced_drops", 3 * k}, {"overflow_drops", 4 * k}, {"ecn_marks", 5 * k}};
  };
  return {
      {"port", "out"}, {"name", "assured"}, {"rio", true}, {"in", counters(n)}, {"out", counters(10 * n)}};
}

TEST(LabLiveReport, QueuesCountWhatCameInBetween) {
  const auto queues = live_queues("core", Json::array({row(7)}), Json::array({row(5)}));
  ASSERT_EQ(queues.size(), 1u);
  EXPECT_EQ(queues[0].router, "core");
  EXPECT_EQ(queues[0].port, "out");
  EXPECT_EQ(queues[0].queue, "assured");
  const auto& in = queues[0].by_precedence[index(Precedence::in)];
  EXPECT_EQ(in.arrivals, 2u);
  EXPECT_EQ(in.early_drops, 4u);
  EXPECT_EQ(in.forced_drops, 6u);
  EXPECT_EQ(in.overflow_drops, 8u);
  EXPECT_EQ(in.marked, 10u);
  EXPECT_EQ(queues[0].by_precedence[index(Precedence::out)].arrivals, 20u);
}

}  // namespace
}  // namespace surety::lab
