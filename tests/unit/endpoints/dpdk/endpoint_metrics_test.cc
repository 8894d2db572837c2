// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>

#include <algorithm>

#include "endpoints/dpdk/metrics.h"
#include "tests/unit/endpoints/dpdk/sample_endpoint_reading.h"
#include "tests/unit/router/observe/metrics_text.h"

namespace surety::endpoints {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;
using testing::HasSubstr;

std::string family(const std::string& name,
                   const EndpointReading& reading = test::sample_endpoint_reading()) {
  return metrics_text::family(render(reading), "surety_endpoint_" + name);
}

std::string lines(const std::string& name, const std::string& type,
                  std::initializer_list<std::pair<const char*, const char*>> series) {
  const std::string full = "surety_endpoint_" + name;
  std::string s = "# TYPE " + full + ' ' + type + '\n';
  for (const auto& [labels, value] : series) s += full + '{' + labels + "} " + value + '\n';
  return s;
}

constexpr const char* kCamera = "sender=\"camera\",protocol=\"gtfrc\"";
constexpr const char* kWeb = "sender=\"web\",protocol=\"newreno\"";
constexpr const char* kSink = "sink=\"p0\",protocol=\"dccp\"";

TEST(EndpointMetrics, CountersOfSenders) {
  const auto expect = [](const std::string& name, const char* camera, const char* web) {
    EXPECT_EQ(family(name), lines(name, "counter", {{kCamera, camera}, {kWeb, web}}));
  };
  expect("sent_packets_total", "1000", "0");
  expect("sent_bytes_total", "1500000", "0");
  expect("retransmitted_packets_total", "0", "3");
}

TEST(EndpointMetrics, CountersOfSendersAndSinks) {
  const auto expect = [](const std::string& name, const char* camera, const char* sink) {
    EXPECT_EQ(family(name), lines(name, "counter", {{kCamera, camera}, {kWeb, "0"}, {kSink, sink}}));
  };
  expect("received_packets_total", "990", "50");
  expect("received_bytes_total", "1485000", "60000");
  expect("payload_bytes_total", "1455300", "58000");
  expect("lost_packets_total", "10", "2");
}

TEST(EndpointMetrics, WhatIsNotKnownHasNoSeries) {
  const auto expect = [](const std::string& name, const char* camera) {
    EXPECT_EQ(family(name), lines(name, "gauge", {{kCamera, camera}}));
  };
  expect("target_bytes_per_second", "100000");
  expect("respect_ratio", "0.75");
  expect("rtt_seconds", "0.04");
  expect("loss_event_rate", "0.0125");
  expect("allowed_rate_bytes_per_second", "80000");
}

TEST(EndpointMetrics, Throughput) {
  EXPECT_EQ(family("throughput_bytes_per_second"), lines("throughput_bytes_per_second", "gauge",
                                                         {{kCamera, "97500"}, {kWeb, "0"}, {kSink, "6000"}}));
}

TEST(EndpointMetrics, FailedFlows) {
  EXPECT_EQ(family("failed_flows"), lines("failed_flows", "gauge", {{kCamera, "1"}, {kWeb, "0"}}));
}

TEST(EndpointMetrics, EveryStateHasASeries) {
  const std::string all = family("flows");
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 1 + 3 * static_cast<int>(kFlowStates));
  EXPECT_THAT(all,
              HasSubstr("surety_endpoint_flows{sender=\"camera\",protocol=\"gtfrc\",state=\"open\"} 2\n"));
  EXPECT_THAT(all,
              HasSubstr("surety_endpoint_flows{sender=\"web\",protocol=\"newreno\",state=\"idle\"} 10\n"));
  EXPECT_THAT(all, HasSubstr("surety_endpoint_flows{sink=\"p0\",protocol=\"dccp\",state=\"closed\"} 0\n"));
}

TEST(EndpointMetrics, EveryReasonHasASeries) {
  const std::string refusals = family("refusals_total"), drops = family("frame_drops_total");
  EXPECT_EQ(std::count(refusals.begin(), refusals.end(), '\n'), 1 + static_cast<int>(kRefusals));
  EXPECT_THAT(refusals,
              HasSubstr("counter\nsurety_endpoint_refusals_total{port=\"p0\",reason=\"truncated\"} 0\n"));
  EXPECT_THAT(refusals, HasSubstr("\nsurety_endpoint_refusals_total{port=\"p0\",reason=\"checksum\"} 4\n"));
  EXPECT_EQ(std::count(drops.begin(), drops.end(), '\n'), 1 + static_cast<int>(kDropReasons));
  EXPECT_THAT(drops,
              HasSubstr("\nsurety_endpoint_frame_drops_total{port=\"p0\",reason=\"ipv4_checksum\"} 5\n"));
}

TEST(EndpointMetrics, PortsAndBuild) {
  EXPECT_EQ(family("frames_received_total"),
            lines("frames_received_total", "counter", {{"port=\"p0\"", "700"}}));
  EXPECT_EQ(family("frames_sent_total"), lines("frames_sent_total", "counter", {{"port=\"p0\"", "1010"}}));
  EXPECT_EQ(family("build_info"), lines("build_info", "gauge", {{"version=\"0.1.0\"", "1"}}));
}

TEST(EndpointMetrics, FamiliesWithoutSeriesAreLeftOut) {
  const auto families = render(EndpointReading{});
  ASSERT_EQ(families.size(), 1u);
  EXPECT_EQ(families[0].name, "surety_endpoint_build_info");
}

TEST(EndpointMetrics, NamesFollowTheirTypes) {
  for (const MetricFamily& f : render(test::sample_endpoint_reading())) {
    EXPECT_TRUE(f.name.starts_with("surety_endpoint_")) << f.name;
    EXPECT_EQ(f.name.ends_with("_total"), f.type == MetricType::Counter) << f.name;
    EXPECT_FALSE(f.help.empty()) << f.name;
  }
}

TEST(EndpointMetrics, PromtoolFindsNothing) {
  metrics_text::expect_promtool_finds_nothing(render(test::sample_endpoint_reading()));
}

}  // namespace
}  // namespace surety::endpoints
