// SPDX-License-Identifier: BSD-3-Clause
// A reload under way: order, held packets, alpha, signals.
#include <gmock/gmock.h>

#include <numeric>

#include "router/pipeline/ingress.h"
#include "tests/unit/router/pipeline/reload_bed.h"

namespace surety {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using namespace test;
using namespace literals;

const Udp kFlow{}, kSibling{.from = 7}, kStranger{.source = 0x0a010002};

std::vector<int> from_to(int first, int last) {
  std::vector<int> all(static_cast<std::size_t>(last - first + 1));
  std::iota(all.begin(), all.end(), first);
  return all;
}
std::string silver(const std::string& rate, const std::string& more = "buffer: 40 packets") {
  return "  silver: {conditioner: csa, rate: " + rate + ", in_bucket: 2 kB, out_bucket: 2 kB, " + more +
         ", alpha: {min: 0.2, max: 0.4}, mark: {in: AF21, out: AF22}}\n"
         "  plain: {conditioner: none, mark: {in: CS1}}\n";
}

// A flow has 16 packets waiting when its rule changes.
struct Move {
  const char* what;
  std::string rules, then;
  int mark;  // of the first packet behind the move
};

TEST(IngressReload, WhatWaitsLeavesOutAndInOrderBeforeItsFlowMoves) {
  const std::string other = "  - {match: {port: lan0, source: 10.1.0.1/32}, service: metered, per: flow}\n";
  const Move moves[] = {
      {"another service", all("silver"), all("metered"), kAf11Mark},
      {"a service without state", all("silver"), all("plain"), kCs1Mark},
      {"no rule any more", all("silver"), "", kBeMark},
      {"a rule before", all("silver"), other + all("silver"), kAf11Mark},
      {"per source", all("silver"), all("silver", "source"), kAf21Mark},
      {"a contract's flow to a service of its own", all("silver", "source"), other + all("silver", "source"),
       kAf11Mark},
      {"a contract to another service", all("silver", "source"), all("metered", "source"), kAf11Mark},
      {"a contract to a service without state", all("silver", "source"), all("plain", "source"), kCs1Mark},
      {"a contract to none", all("silver", "source"), all("silver"), kAf21Mark},
  };
  for (const Move& m : moves) {
    SCOPED_TRACE(m.what);
    ReloadBed b(reload_config(m.rules));
    b.send(kFlow, 20);
    EXPECT_EQ(b.numbers(), from_to(1, 4));
    ASSERT_EQ(b.d.ingress->held(), 16u);
    b.settle(reload_config(m.then));
    b.send(kFlow, 4);
    EXPECT_THAT(b.departures(), IsEmpty()) << "they wait behind the others";
    EXPECT_EQ(b.d.ingress->held(), 20u);
    EXPECT_EQ(b.d.ingress->next_event(), b.d.now) << "the next turn has work";
    b.expect_law();
    b.d.turn(b.d.now);
    const auto flushed = b.departures();
    ASSERT_EQ(flushed.size(), 20u);
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(flushed[static_cast<std::size_t>(i)], (ReloadBed::Departure{5 + i, kAf22Mark}));
    b.expect_law();
    b.send(kFlow);
    const auto moved = b.departures();
    ASSERT_EQ(moved.size(), 1u);
    EXPECT_EQ(moved[0], (ReloadBed::Departure{25, m.mark}));
    EXPECT_EQ(b.dropped(), 0u);
    EXPECT_EQ(b.d.ingress->held(), 0u);
    b.d.turn(b.d.now);
    EXPECT_GT(b.d.ingress->next_event(), b.d.now) << "nothing is left to do";
    b.expect_law();
  }
}

TEST(IngressReload, WhoseRuleStaysGoesOnWaiting) {
  for (const char* per : {"flow", "source"}) {
    ReloadBed b(reload_config(all("silver", per)));
    b.send(kFlow, 20);
    b.departures();
    b.settle(
        reload_config("  - {match: {port: lan0, vlan: 5}, service: gilt, per: flow}\n" + all("silver", per)));
    b.send(kFlow);
    b.d.turn(b.d.now);
    EXPECT_THAT(b.departures(), IsEmpty()) << per;
    EXPECT_EQ(b.d.ingress->held(), 17u) << per;
    b.d.run_until(b.d.now + 100ms);
    EXPECT_EQ(b.numbers(), from_to(5, 21)) << per;
    b.expect_law();
  }
}

// Packets that come meanwhile do not keep it from moving, those of others of its contract neither.
TEST(IngressReload, AFlowLeavesABusyContract) {
  const std::string away = "  - {match: {port: lan0, source_port: 1000}, service: metered, per: flow}\n";
  ReloadBed b(reload_config(all("silver", "source")));
  b.send(kSibling, 10);
  b.send(kFlow, 2);
  b.settle(reload_config(away + all("silver", "source")));
  int turns = 0;
  while (b.service(kFlow) != "metered" && turns < 5) {
    b.send(kSibling, 8);
    b.send(kFlow);
    b.d.turn(b.d.now);
    ++turns;
  }
  EXPECT_LE(turns, 2);
  b.send(kSibling, 8);
  b.departures();
  b.d.turn(b.d.now);
  EXPECT_THAT(b.departures(), IsEmpty()) << "the contract waits again for its tokens";
  EXPECT_GT(b.d.ingress->held(), 0u);
  b.expect_law();
}

// What leaves at once is not given away: the out-bucket has a debt then.
TEST(IngressReload, AContractThatIsFlushedPaysForIt) {
  const std::string away = "  - {match: {port: lan0, source_port: 1000}, service: plain, per: flow}\n";
  ReloadBed b(reload_config(all("silver", "source")));
  b.send(kFlow);
  b.send(kSibling, 13);
  b.settle(reload_config(away + all("silver", "source")));
  b.departures();
  b.send(kFlow);  // asks
  b.d.turn(b.d.now);
  EXPECT_EQ(b.departures().size(), 11u) << "all that waited, and what came last";
  ASSERT_EQ(b.d.ingress->held(), 0u);
  b.d.turn(b.d.now + 10ms);  // tokens for 10 IN and 4 OUT, of which the buckets take 2 each
  b.send(kSibling, 4);
  EXPECT_EQ(b.marks(), (std::vector<int>{kAf21Mark, kAf21Mark})) << "the out-bucket pays for 11";
  EXPECT_EQ(b.d.ingress->held(), 2u);
  b.d.run_until(b.d.now + 1s);
  b.departures();
  b.expect_law();
}

// What waits goes on waiting, by the new service's tokens and in its buffer.
TEST(IngressReload, FromCsaToCsaTheBufferIsCarriedOver) {
  const std::string gold =
      "  gold: {conditioner: csa, rate: 16 Mbit/s, in_bucket: 2 kB, out_bucket: 2 kB, buffer: 40 packets,\n"
      "         alpha: {min: 0.2, max: 0.4}, mark: {in: AF11, out: AF12}}\n";
  for (const char* per : {"flow", "source"}) {
    ReloadBed b(reload_config(all("silver", per), kReloadServices + gold));
    b.send(kFlow, 10);
    EXPECT_EQ(b.departures().size(), 4u);
    b.settle(reload_config(all("gold", per), kReloadServices + gold));
    b.send(kFlow);
    b.d.turn(b.d.now);
    EXPECT_EQ(b.d.ingress->held(), 7u) << per;
    EXPECT_TRUE(b.departures().empty()) << per << ": no tokens were given away";
    EXPECT_EQ(b.d.service("gold").held, 7u) << per;
    EXPECT_EQ(b.d.service("silver").held, 0u) << per;
    b.d.run_until(b.d.now + 1s);
    EXPECT_EQ(b.numbers(), from_to(5, 11)) << per;
    EXPECT_EQ(b.mark(kFlow), kAf11Mark) << per;
    EXPECT_EQ(b.counts("gold"), "1 flows, 1 contracts") << per;
    EXPECT_EQ(b.counts("silver"), "0 flows, 0 contracts") << per;
    b.expect_law();
  }
}

// Another one leaves the contract when that has been carried over: its packets are there still.
TEST(IngressReload, WhoLeavesAContractThatIsCarriedOverDoesNotOvertake) {
  const std::string gold =
      "  gold: {conditioner: csa, rate: 8 Mbit/s, in_bucket: 2 kB, out_bucket: 2 kB, buffer: 40 packets,\n"
      "         alpha: {min: 0.2, max: 0.4}, mark: {in: AF11, out: AF12}}\n";
  const std::string away = "  - {match: {port: lan0, source_port: 1000}, service: metered, per: flow}\n";
  ReloadBed b(reload_config(all("silver", "source"), kReloadServices + gold));
  b.send(kFlow, 6);
  b.send(kSibling, 2);
  b.departures();
  b.settle(reload_config(away + all("gold", "source"), kReloadServices + gold));
  b.send(kSibling);
  b.d.turn(b.d.now);  // now the contract is gold
  EXPECT_TRUE(b.departures().empty());
  b.send(kFlow);  // is to leave it
  EXPECT_TRUE(b.departures().empty());
  b.d.turn(b.d.now);
  b.send(kFlow);
  EXPECT_EQ(b.numbers(), from_to(5, 11)) << "5, 6 and 10 of kFlow before its 11";
  EXPECT_EQ(b.service(kFlow), "metered");
  b.expect_law();
}

TEST(IngressReload, ATurnFlushesABoundedNumber) {
  const std::string services = silver("8 kbit/s", "buffer: 1000 packets");
  const std::string table = "capacity: 64, held: 2000 packets";
  ReloadBed b(reload_config(all("silver"), services, table));
  for (int i = 0; i < 20; ++i) b.send(kFlow, 50);
  b.departures();
  b.settle(reload_config(all("plain"), services, table));
  b.send(kFlow);
  const std::uint32_t waiting = b.d.ingress->held();
  ASSERT_EQ(waiting, 997u);
  int turns = 0;
  std::vector<int> numbers;
  for (; b.d.ingress->held() > 0 && turns < 20; ++turns) {
    const std::uint32_t before = b.d.ingress->held();
    b.d.turn(b.d.now);
    EXPECT_LE(before - b.d.ingress->held(), 4 * kBurst);
    for (const int n : b.numbers()) numbers.push_back(n);
  }
  EXPECT_EQ(turns, 4);
  EXPECT_EQ(numbers, from_to(5, 1001));
  EXPECT_EQ(b.mark(kFlow), kCs1Mark);
  b.expect_law();
}

// More flows with held packets than a turn takes requests of.
TEST(IngressReload, FlowsThatFindNoRoomToAskDoSoLater) {
  const std::string table = "capacity: 1024, held: 4000 packets";
  ReloadBed b(reload_config(all("silver"), kReloadServices, table));
  for (std::uint16_t from = 1; from <= 300; ++from) {
    b.send({.from = from}, 6);
    b.departures();
  }
  ASSERT_EQ(b.d.ingress->held(), 600u);
  b.settle(reload_config(all("plain"), kReloadServices, table));
  for (std::uint16_t from = 1; from <= 300; ++from) b.send({.from = from});
  b.d.turn(b.d.now);
  EXPECT_EQ(b.d.ingress->held(), 900u - 256u);
  for (int turn = 0; turn < 10; ++turn) {
    for (std::uint16_t from = 1; from <= 300; ++from) b.send({.from = from});
    b.d.turn(b.d.now);
    b.departures();
  }
  EXPECT_EQ(b.d.ingress->held(), 0u);
  EXPECT_EQ(b.counts("plain"), "300 flows, 0 contracts");
  EXPECT_EQ(b.dropped(), 0u);
  b.departures();
  b.expect_law();
}

// Who waits for tokens that never come is looked at again: within the 67 ms of the wheel.
TEST(IngressReload, AFasterRateWakesThoseWhoWait) {
  for (const char* rate : {"8 bit/s", "8 kbit/s"}) {
    ReloadBed b(reload_config(all("silver"), silver(rate)));
    b.send(kFlow, 14);
    b.departures();
    b.d.run_until(b.d.now + 200ms);
    ASSERT_THAT(b.departures(), IsEmpty());
    b.settle(reload_config(all("silver"), silver("80 Mbit/s")));
    b.d.run_until(b.d.now + 80ms);
    EXPECT_EQ(b.numbers(), from_to(5, 14)) << rate;
    b.expect_law();
  }
}

TEST(IngressReload, ASlowerRateHoldsBackThoseWhoWait) {
  ReloadBed b(reload_config(all("silver"), silver("8 Mbit/s")));
  b.send(kFlow, 14);
  b.departures();
  b.settle(reload_config(all("silver"), silver("8 kbit/s")));
  b.d.run_until(b.d.now + 500ms);
  EXPECT_LE(b.departures().size(), 2u);
  b.expect_law();
}

TEST(IngressReload, ASmallerBufferRefusesNewPacketsOnly) {
  ReloadBed b(reload_config(all("silver"), silver("8 Mbit/s")));
  b.send(kFlow, 24);
  b.settle(reload_config(all("silver"), silver("8 Mbit/s", "buffer: 5 packets")));
  EXPECT_EQ(b.d.ingress->held(), 20u);
  b.send(kFlow);
  EXPECT_EQ(b.d.drops(0, DropReason::buffer), 1u);
  b.d.run_until(b.d.now + 100ms);
  EXPECT_EQ(b.numbers(), from_to(1, 24));
  b.expect_law();
}

// Its class is the same, its alpha another one: a clock of its own.
TEST(IngressReload, WhoWaitsGoesOnByTheAlphaOfItsServiceNow) {
  const std::string fast =
      "  silver: {conditioner: csa, rate: 8 Mbit/s, in_bucket: 2 kB, out_bucket: 2 kB, buffer: "
      "100 packets, alpha: {min: 1, max: 1}, mark: {in: AF21, out: AF22}}\n";
  ReloadBed b(reload_config(all("silver")));
  b.send(kFlow, 30);
  b.departures();
  b.settle(reload_config(all("silver"), fast));
  ASSERT_EQ(b.d.current->domains.size(), 4u);
  b.send(kFlow);
  b.d.run_until(b.d.now + 10ms + 20us);
  EXPECT_EQ(b.departures().size(), 20u) << "10 IN, 10 OUT";
  b.expect_law();
}

// Else a flow could find its former record again, and overtake what waits in the other one.
TEST(IngressReload, TheDscpStaysPartOfTheKeyWhenNoRuleLooksAtItAnyMore) {
  const Udp marked{.tos = 0xb8};
  const std::string by_dscp = "  - {match: {port: lan0, dscp: EF}, service: metered, per: flow}\n";
  ReloadBed b(reload_config(by_dscp + all("silver")));
  b.send(marked);
  b.send({});
  const FlowId one = b.flow(marked), other = b.flow({});
  EXPECT_NE(one, other);
  b.settle(reload_config(all("silver")));
  b.send(marked);
  EXPECT_EQ(b.flow(marked), one);
  EXPECT_EQ(b.flow({}), other);
  EXPECT_EQ(b.counts("silver"), "2 flows, 2 contracts");
  b.departures();
  b.expect_law();
}

// The port is classified as long as something waits; then its packets are not looked up any more.
TEST(IngressReload, APortWithoutRulesIsLeftAloneOnceNothingWaits) {
  ReloadBed b(reload_config(all("silver")));
  b.send(kFlow, 6);
  b.departures();
  b.settle(reload_config(""));
  b.send(kStranger);
  EXPECT_NE(b.flow(kStranger), kNoFlow);
  b.d.run_until(b.d.now + 10ms);
  ASSERT_EQ(b.d.ingress->held(), 0u);
  b.d.turn(b.d.now);
  const std::uint32_t known = b.d.ingress->flows().size();
  b.send({.source = 0x0a010003});
  EXPECT_EQ(b.d.ingress->flows().size(), known);
  b.departures();
  b.expect_law();
}

TEST(IngressReload, AdoptionEndsWhenTheSweepIsRound) {
  const std::string large = "capacity: 4096, held: 40 packets";
  ReloadBed b(reload_config(all("silver"), kReloadServices, large));
  EXPECT_FALSE(b.d.ingress->adopting());
  b.send(kFlow);
  b.departures();
  b.reload(reload_config(all("gilt"), kReloadServices, large));
  EXPECT_TRUE(b.d.ingress->adopting());
  EXPECT_EQ(b.d.ingress->next_event(), b.d.now) << "a worker without packets goes on with it";
  for (int slice = 0; slice < 4; ++slice) {  // of 1024 places
    EXPECT_TRUE(b.d.ingress->adopting());
    b.d.turn(b.d.now);
  }
  EXPECT_FALSE(b.d.ingress->adopting());
  EXPECT_GT(b.d.ingress->next_event(), b.d.now);
}

}  // namespace
}  // namespace surety
