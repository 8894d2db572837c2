// SPDX-License-Identifier: BSD-3-Clause
// A full flow table: who gets a record all the same, and whose goes for it.
#include "router/pipeline/displacement.h"

#include <map>
#include <set>

#include "conditioners/rng.h"
#include "router/pipeline/classify_stage.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using test::DataPlane;
using test::kStart;
using test::Udp;
using test::udp_frame;
using namespace literals;

class Edge {
 public:
  Edge(std::uint32_t capacity, const std::string& rules)
      : plane(
            "version: 1\n"
            "ports: {lan0: {addresses: [10.1.0.254/16]}, wan0: {addresses: [10.2.0.254/16], trust: core}}\n"
            "services:\n"
            "  metered: {conditioner: token-bucket, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: AF11, out: "
            "AF12}}\n"
            "  plain: {conditioner: none, mark: {in: BE}}\n"
            "flow_table: {capacity: " +
            std::to_string(capacity) + ", idle_timeout: 30 s}\nclassify:\n" + rules) {
    stage.emplace(plane.snapshot, plane.ports, plane.services, sources, filters, plane.disposal, 1, now);
  }

  // The record of each packet, in vectors of 64.
  std::vector<FlowId> send(const std::vector<Udp>& packets) {
    std::vector<FlowId> flows;
    for (std::size_t at = 0; at < packets.size(); at += kBurst) {
      std::vector<test::Octets> frames;
      for (std::size_t i = at; i < std::min(at + kBurst, packets.size()); ++i)
        frames.push_back(udp_frame(packets[i]));
      Burst v = plane.parsed(frames, 0);
      stage->run(v, 0, now);
      for (std::size_t i = 0; i < v.size; ++i) flows.push_back(v.flow[i]);
      DataPlane::free(v);
    }
    return flows;
  }
  // Two packets of each: how many have no record then.
  std::size_t lost(const std::vector<Udp>& flows) {
    send(flows);
    sleep(20ms);
    const auto records = send(flows);
    return static_cast<std::size_t>(std::ranges::count(records, kNoFlow));
  }
  void sleep(Duration d) {
    for (const Time end = now + d; now < end;) {
      now = std::min(end, now + Duration(100ms));
      stage->age(now);
    }
  }

  DataPlane plane;
  SourceCheck sources{plane.snapshot, plane.fib, plane.next_hops};
  FilterStage filters{plane.snapshot, plane.next_hops, plane.disposal};
  Time now = kStart;
  std::optional<ClassifyStage> stage;
};

constexpr std::uint32_t kHomes = 1999;

// Flows of one customer, more than the table takes.
std::vector<Udp> attack(std::uint32_t flows, const Udp& from) {
  std::vector<Udp> packets(flows, from);
  for (std::uint32_t i = 0; i < flows; ++i) packets[i].from = static_cast<std::uint16_t>(1 + i);
  return packets;
}
Udp tagged_home(std::uint32_t home) {
  return {.vlan = static_cast<std::uint16_t>(2 + home)};
}
Udp routed_home(std::uint32_t home) {
  return {.source = 0x0b000001 + (home << 8)};
}
std::vector<Udp> calls(Udp (*home)(std::uint32_t), std::uint16_t number) {
  std::vector<Udp> packets;
  for (std::uint32_t h = 0; h < kHomes; ++h) {
    packets.push_back(home(h));
    packets.back().from = static_cast<std::uint16_t>(1000 + number);
  }
  return packets;
}

