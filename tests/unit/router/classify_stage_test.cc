// SPDX-License-Identifier: BSD-3-Clause
#include "router/classify_stage.h"

#include <set>

#include "conditioners/rng.h"
#include "tests/unit/router/data_plane.h"

namespace surety {
namespace {

using test::DataPlane;
using test::kStart;
using test::Udp;
using test::udp_frame;
using namespace literals;

// A stage of its own on a configuration with these rules, and 64 flows of 10 s.
class Stage {
 public:
  explicit Stage(const std::string& rules)
      : plane(
            "version: 1\n"
            "ports: {lan0: {addresses: [10.1.0.254/16]}, wan0: {addresses: [10.2.0.254/16], trust: core}}\n"
            "services:\n"
            "  metered: {conditioner: token-bucket, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: AF11, out: "
            "AF12}}\n"
            "  capped: {conditioner: police, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: EF}}\n"
            "  plain: {conditioner: none, mark: {in: BE}}\n"
            "flow_table: {capacity: 64, idle_timeout: 10 s}\n"
            "classify:\n" +
            rules) {
    limit({});
  }
  // With this creation_rate.
  void limit(std::optional<std::uint32_t> rate) {
    plane.snapshot.config.flow_table.creation_rate = rate;
    stage.emplace(plane.snapshot, plane.ports, plane.services, sources, filters, plane.disposal, 1, now);
  }

  struct Answer {
    FlowId flow = kNoFlow;
    std::string service;
  };
  // One answer per packet.
  std::vector<Answer> classify(const std::vector<Udp>& packets, PortIndex port = 0) {
    std::vector<test::Octets> frames;
    for (Udp u : packets) {
      u.port = port;
      frames.push_back(udp_frame(u));
    }
    Vector v = plane.parsed(frames, port);
    stage->run(v, port, now);
    std::vector<Answer> answers;
    for (std::size_t i = 0; i < v.size; ++i)
      answers.push_back({v.flow[i], plane.snapshot.services[v.service[i]].name});
    DataPlane::free(v);
    return answers;
  }
  FlowId flow(const Udp& u, PortIndex port = 0) { return classify({u}, port).at(0).flow; }
  // After two packets: a flow of one only is forgotten soon.
  FlowId settled(const Udp& u) {
    flow(u);
    return flow(u);
  }
  std::uint64_t degraded(DegradeReason r) const {
    return plane.ports[0].degraded[static_cast<std::size_t>(r)];
  }
  // The record that has the conditioner's state for a packet.
  FlowId contract(const Udp& u, PortIndex port = 0) {
    const FlowRecord& r = stage->flows()[flow(u, port)];
    return (r.flags & FlowRecord::redirect) != 0 ? r.state.shared : flow(u, port);
  }
  // Time passes; the table is swept as often as it should be.
  void sleep(Duration d) {
    for (const Time end = now + d; now < end;) {
      now = std::min(end, now + Duration(1s));
      stage->age(now);
    }
  }
  std::string counts(const char* service) const {
    const ServiceCounters& c = plane.service(service);
    return std::to_string(c.flows) + " flows, " + std::to_string(c.contracts) + " contracts";
  }

