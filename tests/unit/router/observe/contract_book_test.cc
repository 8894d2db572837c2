// SPDX-License-Identifier: BSD-3-Clause
#include "router/observe/contract_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "conditioners/rng.h"
#include "conditioners/token_bucket.h"

namespace surety {
namespace {

using namespace literals;
using testing::ElementsAre;

constexpr Time kStart{1000s};

// One service of 8 kbit/s, 1,000 bytes a second, with a bucket of 300 bytes; another, of which nothing is
// promised.
class ContractBookTest : public testing::Test {
 protected:
  static ContractSighting at(std::uint32_t place, FlowId flow, std::uint32_t generation = 1) {
    ContractSighting s;
    s.place = place;
    s.flow = flow;
    s.generation = generation;
    return s;
  }
  void second(const std::vector<ContractSighting>& seen) {
    now += 1s;
    book.sample(
        seen, terms,
        [](const ContractSighting& s) {
          const std::string name = std::string("c").append(std::to_string(s.flow));
          return ContractName{name, name};
        },
        now);
  }
  const ContractReading row(const std::string& contract) const {
    for (const ContractReading& r : book.contracts())
      if (r.contract == contract) return r;
    throw std::out_of_range(contract);
  }
  std::string seconds(const std::string& contract) const {
    const ContractReading r = row(contract);
    return std::to_string(r.met_seconds) + " of " + std::to_string(r.demanding_seconds);
  }
  std::optional<double> respect() const {
    std::vector<ServiceReading> services(1);
    services[0].name = "gold";
    book.apply(services);
    return services[0].respect_ratio;
  }

