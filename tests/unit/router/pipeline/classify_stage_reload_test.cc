// SPDX-License-Identifier: BSD-3-Clause
// How flows come to the services of another configuration.
#include "router/pipeline/classify_stage.h"

#include <gmock/gmock.h>

#include "tests/unit/router/pipeline/reload_bed.h"

namespace surety {
namespace {

using testing::Each;
using testing::ElementsAre;
using namespace test;
using namespace literals;

const Udp kFlow{}, kSibling{.from = 7};  // of one source

// A flow of two packets, and one of the same source, before; what has become of them with their next packets.
struct Change {
  const char* what;
  std::string rules, then;
  std::string service;  // after
  int mark;             // of the first packet after: tells whether a bucket has been spent before
  int sibling_mark;     // of the other flow's first packet then
  const char* counts;   // of that service; a contract that has been left is one until it is forgotten
  std::string services = kReloadServices, then_services = kReloadServices;
};

const std::string kRenamed =
    "  gold: {conditioner: token-bucket, rate: 8 Mbit/s, bucket: 2 kB, mark: {in: AF31, out: AF32}}\n";
const std::string kDeeper =
    "  metered: {conditioner: token-bucket, rate: 8 Mbit/s, bucket: 4 kB, mark: {in: AF31, out: AF32}}\n";
const std::string kOtherKind =
    "  metered: {conditioner: srtcm, rate: 8 Mbit/s, committed_burst: 2 kB, excess_burst: 2 kB, mark: {in: "
    "AF31, out: AF32}}\n";
const std::string kUnconditioned = "  metered: {conditioner: none, mark: {in: CS1}}\n";
const std::string kElsewhere = "  - {match: {port: lan0, destination_port: 9}, service: gilt, per: source}\n";
const std::string kThis = "  - {match: {port: lan0, destination_port: 5001}, service: gilt, per: flow}\n";
const std::string kThisBySource =
    "  - {match: {port: lan0, destination_port: 5001}, service: metered, per: source}\n";

std::vector<Change> changes() {
  return {
      {"nothing", all("metered"), all("metered"), "metered", kAf12Mark, kAf12Mark, "2 flows, 2 contracts"},
      {"a rule for others added", all("metered"), kElsewhere + all("metered"), "metered", kAf12Mark,
       kAf12Mark, "2 flows, 2 contracts"},
      {"a rule added before", all("metered"), kThis + all("metered"), "gilt", kAf31Mark, kAf31Mark,
       "2 flows, 2 contracts"},
      {"the first rule added", "", all("metered"), "metered", kAf11Mark, kAf11Mark, "2 flows, 2 contracts"},
      {"a rule removed", kThis + all("metered"), all("metered"), "metered", kAf11Mark, kAf11Mark,
       "2 flows, 2 contracts"},
      {"the last rule removed", all("metered"), "", "unclassified", kBeMark, kBeMark, "2 flows, 0 contracts"},
      {"the service changed", all("metered"), all("gilt"), "gilt", kAf31Mark, kAf31Mark,
       "2 flows, 2 contracts"},
      {"the service changed to one without state", all("metered"), all("plain"), "plain", kCs1Mark, kCs1Mark,
       "2 flows, 0 contracts"},
      {"the service changed from one without state", all("plain"), all("gilt"), "gilt", kAf31Mark, kAf31Mark,
       "2 flows, 2 contracts"},
      {"per flow to per source", all("metered"), all("metered", "source"), "metered", kAf11Mark, kAf11Mark,
       "2 flows, 1 contracts"},
      {"per source to per flow", all("metered", "source"), all("metered"), "metered", kAf11Mark, kAf11Mark,
       "2 flows, 3 contracts"},
      {"per source, nothing", all("metered", "source"), all("metered", "source"), "metered", kAf12Mark,
       kAf12Mark, "2 flows, 1 contracts"},
      {"per source, its rule elsewhere", kElsewhere + all("metered", "source"),
       all("metered", "source") + kElsewhere, "metered", kAf12Mark, kAf12Mark, "2 flows, 1 contracts"},
      {"per source, another match", all("metered", "source"), kThisBySource, "metered", kAf11Mark, kAf11Mark,
       "2 flows, 2 contracts"},
      {"per source to a service without state", all("metered", "source"), all("plain", "source"), "plain",
       kCs1Mark, kCs1Mark, "2 flows, 0 contracts"},
      {"the name of the service", all("metered"), all("gold"), "gold", kAf31Mark, kAf31Mark,
       "2 flows, 2 contracts", kReloadServices, kRenamed},
      {"the parameters", all("metered"), all("metered"), "metered", kAf32Mark, kAf32Mark,
       "2 flows, 2 contracts", kReloadServices, kDeeper},
      {"the parameters, per source", all("metered", "source"), all("metered", "source"), "metered", kAf32Mark,
       kAf32Mark, "2 flows, 1 contracts", kReloadServices, kDeeper},
      {"the conditioner", all("metered"), all("metered"), "metered", kAf31Mark, kAf31Mark,
       "2 flows, 2 contracts", kReloadServices, kOtherKind},
      {"the conditioner, to none", all("metered"), all("metered"), "metered", kCs1Mark, kCs1Mark,
       "2 flows, 0 contracts", kReloadServices, kUnconditioned},
  };
}

TEST(ClassifyReload, AFlowComesToWhatTheRulesSayNow) {
  for (const Change& c : changes()) {
    SCOPED_TRACE(c.what);
    ReloadBed b(reload_config(c.rules, c.services));
    b.send(kFlow, 2);
    b.send(kSibling, 2);
    b.expect_law();
    b.settle(reload_config(c.then, c.then_services));
    EXPECT_EQ(b.mark(kFlow), c.mark);
    EXPECT_EQ(b.mark(kSibling), c.sibling_mark);
    EXPECT_EQ(b.service(kFlow), c.service);
    EXPECT_EQ(b.counts(c.service.c_str()), c.counts);
    EXPECT_EQ(b.dropped(), 0u);
    b.expect_law();
  }
}

// What the sweep has not come to yet may have been judged by the configuration before the last.
TEST(ClassifyReload, TheLastOfTwoReloadsCounts) {
  for (const Change& c : changes()) {
    SCOPED_TRACE(c.what);
    const std::string large = "capacity: 4096, held: 400 packets";
    ReloadBed b(reload_config(c.rules, c.services, large));
    b.send(kFlow, 2);
    b.send(kSibling, 2);
    b.reload(reload_config(all("silver", "source"), kReloadServices, large));
    b.d.turn(b.d.now);
    b.settle(reload_config(c.then, c.then_services, large));
    b.send(kFlow);
    b.send(kSibling);
    EXPECT_EQ(b.service(kFlow), c.service);
    EXPECT_EQ(b.counts(c.service.c_str()), c.counts);
    b.expect_law();
  }
}

TEST(ClassifyReload, UntilTheSweepComesAFlowKeepsWhatItHas) {
  const std::string large = "capacity: 4096, held: 400 packets";
  ReloadBed b(reload_config(all("metered"), kReloadServices, large));
  b.send(kFlow, 2);
  b.reload(reload_config(all("gilt"), kReloadServices, large));
  EXPECT_EQ(b.mark(kFlow), kAf12Mark);
  EXPECT_EQ(b.mark({.from = 99}), kAf31Mark) << "new ones ask the new rules at once";
  b.sweep();
  EXPECT_EQ(b.mark(kFlow), kAf31Mark);
}

TEST(ClassifyReload, AContractWithAnotherServiceMovesBetweenTwoTurns) {
  ReloadBed b(reload_config(all("metered", "source")));
  b.send(kFlow, 2);
  b.send(kSibling);
  const FlowId contract = b.holder(kFlow);
  b.settle(reload_config(all("gilt", "source")));
  EXPECT_EQ(b.mark(kFlow), kAf12Mark) << "asks for it";
  EXPECT_EQ(b.mark({.from = 8}), kAf12Mark) << "a new flow of that contract";
  EXPECT_EQ(b.counts("metered"), "3 flows, 1 contracts");
  b.expect_law();
  b.d.turn(b.d.now);
  EXPECT_EQ(b.counts("gilt"), "0 flows, 1 contracts");
  EXPECT_EQ(b.mark(kSibling), kAf31Mark);
  EXPECT_EQ(b.mark(kFlow), kAf31Mark);
  EXPECT_EQ(b.mark({.from = 8}), kAf32Mark) << "they share a bucket";
  EXPECT_EQ(b.holder(kFlow), contract);
  EXPECT_EQ(b.counts("gilt"), "3 flows, 1 contracts");
  EXPECT_EQ(b.counts("metered"), "0 flows, 0 contracts");
  b.expect_law();
}

// Its flows that the sweep has not come to find out by the contract.
TEST(ClassifyReload, NoFlowUsesAContractsStateForAnotherService) {
  const std::string large = "capacity: 4096, held: 400 packets";
  ReloadBed b(reload_config(all("metered", "source"), kReloadServices, large));
  b.send(kFlow);
  b.send(kSibling);
  b.reload(reload_config(all("silver", "source"), kReloadServices, large));
  b.send({.from = 8});  // a new one: has the contract move
  b.d.turn(b.d.now);
  b.departures();
  b.send(kSibling, 5);
  EXPECT_THAT(b.marks(), ElementsAre(kAf21Mark, kAf21Mark, kAf22Mark, kAf22Mark));
  EXPECT_EQ(b.d.ingress->held(b.holder(kSibling)), 1u);
  b.expect_law();
}

TEST(ClassifyReload, FlowsBeyondTheContractsOfTheirRuleGetNoneOfTheirOwn) {
  ReloadBed b(reload_config(all("metered", "flow, contracts: 3")));
  for (std::uint16_t from = 1; from <= 6; ++from) b.send({.from = from}, 2);
  const FlowId excess = b.holder({.from = 3});
  EXPECT_EQ(b.counts("metered"), "6 flows, 3 contracts");
  b.settle(reload_config(kElsewhere + all("metered", "flow, contracts: 3")));
  for (std::uint16_t from = 1; from <= 8; ++from) b.send({.from = from}, 2);
  EXPECT_EQ(b.counts("metered"), "8 flows, 3 contracts");
  for (std::uint16_t from = 3; from <= 8; ++from) EXPECT_EQ(b.holder({.from = from}), excess);
  for (std::uint16_t from = 1; from <= 2; ++from) EXPECT_EQ(b.holder({.from = from}), b.flow({.from = from}));
  b.settle(reload_config(all("metered", "flow, contracts: 5")));
  for (std::uint16_t from = 1; from <= 8; ++from) b.send({.from = from}, 2);
  EXPECT_EQ(b.counts("metered"), "8 flows, 5 contracts") << "two of them have room now";
  b.expect_law();
}

// A flow's contract is charged to the rule that it has after the reload, and to no other one.
TEST(ClassifyReload, ContractsOfFlowsAreCountedForTheirNewRule) {
  ReloadBed b(reload_config(all("metered")));
  for (std::uint16_t from = 1; from <= 6; ++from) b.send({.from = from}, 2);
  b.settle(reload_config(
      "  - {match: {port: lan0, destination_port: 5001}, service: metered, per: flow, contracts: 3}\n" +
      all("metered", "flow, contracts: 3")));
  for (std::uint16_t from = 1; from <= 6; ++from) b.send({.from = from}, 2);
  EXPECT_EQ(b.counts("metered"), "6 flows, 3 contracts");
  for (std::uint16_t from = 1; from <= 6; ++from) b.send({.from = from, .to = 99}, 2);
  EXPECT_EQ(b.counts("metered"), "12 flows, 6 contracts");
  b.expect_law();
}

TEST(ClassifyReload, ABoundThatIsNewCountsTheContractsThatThereAre) {
  ReloadBed b(reload_config(all("metered", "source")));
  for (std::uint32_t n = 0; n < 4; ++n) b.send({.source = 0x0a010001 + n}, 2);
  b.settle(reload_config(all("metered", "source, contracts: 3")));
  const FlowId excess = (b.send({.source = 0x0a010010}), b.holder({.source = 0x0a010010}));
  b.send({.source = 0x0a010011});
  EXPECT_EQ(b.holder({.source = 0x0a010011}), excess);
  for (std::uint32_t n = 0; n < 4; ++n) b.send({.source = 0x0a010001 + n});
  EXPECT_EQ(b.counts("metered"), "6 flows, 5 contracts") << "those that are known stay";
  b.expect_law();
}

TEST(ClassifyReload, BytesCountedStayWithTheFlow) {
  ReloadBed b(reload_config(all("metered")));
  b.send(kFlow, 3);
  b.settle(reload_config(all("gilt")));
  b.send(kFlow, 3);
  const FlowCounters c = b.d.ingress->flows().counters(b.flow(kFlow));
  EXPECT_EQ(c.in_bytes, 4000u);
  EXPECT_EQ(c.out_bytes, 2000u);
}

// Of a table that is full, of which one customer has eight ninths: flows that are known need no more room,
// contracts that are new do.
TEST(ClassifyReload, InAFullTableFlowsMoveAndNoneLosesWhatItHas) {
  ReloadBed b(reload_config(all("metered")));
  for (std::uint16_t from = 1; from <= 57; ++from) b.send({.from = from}, 2);
  ASSERT_EQ(b.d.ingress->flows().size(), 57u);
  b.settle(reload_config(all("gilt", "source")));
  EXPECT_EQ(b.mark({.from = 1}), kAf12Mark) << "no room for its contract: it keeps its bucket";
  EXPECT_EQ(b.counts("metered"), "57 flows, 57 contracts");
  EXPECT_EQ(b.mark({.from = 99}), kBeMark) << "who is new gets best effort";
  b.settle(reload_config(all("gilt")));
  for (std::uint16_t from = 1; from <= 57; ++from) EXPECT_EQ(b.mark({.from = from}), kAf31Mark);
  EXPECT_EQ(b.counts("gilt"), "57 flows, 57 contracts");
  b.expect_law();
}

TEST(ClassifyReload, AContractThatNoFlowUsesAnyMoreIsForgotten) {
  ReloadBed b(reload_config(all("metered", "source")));
  b.send(kFlow, 2);
  b.settle(reload_config(all("gilt")));
  b.send(kFlow);
  EXPECT_EQ(b.counts("metered"), "0 flows, 1 contracts");
  for (int s = 0; s < 30; ++s) {
    b.d.turn(b.d.now + 1s);
    b.send(kFlow);
    b.departures();
  }
  EXPECT_EQ(b.counts("metered"), "0 flows, 0 contracts");
  EXPECT_EQ(b.counts("gilt"), "1 flows, 1 contracts");
  b.expect_law();
}

// It must live as long as the flow that it has been made for, which has had its second packet.
TEST(ClassifyReload, AContractMadeForAKnownFlowLivesAsLongAsIt) {
  ReloadBed b(reload_config(all("metered")));
  b.send(kFlow, 2);
  b.settle(reload_config(all("metered", "source")));
  b.send(kFlow, 3);
  const FlowId contract = b.holder(kFlow);
  for (int s = 0; s < 9; ++s) b.d.turn(b.d.now + 1s);
  EXPECT_EQ(b.holder(kFlow), contract);
  b.expect_law();
}

TEST(ClassifyReload, APortThatHasItsFirstRuleIsClassifiedAtOnce) {
  ReloadBed b(reload_config(""));
  EXPECT_EQ(b.mark(kFlow), kBeMark);
  EXPECT_EQ(b.flow(kFlow), kNoFlow);
  b.reload(reload_config(all("metered")));
  EXPECT_EQ(b.mark(kFlow), kAf11Mark);
}

TEST(ClassifyReload, TheTrustOfAPortMayChange) {
  const std::string rule = "  - {match: {protocol: udp}, service: metered, per: flow}\n";
  ReloadBed b(reload_config(rule));
  EXPECT_EQ(b.mark(kFlow), kAf11Mark);
  std::string trusted = reload_config(rule);
  trusted.replace(trusted.find("}, wan0"), 1, ", trust: core}");
  b.settle(trusted);
  EXPECT_EQ(b.mark({.tos = 0x28}), 10) << "as it comes";
  b.settle(reload_config(rule));
  EXPECT_EQ(b.mark(kFlow), kAf11Mark);
  b.expect_law();
}

TEST(ClassifyReload, TheCreationRateMayChange) {
  ReloadBed b(reload_config(all("metered")));
  std::string limited = reload_config(all("metered"));
  limited.replace(limited.find("creation_rate: 0"), 16, "creation_rate: 1");
  b.settle(limited);
  for (std::uint16_t from = 0; from < 70; ++from) b.send({.from = from});
  EXPECT_EQ(b.d.ports[0].degraded[static_cast<std::size_t>(DegradeReason::flow_share_full)], 13u);
  b.d.turn(b.d.now + 5s);
  EXPECT_EQ(b.mark({.from = 100}), kAf11Mark) << "five more since, and seven left of 64";
  for (std::uint16_t from = 101; from < 150; ++from) b.send({.from = from});
  EXPECT_EQ(b.d.ports[0].degraded[static_cast<std::size_t>(DegradeReason::creation_limited)], 38u);
  b.settle(reload_config(all("metered")));
  EXPECT_EQ(b.mark({.from = 200}), kAf11Mark);
}

}  // namespace
}  // namespace surety
