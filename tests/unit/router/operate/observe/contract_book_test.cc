// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/contract_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/router/operate/observe/contract_book_bed.h"

namespace surety {
namespace {

using namespace literals;

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
