// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/lab/simulation/bench.h"

namespace surety::lab {
namespace {

// 125 IN packets of 1000 bytes a second through an ARD marker whose bucket of 20 is filled with 100 a second.
constexpr const char* kThroughMarker = R"(
version: 1
duration: 60 s
measure: 20 s - 60 s
sample: 100 ms
routers:
  r:
    ports: {in: {trust: core}, out: {trust: core, queues: q}}
    queues: {q: [{name: x, dscp: {in: [AF11], out: [AF12, BE]}}]}
    aggregates:
      a: {port: out, queue: x, rate: 800 kbit/s, bucket: 20 packets, threshold: 10 packets, packet: 1000 B}
hosts: [h, sink]
links: [{between: [h, r.in]}, {between: [r.out, sink]}]
senders: [{name: f, host: h, to: sink, protocol: udp, rate: 1 Mbit/s, packet: 1000 B, dscp: AF11}]
)";

TEST(LabSampler, WatchesTheTokensOfAnAggregate) {
  const RunResult run = test::run_once(kThroughMarker);
  ASSERT_EQ(run.aggregates.size(), 1u);
  const AggregateResult& a = run.aggregates[0];
  ASSERT_EQ(a.tokens_series.size(), 600u);
  // In 100 ms the full bucket gives 12 or 13 packets and gets 10, less what it cannot hold at first.
  EXPECT_GT(a.tokens_series.front(), 16'000);
  EXPECT_LT(a.tokens_series.front(), 19'000);
  EXPECT_GT(a.below_threshold, 0.95) << "a fifth has to be remarked or dropped";
  // Where equation 1 lets 100 of 125 pass: 0.98 (1 - P_rem) = 0.8, tokens = 10 (1 - P_rem / 0.5) packets.
  EXPECT_NEAR(a.tokens_mean, 6'330, 1'000);
}

TEST(LabSampler, CountsWhatTheEquationsSayAtTheLevelsMet) {
  const AggregateResult a = test::run_once(kThroughMarker).aggregates.at(0);
  EXPECT_NEAR(static_cast<double>(a.remarked) / a.expected_remarked, 1, 0.1);
  EXPECT_NEAR(static_cast<double>(a.dropped) / a.expected_dropped, 1, 0.25);
  EXPECT_NEAR(a.expected_dropped, 0.02 * 7'400, 10) << "all but the first packets find less than T_rd";
}

}  // namespace
}  // namespace surety::lab
