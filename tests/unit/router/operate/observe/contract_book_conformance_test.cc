// SPDX-License-Identifier: BSD-3-Clause
// Which seconds of a contract count, and which of them are met.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "conditioners/rng.h"
#include "conditioners/token_bucket.h"
#include "tests/unit/router/operate/observe/contract_book_bed.h"

namespace surety {
namespace {

using namespace literals;

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
  EXPECT_FALSE(row("c1").reason.has_value());
  EXPECT_FALSE(lose(DropReason::early, 5));
  EXPECT_EQ(row("c1").reason, DropReason::early);
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
  EXPECT_EQ(book.take_minute().at(0).tally.held_back_seconds, 2u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(sends(900, 160, 100), 2u) << "96 % of the rate is TCP's sawtooth";
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
    conditioner.reset(params, kBookStart);
    double tokens = 300, behind = 0, packet = 0;
    Time then = kBookStart;
    ContractSighting c = at(0, flow);
    const double busy = rng.uniform(), loss = rng.uniform() < 0.5 ? 0 : 0.3 * rng.uniform();
    std::uint64_t expected = 0, all = 0;
    for (int second = 0; second < 10; ++second) {
      double guaranteed = 0, got = 0, lost = 0, packets = 0, in_lost = 0, in_packets = 0;
      for (int at = 0; at < 50; ++at) {
        const Time arrival = kBookStart + second * 1s + at * 20ms;
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
          kBookStart + (second + 1) * 1s);
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

}  // namespace
}  // namespace surety