  std::vector<ContractTerms> terms{{"gold", 8_kbps, Bytes(300), 0.99},
                                   {"free", Rate{}, Bytes(0), std::nullopt}};
  ContractBook book{3};
  Time now = kStart;
};

TEST_F(ContractBookTest, WhoOffersNothingDemandsNothing) {
  ContractSighting c = at(0, 1);
  second({c});
  second({c});
  EXPECT_EQ(seconds("c1"), "0 of 0");
  EXPECT_FALSE(row("c1").met.has_value());
  EXPECT_FALSE(row("c1").respect_ratio.has_value());
  EXPECT_FALSE(respect().has_value()) << "not 0: nobody was denied anything";
  EXPECT_EQ(row("c1").committed_bytes_per_second, 1000);
  EXPECT_EQ(row("c1").objective, 0.99);
}

TEST_F(ContractBookTest, LessThanBoughtIsAllOfIt) {
  ContractSighting c = at(0, 1);
  for (int i = 1; i <= 5; ++i) {
    c.let_go = {400u * static_cast<unsigned>(i), 0};
    second({c});
  }
  EXPECT_EQ(seconds("c1"), "5 of 5");
  EXPECT_EQ(row("c1").respect_ratio, 1.0);
  EXPECT_EQ(row("c1").delivered_in_bytes_per_second, 400);
}

// What is marked IN and dies in a queue has not been delivered.
TEST_F(ContractBookTest, WhatIsLostBehindTheConditionerIsNotDelivered) {
  ContractSighting c = at(0, 1);
  for (std::uint64_t i = 1; i <= 5; ++i) {
    c.let_go = {1000 * i, 0};
    c.lost.bytes = {500 * i, 0};
    c.lost.packets = {5 * i, 0};
    second({c});
  }
  EXPECT_EQ(row("c1").offered_bytes, 5000u);
  EXPECT_EQ(row("c1").delivered_bytes[0], 2500u);
  EXPECT_EQ(row("c1").respect_ratio, 0.5);
  EXPECT_EQ(row("c1").met, false);
  EXPECT_EQ(seconds("c1"), "0 of 5");
}

TEST_F(ContractBookTest, OutPacketsMakeUpForLostInOnes) {
  ContractSighting c = at(0, 1);
  c.let_go = {1000, 700};
  c.lost.bytes = {600, 0};
  c.lost.packets = {6, 0};
  second({c});
  EXPECT_EQ(row("c1").met, true) << "1,100 were delivered of 1,000";
  c.let_go = {2000, 1200};
  c.lost.bytes = {1200, 0};
  c.lost.packets = {12, 0};
  second({c});
  EXPECT_EQ(row("c1").met, true) << "100 short, which is one packet, but for the thousandth";
  c.let_go = {3000, 1600};
  c.lost.bytes = {1800, 0};
  c.lost.packets = {18, 0};
  second({c});
  EXPECT_EQ(row("c1").met, false);
}

TEST_F(ContractBookTest, WhatTheConditionerRefusesWasOfferedNotGuaranteed) {
  ContractSighting c = at(0, 1);
  c.let_go = {600, 0};
  c.lost.refused_bytes = 9400;
  second({c});
  EXPECT_EQ(row("c1").offered_bytes, 10'000u);
  EXPECT_EQ(row("c1").respect_ratio, 1.0);
  EXPECT_EQ(seconds("c1"), "1 of 1");
}

TEST_F(ContractBookTest, WhatIsMissingAddsUp) {
  ContractSighting c = at(0, 1);
  const auto met = [&](std::uint64_t lost) {
    c.let_go[0] += 1000;
    c.lost.bytes[0] += 100 * lost;
    c.lost.packets[0] += lost;
    second({c});
    return *row("c1").met;
  };
  EXPECT_TRUE(met(1)) << "one packet";
  EXPECT_FALSE(met(1)) << "another one";
  EXPECT_FALSE(met(1));
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(met(0)) << "a thousandth is forgiven each second";
  EXPECT_TRUE(met(1));
  EXPECT_FALSE(met(2));
}

// The findings: a second with one packet counted as one in which the rate was asked for, the end of each
// transfer as missed, and with bursts beyond the contract none was met.
TEST_F(ContractBookTest, OnePingIsNoDemand) {
  ContractSighting c = at(0, 1);
  c.let_go = {84, 0};
  second({c});
  EXPECT_EQ(seconds("c1"), "0 of 0");
  EXPECT_EQ(row("c1").respect_ratio, 1.0);
  c.lost.bytes = {252, 0};
  c.lost.packets = {3, 0};
  c.let_go = {84 + 336, 0};
  second({c});
  EXPECT_EQ(seconds("c1"), "0 of 1") << "three of four are lost, which counts however few they are";
}

TEST_F(ContractBookTest, TheEndsOfATransferAreMet) {
  ContractSighting c = at(0, 1);
  for (const std::uint64_t in : {150u, 1000u, 1000u, 700u}) {
    c.let_go[0] += in;
    c.let_go[1] += in / 2;
    second({c});
  }
  EXPECT_EQ(seconds("c1"), "4 of 4");
}

TEST_F(ContractBookTest, BurstsBeyondTheContractAreMet) {
  ContractSighting c = at(0, 1);
  for (int i = 0; i < 30; ++i) {
    if (i % 3 != 2) c.let_go[0] += 600, c.let_go[1] += 200, c.lost.refused_bytes += 1200;
    second({c});
  }
  EXPECT_EQ(seconds("c1"), "20 of 20");
}

TEST_F(ContractBookTest, WhoIsStarvedIsSeenToBeWithinThreeSeconds) {
  ContractSighting c = at(0, 1);
  for (const std::uint64_t in : {1000u, 60u, 15u}) {  // TCP that backs off: a tenth of it gets through
    c.let_go[0] += in;
    c.lost.bytes[0] += in - in / 10;
    c.lost.packets[0] += 5;
    second({c});
  }
  EXPECT_EQ(seconds("c1"), "0 of 3");
  EXPECT_LT(*row("c1").respect_ratio, 0.2);
  for (int i = 0; i < 8; ++i) {  // one packet every other second, all of them lost
    if (i % 2 == 0) c.let_go[0] += 60, c.lost.bytes[0] += 60, c.lost.packets[0] += 1;
    second({c});
  }
  EXPECT_EQ(seconds("c1"), "0 of 7");
}

// Below a tenth of the rate good seconds do not count: nor does a second that lacks little.
TEST_F(ContractBookTest, FewLossesOfWhoSendsLittleDoNotCount) {
  ContractSighting c = at(0, 1);
  for (int i = 0; i < 10; ++i) {
    c.let_go[0] += 80;
    c.lost.bytes[0] += 4;
    c.lost.packets[0] += 1;
    second({c});
  }
  EXPECT_EQ(seconds("c1"), "0 of 0");
}

TEST_F(ContractBookTest, ASenderCannotViolateHisOwnContract) {
  ContractSighting c = at(0, 1);
  const auto lose = [&](DropReason reason, std::uint64_t packets) {
    const auto place = std::find(kLossReasons.begin(), kLossReasons.end(), reason) - kLossReasons.begin();
    c.let_go[0] += 1000;
    c.lost.bytes[0] += 100 * packets;
    c.lost.packets[0] += packets;
    c.lost.by_reason[static_cast<std::size_t>(place)] += packets;
    second({c});
    return *row("c1").met;
  };
  EXPECT_TRUE(lose(DropReason::neighbor_unresolved, 5)) << "he scans a subnet";
  EXPECT_TRUE(lose(DropReason::mtu_exceeded, 5));
  EXPECT_FALSE(lose(DropReason::early, 5));
  EXPECT_EQ(row("c1").delivered_bytes[0], 1500u) << "what is delivered is another question";
}

// One packet is forgiven to a line, not to each of its flows, however short they are.
TEST_F(ContractBookTest, FlowsOfOneLineAddUp) {
  const auto one_name = [](const ContractSighting&) { return ContractName{"acme", "flows of rule 1"}; };
  std::vector<ContractSighting> seen;
  for (FlowId flow = 0; flow < 50; ++flow) {
    seen.push_back(at(flow, flow));
    seen.back().let_go = {200, 100};
    seen.back().lost.bytes = {110, 10};
    seen.back().lost.packets = {1, 1};
  }
  book.sample(seen, terms, one_name, now += 1s);
  const ContractReading r = row("flows of rule 1");
  EXPECT_EQ(r.demanding_seconds, 50u);
  EXPECT_EQ(r.met_seconds, 5u) << "20 missing of each, and 110 forgiven";
  for (ContractSighting& s : seen) s.let_go[1] += 10, s.lost.bytes[1] += 10, s.lost.packets[1] += 1;
  book.sample(seen, terms, one_name, now += 1s);
  book.sample(seen, terms, one_name, now += 1s);
  for (ContractSighting& s : seen) s.let_go[1] += 10, s.lost.bytes[1] += 10, s.lost.packets[1] += 1;
  book.sample(seen, terms, one_name, now += 1s);
  EXPECT_EQ(row("flows of rule 1").held_back_seconds, 1u) << "of the line, not of each";
}

// Its IN packets pass, but TCP halves its window for each OUT packet that is lost.
TEST_F(ContractBookTest, WhoLosesOutPacketsBelowHisRateIsHeldBack) {
  ContractSighting c = at(0, 1);
  const auto sends = [&](std::uint64_t in, std::uint64_t out, std::uint64_t lost) {
    c.let_go[0] += in;
    c.let_go[1] += out;
    c.lost.bytes[1] += lost;
    c.lost.packets[1] += lost / 50;
    second({c});
    return row("c1").held_back_seconds;
  };
  EXPECT_EQ(sends(500, 100, 100), 0u);
  EXPECT_EQ(sends(500, 100, 100), 0u) << "it has not been seen for three seconds";
  EXPECT_EQ(sends(500, 100, 100), 1u);
  EXPECT_EQ(sends(500, 100, 0), 1u) << "nothing was lost";
  c.lost.by_reason[1] += 1;  // `buffer_total`: others fill the input buffers
  EXPECT_EQ(sends(500, 100, 0), 2u);
  EXPECT_EQ(sends(1000, 1500, 100), 2u) << "over three seconds it had its rate";
  EXPECT_EQ(seconds("c1"), "6 of 6") << "all that is guaranteed was delivered";
}

// An independent meter (RFC 2697's committed bucket in real numbers) of 1,000 random arrival patterns, and
// random losses behind the conditioner, gives the same verdict on each second.
TEST_F(ContractBookTest, TheVerdictIsThatOfAReferenceMeter) {
  Rng rng(1);
  int violated = 0, met = 0;
  for (FlowId flow = 0; flow < 1000; ++flow) {
    ContractBook one{1};
    const TokenBucketParams params(8_kbps, Depth::bytes(300));
    TokenBucket conditioner;
    conditioner.reset(params, kStart);
    double tokens = 300, behind = 0, packet = 0;
    Time then = kStart;
    ContractSighting c = at(0, flow);
    const double busy = rng.uniform(), loss = rng.uniform() < 0.5 ? 0 : 0.3 * rng.uniform();
    std::uint64_t expected = 0, all = 0;
    for (int second = 0; second < 10; ++second) {
      double guaranteed = 0, got = 0, lost = 0, packets = 0, in_lost = 0, in_packets = 0;
      for (int at = 0; at < 50; ++at) {
        const Time arrival = kStart + second * 1s + at * 20ms;
        if (rng.uniform() > busy) continue;
        const auto length = static_cast<std::uint16_t>(20 + rng.next() % 60);
        tokens = std::min(300.0, tokens + std::chrono::duration<double>(arrival - then).count() * 1000);
        then = arrival;
        const bool conforms = tokens >= length;
        if (conforms) tokens -= length;
        conditioner.fill(params, arrival);
        const bool in = conditioner.take(params, params.cost(length));
        const bool dies = rng.uniform() < loss;
        guaranteed += conforms ? length : 0;
        got += dies ? 0 : length;
        lost += dies ? length : 0;
        packets += dies;
        in_lost += dies && conforms ? length : 0;
        in_packets += dies && conforms;
        c.let_go[in ? 0 : 1] += length;
        c.lost.bytes[in ? 0 : 1] += dies ? length : 0u;
        c.lost.packets[in ? 0 : 1] += dies;
      }
      one.sample(
          {c}, terms,
          [](const ContractSighting&) {
            return ContractName{"a", "a"};
          },
          kStart + (second + 1) * 1s);
      if (in_packets > 0)
        packet = in_lost / in_packets;
      else if (packets > 0)
        packet = lost / packets;
      const double missing = std::max(guaranteed - got, 0.0);
      behind += missing - 0.001 * guaranteed;
      const bool bad = behind > packet, counts = guaranteed >= 100 || (bad && missing >= 0.1 * guaranteed);
      behind = std::clamp(behind, 0.0, packet);
      all += counts;
      expected += counts && !bad;
    }
    const ContractReading r = one.contracts().at(0);
    EXPECT_EQ(r.demanding_seconds, all) << flow;
    EXPECT_EQ(r.met_seconds, expected) << flow;
    violated += static_cast<int>(all - expected);
    met += static_cast<int>(expected);
  }
  EXPECT_GT(violated, 200) << "both kinds are there";
  EXPECT_GT(met, 2000);
}

// The finding: 10 Mbit/s promised to each of three, two of whom slept, showed 0.333.
TEST_F(ContractBookTest, RespectIsOfThoseWhoAsk) {
  ContractSighting a = at(0, 1), b = at(1, 2), c = at(2, 3);
  a.let_go = {1350, 0};
  second({a, b, c});
  EXPECT_EQ(respect(), 1.0);
  EXPECT_EQ(row("c1").respect_ratio, 1.0);
  EXPECT_FALSE(row("c2").respect_ratio.has_value());
  for (int i = 0; i < 10; ++i) second({a, b, c});
  EXPECT_FALSE(respect().has_value());
}

TEST_F(ContractBookTest, ALineOutlivesItsContract) {
  ContractSighting c = at(0, 1);
  c.let_go = {500, 0};
  second({c});
  second({});
  EXPECT_EQ(row("c1").committed_bytes_per_second, 0);
  ContractSighting again = at(0, 1, 3);
  again.let_go = {200, 0};
  second({again});
  EXPECT_EQ(row("c1").delivered_bytes[0], 700u);
  EXPECT_EQ(seconds("c1"), "2 of 2");
}

TEST_F(ContractBookTest, WhatIsLostLaterIsMadeUpFor) {
  ContractSighting c = at(0, 1);
  c.let_go = {800, 0};
  second({c});
  c.let_go = {900, 0};
  c.lost.bytes = {500, 0};  // a port has gone, with what waited there
  c.lost.packets = {5, 0};
  second({c});
  EXPECT_EQ(row("c1").delivered_bytes[0], 800u) << "a counter does not go back";
  c.let_go = {1700, 0};
  second({c});
  EXPECT_EQ(row("c1").delivered_bytes[0], 1200u);
}

// Ten thousand that come and go each second, of whom a thousand have lines.
TEST_F(ContractBookTest, AManyThatComeAndGoStayBoundedAndExact) {
  constexpr std::uint32_t kMany = 10'000, kRounds = 10;
  book.keep(1000);
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    std::vector<ContractSighting> seen;
    for (std::uint32_t i = 0; i < kMany; ++i) {
      seen.push_back(at(i, round * kMany + i, round + 1));
      seen.back().let_go = {100, 0};
    }
    second(seen);
  }
  EXPECT_EQ(book.contracts().size(), 1001u);
  std::vector<ServiceReading> services(1);
  services[0].name = "gold";
  book.apply(services);
  EXPECT_EQ(services[0].met_seconds, kRounds * kMany) << "a service has them all";
  std::uint64_t told = 0;
  for (const ContractMinute& m : book.take_minute()) told += m.tally.delivered_in_bytes;
  EXPECT_EQ(told, kRounds * kMany * 100);
}

// Losses are counted by place in the flow table, which others had before.
TEST_F(ContractBookTest, WhatOthersLostAtItsPlaceIsNotItsLoss) {
  ContractSighting c = at(0, 1);
  c.let_go = {800, 0};
  c.lost.bytes = {400, 0};
  c.lost.packets = {4, 0};
  second({c});
  ContractSighting other = at(5, 1, 1);  // another place in the ledger, the same in the table
  other.let_go = {100, 0};
  other.lost = c.lost;
  second({other});
  EXPECT_EQ(row("c1").delivered_bytes[0], 500u);
}

TEST_F(ContractBookTest, BeyondItsLinesThereIsASum) {
  std::vector<ContractSighting> seen;
  for (FlowId f = 0; f < 5; ++f) {
    seen.push_back(at(f, f));
    seen.back().let_go = {100, 0};
  }
  second(seen);
  EXPECT_EQ(book.contracts().size(), 4u);
  EXPECT_EQ(row(kRest).delivered_bytes[0], 200u);
  EXPECT_EQ(row(kRest).committed_bytes_per_second, 2000);
  EXPECT_EQ(seconds(kRest), "2 of 2");
  EXPECT_EQ(row(kRest).customer, kRest);
}

TEST_F(ContractBookTest, WhoIsAwayMakesRoom) {
  ContractSighting old = at(0, 0);
  old.let_go = {100, 0};
  second({old, at(1, 1), at(2, 2)});
  for (std::size_t i = 0; i < ContractBook::kWindow + 1; ++i) second({at(1, 1), at(2, 2)});
  ContractSighting fresh = at(3, 3);
  fresh.let_go = {70, 0};
  second({at(1, 1), at(2, 2), fresh});
  EXPECT_EQ(row("c3").delivered_bytes[0], 70u);
  EXPECT_EQ(row(kRest).delivered_bytes[0], 0u) << "what a line has told once is not told again";
  EXPECT_THROW(row("c0"), std::out_of_range);
}

TEST_F(ContractBookTest, WhatAFlowWasBeforeIsNotItsContracts) {
  ContractSighting c = at(0, 1);
  c.before = {50'000'000, 7};
  c.let_go = {50'000'900, 7};
  second({c});
  EXPECT_EQ(row("c1").offered_bytes, 900u);
}

TEST_F(ContractBookTest, WhatANeverSeenContractLostIsNobodys) {
  ContractSighting c = at(0, 1);
  c.unsure = true;
  c.let_go = {500, 0};
  c.lost.bytes = {1'000'000, 0};
  c.lost.packets = {1000, 0};
  second({c});
  EXPECT_EQ(row("c1").delivered_bytes[0], 500u);
}

// After a reload the same contract may be another customer's, with another objective.
TEST_F(ContractBookTest, AReloadGivesOtherNames) {
  ContractSighting c = at(0, 1);
  c.let_go = {500, 0};
  second({c});
  book.keep(3);
  terms[0].objective = 0.5;
  c.let_go = {700, 0};
  now += 1s;
  book.sample(
      {c}, terms,
      [](const ContractSighting&) {
        return ContractName{"heir", "c1"};
      },
      now);
  const auto rows = book.contracts();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].customer, "heir");
  EXPECT_EQ(rows[1].delivered_bytes[0], 200u);
  EXPECT_EQ(rows[1].objective, 0.5);
}

