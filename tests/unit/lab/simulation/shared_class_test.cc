// SPDX-License-Identifier: BSD-3-Clause
// Two customers whose packets share a class: what one sends costs the other nothing that it has a contract
// for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/unit/lab/simulation/bench.h"

namespace surety::lab {
namespace {

// A customer with a contract for 10 Mbit/s sends 8; from 2 s on a neighbor with one for 5 sends more than the
// link carries.
constexpr const char* kScenario = R"(
version: 1
duration: 6 s
measure: 1 s - 6 s
routers:
  r:
    ports: {{a: {{}}, b: {{}}, up: {{trust: core, shape: 20 Mbit/s, queues: q}}}}
    queues: {{q: [{{name: af, dscp: {{in: [AF11], out: [AF12, BE]}}, limit: 200 packets, {aqm}}}]}}
    services:
      ten: {{conditioner: token-bucket, rate: 10 Mbit/s, bucket: 60 kB, mark: {{in: AF11, out: AF12}}}}
      five: {{conditioner: token-bucket, rate: 5 Mbit/s, bucket: 60 kB, mark: {{in: AF11, out: AF12}}}}
    classify:
      - {{match: {{port: a}}, service: ten, per: rule}}
      - {{match: {{port: b}}, service: five, per: rule}}
hosts: [a, b, sink]
links: [{{between: [a, r.a]}}, {{between: [b, r.b]}}, {{between: [r.up, sink]}}]
senders:
  - {{name: victim, host: a, to: sink, protocol: udp, rate: 8 Mbit/s, packet: 1000 B}}
  - {{name: flood, host: b, to: sink, protocol: udp, rate: {rate} Mbit/s, packet: 1000 B, start: 2 s}}
)";

// The part of the customer's packets that is lost.
double lost(std::string_view aqm, int rate) {
  const std::string yaml = fmt::format(kScenario, fmt::arg("aqm", aqm), fmt::arg("rate", rate));
  const RunResult run = test::run_once(yaml);
  const FlowResult& victim = test::flow(run, "victim");
  return static_cast<double>(victim.lost_packets) / static_cast<double>(victim.sent_packets);
}

TEST(LabSharedClass, AFloodOfOutPacketsLeavesInPacketsTheirRoom) {
  EXPECT_GT(lost("aqm: tail-drop", 120), 0.5);
  EXPECT_LE(lost("aqm: rio", 120), 0.02) << "with derived thresholds";
}

// The README's thresholds, and packets that come faster than the average rises.
TEST(LabSharedClass, TheOnsetOfAFloodLeavesInPacketsTheirRoom) {
  const std::string rio =
      "rio: {average: 0.002, in: {min: 70, max: 120, pmax: 0.01}, out: {min: 10, max: 60, pmax: 0.2}}";
  EXPECT_GT(lost(rio + ", count: packets", 400), 0);
  EXPECT_EQ(lost(rio, 400), 0);
}

}  // namespace
}  // namespace surety::lab
