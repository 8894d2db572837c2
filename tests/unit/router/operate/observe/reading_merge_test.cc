// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/reading_merge.h"

#include <gmock/gmock.h>

#include "router/operate/observe/reading_json.h"
#include "tests/unit/router/operate/observe/sample_reading.h"

namespace surety {
namespace {

using testing::ElementsAre;
using testing::Optional;

Reading merged(const Reading& a, const Reading& b) {
  Reading all;
  merge(all, a);
  merge(all, b);
  return all;
}
Reading twice() {
  return merged(test::sample_reading(), test::sample_reading());
}
// The reading of a worker that owns nothing and has seen nothing: the names are the same.
Reading idle(unsigned core) {
  Reading r;
  for (const PortReading& p : test::sample_ports()) r.ports.emplace_back().name = p.name;
  for (const QueueReading& q : test::sample_queues()) {
    r.queues.emplace_back().port = q.port;
    r.queues.back().name = q.name;
    r.queues.back().thresholds = q.thresholds;
  }
  for (const ServiceReading& s : test::sample_services()) {
    r.services.emplace_back().name = s.name;
    r.services.back().conditioner = s.conditioner;
  }
  for (const FilterReading& f : test::sample_reading().filters)
    r.filters.push_back({f.filter, f.entry, f.permit, 0});
  r.domains = {{.name = "wan0/assured", .alpha = 0}};
  AggregateReading& uplink = r.aggregates.emplace_back();
  uplink.name = "uplink-tcp";
  uplink.port = "wan0";
  uplink.queue = "assured";
  r.workers = {{.core = core, .counters = {}, .flows = 0}};
  return r;
}

TEST(ReadingMerge, TheFirstPartIsTakenAsItIs) {
  const Reading part = test::sample_reading();
  Reading all;
  merge(all, part);
  for (const char* name : {"ports", "queues", "services", "filters", "domains", "aggregates", "workers",
                           "stages", "flows", "drops", "signalling"})
    EXPECT_EQ(table(all, name), table(part, name)) << name;
  EXPECT_EQ(all.router_name, "edge1");
  EXPECT_EQ(all.flows, part.flows);
  EXPECT_EQ(all.flow_capacity, part.flow_capacity);
}

TEST(ReadingMerge, FiltersAddUp) {
  const Reading r = twice();
  ASSERT_EQ(r.filters.size(), 2u);
  EXPECT_EQ(r.filters[0].packets, 140u);
  EXPECT_EQ(r.filters[1].packets, 16u);
  EXPECT_EQ(r.filters[1].entry, "default");
}

// Without what the router adds to what workers count.
ServiceReading counted(ServiceReading s) {
  s.respect_ratio = s.objective = std::nullopt;
  s.demanding_seconds = s.met_seconds = 0;
  return s;
}

TEST(ReadingMerge, AWorkerThatOwnsNothingChangesNothing) {
  for (const bool first : {true, false}) {
    Reading sample = test::sample_reading();
    for (ServiceReading& s : sample.services) s = counted(s);
    const Reading all = first ? merged(idle(2), sample) : merged(sample, idle(2));
    for (const char* name :
         {"queues", "services", "filters", "domains", "aggregates", "stages", "drops", "signalling"})
      EXPECT_EQ(table(all, name), table(sample, name)) << name << ' ' << first;
    EXPECT_EQ(all.workers.size(), 3u);
  }
}

TEST(ReadingMerge, EveryCounterOfAPortIsSummed) {
  const Reading r = twice();
  const PortReading once = test::sample_ports()[0];
  ASSERT_EQ(r.ports.size(), 2u);
  const PortCounters& c = r.ports[0].counters;
  EXPECT_EQ(c.rx_packets, 2 * once.counters.rx_packets);
  EXPECT_EQ(c.rx_bytes, 2 * once.counters.rx_bytes);
  EXPECT_EQ(c.forwarded, 2 * once.counters.forwarded);
  EXPECT_EQ(c.signals, 2 * once.counters.signals);
  EXPECT_EQ(c.held, 2 * once.counters.held);
  for (std::size_t i = 0; i < kDropReasons; ++i) EXPECT_EQ(c.drops[i], 2 * once.counters.drops[i]);
  for (std::size_t i = 0; i < kPuntReasons; ++i) EXPECT_EQ(c.punted[i], 2 * once.counters.punted[i]);
  for (std::size_t i = 0; i < kDegradeReasons; ++i) EXPECT_EQ(c.degraded[i], 2 * once.counters.degraded[i]);
  EXPECT_EQ(r.ports[0].rx_missed, 14u);
  EXPECT_EQ(r.ports[1].counters.handed_over, 2 * 402u);
  EXPECT_EQ(r.ports[1].counters.taken_over, 2 * 400u);
  EXPECT_EQ(r.ports[1].queued, 20u);
  EXPECT_EQ(r.ports[1].counters.enqueued, 2 * 990u);
  EXPECT_EQ(r.ports[1].counters.originated, 2 * 8u);
  EXPECT_EQ(r.ports[1].counters.tx_packets, 2 * 978u);
  EXPECT_EQ(r.ports[1].counters.tx_bytes, 2 * 577'020u);
}

TEST(ReadingMerge, HandoverIsWhatIsGivenLessWhatIsTaken) {
  Reading giver = idle(1), owner = idle(2);
  giver.ports[1].counters.handed_over = 100;
  owner.ports[1].counters.taken_over = 103;
  EXPECT_EQ(merged(giver, owner).ports[1].handover, -3);
}

TEST(ReadingMerge, WhoWorksForAPortIsKeptFromWhoeverKnows) {
  Reading told = idle(1);
  told.ports[1].owner_core = 2;
  told.ports[1].rx_cores = {1, 2};
  told.ports[1].spread = "queues";
  for (const Reading& r : {merged(told, idle(2)), merged(idle(2), told), merged(told, told)}) {
    EXPECT_EQ(r.ports[1].owner_core, 2u);
    EXPECT_THAT(r.ports[1].rx_cores, ElementsAre(1, 2));
    EXPECT_EQ(r.ports[1].spread, "queues");
  }
}

TEST(ReadingMerge, QueuesAndSojournTimes) {
  const QueueReading q = twice().queues.at(0), once = test::sample_queues()[0];
  for (std::size_t p = 0; p < kPrecedences; ++p) {
    EXPECT_EQ(q.counters[p].arrivals, 2 * once.counters[p].arrivals);
    EXPECT_EQ(q.counters[p].departures, 2 * once.counters[p].departures);
    EXPECT_EQ(q.counters[p].departed_bytes, 2 * once.counters[p].departed_bytes);
    EXPECT_EQ(q.counters[p].early_drops, 2 * once.counters[p].early_drops);
    EXPECT_EQ(q.counters[p].forced_drops, 2 * once.counters[p].forced_drops);
    EXPECT_EQ(q.counters[p].ecn_marks, 2 * once.counters[p].ecn_marks);
    EXPECT_EQ(q.depth[p], 2 * once.depth[p]);
  }
  EXPECT_EQ(q.sojourn.counts[3], 2 * 97u);
  EXPECT_EQ(q.sojourn.sum_ns, 6'000'000'000u);
}

TEST(ReadingMerge, ServicesOfBoth) {
  Reading a = idle(1), b = idle(2);
  a.services[0] = test::sample_services()[0];
  b.services[0] = test::sample_services()[0];
  b.services[0].committed_bytes_per_second = 750'000;
  b.services[0].achieved_in_bytes_per_second = 366'250;
  const ServiceReading s = merged(a, b).services.at(0);
  EXPECT_EQ(s.counters.packets[0], 1200u);
  EXPECT_EQ(s.counters.bytes[1], 345'600u);
  EXPECT_EQ(s.counters.dropped, 6u);
  EXPECT_EQ(s.counters.held, 8u);
  EXPECT_EQ(s.counters.contracts, 20u);
  EXPECT_EQ(s.counters.flows, 24u);
  EXPECT_EQ(s.committed_bytes_per_second, 2'000'000);
  EXPECT_EQ(s.achieved_bytes_per_second, 3'250'000);
}

TEST(ReadingMerge, FlowsCapacityAndStagesAreSummedAndWorkersAppended) {
  Reading other = idle(3);
  other.flows = 7;
  other.flow_capacity = 65'536;
  other.workers[0].counters.turns = 11;
  other.stages.cycles[static_cast<std::size_t>(Stage::parse)] = 1;
  other.stages.packets[static_cast<std::size_t>(Stage::parse)] = 2;
  const Reading r = merged(test::sample_reading(), other);
  EXPECT_EQ(r.flows, 20u);
  EXPECT_EQ(r.flow_capacity, 131'072u);
  EXPECT_EQ(r.stages.cycles[static_cast<std::size_t>(Stage::parse)], 13'001u);
  EXPECT_EQ(r.stages.packets[static_cast<std::size_t>(Stage::parse)], 1'002u);
  ASSERT_EQ(r.workers.size(), 3u);
  EXPECT_EQ(r.workers[0].core, 1u);
  EXPECT_EQ(r.workers[2].core, 3u);
  EXPECT_EQ(r.workers[2].counters.turns, 11u);
}

TEST(ReadingMerge, TopFlowsOfBothByBytes) {
  const auto flow = [](const char* source, std::uint64_t in, std::uint64_t out) {
    FlowReading f;
    f.source = source;
    f.in_bytes = in;
    f.out_bytes = out;
    return f;
  };
  Reading a, b;
  a.top_flows = {flow("a", 9, 0), flow("b", 1, 3), flow("c", 1, 0)};
  b.top_flows = {flow("d", 2, 5), flow("e", 4, 0)};
  std::string order;
  for (const FlowReading& f : merged(a, b).top_flows) order += f.source;
  EXPECT_EQ(order, "adbec") << "equal ones in the order of the workers";
}

TEST(ReadingMerge, SignalsByResultAndQueue) {
  Reading a, b;
  a.signalling.mode = b.signalling.mode = "act";
  a.signalling.received[0] = 5;
  b.signalling.received[0] = 7;
  b.signalling.received[static_cast<std::size_t>(SignalResult::forged)] = 1;
  a.signalling.senders = {{"wan0", "assured", 10, 1, 0}, {"wan1", "assured", 3, 0, 0}};
  b.signalling.senders = {{"wan1", "assured", 1, 2, 4}, {"wan1", "bulk", 8, 0, 0}};
  const SignallingReading s = merged(a, b).signalling;
  EXPECT_EQ(s.mode, "act");
  EXPECT_EQ(s.received[0], 12u);
  EXPECT_EQ(s.received[static_cast<std::size_t>(SignalResult::forged)], 1u);
  ASSERT_EQ(s.senders.size(), 3u);
  EXPECT_EQ(s.senders[0].sent, 10u);
  EXPECT_EQ(s.senders[1].sent, 4u);
  EXPECT_EQ(s.senders[1].limited, 2u);
  EXPECT_EQ(s.senders[1].lost, 4u);
  EXPECT_EQ(s.senders[2].queue, "bulk");
}

TEST(ReadingMerge, AQueueThatSeveralWorkersHeardIsOne) {
  Reading a, b;
  a.signalling.sources = {{"192.0.2.2", "0", "1", 100, 3.5}, {"192.0.2.2", "0", "2", 1, 9}};
  b.signalling.sources = {{"192.0.2.3", "0", "1", 4, 1}, {"192.0.2.2", "0", "1", 50, 0.25}};
  const auto sources = merged(a, b).signalling.sources;
  ASSERT_EQ(sources.size(), 3u);
  EXPECT_EQ(sources[0].signals, 150u);
  EXPECT_EQ(sources[0].age_seconds, 0.25);
  EXPECT_EQ(sources[1].signals, 1u);
  EXPECT_EQ(sources[2].router, "192.0.2.3");
}

SignalPathReading path(const char* to, const char* domain, double alpha, double applied) {
  SignalPathReading p;
  p.path = to;
  p.domain = domain;
  p.alpha = alpha;
  p.applied_alpha = applied;
  return p;
}

TEST(ReadingMerge, AmongReplicasOfAPathTheLowestAlphaCounts) {
  Reading a, b;
  a.signalling.paths = {path("3.0.0.0/24", "wan0/assured", 0.2, 0.2),
                        path("4.0.0.0/24", "wan1/assured", 0.1, 0.4)};
  b.signalling.paths = {path("3.0.0.0/24", "wan0/assured", 0.18, 0.3),
                        path("3.0.0.0/24", "wan0/bulk", 0.3, 0.3),
                        path("3.0.0.0/25", "wan0/assured", 0.05, 0.05)};
  const auto paths = merged(a, b).signalling.paths;
  ASSERT_EQ(paths.size(), 4u);
  EXPECT_EQ(paths[0].alpha, 0.18);
  EXPECT_EQ(paths[0].applied_alpha, 0.2);
  EXPECT_EQ(paths[1].alpha, 0.1);
  EXPECT_EQ(paths[2].domain, "wan0/bulk");
  EXPECT_EQ(paths[3].path, "3.0.0.0/25");
}

TEST(ReadingMerge, WhatTheRouterFillsInStays) {
  Reading into = test::sample_reading();
  Reading part = idle(2);
  part.version = "9";
  part.uptime_seconds = 1;
  part.routes = part.routes_rejected = part.neighbors = part.mempool_available = part.mempool_size =
      part.reloads = 99;
  merge(into, part);
  EXPECT_EQ(table(into, "router"), table(test::sample_reading(), "router"));
}

ServiceReading row(const char* name, unsigned place, bool retired, std::uint64_t packets,
                   std::uint64_t flows = 0) {
  ServiceReading s;
  s.name = name;
  s.conditioner = retired ? "csa" : "police";
  s.place = place;
  s.retired = retired;
  s.counters.packets = {packets, 1};
  s.counters.flows = flows;
  return s;
}

TEST(SettleRetired, ARetiredServiceCountsForItsSuccessor) {
  Reading r;
  r.services = {row("gold", 9, true, 100, 3), row("trusted", 1, false, 7), row("gold", 0, false, 20, 4)};
  settle_retired(r);
  ASSERT_EQ(r.services.size(), 2u);
  EXPECT_EQ(r.services[0].name, "gold");
  EXPECT_EQ(r.services[0].conditioner, "police");
  EXPECT_EQ(r.services[0].counters.packets, (std::array<std::uint64_t, 2>{120, 2}));
  EXPECT_EQ(r.services[0].counters.flows, 7u);
  EXPECT_EQ(r.services[1].name, "trusted");
}

TEST(SettleRetired, WithoutOneItIsShownWhileItHasFlows) {
  Reading r;
  r.services = {row("gone", 9, true, 100), row("going", 9, true, 100, 1), row("here", 0, false, 0)};
  settle_retired(r);
  ASSERT_EQ(r.services.size(), 2u);
  EXPECT_EQ(r.services[0].name, "here");
  EXPECT_EQ(r.services[1].name, "going");
}

TEST(SettleRetired, SeveralOfOneNameAreOne) {
  Reading r;
  r.services = {row("going", 9, true, 100, 1), row("going", 9, true, 20, 2)};
  settle_retired(r);
  ASSERT_EQ(r.services.size(), 1u);
  EXPECT_EQ(r.services[0].counters.flows, 3u);
}

TEST(SettleRetired, TheOrderIsTheConfigurations) {
  Reading r;
  r.services = {row("c", 2, false, 0), row("unclassified", 3, false, 0), row("trusted", 3, false, 0),
                row("a", 0, false, 0), row("b", 1, false, 0)};
  settle_retired(r);
  std::string names;
  for (const auto& s : r.services) names += s.name + " ";
  EXPECT_EQ(names, "a b c unclassified trusted ");
}

TEST(SettleGone, WhatPortsCountedThatAreGoneIsOneRow) {
  Reading r;
  r.ports.resize(3);
  r.ports[0].name = "lan";
  r.ports[0].counters.rx_packets = 9;
  r.ports[1].counters.rx_packets = 5;
  r.ports[1].counters.handed_over = 3;
  r.ports[1].counters.taken_over = 2;
  r.ports[1].exceptions[0] = 4;
  r.gone.rx_packets = 2;
  r.gone.enqueued = 1;
  settle_gone(r);
  ASSERT_EQ(r.ports.size(), 2u);
  EXPECT_EQ(r.ports[0].name, "lan");
  EXPECT_EQ(r.ports[1].name, kGonePorts);
  EXPECT_FALSE(r.ports[1].up);
  EXPECT_EQ(r.ports[1].counters.rx_packets, 7u);
  EXPECT_EQ(r.ports[1].counters.enqueued, 1u);
  EXPECT_EQ(r.ports[1].handover, 1);
  EXPECT_EQ(r.ports[1].exceptions[0], 4u);
}

TEST(SettleGone, WhereNoneHasCountedThereIsNoRow) {
  Reading r;
  r.ports.resize(2);
  r.ports[0].name = "lan";
  settle_gone(r);
  EXPECT_EQ(r.ports.size(), 1u);
}

TEST(SettleRetired, RetiredDomainsAreNotShown) {
  Reading r;
  r.domains = {{"wan/af", 0.5, true}, {"wan/af", 0.25, false}};
  settle_retired(r);
  ASSERT_EQ(r.domains.size(), 1u);
  EXPECT_EQ(r.domains[0].alpha, 0.25);
}

}  // namespace
}  // namespace surety
