// SPDX-License-Identifier: BSD-3-Clause
// Contracts that move: an edge of two routers that know nothing of each other's flows
// (tests/lab/papers/scale_out.md).
//
// What a flow gains by moving is at most the depth of its in-bucket and, with a CSA contract,
// what waits at the old edge.
#include <gmock/gmock.h>

#include "tests/unit/lab/simulation/bench.h"

namespace surety::lab {
namespace {

using test::flow;
using test::run_once;

// h - agg - (one | two) - core - d and e. Twice the committed 1 Mbit/s = 125 packets a second is offered.
constexpr std::string_view kEdges = R"(
version: 1
duration: 30 s
routers:
  agg: {ports: {lan: {trust: core}, e1: {trust: core}, e2: {trust: core}}}
  one: &edge
    ports: {lan: {trust: customer}, up: {trust: core}}
    services:
      bucket: {conditioner: token-bucket, rate: 1 Mbit/s, bucket: 20 kB, mark: {in: AF11, out: AF12}}
      buffer: {conditioner: csa, rate: 1 Mbit/s, in_bucket: 20 kB, out_bucket: 1 kB, buffer: 10 packets, alpha: {fixed: 0.25}, mark: {in: AF11, out: AF12}}
    classify:
      - {match: {port: lan}, service: bucket, per: flow}
  two: *edge
  core: {ports: {e1: {trust: core}, e2: {trust: core}, out: {trust: core}}}
hosts: [h, d, e]
links:
  - {between: [h, agg.lan], delay: 1 ms}
  - {between: [agg.e1, one.lan], delay: 1 ms}
  - {between: [agg.e2, two.lan], delay: 1 ms}
  - {between: [one.up, core.e1], delay: 1 ms}
  - {between: [two.up, core.e2], delay: 1 ms}
  - {between: [core.out, d], delay: 1 ms}
  - {between: [core.out, e], delay: 1 ms}
senders:
  - {name: f, host: h, to: d, protocol: udp, rate: 2 Mbit/s, packet: 1000 B}
)";
const Setting kMove{"routes", "[{to: d, by: agg.e2, at: 10 s}]"};
const Setting kThereAndBack{"routes", "[{to: d, by: agg.e2, at: 10 s}, {to: d, by: agg.e1, at: 10.1 s}]"};

constexpr std::uint64_t kDepth = 20'000, kPacket = 1000;
constexpr std::uint64_t kRate = 125'000;  // bytes per second

// A bucket's last packet may still want tokens, and is a few milliseconds on its way to it.
void expect_in(std::uint64_t bytes, std::uint64_t expected) {
  EXPECT_LE(bytes, expected + kPacket);
  EXPECT_GE(bytes + 2 * kPacket, expected);
}

TEST(LabScaleOut, AFlowThatStaysHasOneBucket) {
  const RunResult r = run_once(kEdges);
  expect_in(flow(r, "f").contract_in_bytes, kDepth + 30 * kRate);
  EXPECT_EQ(flow(r, "f").committed_bps, 1e6);
  EXPECT_EQ(flow(r, "f").reordered_packets, 0u);
}

TEST(LabScaleOut, ATokenBucketIsFullAgainAfterAMove) {
  const RunResult r = run_once(kEdges, 1, {kMove});
  expect_in(flow(r, "f").contract_in_bytes, 2 * kDepth + 30 * kRate);
  EXPECT_EQ(flow(r, "f").committed_bps, 1e6) << "one contract at a time";
  EXPECT_EQ(flow(r, "f").reordered_packets, 0u) << "nothing waits at the old edge";
  double bits = 0;
  for (const float rate : flow(r, "f").contract_series) bits += rate;
  EXPECT_DOUBLE_EQ(bits / 8, static_cast<double>(flow(r, "f").contract_in_bytes)) << "second by second";
  EXPECT_EQ(flow(r, "f").lost_packets, 0u);
}

TEST(LabScaleOut, BackAtItsOldEdgeAFlowFindsWhatItHasEarnedSince) {
  const RunResult r = run_once(kEdges, 1, {kThereAndBack, {"senders.f.rate", "4 Mbit/s"}});
  // While it was away the old bucket has filled for 0.1 s: less than its depth.
  expect_in(flow(r, "f").contract_in_bytes, 2 * kDepth + 30 * kRate + kRate / 10);
}

TEST(LabScaleOut, MovingAllTheTimeGainsTheRateOfEachFurtherEdge) {
  std::string routes = "[";
  for (int ms = 10'000; ms < 20'000; ms += 100)
    routes +=
        "{to: d, by: agg.e" + std::to_string(2 - ms / 100 % 2) + ", at: " + std::to_string(ms) + " ms}, ";
  const RunResult r = run_once(kEdges, 1, {{"routes", routes + "]"}, {"senders.f.rate", "4 Mbit/s"}});
  // Twice the rate for the 9.9 s: what no single move shows.
  expect_in(flow(r, "f").contract_in_bytes, 2 * kDepth + 30 * kRate + 99 * kRate / 10);
}

// CSA: the old edge lets go what waits, at the pace of its contract, while the new one begins with a full
// bucket and an empty buffer.
TEST(LabScaleOut, ACsaContractGainsWhatWaitsAsWell) {
  const Setting csa{"routers.one.classify.0.service", "buffer"},
      csa2{"routers.two.classify.0.service", "buffer"};
  const RunResult stays = run_once(kEdges, 1, {csa, csa2}), moves = run_once(kEdges, 1, {csa, csa2, kMove});
  const std::uint64_t before = flow(stays, "f").contract_in_bytes, after = flow(moves, "f").contract_in_bytes;
  expect_in(before, kDepth + 30 * kRate);
  EXPECT_GE(after - before, kDepth);
  EXPECT_LE(after - before, kDepth + 10 * kPacket);
  // Ten packets wait when it moves. The new edge's come first: all ten are late, none is lost for it.
  EXPECT_EQ(flow(stays, "f").reordered_packets, 0u);
  EXPECT_EQ(flow(moves, "f").reordered_packets, 10u);
  EXPECT_EQ(flow(moves, "f").lost_packets, flow(moves, "f").buffer_drops);
}

// Two flows of one customer by two edges, as ECMP by ports would have them.
TEST(LabScaleOut, AContractOfSeveralFlowsIsGivenOncePerEdge) {
  const Setting per1{"routers.one.classify.0.per", "source"}, per2{"routers.two.classify.0.per", "source"};
  const Setting two{"senders",
                    "[{name: f, host: h, to: d, protocol: udp, rate: 2 Mbit/s, packet: 1000 B},"
                    " {name: g, host: h, to: e, protocol: udp, rate: 2 Mbit/s, packet: 1000 B}]"};
  const RunResult together = run_once(kEdges, 1, {per1, per2, two});
  expect_in(flow(together, "f").contract_in_bytes, kDepth + 30 * kRate);
  EXPECT_EQ(flow(together, "f").contract_in_bytes, flow(together, "g").contract_in_bytes) << "it is one";
  EXPECT_EQ(flow(together, "f").committed_bps, 0.5e6) << "shared by two";
  const RunResult apart = run_once(kEdges, 1, {per1, per2, two, {"routes", "[{to: e, by: agg.e2}]"}});
  expect_in(flow(apart, "f").contract_in_bytes, kDepth + 30 * kRate);
  expect_in(flow(apart, "g").contract_in_bytes, kDepth + 30 * kRate);
  EXPECT_EQ(flow(apart, "f").committed_bps, 1e6) << "each has a whole one";
}

}  // namespace
}  // namespace surety::lab
