// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/worker_reading.h"

#include <gmock/gmock.h>

#include "router/operate/observe/reading_merge.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using test::DataPlane;

constexpr const char* kRouter = R"(version: 1
router: {name: r}
ports:
  lan0: {}
  wan0: {trust: core, shape: 8 Mbit/s, queues: uplink}
  wan1: {trust: core, queues: uplink}
queues:
  uplink:
    - {name: voice, dscp: [EF], priority: strict}
    - {name: assured, dscp: {in: [AF11], out: [AF12, BE]},
       count: packets, rio: {in: {min: 70, max: 120, pmax: 0.01}, out: {min: 10, max: 60, pmax: 0.2}}}
services:
  silver: {conditioner: csa, alpha: {max: 0.4}, rate: 1 Mbit/s, in_bucket: 15 kB, out_bucket: 15 kB, mark: {in: AF11, out: AF12}}
classify: [{match: {port: lan0}, service: silver}]
aggregates:
  up0: {port: wan0, queue: assured, rate: 8 Mbit/s}
  up1: {port: wan1, queue: assured, rate: 4 Mbit/s}
filters: {edge: [{permit: {protocol: udp}, name: udp}, {deny: {protocol: tcp}}]}
flow_table: {capacity: 1024}
)";

const double kAlpha = Ratio::of(0.4).value();  // a queue at ease

class WorkerReading : public testing::Test {
 protected:
  WorkerReading() {
    d.route("10.2.0.0/24", {test::ready(1)});
    d.receive({test::udp_frame()});
  }
  // Of a worker that owns some of the ports.
  Reading of(unsigned core, const std::vector<std::size_t>& owned) {
    std::vector<std::unique_ptr<Egress>> egresses(d.egresses.size());
    for (const std::size_t p : owned) egresses[p] = std::move(d.egresses[p]);
    Reading r = blank_reading(d.snapshot, core);
    fill_egresses(r, egresses, d.snapshot);
    std::size_t done = 0;
    EXPECT_TRUE(fill_some(r, {{}, losses, {}, egresses}, d.snapshot, done)) << "there are not many";
    for (const std::size_t p : owned) d.egresses[p] = std::move(egresses[p]);
    return r;
  }
  static std::uint64_t arrivals(const QueueReading& q) {
    return q.counters[0].arrivals + q.counters[1].arrivals;
  }

  DataPlane d{kRouter};
  const Losses losses;
};

TEST_F(WorkerReading, ABlankOneHasAllNames) {
  const Reading r = blank_reading(d.snapshot, 3);
  EXPECT_EQ(r.router_name, "r");
  ASSERT_EQ(r.ports.size(), 3u);
  EXPECT_EQ(r.ports[1].name, "wan0");
  EXPECT_EQ(r.ports[1].shape_bytes_per_second, 1e6);
  EXPECT_EQ(r.ports[2].shape_bytes_per_second, std::nullopt);
  std::string queues;
  for (const QueueReading& q : r.queues) queues += q.port + '/' + q.name + ' ';
  EXPECT_EQ(queues, "lan0/default wan0/voice wan0/assured wan1/voice wan1/assured ");
  EXPECT_EQ(r.queues[1].thresholds, std::nullopt);
  const auto [in, out, red] = r.queues[2].thresholds.value();
  EXPECT_EQ(in, (RedParams{70, 120, Probability(0.01)}));
  EXPECT_EQ(out, (RedParams{10, 60, Probability(0.2)}));
  EXPECT_EQ(red, out) << "without a curve of its own";
  EXPECT_EQ(r.services[0].name, "silver");
  ASSERT_EQ(r.aggregates.size(), 2u);
  EXPECT_EQ(r.aggregates[1].port, "wan1");
  EXPECT_EQ(r.aggregates[1].queue, "assured");
  std::string filters;
  for (const FilterReading& f : r.filters) filters += f.filter + '/' + f.entry + ' ' + f.action() + ' ';
  EXPECT_EQ(filters, "edge/udp permit edge/2 deny edge/default deny ");
  EXPECT_EQ(r.flow_capacity, 1024u);
  ASSERT_EQ(r.workers.size(), 1u);
  EXPECT_EQ(r.workers[0].core, 3u);
  EXPECT_EQ(r.workers[0].flows, 0u);
}