// The control thread was away for five seconds: five seconds are judged, not one.
TEST_F(ContractBookTest, SecondsAreCountedByTheClock) {
  ContractSighting c = at(0, 1);
  second({c});
  now += 4s;
  c.let_go = {5000, 0};
  c.lost.bytes = {4000, 0};
  c.lost.packets = {4, 0};
  second({c});
  EXPECT_EQ(seconds("c1"), "0 of 5");
}

TEST_F(ContractBookTest, AServiceThatPromisesNothingHasNoLines) {
  ContractSighting c = at(0, 1);
  c.service = 1;
  c.let_go = {500, 0};
  second({c});
  EXPECT_TRUE(book.contracts().empty());
}

TEST_F(ContractBookTest, AnotherServiceIsAnotherLine) {
  terms.push_back({"silver", 4_kbps, Bytes(300), std::nullopt});
  ContractSighting c = at(0, 1);
  c.let_go = {500, 0};
  second({c});
  c.service = 2;
  c.let_go = {900, 0};
  second({c});
  ASSERT_EQ(book.contracts().size(), 2u);
  EXPECT_EQ(book.contracts()[0].delivered_bytes[0], 500u);
  EXPECT_EQ(book.contracts()[1].delivered_bytes[0], 400u);
  EXPECT_EQ(book.contracts()[1].service, "silver");
}

