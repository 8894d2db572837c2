// SPDX-License-Identifier: BSD-3-Clause
// Rules with `contracts: N`: individual contracts up to N - 1 for each interface, and one excess contract.
#include <set>

#include "conditioners/rng.h"
#include "tests/unit/router/pipeline/classify_bed.h"

namespace surety {
namespace {

using test::DataPlane;
using test::kMetered;
using test::Stage;
using test::Udp;
using test::udp_frame;
using namespace literals;

Udp source(std::uint32_t n, std::uint16_t from = 1000) {
  return {.source = 0x0a010001 + n, .from = from};
}

TEST(ClassifyBounds, BeyondItsContractsARuleSellsOneThatAllShare) {
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

TEST(ClassifyBounds, BeyondItsContractsARuleOfFlowsSellsOneThatAllShare) {
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

TEST(ClassifyBounds, ARuleOfOneContractHasOne) {
  for (const char* per : {"source", "flow", "destination", "prefix, prefix: {ipv4: 32}", "vlan"}) {
    Stage s(kMetered + per + ", contracts: 1}\n");
    const FlowId excess = s.contract(source(0));
    EXPECT_EQ(s.contract({.source = 0x0a010002, .destination = 0x0a020009, .from = 7, .vlan = 9}), excess)
        << per;
    EXPECT_EQ(s.counts("metered"), "2 flows, 1 contracts") << per;
  }
}

TEST(ClassifyBounds, EachInterfaceHasItsPartOfTheContracts) {
  Stage s(
      "  - {match: {}, service: metered, per: source, contracts: 2}\n"
      "  - {match: {port: wan0}, service: metered, per: source, contracts: 3}\n");
  for (std::uint32_t n = 0; n < 8; ++n) s.flow(source(n), 0);
  EXPECT_EQ(s.counts("metered"), "8 flows, 2 contracts");
  for (std::uint32_t n = 0; n < 8; ++n) s.flow(source(n), 1);
  EXPECT_EQ(s.counts("metered"), "16 flows, 5 contracts") << "another rule, at another port";
}

TEST(ClassifyBounds, ContractsThatAreForgottenMakeRoom) {
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

TEST(ClassifyBounds, FlowsThatAreForgottenMakeRoom) {
  Stage s(kMetered + "flow, contracts: 2}\n");
  s.settled({.from = 1});
  EXPECT_NE(s.contract({.from = 2}), s.flow({.from = 2}));
  s.sleep(40s);
  EXPECT_EQ(s.counts("metered"), "0 flows, 0 contracts");
  EXPECT_EQ(s.contract({.from = 3}), s.flow({.from = 3}));
  EXPECT_NE(s.contract({.from = 4}), s.flow({.from = 4}));
}

TEST(ClassifyBounds, AnotherProcessCountsTheContractsThatItGoesOnWith) {
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
TEST(ClassifyBounds, InOfARuleIsAtMostWhatItSells) {
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

}  // namespace
}  // namespace surety