TEST_F(WorkerReading, AnOwnerFillsItsPorts) {
  const Reading r = of(1, {0, 1, 2});
  ASSERT_EQ(r.queues.size(), 5u);
  EXPECT_EQ(arrivals(r.queues[2]), 1u);
  EXPECT_TRUE(r.queues[2].has_rio);
  EXPECT_FALSE(r.queues[1].has_rio);
  EXPECT_EQ(r.aggregates[0].counters.passed_in, 1u);
  EXPECT_EQ(r.aggregates[1].tpr_bytes_per_second, 500'000);
  for (const DomainReading& domain : r.domains) EXPECT_EQ(domain.alpha, kAlpha) << domain.name;
}

TEST_F(WorkerReading, RowsOfAnothersPortsStayAsTheyAre) {
  const Reading r = of(2, {2});
  EXPECT_EQ(arrivals(r.queues[2]), 0u);
  EXPECT_FALSE(r.queues[2].has_rio);
  EXPECT_TRUE(r.queues[4].has_rio);
  EXPECT_EQ(r.aggregates[0].tpr_bytes_per_second, 0);
  EXPECT_EQ(r.aggregates[1].tpr_bytes_per_second, 500'000);
  for (const DomainReading& domain : r.domains)
    EXPECT_EQ(domain.alpha, domain.name.starts_with("wan1") ? kAlpha : 0) << domain.name;
}

TEST_F(WorkerReading, WhatTwoWorkersFillIsTogetherWhatOneWouldFill) {
  Reading two;
  merge(two, of(1, {0, 1}));
  merge(two, of(2, {2}));
  const Reading one = of(1, {0, 1, 2});
  for (std::size_t q = 0; q < one.queues.size(); ++q) {
    EXPECT_EQ(arrivals(two.queues[q]), arrivals(one.queues[q])) << q;
    EXPECT_EQ(two.queues[q].average_total, one.queues[q].average_total) << q;
    EXPECT_EQ(two.queues[q].has_rio, one.queues[q].has_rio) << q;
  }
  for (std::size_t a = 0; a < one.aggregates.size(); ++a) {
    EXPECT_EQ(two.aggregates[a].tpr_bytes_per_second, one.aggregates[a].tpr_bytes_per_second) << a;
    EXPECT_EQ(two.aggregates[a].tokens_bytes, one.aggregates[a].tokens_bytes) << a;
  }
  for (std::size_t i = 0; i < one.domains.size(); ++i)
    EXPECT_EQ(two.domains[i].alpha, one.domains[i].alpha) << one.domains[i].name;
}

TEST_F(WorkerReading, ManyRowsAreFilledSomeAtATime) {
  Reading r = blank_reading(d.snapshot, 1);
  std::vector<ServiceCounters> services(kRowsAtOnce + 3);
  std::vector<std::uint64_t> filters(kRowsAtOnce);
  services.front().flows = 1;
  services.back().flows = 2;
  filters.front() = 3;
  filters.back() = 4;
  r.services.resize(services.size());
  r.filters.resize(filters.size());
  std::size_t done = 0;
  const auto fill = [&] { return fill_some(r, {services, losses, filters, d.egresses}, d.snapshot, done); };
  EXPECT_FALSE(fill());
  EXPECT_EQ(done, kRowsAtOnce);
  EXPECT_EQ(r.services.front().counters.flows, 1u);
  EXPECT_EQ(r.services.back().counters.flows, 0u);
  EXPECT_FALSE(fill());
  EXPECT_EQ(r.services.back().counters.flows, 2u);
  EXPECT_EQ(r.filters.front().packets, 3u);
  EXPECT_EQ(r.filters.back().packets, 0u);
  EXPECT_TRUE(fill());
  EXPECT_EQ(r.filters.back().packets, 4u);
  EXPECT_EQ(r.aggregates.back().tpr_bytes_per_second, 500'000);
}

}  // namespace
}  // namespace surety