TEST_F(ContractBookTest, AMinuteIsWhatWasSinceTheLastOne) {
  ContractSighting c = at(0, 1), idle = at(1, 2);
  c.let_go = {500, 30};
  c.lost.bytes = {100, 10};
  c.lost.packets = {1, 1};
  second({c, idle});
  const auto first = book.take_minute();
  ASSERT_EQ(first.size(), 1u) << "not of who had nothing";
  EXPECT_EQ(first[0].contract, "c1");
  EXPECT_EQ(first[0].tally.delivered_in_bytes, 400u);
  EXPECT_EQ(first[0].tally.delivered_out_bytes, 20u);
  EXPECT_EQ(first[0].tally.lost_packets, 2u);
  EXPECT_EQ(first[0].tally.demanding_seconds, 1u);
  c.let_go[0] += 200;
  second({c, idle});
  EXPECT_EQ(book.take_minute().at(0).tally.delivered_in_bytes, 200u);
  EXPECT_TRUE(book.take_minute().empty());
}

TEST_F(ContractBookTest, AMomentWithoutTimeIsNoSecond) {
  ContractSighting c = at(0, 1);
  c.let_go = {500, 0};
  second({c});
  now -= 1s;
  second({c});
  EXPECT_EQ(seconds("c1"), "1 of 1");
}

