// SPDX-License-Identifier: BSD-3-Clause
// Two customers whose packets share a class: what one sends costs the other nothing that it has a contract
// for.
#include <gtest/gtest.h>

#include <string_view>

#include "tests/lab/scenario/sweep.h"
#include "tests/unit/lab/simulation/bench.h"

namespace surety::lab {
namespace {

// A customer with a contract for 10 Mbit/s sends 8; a neighbor with one for 5 sends 120.
constexpr const char* kFlood = R"(
version: 1
duration: 6 s
measure: 1 s - 6 s
routers:
  r:
    ports: {a: {}, b: {}, up: {trust: core, shape: 20 Mbit/s, queues: q}}
    queues: {q: [{name: af, dscp: {in: [AF11], out: [AF12, BE]}, limit: 200 packets}]}
    services:
      ten: {conditioner: token-bucket, rate: 10 Mbit/s, bucket: 60 kB, mark: {in: AF11, out: AF12}}
      five: {conditioner: token-bucket, rate: 5 Mbit/s, bucket: 60 kB, mark: {in: AF11, out: AF12}}
    classify:
      - {match: {port: a}, service: ten, per: rule}
      - {match: {port: b}, service: five, per: rule}
hosts: [a, b, sink]
links: [{between: [a, r.a]}, {between: [b, r.b]}, {between: [r.up, sink]}]
senders:
  - {name: victim, host: a, to: sink, protocol: udp, rate: 8 Mbit/s, packet: 1000 B}
  - {name: flood, host: b, to: sink, protocol: udp, rate: 120 Mbit/s, packet: 1000 B}
)";

double lost(std::initializer_list<Setting> settings = {}, std::string_view yaml = kFlood) {
  const RunResult run = test::run_once(yaml, 1, settings);
  const FlowResult& victim = test::flow(run, "victim");
  return static_cast<double>(victim.lost_packets) / static_cast<double>(victim.sent_packets);
}

TEST(LabSharedClass, AFloodOfOutPacketsLeavesInPacketsTheirRoom) {
  EXPECT_GT(lost({parse_setting("routers.r.queues.q.af.aqm=tail-drop")}), 0.5);
  EXPECT_LE(lost(), 0.02);
}

// The same, with thresholds that are said, and packets that come faster than RIO's average rises.
constexpr const char* kOnset = R"(
version: 1
duration: 3 s
measure: 1 s - 3 s
routers:
  r:
    ports: {a: {}, b: {}, up: {trust: core, shape: 20 Mbit/s, queues: q}}
    queues:
      q:
        - {name: af, dscp: {in: [AF11], out: [AF12, BE]}, limit: 200 packets,
           rio: {average: 0.002, in: {min: 70, max: 120, pmax: 0.01}, out: {min: 10, max: 60, pmax: 0.2}}}
    services:
      ten: {conditioner: token-bucket, rate: 10 Mbit/s, bucket: 60 kB, mark: {in: AF11, out: AF12}}
      five: {conditioner: token-bucket, rate: 5 Mbit/s, bucket: 60 kB, mark: {in: AF11, out: AF12}}
    classify:
      - {match: {port: a}, service: ten, per: rule}
      - {match: {port: b}, service: five, per: rule}
hosts: [a, b, sink]
links: [{between: [a, r.a]}, {between: [b, r.b]}, {between: [r.up, sink]}]
senders:
  - {name: victim, host: a, to: sink, protocol: udp, rate: 8 Mbit/s, packet: 1000 B}
  - {name: flood, host: b, to: sink, protocol: udp, rate: 400 Mbit/s, packet: 1000 B, start: 2 s}
)";

TEST(LabSharedClass, TheOnsetOfAFloodLeavesInPacketsTheirRoom) {
  EXPECT_GT(lost({parse_setting("routers.r.queues.q.af.count=packets")}, kOnset), 0);
  EXPECT_EQ(lost({}, kOnset), 0);
}

}  // namespace
}  // namespace surety::lab
