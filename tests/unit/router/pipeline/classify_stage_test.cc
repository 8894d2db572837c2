// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/classify_stage.h"

#include "tests/unit/router/pipeline/classify_bed.h"

namespace surety {
namespace {

using test::DataPlane;
using test::kMetered;
using test::kStart;
using test::Stage;
using test::Udp;
using test::udp_frame;
using namespace literals;

TEST(SweepSchedule, SweepsTheTableInHalfATimeoutWhateverTheDelay) {
  constexpr std::uint32_t kCapacity = 1000;
  SweepSchedule sweep(10s, kCapacity, kStart);  // a record each 5 ms
  EXPECT_EQ(sweep.due(kStart + 319ms), 0u) << "less than a slice";
  EXPECT_EQ(sweep.due(kStart + 320ms), SweepSchedule::kSlice);
  sweep.done(SweepSchedule::kSlice, kCapacity, kStart + 320ms);
  EXPECT_EQ(sweep.due(kStart + 320ms), 0u);
  EXPECT_EQ(sweep.due(kStart + 100s), SweepSchedule::kLongestSlice);
  sweep.done(kCapacity, kCapacity, kStart + 100s);
  EXPECT_EQ(sweep.due(kStart + 100s), kCapacity) << "a round, not all that were missed";
}

TEST(ClassifyStage, ContractPerFlow) {
  Stage s(kMetered + "flow}\n");
  const FlowId a = s.flow({.from = 1}), b = s.flow({.from = 2});
  EXPECT_NE(a, b);
  EXPECT_EQ(s.flow({.from = 1}), a);
  EXPECT_EQ(s.contract({.from = 1}), a);
  EXPECT_EQ(s.counts("metered"), "2 flows, 2 contracts");
  EXPECT_EQ(s.stage->flows().size(), 2u);
}

// Per-service counters after one packet of each: which of them share a contract?
struct SharedCase {
  const char* per;
  Udp same, other;  // against the default packet: of its contract, and of another
};

TEST(ClassifyStage, ContractsThatSeveralFlowsShare) {
  const SharedCase cases[] = {
      {"source", {.destination = 0x0a020009, .from = 7}, {.source = 0x0a010002}},
      {"destination", {.source = 0x0a010002, .from = 7}, {.destination = 0x0a020009}},
      {"prefix, prefix: {ipv4: 28}", {.source = 0x0a01000e}, {.source = 0x0a010010}},
      {"vlan", {.source = 0x0a010002, .from = 7}, {.vlan = 9}},
  };
  for (const auto& c : cases) {
    Stage s(kMetered + c.per + "}\n");
    const FlowId contract = s.contract({});
    EXPECT_EQ(s.counts("metered"), "1 flows, 1 contracts") << c.per;
    EXPECT_EQ(s.contract(c.same), contract) << c.per;
    EXPECT_EQ(s.counts("metered"), "2 flows, 1 contracts") << c.per;
    EXPECT_NE(s.contract(c.other), contract) << c.per;
    EXPECT_EQ(s.counts("metered"), "3 flows, 2 contracts") << c.per;
    EXPECT_NE(s.flow({}), contract) << c.per;
    EXPECT_TRUE(s.stage->flows()[contract].flags & FlowRecord::is_shared) << c.per;
    EXPECT_EQ(s.stage->flows().size(), 5u) << c.per;
  }
}

TEST(ClassifyStage, ContractPerRuleIsOneForAllThatMatchThatRule) {
  Stage s(
      "  - {match: {port: lan0, destination_port: 1}, service: metered, per: rule}\n"
      "  - {match: {port: lan0, destination_port: 2}, service: metered, per: rule}\n");
  const FlowId first = s.contract({.to = 1});
  EXPECT_EQ(s.contract({.source = 0x0a010002, .to = 1, .vlan = 5}), first);
  EXPECT_NE(s.contract({.to = 2}), first);
  EXPECT_EQ(s.counts("metered"), "3 flows, 2 contracts");
}

TEST(ClassifyStage, TheFirstRuleThatMatchesDecides) {
  Stage s(
      "  - {match: {port: lan0, source: 10.1.0.1/32}, service: capped, per: flow}\n"
      "  - {match: {port: lan0, source: 10.1.0.0/24}, service: plain, per: flow}\n");
  const auto a = s.classify({{}, {.source = 0x0a010002}, {.source = 0x0a010302}});
  ASSERT_EQ(a.size(), 3u);
  EXPECT_EQ(a[0].service, "capped");
  EXPECT_EQ(a[1].service, "plain");
  EXPECT_EQ(a[2].service, "unclassified");
  EXPECT_EQ(s.counts("plain"), "1 flows, 0 contracts") << "nothing is promised";
  EXPECT_EQ(s.counts("unclassified"), "1 flows, 0 contracts");
  EXPECT_EQ(s.counts("capped"), "1 flows, 1 contracts");
}

TEST(ClassifyStage, TheSecondPacketOfANewFlowInOneVectorFindsIt) {
  Stage s(kMetered + "flow}\n");
  const auto a = s.classify({{}, {.from = 2}, {}, {.from = 2}});
  ASSERT_EQ(a.size(), 4u);
  EXPECT_EQ(a[0].flow, a[2].flow);
  EXPECT_EQ(a[1].flow, a[3].flow);
  EXPECT_EQ(a[3].service, "metered");
  EXPECT_EQ(s.counts("metered"), "2 flows, 2 contracts");
}

TEST(ClassifyStage, PortsThatNoRuleSpeaksOfNeedNoClassification) {
  Stage s(kMetered + "flow}\n");
  EXPECT_TRUE(s.stage->classifies(0));
  EXPECT_FALSE(s.stage->classifies(1));
  s.plane.route("10.2.0.0/24", {test::ready(1)});
  EXPECT_EQ(s.plane.fate(udp_frame({.port = 1}), 1), "to 1");
  EXPECT_EQ(s.plane.ingress->flows().size(), 0u);
  EXPECT_EQ(s.counts("trusted"), "0 flows, 0 contracts");
  EXPECT_EQ(s.plane.service("trusted").packets[index(Precedence::in)], 1u);
  EXPECT_EQ(s.plane.service("trusted").bytes[index(Precedence::in)], 100u);
}

TEST(ClassifyStage, TheSameAddressesOnAnotherPortAreAnotherFlow) {
  Stage s(
      "  - {match: {port: lan0}, service: metered, per: source}\n"
      "  - {match: {port: wan0}, service: metered, per: source}\n");
  EXPECT_NE(s.contract({}, 0), s.contract({}, 1));
  EXPECT_EQ(s.counts("metered"), "2 flows, 2 contracts");
}

TEST(ClassifyStage, IdleFlowsGoAndSoDoTheirContracts) {
  Stage s(kMetered + "flow}\n");
  s.settled({});
  s.settled({.from = 2});
  s.sleep(9s);
  s.flow({});
  s.sleep(2s);
  EXPECT_EQ(s.counts("metered"), "2 flows, 2 contracts") << "the table is swept each half timeout";
  s.sleep(5s);
  EXPECT_EQ(s.counts("metered"), "1 flows, 1 contracts");
  s.sleep(10s);
  EXPECT_EQ(s.counts("metered"), "0 flows, 0 contracts");
  EXPECT_EQ(s.stage->flows().size(), 0u);
}

TEST(ClassifyStage, FlowsOfOnePacketGoAfterTwoSeconds) {
  Stage s(kMetered + "flow}\n");
  s.classify({{}, {.from = 2}, {.from = 3}, {.from = 2}});  // the last one: in the vector that creates it
  s.sleep(1s);
  s.flow({});
  s.sleep(1s);
  EXPECT_EQ(s.counts("metered"), "3 flows, 3 contracts");
  s.sleep(1s);
  EXPECT_EQ(s.counts("metered"), "2 flows, 2 contracts");
  s.sleep(6s);
  EXPECT_EQ(s.counts("metered"), "2 flows, 2 contracts");
}

TEST(ClassifyStage, AFlowThatComesBackAfterItsTimeoutStartsAnew) {
  Stage s(kMetered + "flow}\n");
  const Meter& meter = *s.plane.snapshot.services[0].meter;
  const auto green_bytes = [&](FlowId id) {
    Meter::State& state = s.stage->flows()[id].state.meter;
    int bytes = 0;
    while (meter.check(state, s.now - 1h, 1) == Color::green) ++bytes;
    return bytes;
  };
  const FlowId first = s.flow({});
  const int full = green_bytes(first);
  EXPECT_GT(full, 0);
  EXPECT_EQ(green_bytes(s.flow({})), 0) << "it goes on with what it has";
  s.now += 11s;  // no sweep: the old record is still in
  EXPECT_EQ(green_bytes(s.flow({})), full);
  EXPECT_EQ(s.counts("metered"), "1 flows, 1 contracts");
}

TEST(ClassifyStage, AContractOutlivesItsFlows) {
  Stage s(kMetered + "source}\n");
  s.settled({.from = 1});
  const FlowId contract = s.contract({.from = 1});
  s.sleep(16s);
  EXPECT_EQ(s.counts("metered"), "0 flows, 1 contracts");
  EXPECT_EQ(s.contract({.from = 2}), contract);
  s.sleep(40s);
  EXPECT_EQ(s.counts("metered"), "0 flows, 0 contracts");
}

TEST(ClassifyStage, AContractOfOnePacketOutlivesItsFlowToo) {
  Stage s(kMetered + "source}\n");
  s.flow({.from = 1});
  s.sleep(3s);
  EXPECT_EQ(s.counts("metered"), "0 flows, 1 contracts");
  s.sleep(1s);
  EXPECT_EQ(s.counts("metered"), "0 flows, 1 contracts");
  s.sleep(1s);
  EXPECT_EQ(s.counts("metered"), "0 flows, 0 contracts");
}

// Its flows refer to it by number. Whether a packet gets as far as the conditioner,
// which is behind the route, must not matter: a flow without a route would outlive its
// contract and refer to whatever has come in its place.
TEST(ClassifyStage, AContractLivesAsLongAsAnyOfItsFlows) {
  Stage s(kMetered + "source}\n");
  const FlowId flow = s.flow({}), contract = s.contract({});
  for (int i = 0; i < 12; ++i) {
    s.sleep(8s);
    ASSERT_EQ(s.flow({}), flow);
  }
  EXPECT_EQ(s.counts("metered"), "1 flows, 1 contracts");
  EXPECT_EQ(s.contract({}), contract);
  EXPECT_EQ(s.stage->flows()[contract].flags, FlowRecord::live | FlowRecord::is_shared);
}

// A new flow that refers to a contract renews it too, not only one that was there before.
TEST(ClassifyStage, ANewFlowRenewsItsContract) {
  Stage s(kMetered + "source}\n");
  s.settled({.from = 1});
  const FlowId contract = s.contract({.from = 1});
  s.sleep(19s);
  s.settled({.from = 2});
  ASSERT_EQ(s.contract({.from = 2}), contract);
  s.now += 9s;  // 28 s since the first flow: beyond twice the timeout
  s.stage->age(s.now);
  EXPECT_EQ(s.counts("metered"), "1 flows, 1 contracts");
  EXPECT_EQ(s.contract({.from = 2}), contract);
}

// --- no record to be had ---

TEST(ClassifyStage, AFullTableDegradesOnlyWhatNeedsState) {
  Stage s(
      "  - {match: {port: lan0, destination_port: 1}, service: metered, per: flow}\n"
      "  - {match: {port: lan0, destination_port: 2}, service: plain, per: flow}\n"
      "  - {match: {port: lan0, destination_port: 4}, service: capped, per: flow}\n");
  for (std::uint16_t i = 0; i < 57; ++i) ASSERT_NE(s.flow({.from = i, .to = 1}), kNoFlow);
  const auto a = s.classify(
      {{.from = 5, .to = 1}, {.from = 100, .to = 1}, {.from = 100, .to = 2}, {.to = 3}, {.to = 4}});
  ASSERT_EQ(a.size(), 5u);
  EXPECT_EQ(a[0].service, "metered");
  EXPECT_NE(a[0].flow, kNoFlow);
  EXPECT_EQ(a[1].service, "unclassified") << "degraded";
  EXPECT_EQ(a[2].service, "plain");
  EXPECT_EQ(a[3].service, "unclassified");
  EXPECT_EQ(a[4].service, "unclassified") << "not of the policed class, which it could fill";
  for (std::size_t i = 1; i < 5; ++i) EXPECT_EQ(a[i].flow, kNoFlow);
  EXPECT_EQ(s.degraded(DegradeReason::flow_share_full), 2u);
  EXPECT_EQ(s.degraded(DegradeReason::creation_limited), 0u);
  EXPECT_EQ(s.counts("metered"), "57 flows, 57 contracts");
  EXPECT_EQ(s.counts("plain"), "0 flows, 0 contracts");
  EXPECT_EQ(s.plane.ports[1].degraded, decltype(PortCounters::degraded){});
}

TEST(ClassifyStage, AFullTableMakesRoomAsFlowsAge) {
  Stage s(kMetered + "flow}\n");
  for (std::uint16_t i = 0; i < 64; ++i) s.settled({.from = i});
  EXPECT_EQ(s.flow({.from = 100}), kNoFlow);
  s.sleep(20s);
  EXPECT_EQ(s.stage->flows().size(), 0u);
  EXPECT_NE(s.flow({.from = 100}), kNoFlow);
  EXPECT_EQ(s.counts("metered"), "1 flows, 1 contracts");
}

// 56 flows and their contract are what one customer may have of the table: a further flow of the contract is
// conditioned by it all the same, one of another contract is degraded.
TEST(ClassifyStage, AKnownContractNeedsNoRecordOfItsFlows) {
  Stage s(kMetered + "source}\n");
  for (std::uint16_t i = 0; i < 56; ++i) ASSERT_NE(s.flow({.from = i}), kNoFlow);
  EXPECT_EQ(s.stage->flows().size(), 57u);
  const auto a = s.classify({{.from = 100}, {.source = 0x0a010002}});
  ASSERT_EQ(a.size(), 2u);
  EXPECT_EQ(a[0].service, "metered");
  EXPECT_EQ(a[0].flow, s.contract({.from = 1}));
  EXPECT_EQ(a[1].service, "unclassified");
  EXPECT_EQ(s.degraded(DegradeReason::flow_share_full), 1u);
  EXPECT_EQ(s.counts("metered"), "56 flows, 1 contracts");
}

// How many of 64 new flows are remembered, the table being empty.
std::size_t admitted(Stage& s, std::uint16_t destination_port) {
  std::vector<Udp> packets;
  for (std::uint16_t i = 0; i < 64; ++i) packets.push_back({.from = i, .to = destination_port});
  std::size_t n = 0;
  for (const auto& a : s.classify(packets)) n += a.flow != kNoFlow;
  return n;
}

TEST(ClassifyStage, CreationIsLimited) {
  struct Case {
    std::optional<std::uint32_t> rate;
    std::size_t after_3_seconds;
  };
  const Case cases[] = {{10, 37}, {1, 10}, {std::nullopt, 55}, {0, 57}};
  for (const auto& c : cases) {
    Stage s(kMetered + "flow}\n");
    s.limit(c.rate);
    EXPECT_EQ(admitted(s, 1), 57u) << "as many at once as one customer may have; of 64, seven are left";
    EXPECT_EQ(s.degraded(DegradeReason::creation_limited), 0u);
    s.sleep(3s);
    ASSERT_EQ(s.stage->flows().size(), 0u);
    EXPECT_EQ(admitted(s, 2), c.after_3_seconds);
    EXPECT_EQ(s.degraded(DegradeReason::creation_limited) + s.degraded(DegradeReason::flow_share_full),
              64 - 57 + 64 - c.after_3_seconds);
    EXPECT_EQ(s.degraded(DegradeReason::flow_table_full), 0u);
    EXPECT_EQ(s.counts("metered"), std::to_string(c.after_3_seconds) + " flows, " +
                                       std::to_string(c.after_3_seconds) + " contracts");
  }
}

TEST(ClassifyStage, KnownFlowsDoNotMindTheLimit) {
  Stage s(kMetered + "flow}\n");
  s.limit(1);
  ASSERT_EQ(admitted(s, 1), 57u);
  EXPECT_EQ(admitted(s, 1), 57u);
  EXPECT_EQ(s.degraded(DegradeReason::flow_table_full) + s.degraded(DegradeReason::creation_limited), 0u);
}

TEST(ClassifyStage, WhatNeedsNoStateLeavesAQuarterOfTheTable) {
  Stage s("  - {match: {port: lan0, destination_port: 1}, service: metered, per: flow}\n");
  EXPECT_EQ(admitted(s, 2), 48u);
  EXPECT_EQ(admitted(s, 1), 9u) << "of 57";
  EXPECT_EQ(s.counts("unclassified"), "48 flows, 0 contracts");
  EXPECT_EQ(s.counts("metered"), "9 flows, 9 contracts");
}

// Of creations, too: 64 at first, then 10 a second.
TEST(ClassifyStage, WhatNeedsNoStateLeavesAQuarterOfTheCreations) {
  Stage s("  - {match: {port: lan0, destination_port: 1}, service: metered, per: flow}\n");
  s.limit(10);
  EXPECT_EQ(admitted(s, 1), 57u);
  s.sleep(3s);  // 30 creations, and 7 left, of which 22 are spare
  EXPECT_EQ(admitted(s, 2), 22u);
  EXPECT_EQ(admitted(s, 1), 15u);
}

}  // namespace
}  // namespace surety