// Contracts of rule 9 are certain; interfaces 1 to 4.
class ContractBookPartsTest : public ContractBookTest {
 protected:
  static ContractSighting of(InterfaceIndex interface, FlowId flow, std::uint32_t rule = 1) {
    ContractSighting s = at(flow, flow);
    s.interface = interface;
    s.rule = rule;
    s.let_go = {100, 0};
    return s;
  }
  std::vector<ContractSighting> behind(InterfaceIndex interface, FlowId first, FlowId last) {
    std::vector<ContractSighting> all;
    for (FlowId f = first; f <= last; ++f) all.push_back(of(interface, f));
    return all;
  }
  // More bytes of all that were there before, and these.
  void second(const std::vector<ContractSighting>& more = {}) {
    for (ContractSighting& s : seen) s.let_go[0] += 100;
    seen.insert(seen.end(), more.begin(), more.end());
    now += 1s;
    book.sample(
        seen, terms,
        [](const ContractSighting& s) {
          const std::string name = std::string("c").append(std::to_string(s.flow));
          return ContractName{name, name, s.rule == 9};
        },
        now);
  }
  std::set<std::string> lines() const {
    std::set<std::string> all;
    for (const ContractReading& r : book.contracts()) all.insert(r.contract);
    return all;
  }
  std::size_t lines_of(FlowId first, FlowId last) const {
    std::size_t n = 0;
    for (FlowId f = first; f <= last; ++f) n += lines().contains("c" + std::to_string(f));
    return n;
  }
  std::vector<ContractSighting> seen;
};

