// SPDX-License-Identifier: BSD-3-Clause
// Results made up for the tests of what shows them.
#pragma once

#include <limits>

#include "tests/lab/results/result.h"

namespace surety::lab::test {

inline constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

inline FlowResult sample_flow(const std::string& name, double throughput_bps) {
  FlowResult f;
  f.name = name;
  f.protocol = "gtfrc";
  f.target_bps = 800'000;
  f.throughput_bps = throughput_bps;
  f.goodput_bps = 760'000.4;
  f.delivered_bps = throughput_bps - 5'000.3;
  f.sent_packets = 20'000;
  f.received_packets = 19'790;
  f.lost_packets = 200;
  f.in_share = 0.9411764705882353;
  f.in_throughput_bps = 750'000;
  f.ros = 0.9987654321;
  f.conformance = 0.75;
  f.time_to_target_s = 3;
  f.rtt_mean_s = 0.68012345678901;
  f.one_way_delay_mean_s = 0.3;
  f.loss_events = 33;
  f.reordered_packets = 3;
  f.contract_in_bytes = 1'250'000;
  f.drops["core"] = {1, 150};
  f.throughput_series = {100'000, 790'000};
  f.in_series = {90'000, 750'000};
  f.control_series = {120'000, 800'000};
  f.delay_series = {kNone, 0.25F};
  return f;
}

// Two flows, two queues (one without precedences), a domain, an aggregate.
inline RunResult sample_run(std::uint64_t seed = 1, double throughput_bps = 780'000.6) {
  RunResult r;
  r.scenario = "sample";
  r.seed = seed;
  r.duration_s = 2;
  r.measure_to_s = 2;
  r.events = 12'345;
  r.flows.push_back(sample_flow("long", throughput_bps));
  FlowResult tcp;
  tcp.name = "plain";
  tcp.protocol = "newreno";
  tcp.throughput_bps = 150'000;
  tcp.retransmitted_packets = 4;
  tcp.throughput_series = {140'000, 160'000};
  tcp.control_series = {10.5F, 11};
  r.flows.push_back(tcp);
  QueueResult q;
  q.router = "core";
  q.port = "out";
  q.queue = "assured";
  q.by_precedence = {PrecedenceResult{1000, 2, 0, 0, 0}, PrecedenceResult{500, 30, 4, 1, 0}};
  q.average_in_mean = 11.25;
  q.average_total_mean = 15.0000004;
  q.utilisation = 0.997;
  q.rate_bps = 1'000'000;
  q.thresholds = QueueResult::Thresholds{20, 40, 10, 20};
  q.average_in_series = {10, 12};
  q.average_total_series = {14, 16};
  r.queues.push_back(q);
  QueueResult plain;
  plain.router = "core";
  plain.port = "out";
  plain.queue = "rest";
  plain.by_precedence[index(Precedence::out)].arrivals = 7;
  r.queues.push_back(plain);
  r.domains.push_back({"core", "out", "assured", "edge", 0.21, 0.04, 0.18, {0.2F, 0.18F}});
  r.aggregates.push_back(
      {"edge", "gold", 700'000, 500'000, 200'000, 1'000'000, 1000, 200, 30, 4, {7e5F, 7e5F}, {6e4F, 4.5e4F}});
  r.aggregates.back().tokens_mean = 52'500;
  r.aggregates.back().below_threshold = 0.25;
  r.aggregates.back().expected_remarked = 29.5;
  r.aggregates.back().expected_dropped = 4.25;
  r.drops["core"]["early_in"] = 2;
  r.drops["links"]["loss"] = 5;
  r.signals["core"]["sent"] = 9;
  r.signals["edge"]["applied"] = 7;
  r.signals["links"]["lost"] = 2;
  return r;
}

}  // namespace surety::lab::test