  DataPlane plane;
  SourceCheck sources{plane.snapshot, plane.fib, plane.next_hops};
  FilterStage filters{plane.snapshot, plane.next_hops, plane.disposal};
  Time now = kStart;
  std::optional<ClassifyStage> stage;
};

const std::string kMetered = "  - {match: {port: lan0}, service: metered, per: ";

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

// --- a bound of contracts ---

Udp source(std::uint32_t n, std::uint16_t from = 1000) {
  return {.source = 0x0a010001 + n, .from = from};
}

TEST(ClassifyStage, BeyondItsContractsARuleSellsOneThatAllShare) {
  Stage s(kMetered + "source, contracts: 4}\n");
  std::set<FlowId> contracts;
  for (std::uint32_t n = 0; n < 3; ++n) contracts.insert(s.contract(source(n)));
  EXPECT_EQ(contracts.size(), 3u);
  const FlowId excess = s.contract(source(3));
  EXPECT_FALSE(contracts.contains(excess));
  for (std::uint32_t n = 4; n < 12; ++n) EXPECT_EQ(s.contract(source(n)), excess) << n;
  EXPECT_EQ(s.counts("metered"), "12 flows, 4 contracts");
  const FlowId first = s.contract(source(0));
  EXPECT_EQ(s.contract(source(0, 7)), first) << "a further flow of a contract that is known";
  EXPECT_EQ(s.contract(source(5, 7)), excess);
  EXPECT_EQ(s.degraded(DegradeReason::flow_share_full), 0u);
}

TEST(ClassifyStage, BeyondItsContractsARuleOfFlowsSellsOneThatAllShare) {
  Stage s(kMetered + "flow, contracts: 3}\n");
  for (std::uint16_t from = 1; from <= 2; ++from)
    EXPECT_EQ(s.contract({.from = from}), s.flow({.from = from}));
  const FlowId excess = s.contract({.from = 3});
  EXPECT_NE(excess, s.flow({.from = 3}));
  for (std::uint16_t from = 4; from <= 9; ++from) EXPECT_EQ(s.contract({.from = from}), excess);
  EXPECT_EQ(s.contract({.source = 0x0a010007}), excess);
  EXPECT_EQ(s.counts("metered"), "10 flows, 3 contracts");
  EXPECT_EQ(s.contract({.from = 1}), s.flow({.from = 1}));
}

TEST(ClassifyStage, ARuleOfOneContractHasOne) {
  for (const char* per : {"source", "flow", "destination", "prefix, prefix: {ipv4: 32}", "vlan"}) {
    Stage s(kMetered + per + ", contracts: 1}\n");
    const FlowId excess = s.contract(source(0));
    EXPECT_EQ(s.contract({.source = 0x0a010002, .destination = 0x0a020009, .from = 7, .vlan = 9}), excess)
        << per;
    EXPECT_EQ(s.counts("metered"), "2 flows, 1 contracts") << per;
  }
}

TEST(ClassifyStage, EachInterfaceHasItsPartOfTheContracts) {
  Stage s(
      "  - {match: {}, service: metered, per: source, contracts: 2}\n"
      "  - {match: {port: wan0}, service: metered, per: source, contracts: 3}\n");
  for (std::uint32_t n = 0; n < 8; ++n) s.flow(source(n), 0);
  EXPECT_EQ(s.counts("metered"), "8 flows, 2 contracts");
  for (std::uint32_t n = 0; n < 8; ++n) s.flow(source(n), 1);
  EXPECT_EQ(s.counts("metered"), "16 flows, 5 contracts") << "another rule, at another port";
}

TEST(ClassifyStage, ContractsThatAreForgottenMakeRoom) {
  Stage s(kMetered + "source, contracts: 2}\n");
  const FlowId first = s.contract(source(0));
  s.settled(source(1));
  const FlowId excess = s.contract(source(1));
  EXPECT_NE(first, excess);
  for (int i = 0; i < 16; ++i) {
    s.sleep(4s);
    EXPECT_EQ(s.contract(source(1)), excess) << "a flow stays with its contract";
  }
  EXPECT_EQ(s.counts("metered"), "1 flows, 1 contracts");
  EXPECT_NE(s.contract(source(2)), excess);
  EXPECT_EQ(s.contract(source(3)), excess);
}

TEST(ClassifyStage, FlowsThatAreForgottenMakeRoom) {
  Stage s(kMetered + "flow, contracts: 2}\n");
  s.settled({.from = 1});
  EXPECT_NE(s.contract({.from = 2}), s.flow({.from = 2}));
  s.sleep(40s);
  EXPECT_EQ(s.counts("metered"), "0 flows, 0 contracts");
  EXPECT_EQ(s.contract({.from = 3}), s.flow({.from = 3}));
  EXPECT_NE(s.contract({.from = 4}), s.flow({.from = 4}));
}

TEST(ClassifyStage, AnotherProcessCountsTheContractsThatItGoesOnWith) {
  for (const char* per : {"source", "flow"}) {
    Stage s(kMetered + per + ", contracts: 4}\n");
    for (std::uint32_t n = 0; n < 2; ++n) s.settled(source(n));
    const auto two = s.stage->save();
    for (std::uint32_t n = 2; n < 9; ++n) s.settled(source(n));
    const auto four = s.stage->save();
    ASSERT_EQ(two.size(), 2u) << per;
    ASSERT_EQ(four.size(), 4u) << per;
    for (const auto& states : {two, four}) {
      Stage next(kMetered + per + ", contracts: 4}\n");
      next.stage->restore(states, next.now);
      for (std::uint32_t n = 20; n < 30; ++n) next.settled(source(n));
      EXPECT_TRUE(next.counts("metered").ends_with(" 4 contracts")) << per << next.counts("metered");
      EXPECT_EQ(next.contract(source(20)) == next.contract(source(21)), states.size() == 4) << per;
      EXPECT_EQ(next.contract(source(21)), next.contract(source(29))) << per;
    }
  }
}

// Whatever comes by one interface: IN is at most contracts x (bucket + rate x time).
TEST(ClassifyStage, InOfARuleIsAtMostWhatItSells) {
  for (const char* per : {"source", "flow", "destination", "prefix, prefix: {ipv4: 28}", "vlan"}) {
    DataPlane d(
        "version: 1\n"
        "ports: {lan0: {addresses: [10.1.0.254/16]}, wan0: {addresses: [10.2.0.254/16], trust: core}}\n"
        "services: {s: {conditioner: token-bucket, rate: 80 kbit/s, bucket: 1000 B, mark: {in: AF11, out: "
        "AF12}}}\n"
        "flow_table: {capacity: 512, idle_timeout: 10 s, creation_rate: 0}\n"
        "classify: [{match: {port: lan0}, service: s, contracts: 5, per: " +
        std::string(per) + "}]\n");
    d.route("10.2.0.0/16", {test::ready(1)});
    Rng rng{5};
    constexpr int kTurns = 400;
    for (int turn = 0; turn < kTurns; ++turn) {
      std::vector<test::Octets> burst;
      for (int i = 0; i < 40; ++i)
        burst.push_back(udp_frame(
            {.source = static_cast<std::uint32_t>(0x0a010001 + rng.next() % 8 * 16 + rng.next() % 3),
             .destination = static_cast<std::uint32_t>(0x0a020001 + rng.next() % 9),
             .from = static_cast<std::uint16_t>(rng.next() % 3),
             .vlan = static_cast<std::uint16_t>(std::string(per) == "vlan" ? rng.next() % 20 : 0)}));
      d.receive(burst);
      while (!d.transmit(1).empty()) {
      }
      d.turn(d.now + 5ms);
    }
    const std::uint64_t in = d.service("s").bytes[index(Precedence::in)];
    constexpr std::uint64_t kSold = 5 * (1000 + 10 * 5 * kTurns);  // 10 bytes a millisecond
    EXPECT_LE(in, kSold) << per;
    EXPECT_GT(in, kSold / 5) << per << ": more than one contract";
  }
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
