// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/network.h"

#include <gmock/gmock.h>

#include <numeric>

#include "tests/lab/results/result_json.h"
#include "tests/unit/lab/simulation/bench.h"

namespace surety::lab {
namespace {

using namespace literals;
using test::flow;
using test::run_once;

// Two hosts and a cable.
constexpr std::string_view kCable = R"(
version: 1
duration: 10 s
hosts: [a, b]
links:
  - {between: [a, b], rate: 10 Mbit/s, delay: 20 ms}
senders:
  - {name: f, host: a, to: b, protocol: udp, rate: 1 Mbit/s, packet: 1000 B, stop: 8 s}
)";

TEST(LabNetwork, AUdpFlowOnACableArrivesWholeAndOnTime) {
  const RunResult r = run_once(kCable);
  const FlowResult& f = flow(r, "f");
  EXPECT_EQ(f.sent_packets, 1000u);  // 8 s at 125 packets a second
  EXPECT_EQ(f.received_packets, 1000u);
  EXPECT_EQ(f.lost_packets, 0u);
  EXPECT_DOUBLE_EQ(f.throughput_bps, 800e3);  // over 10 s
  EXPECT_NEAR(*f.one_way_delay_mean_s, 0.020'8, 1e-9);
  EXPECT_EQ(f.rtt_mean_s, std::nullopt);
}

TEST(LabNetwork, ADirectionMayDiffer) {
  const RunResult r = run_once(kCable, 1, {{"links.0.forth", "{rate: 1 Mbit/s, delay: 50 ms}"}});
  EXPECT_NEAR(*flow(r, "f").one_way_delay_mean_s, 0.058, 1e-9);
}

TEST(LabNetwork, WhatIsMeasuredIsTheInterval) {
  const RunResult r = run_once(kCable, 1, {{"measure", "2 s - 4 s"}});
  EXPECT_EQ(flow(r, "f").sent_packets, 250u);
  EXPECT_DOUBLE_EQ(flow(r, "f").throughput_bps, 1e6);
  EXPECT_EQ(r.measure_from_s, 2);
  EXPECT_EQ(r.measure_to_s, 4);
}

TEST(LabNetwork, LossOfALinkIsCounted) {
  const RunResult r = run_once(kCable, 3, {{"links.0.forth", "{loss: 0.1}"}});
  const FlowResult& f = flow(r, "f");
  EXPECT_EQ(f.sent_packets, 1000u);
  EXPECT_EQ(f.sent_packets, f.received_packets + f.lost_packets);
  EXPECT_NEAR(static_cast<double>(f.lost_packets), 100, 50);
  EXPECT_EQ(r.drops.at("links").at("lost"), f.lost_packets);
}

TEST(LabNetwork, ALinksQueueOverflows) {
  // 1 Mbit/s into 0.5: half of it is lost but for what the queue holds.
  const RunResult r = run_once(kCable, 1, {{"links.0.forth", "{rate: 500 kbit/s, queue: 10 packets}"}});
  EXPECT_NEAR(static_cast<double>(flow(r, "f").received_packets), 500 + 10, 2);
  EXPECT_EQ(r.drops.at("links").at("overflow"), flow(r, "f").lost_packets);
}

// Customers at a switch, an edge with contracts, a bottleneck with RIO.
constexpr std::string_view kDomain = R"(
version: 1
duration: 20 s
routers:
  edge:
    ports: {lan: {trust: customer}, up: {trust: core, shape: 3 Mbit/s, queues: q}}
    queues:
      q:
        - name: assured
          dscp: {in: [AF11], out: [BE]}
          limit: 100 packets
          count: packets
          rio: {in: {min: 40, max: 70, pmax: 0.02}, out: {min: 10, max: 40, pmax: 0.1}}
    services:
      silver: {conditioner: csa, alpha: {max: 0.4}, rate: 500 kbit/s, in_bucket: 15 kB, out_bucket: 1500 B, buffer: 20 packets, mark: {in: AF11, out: BE}}
    classify:
      - {match: {port: lan}, service: silver, per: flow}
  far:
    ports: {in: {trust: core}, lan: {trust: customer}}
hosts: [{name: h, times: 4}, {name: d, times: 4}]
links:
  - {between: [h, edge.lan], rate: 10 Mbit/s, delay: 5 ms, delay_step: 5 ms}
  - {between: [edge.up, far.in], rate: 10 Mbit/s, delay: 2 ms}
  - {between: [far.lan, d], rate: 10 Mbit/s, delay: 1 ms}
senders:
  - {name: f, host: h, to: d, protocol: newreno, target: 500 kbit/s, start: 0 s - 100 ms}
)";

TEST(LabNetwork, EveryPacketIsAccountedFor) {
  for (const char* protocol : {"newreno", "gtfrc", "tfrc", "gtcp", "udp"}) {
    const RunResult r = run_once(kDomain, 1, {{"senders.f.protocol", protocol}, {"senders.f.stop", "15 s"}});
    ASSERT_EQ(r.flows.size(), 4u);
    for (const auto& f : r.flows) {
      EXPECT_GT(f.sent_packets, 500u) << protocol;
      EXPECT_EQ(f.sent_packets, f.received_packets + f.lost_packets) << protocol << ' ' << f.name;
      EXPECT_LE(f.buffer_drops, f.lost_packets);
    }
  }
}

TEST(LabNetwork, LossesAreTheRoutersDrops) {
  const RunResult r = run_once(kDomain, 2);
  std::uint64_t lost = 0, buffer = 0, drops = 0;
  for (const auto& f : r.flows) lost += f.lost_packets, buffer += f.buffer_drops;
  for (const auto& [reason, n] : r.drops.at("edge")) drops += n;
  EXPECT_GT(lost, 50u);
  EXPECT_EQ(lost, drops);
  EXPECT_EQ(buffer, r.drops.at("edge").count("buffer") ? r.drops.at("edge").at("buffer") : 0);
  EXPECT_TRUE(r.drops.at("far").empty());
  ASSERT_EQ(r.queues.size(), 1u);
  std::uint64_t in_queue = 0;
  for (const auto& p : r.queues[0].by_precedence)
    in_queue += p.early_drops + p.forced_drops + p.overflow_drops;
  EXPECT_EQ(in_queue + buffer, lost);
}

// Packets come to the edge as IN, or as what is OUT behind it: either is neither at its input buffers.
TEST(LabNetwork, AFlowsLossesAreToldByRouterAndPrecedence) {
  for (const char* mark : {"AF11", "BE"}) {
    const RunResult r = run_once(kDomain, 2,
                                 {{"senders.f.protocol", "udp"},
                                  {"senders.f.rate", "1 Mbit/s"},
                                  {"senders.f.dscp", mark},
                                  {"routers.edge.services.silver.alpha", "{fixed: 0.4}"},
                                  {"routers.edge.ports.up.shape", "2500 kbit/s"},
                                  {"links.edge.up~far.in.loss", "0.01"}});
    std::array<std::uint64_t, kPrecedences> dropped{};
    std::uint64_t buffer = 0;
    for (const auto& f : r.flows) {
      std::uint64_t behind = 0;
      ASSERT_EQ(f.drops.size(), 1u) << "those at the edge";
      for (std::size_t p = 0; p < kPrecedences; ++p)
        dropped[p] += f.drops.at("edge")[p], behind += f.drops.at("edge")[p];
      EXPECT_LT(behind + f.buffer_drops, f.lost_packets) << "the link's are nobody's";
      buffer += f.buffer_drops;
    }
    EXPECT_GT(buffer, 500u);
    for (std::size_t p = 0; p < kPrecedences; ++p) {
      const PrecedenceResult& q = r.queues[0].by_precedence[p];
      EXPECT_EQ(dropped[p], q.early_drops + q.forced_drops + q.overflow_drops) << mark << p;
    }
    EXPECT_GT(dropped[index(Precedence::out)], 10u);
  }
}

TEST(LabNetwork, ContractsAreFoundAndRespected) {
  const RunResult r = run_once(kDomain);
  for (const auto& f : r.flows) {
    EXPECT_EQ(f.committed_bps, 500e3);
    EXPECT_GT(*f.ros, 0.9);
    EXPECT_LE(*f.ros, 1.0);
    EXPECT_GT(f.in_throughput_bps, 0.8 * 500e3);
    EXPECT_LE(f.in_throughput_bps, 500e3 + 8 * 15e3 / 20);
  }
  ASSERT_EQ(r.domains.size(), 1u);
  EXPECT_EQ(r.domains[0].router, "edge");
  EXPECT_EQ(r.domains[0].port, "up");
  EXPECT_EQ(r.domains[0].queue, "assured");
  EXPECT_GE(r.domains[0].alpha_mean, 0.04);
  EXPECT_LE(r.domains[0].alpha_mean, 0.400001);
}

// The port is shaped to the rate of one contract of four: its queue drops IN packets.
TEST(LabNetwork, ConformanceIsTheRoutersOwn) {
  for (const auto& f : run_once(kDomain).flows) EXPECT_EQ(f.conformance, 1.0) << f.name;
  const RunResult r = run_once(kDomain, 1,
                               {{"senders.f.protocol", "udp"},
                                {"senders.f.rate", "1 Mbit/s"},
                                {"routers.edge.ports.up.shape", "500 kbit/s"}});
  double all = 0;
  for (const auto& f : r.flows) all += f.conformance.value();
  EXPECT_LE(all, 1) << "in each second the port has room for one contract of four";
  EXPECT_FALSE(flow(run_once(kCable), "f").conformance) << "no contract";
}

TEST(LabNetwork, AFlowIsHeldToWhatItOffers) {
  const RunResult r = run_once(kDomain, 1, {{"senders.f.protocol", "udp"}, {"senders.f.rate", "100 kbit/s"}});
  for (const auto& f : r.flows) {
    EXPECT_EQ(f.offered_bps, 100e3);
    EXPECT_NEAR(*f.ros, 1.0, 0.01) << "IN, all of it";
  }
}

TEST(LabNetwork, ASharedContractIsDivided) {
  const RunResult r = run_once(kDomain, 1, {{"routers.edge.classify.0.per", "rule"}});
  for (const auto& f : r.flows) EXPECT_EQ(f.committed_bps, 125e3);
}

TEST(LabNetwork, TheLinkIsTheLimitWithoutAShaper) {
  // Packets wait in the router's own queue, not in the line: RIO sees them.
  const RunResult r = run_once(kDomain, 1,
                               {{"routers.edge.ports.up.shape", "~"},
                                {"links.1.rate", "3 Mbit/s"},
                                {"routers.edge.services.silver.rate", "1 Mbit/s"}});
  EXPECT_EQ(r.queues[0].rate_bps, 3e6);
  EXPECT_GT(r.queues[0].utilisation, 0.9);
  EXPECT_LE(r.queues[0].utilisation, 1.0001);
  EXPECT_GT(r.queues[0].average_total_mean, 5);
}

TEST(LabNetwork, ARunIsAFunctionOfScenarioAndSeed) {
  const auto text = [](std::uint64_t seed) { return to_json(run_once(kDomain, seed)).dump(); };
  const std::string one = text(1), two = text(2);
  EXPECT_NE(one, two);
  EXPECT_EQ(text(1), one) << "whatever has run in this process before";
  EXPECT_EQ(text(2), two);
}

TEST(LabNetwork, ATapChangesNothing) {
  struct Count : LinkTap {
    std::uint64_t frames[2] = {};
    Time last{};
    void on_frame(std::size_t link, int direction, std::span<const std::uint8_t> frame, Time now) override {
      EXPECT_EQ(link, 4u);
      EXPECT_GT(frame.size(), 34u);
      EXPECT_GE(now, last);
      last = now;
      ++frames[direction];
    }
  } tap;
  const auto plan = make_plan(test::scenario(kDomain));
  RunOptions options;
  const std::string without = to_json(run(*plan, test::pool(), options)).dump();
  options.tap = &tap;
  options.tap_link = 4;  // edge.up far.in, behind four of the switch
  EXPECT_EQ(to_json(run(*plan, test::pool(), options)).dump(), without);
  EXPECT_GT(tap.frames[0], 1000u);
  EXPECT_GT(tap.frames[1], 1000u);
}

TEST(LabNetwork, AllPacketBuffersComeBack) {
  const std::uint32_t before = test::pool().in_use();
  run_once(kDomain);
  EXPECT_EQ(test::pool().in_use(), before);
}

TEST(LabNetwork, StoppedItShowsWhatIsDone) {
  const auto plan = make_plan(test::scenario(kDomain));
  const std::atomic<bool> stop{true};
  RunOptions options;
  options.stop = &stop;
  const RunResult r = run(*plan, test::pool(), options);
  EXPECT_TRUE(r.interrupted);
  EXPECT_LT(r.duration_s, 1.0);
  EXPECT_EQ(r.measure_to_s, r.duration_s);
}

TEST(LabNetwork, RunningOutOfBuffersIsSaid) {
  PacketPool small(64);
  const auto plan = make_plan(test::scenario(kDomain));
  const auto starve = [&] { run(*plan, small, {}); };
  EXPECT_THAT(starve,
              testing::ThrowsMessage<ScenarioError>(testing::HasSubstr("packet buffers are used up")));
}

TEST(LabNetwork, Ipv6IsTheSame) {
  const RunResult r = run_once(kCable, 1,
                               {{"hosts.0", "{name: a, address: \"2001:db8::1\"}"},
                                {"hosts.1", "{name: b, address: \"2001:db8::2\"}"}});
  EXPECT_EQ(flow(r, "f").received_packets, 1000u);
}

TEST(LabNetwork, SeriesHaveAValuePerSample) {
  const RunResult r = run_once(kCable, 1, {{"sample", "500 ms"}});
  const FlowResult& f = flow(r, "f");
  ASSERT_EQ(f.throughput_series.size(), 20u);
  const double sum = std::accumulate(f.throughput_series.begin(), f.throughput_series.end(), 0.0);
  EXPECT_NEAR(sum * 0.5 / 10, f.throughput_bps, 1);
  EXPECT_TRUE(f.control_series.empty());
}

}  // namespace
}  // namespace surety::lab