// The finding: 3,000 sources behind one interface had all of a thousand lines, and of a victim behind another
// one there was nothing to be seen.
TEST_F(ContractBookPartsTest, SourcesBehindOneInterfaceDoNotTakeAllLines) {
  book.keep(100);
  second(behind(1, 1000, 1299));
  EXPECT_EQ(lines_of(1000, 1299), 100u);
  second(behind(2, 1, 20));
  EXPECT_EQ(lines_of(1, 20), 20u);
  EXPECT_EQ(lines_of(1000, 1299), 80u);
  const auto before = lines();
  second(behind(1, 2000, 2299));
  second();
  EXPECT_EQ(lines(), before) << "lines are stable";
  EXPECT_EQ(row("c1").delivered_bytes[0], 300u);
  second(behind(3, 3000, 3299));
  EXPECT_EQ(lines_of(1, 20), 20u);
  EXPECT_EQ(lines_of(1000, 1299), 40u);
  EXPECT_EQ(lines_of(3000, 3299), 40u);
}

TEST_F(ContractBookPartsTest, CertainContractsComeFirst) {
  book.keep(10);
  second(behind(1, 1000, 1099));
  std::vector<ContractSighting> certain;
  for (FlowId f = 1; f <= 8; ++f) certain.push_back(of(1, f, 9));
  second(certain);
  EXPECT_EQ(lines_of(1, 8), 8u);
  EXPECT_EQ(lines_of(1000, 1099), 2u);
  second(behind(2, 2000, 2099));
  EXPECT_EQ(lines_of(1, 8), 8u);
  EXPECT_EQ(lines_of(2000, 2099), 1u);
  EXPECT_LE(book.contracts().size(), 11u) << "ten lines and a sum";
}

// A displaced contract goes on in the sum; nothing is counted twice or lost.
TEST_F(ContractBookPartsTest, WhatIsDisplacedIsInTheSumFromThenOn) {
  book.keep(4);
  second(behind(1, 1000, 1003));
  second(behind(2, 1, 2));
  second();
  EXPECT_EQ(lines(), (std::set<std::string>{"c1000", "c1001", "c1", "c2", kRest}));
  EXPECT_EQ(row(kRest).delivered_bytes[0], 200u) << "of two contracts in one second";
  std::uint64_t delivered = 0, demanding = 0;
  for (const ContractMinute& m : book.take_minute()) {
    delivered += m.tally.delivered_in_bytes;
    demanding += m.tally.demanding_seconds;
  }
  EXPECT_EQ(delivered, 100u * (4 * 3 + 2 * 2));
  EXPECT_EQ(demanding, 4u * 3 + 2 * 2);
}

}  // namespace
}  // namespace surety
