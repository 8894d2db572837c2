// SPDX-License-Identifier: BSD-3-Clause
// A csa service that does not say `alpha`: a customer may use a link that others leave idle, and gets no less
// than the contract when they come.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/lab/simulation/bench.h"

namespace surety::lab {
namespace {

// One customer of 600 kbit/s on an uplink of 10 Mbit/s from the start, eleven with round trips of 20 to 220
// ms from 20 s on; windows of 1 MB.
constexpr const char* kScenario = R"(
version: 1
duration: 60 s
measure: {begin} s - {end} s
routers:
  edge:
    ports: {{lan: {{}}, up: {{trust: core, shape: 10 Mbit/s, queues: q}}}}
    queues:
      q:
        - name: assured
          dscp: {{in: [AF11], out: [AF12, BE]}}
          limit: 200 packets
          {aqm}
    services:
      home: {{{service}}}
    classify: [{{match: {{port: lan}}, service: home, per: source}}]
hosts: [one, {{name: other, times: 11}}, server]
links:
  - {{between: [one, edge.lan], rate: 20 Mbit/s, delay: 5 ms}}
  - {{between: [other, edge.lan], rate: 20 Mbit/s, delay: 5 ms, delay_step: 10 ms}}
  - {{between: [edge.up, server], rate: 10 Mbit/s, delay: 5 ms}}
senders:
  - {{name: one, host: one, to: server, protocol: newreno, window: 1 MB, sack: off, ecn: off, start: 0 s}}
  - {{name: other, host: other, to: server, protocol: newreno, window: 1 MB, sack: off, ecn: off, start: 20 s}}
)";

const std::string kCsa = "rate: 600 kbit/s, mark: {in: AF11, out: BE}";

const std::string kRio = "rio: {in: {min: 70, max: 120, pmax: 0.01}, out: {min: 10, max: 60, pmax: 0.2}}";

RunResult run(int begin, int end, const std::string& service = kCsa, const std::string& aqm = kRio) {
  return test::run_once(fmt::format(kScenario, fmt::arg("begin", begin), fmt::arg("end", end),
                                    fmt::arg("service", service), fmt::arg("aqm", aqm)));
}

TEST(LabIdleLink, IsUsedByWhoIsAlone) {
  const FlowResult paper = test::flow(run(10, 20, kCsa + ", alpha: {max: 0.4}"), "one");
  EXPECT_LT(paper.delivered_bps, 0.9e6) << "1.4 times the rate";
  const FlowResult free = test::flow(run(10, 20, "conditioner: none, mark: {in: AF12}"), "one");
  const FlowResult one = test::flow(run(10, 20), "one");
  EXPECT_GT(one.delivered_bps, 0.95 * free.delivered_bps);
  EXPECT_LT(*one.rtt_mean_s, *free.rtt_mean_s + 0.005);
}

// Congestion of such a queue is not detected, and others wait in it.
TEST(LabIdleLink, IsNotGivenAwayWhereTheQueueHasNoRio) {
  EXPECT_LT(test::flow(run(10, 20, kCsa, "aqm: tail-drop"), "one").delivered_bps, 0.9e6);
}

TEST(LabIdleLink, IsSharedWhenOthersCome) {
  const RunResult result = run(26, 60);
  for (const FlowResult& f : result.flows) EXPECT_GT(f.delivered_bps, 0.6e6) << f.name;
}

}  // namespace
}  // namespace surety::lab