// The finding: 1,428 of 1,999 homes lost every new call to a customer that came first, in each of three
// rounds.
TEST(ClassifyDisplacement, WhoComesFirstDoesNotKeepTheTable) {
  struct Case {
    const char* per;
    Udp attacker;
    Udp (*home)(std::uint32_t);
  };
  const Case cases[] = {{"flow", {.vlan = 1}, tagged_home},
                        {"vlan", {.vlan = 1}, tagged_home},
                        {"flow", {.source = 0x0a010001}, routed_home},
                        {"prefix, prefix: {ipv4: 24}", {.source = 0x0a010001}, routed_home}};
  for (const Case& c : cases) {
    Edge edge(10'000, std::string("  - {match: {port: lan0}, service: metered, per: ") + c.per + "}\n");
    const auto flood = attack(12'000, c.attacker);
    edge.lost(flood);
    ASSERT_GE(edge.stage->flows().size(), 8888u) << "the table is full";
    for (std::uint16_t round = 1; round <= 3; ++round) {
      edge.sleep(5s);
      EXPECT_EQ(edge.lost(calls(c.home, round)), 0u) << "per " << c.per << ", round " << round;
      edge.lost(flood);
    }
  }
}

// Flows that are alive do not help: only who is in the same part of its port as the attacker, one in 256,
// must wait for records that have been idle.
TEST(ClassifyDisplacement, NorWithFlowsThatAreAlive) {
  Edge edge(10'000, "  - {match: {port: lan0}, service: metered, per: flow}\n");
  const auto flood = attack(12'000, {.vlan = 1});
  edge.lost(flood);
  for (int i = 0; i < 5; ++i) {
    edge.sleep(500ms);
    edge.send(flood);
  }
  edge.sleep(500ms);
  EXPECT_LE(edge.lost(calls(tagged_home, 1)), kHomes / 100);
}

// And what the others have got, the attacker does not get back.
TEST(ClassifyDisplacement, NobodyWithinItsPartLosesARecord) {
  Edge edge(10'000, "  - {match: {port: lan0}, service: metered, per: flow}\n");
  edge.lost(attack(12'000, {.vlan = 1}));
  edge.sleep(5s);
  const auto theirs = calls(tagged_home, 1);
  ASSERT_EQ(edge.lost(theirs), 0u);
  const auto before = edge.send(theirs);
  for (int second = 0; second < 20; ++second) {
    edge.sleep(1s);
    edge.send(attack(12'000, {.to = static_cast<std::uint16_t>(6000 + second), .vlan = 1}));
    ASSERT_EQ(edge.send(theirs), before) << "second " << second;
  }
}

// A sender with forged addresses displaces no record of an active flow.
TEST(ClassifyDisplacement, ForgedSourcesDisplaceNoActiveContract) {
  Edge edge(1000, "  - {match: {port: lan0}, service: metered, per: flow}\n");
  const auto theirs = attack(400, {.source = 0x0a010001});
  ASSERT_EQ(edge.lost(theirs), 0u);
  const auto before = edge.send(theirs);
  Rng rng(3);
  for (int step = 0; step < 100; ++step) {
    std::vector<Udp> forged;
    for (int i = 0; i < 300; ++i) forged.push_back({.source = 0x0c000000 | rng.next() >> 8});
    edge.sleep(50ms);
    edge.send(forged);
    edge.sleep(50ms);
    ASSERT_EQ(edge.send(theirs), before) << "step " << step;
  }
}

TEST(ClassifyDisplacement, WhatHoldsPacketsStays) {
  Edge edge(100, "  - {match: {port: lan0}, service: metered, per: flow}\n");
  const auto flood = attack(100, {.vlan = 1});
  edge.lost(flood);
  for (const FlowId id : edge.send(flood))
    if (id != kNoFlow) edge.stage->flows()[id].flags |= FlowRecord::sticky;
  edge.sleep(5s);
  EXPECT_EQ(edge.lost({tagged_home(0), tagged_home(1), tagged_home(2), tagged_home(3), tagged_home(4),
                       tagged_home(5), tagged_home(6), tagged_home(7), tagged_home(8), tagged_home(9)}),
            4u)
      << "six places were free";
}

// A customer that is alone displaces no contract of its own before it has been idle as long as a flow of one
// packet lives: full buckets would be had for the asking.
TEST(ClassifyDisplacement, OnesOwnContractsGoOnlyWhenTheyAreIdle) {
  Edge edge(100, "  - {match: {port: lan0}, service: metered, per: flow}\n");
  const auto flows = attack(89, {.vlan = 1});
  ASSERT_EQ(edge.lost(flows), 0u);
  const Udp another{.from = 5000, .vlan = 1};
  edge.sleep(1900ms);
  EXPECT_EQ(edge.lost({another}), 1u);
  edge.sleep(200ms);
  EXPECT_EQ(edge.lost({another}), 0u);
}

// Flows that share a contract only refer to it: their records may go while it stays.
TEST(ClassifyDisplacement, ReferencesGoWithoutTheirContract) {
  Edge edge(100, "  - {match: {port: lan0}, service: metered, per: rule}\n");
  edge.lost(attack(100, {.vlan = 1}));
  edge.sleep(50ms);
  const FlowId id = edge.send({{.from = 5000, .vlan = 1}}).at(0);
  EXPECT_EQ(edge.stage->flows()[id].flags & FlowRecord::redirect, FlowRecord::redirect);
  EXPECT_EQ(edge.plane.service("metered").contracts, 1u);
  EXPECT_EQ(edge.plane.service("metered").flows, 88u);
}

// Packets of a vector refer to their records by number: none of those goes for another of them.
TEST(ClassifyDisplacement, WhatCameInThisTickStays) {
  Edge edge(100, "  - {match: {port: lan0}, service: metered, per: flow}\n");
  auto packets = attack(89, {.vlan = 1});
  edge.lost(packets);
  edge.sleep(5s);
  for (std::uint32_t i = 0; i < 30; ++i) packets.push_back(tagged_home(i));
  const auto records = edge.send(packets);
  EXPECT_EQ(std::ranges::count(records, kNoFlow), 24) << "six places were free";
}

// A contract that has flows stays while they do, however long nothing has come.
TEST(ClassifyDisplacement, AContractGoesAfterItsFlows) {
  Edge edge(100, "  - {match: {port: lan0}, service: metered, per: source}\n");
  std::vector<Udp> large, others;
  for (std::uint32_t i = 1; i <= 44; ++i) large.push_back({.source = 0x0a010000 + i, .vlan = 1});
  for (std::uint32_t i = 1; i <= 20; ++i)
    others.push_back({.source = 0x0a010100 + i, .vlan = static_cast<std::uint16_t>(1 + i)});
  ASSERT_EQ(edge.lost(large), 0u);
  edge.sleep(5s);
  ASSERT_EQ(edge.lost(others), 0u);
  const FlowTable& flows = edge.stage->flows();
  int flows_of_large = 0;
  for (FlowId id = 0; id < flows.capacity(); ++id) {
    const FlowRecord& r = flows[id];
    if ((r.flags & FlowRecord::live) == 0 || (r.flags & FlowRecord::redirect) == 0) continue;
    EXPECT_EQ(flows.key(r.state.shared).address[0], flows.key(id).address[0] & 0xffffffff);
    EXPECT_NE(flows[r.state.shared].flags & FlowRecord::is_shared, 0);
    flows_of_large += (flows.key(id).address[0] >> 16 & 0xff) == 0;
  }
  EXPECT_GT(flows_of_large, 0);
  EXPECT_LT(flows_of_large, 44);
}

// Random traffic on a small table: at any time each reference leads to the contract of its flow, and the
// counters say what is there.
TEST(ClassifyDisplacement, ContractsStayWhatTheyAre) {
  Edge edge(300,
            "  - {match: {port: lan0, destination_port: 1}, service: metered, per: source}\n"
            "  - {match: {port: lan0, destination_port: 2}, service: metered, per: flow}\n"
            "  - {match: {port: lan0, destination_port: 3}, service: plain}\n");
  Rng rng(17);
  std::map<std::uint32_t, std::uint64_t> kinds;
  for (int step = 0; step < 2000; ++step) {
    std::vector<Udp> packets;
    for (std::uint32_t n = rng.next() % 100; n > 0; --n)
      packets.push_back({.source = 0x0a010000 + rng.next() % (rng.next() % 2 == 0 ? 20 : 2000),
                         .from = static_cast<std::uint16_t>(rng.next() % 50),
                         .to = static_cast<std::uint16_t>(1 + rng.next() % 3),
                         .vlan = static_cast<std::uint16_t>(rng.next() % 20)});
    const auto records = edge.send(packets);
    edge.sleep(Duration(1ms) * (rng.next() % 300));
    const FlowTable& flows = edge.stage->flows();
    std::uint64_t contracts = 0, metered = 0, live = 0;
    for (FlowId id = 0; id < flows.capacity(); ++id) {
      const FlowRecord& r = flows[id];
      if ((r.flags & FlowRecord::live) == 0) continue;
      ++live;
      const bool shared = (r.flags & FlowRecord::is_shared) != 0,
                 refers = (r.flags & FlowRecord::redirect) != 0;
      const bool has_state = r.service == edge.plane.snapshot.service_of_rule(0);
      contracts += shared || (has_state && !refers);
      metered += has_state && !shared;
      if (!refers || flows.find(flows.key(id), flows.hash(flows.key(id)), edge.now) != id) continue;
      const FlowRecord& contract = flows[r.state.shared];
      ASSERT_EQ(contract.flags & (FlowRecord::live | FlowRecord::is_shared),
                FlowRecord::live | FlowRecord::is_shared);
      ASSERT_EQ(flows.key(r.state.shared).address[0] & 0xffffffff, flows.key(id).address[0] & 0xffffffff);
    }
    ASSERT_EQ(live, flows.size());
    ASSERT_EQ(edge.plane.service("metered").contracts, contracts);
    ASSERT_EQ(edge.plane.service("metered").flows, metered);
    ++kinds[flows.size() > 270];
  }
  EXPECT_GT(kinds[1], 500u) << "the table was full most of the time";
}

}  // namespace
}  // namespace surety
