// SPDX-License-Identifier: BSD-3-Clause
// A port whose configuration changes while packets go through it.
#include <map>

#include "tests/unit/router/pipeline/egress_port.h"

namespace surety {
namespace {

using namespace test;

const std::string kUplink = ", queues: uplink";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(EgressAdopt, WhatIsQueuedLeavesInItsOrder) {
  Port p(kUplink, kQueues);
  std::map<int, std::vector<std::size_t>> sent, left;
  for (std::size_t length = 100; length < 160; ++length)
    for (const std::uint8_t dscp : {kCs6, kAf11, kAf21}) {
      p.send(dscp, 1, length);
      sent[dscp].push_back(length + 14);
    }
  p.reload(kUplink + ", shape: 100 Mbit/s, overhead: ethernet",
           replaced(replaced(kQueues, "weight: 3, limit: 400", "weight: 7, limit: 9000"), "limit: 400",
                    "limit: 3"));
  EXPECT_EQ(p.d.egresses[1]->depth(), 180u);
  while (p.d.egresses[1]->depth() > 0) {
    for (const auto& f : p.d.transmit(1)) left[dscp_of(f)].push_back(f.size());
    p.d.turn(p.d.now + 100us);
  }
  EXPECT_EQ(left, sent);
}

TEST(EgressAdopt, TheNewTableDecidesTheClassOfWhatComes) {
  Port p(kUplink, kQueues);
  p.send(kAf11);
  p.reload(kUplink,
           replaced(replaced(kQueues, "in: [AF11]", "in: [AF13]"), "in: [AF21]", "in: [AF21, AF11]"));
  p.send(kAf11);
  EXPECT_EQ(p.queue(2, Precedence::in).arrivals, 1u);
  EXPECT_EQ(p.queue(3, Precedence::in).arrivals, 1u);
  EXPECT_EQ(p.dscps().size(), 2u);
}

// A worker that has not adopted it yet finds the class by its own snapshot.
TEST(EgressAdopt, WhatAnotherWorkerFoundBeforeIsQueuedAsItSaid) {
  Port p(kUplink, kQueues);
  p.reload(kUplink,
           replaced(replaced(kQueues, "in: [AF11]", "in: [AF13]"), "in: [AF21]", "in: [AF21, AF11]"));
  Egress& egress = *p.d.egresses[1];
  for (const auto* classes : {&p.d.snapshot.queues[1], &p.snapshot->queues[1]}) {
    rte_mbuf* m = to_mbuf(udp_frame({.tos = kAf11 << 2}));
    const HandedPacket packet = egress.describe(m, 100, *classes);
    egress.enqueue_handed({&packet, 1}, p.d.now);
    ++p.d.ports[1].taken_over;
  }
  EXPECT_EQ(p.queue(2, Precedence::in).arrivals, 1u);
  EXPECT_EQ(p.queue(3, Precedence::in).arrivals, 1u);
}

TEST(EgressAdopt, ALargerLimitComesASliceOfPacketsPerTurn) {
  const std::string small = replaced(kQueues, "limit: 400", "count: packets, limit: 1000");
  Port p(kUplink, small);
  p.send(kAf11, 1000);
  p.reload(kUplink, replaced(small, "limit: 1000", "limit: 5000"));
  p.send(kAf11, 100);
  EXPECT_EQ(p.d.drops(1, DropReason::overflow), 77u) << "the ring has 1024 slots, one of them free";
  p.d.turn(p.d.now);
  p.send(kAf11, 10);
  EXPECT_EQ(p.d.drops(1, DropReason::overflow), 87u);
  p.d.turn(p.d.now);
  p.send(kAf11, 10);
  EXPECT_EQ(p.d.drops(1, DropReason::overflow), 87u);
  EXPECT_EQ(p.d.egresses[1]->depth(), 1033u);
}

// Packets of 1000 bytes at 8, 80 and 4 Mbit/s; the burst is 3000 bytes, and one packet may overdraw it.
TEST(EgressAdopt, TheShaperKeepsItsBoundOnBothSidesOfAChange) {
  Port p(", shape: 200 Mbit/s");
  p.send(kBe, 900);            // 100 ms are fewer from here on: what waits stays
  double given = 0, sent = 0;  // bytes
  const struct {
    const char* shape;
    double bytes_per_us;
  } phases[] = {{", shape: 8 Mbit/s", 1}, {", shape: 80 Mbit/s", 10}, {", shape: 4 Mbit/s", 0.5}};
  for (const auto& phase : phases) {
    p.reload(phase.shape);
    for (int i = 0; i < 200; ++i) {
      sent += 1000 * static_cast<double>(p.d.transmit(1).size());
      EXPECT_LE(sent, given + 3000 + 1000);
      EXPECT_GE(sent, given);
      p.d.turn(p.d.now + 100us);
      given += 100 * phase.bytes_per_us;
    }
  }
  p.reload("");
  EXPECT_EQ(p.next_event(), p.d.now);
  const auto depth = p.d.egresses[1]->depth();
  EXPECT_EQ(p.d.transmit(1, 64).size(), std::min(64u, depth)) << "no rate";
}

TEST(EgressAdopt, AnAggregateOfTheSameNameGoesOn) {
  const std::string settings = "marker: arm, threshold: 1 B, interval: 100 s, ";
  Port p(kUplink, aggregate(settings + "bucket: 5000 B"));
  const auto a = [&]() -> const Egress::Aggregate& { return p.d.egresses[1]->aggregates()[0]; };
  p.send(kAf11, 3);
  p.reload(kUplink, aggregate(settings + "bucket: 9000 B, mark: {out: BE}"));
  EXPECT_EQ(a().counters.passed_in, 3u);
  EXPECT_EQ(a().marker.tokens(), 2000 * kCreditPerByte);
  EXPECT_EQ(a().marker.next_event(), kStart + 100s);
  p.send(kAf11, 3);
  EXPECT_EQ(a().counters.passed_in, 5u);
  EXPECT_EQ(a().counters.remarked, 1u);
  EXPECT_THAT(p.dscps(), ElementsAre(kAf11, kAf11, kAf11, kAf11, kAf11, kBe));
}

// 11 OUT packets of silver's class: the onset, and 30 ms later the eighth.
void congest(CsaPort& p) {
  p.send(kBe, 4);
  p.d.turn(p.d.now + 30ms);
  p.send(kBe, 7);
}

// Another alpha of silver is another domain; the old one goes on for the flows that still live by it.
TEST(EgressAdopt, ADomainBeginsBesideTheOneThatIsRetired) {
  CsaPort p;
  congest(p);
  const std::uint16_t old = p.d.snapshot.domain(1, 1);
  p.prepare(kUplink, replaced(kCsa, "max: 0.4", "max: 0.6"));
  const std::uint16_t fresh = p.snapshot->domain(1, 1);
  ASSERT_NE(fresh, old);
  ASSERT_TRUE(p.snapshot->domains[old].retired);
  const Egress& egress = *p.d.egresses[1];
  EXPECT_EQ(egress.alpha(fresh), Ratio::of(1)) << "not adopted yet";
  p.adopt();
  EXPECT_EQ(egress.alpha(fresh), Ratio::of(0.6));
  EXPECT_EQ(egress.alpha(old), Ratio::of(0.3));
  EXPECT_EQ(p.gold(), Ratio::of(0.9));
  EXPECT_EQ(p.d.egresses[0]->alpha(p.snapshot->domain(0, 1)), Ratio::of(1)) << "this port has not adopted it";
  p.d.turn(kStart + 60ms);
  p.send(kBe, 8);
  EXPECT_EQ(egress.alpha(old), Ratio::of(0.2));
  EXPECT_EQ(egress.alpha(fresh), Ratio::of(0.5));
  p.reload(kUplink, kCsa);
  EXPECT_EQ(p.snapshot->domain(1, 1), old);
  EXPECT_EQ(egress.alpha(old), Ratio::of(0.2)) << "it is back";
  EXPECT_EQ(egress.alpha(fresh), Ratio::of(0.5));
}

TEST(EgressAdopt, APortWithoutQueuesKeepsItsPackets) {
  Port p("");
  p.send(kBe, 2);
  p.send(kCs6, 1);
  p.reload(", shape: 8 Mbit/s");
  p.send(kAf11, 1);
  EXPECT_THAT(p.dscps(), ElementsAre(kBe, kBe, kCs6));
  EXPECT_EQ(p.wait(), 1ns);
  EXPECT_THAT(p.dscps(), ElementsAre(kAf11));
}

TEST(EgressAdopt, SignalsStayOn) {
  const std::string rio = replaced(kRio, "in: {min: 50, max: 50", "in: {min: 30, max: 30");
  Port p(kUplink, kRio);
  p.d.egresses[1]->enable_signals(true);
  p.send(kBe, 8);
  p.reload(kUplink, rio);
  p.send(kBe, 8);
  std::array<CongestionSignal, 4> signals;
  EXPECT_EQ(p.d.egresses[1]->take_signals(signals), 1u) << "5 to 12 of them found more than 4";
}

// What every configuration below may be, by chance.
std::string any_queues(Rng& rng) {
  const auto any = [&](std::uint64_t n) { return std::to_string(1 + rng.next() % n); };
  const auto rio = [&] {
    return rng.next() % 2 == 0 ? std::string(", aqm: tail-drop")
                               : ", rio: {average: 0." + any(9) +
                                     ", in: {min: 20, max: 60, pmax: 0.1}, out: {min: " + any(10) +
                                     ", max: 40, pmax: 0." + any(9) + "}, ecn: on}";
  };
  std::string text = "\nqueues:\n  uplink:\n    - {name: control, dscp: [CS6, CS7], priority: strict}\n";
  text += "    - {name: voice, dscp: [EF], priority: strict";
  if (rng.next() % 2 == 0) text += ", rate: " + any(50) + " Mbit/s";
  text += "}\n    - {name: one, dscp: {in: [AF11], out: [AF12]}, weight: " + any(9) +
          ", limit: " + std::to_string(60 + rng.next() % 1000) + " packets" + rio() + "}\n";
  text += "    - {name: two, dscp: {in: [AF21], out: [AF22, BE]}, weight: " + any(9) +
          ", limit: " + std::to_string(60 + rng.next() % 100) + " packets" + rio() + "}\n";
  if (rng.next() % 3 != 0)
    text += "aggregates:\n  " + std::string(rng.next() % 2 == 0 ? "a" : "b") +
            ": {port: out0, queue: one, rate: " + any(20) +
            " Mbit/s, bucket: 9 kB, threshold: 3 kB, drop: 0.5, interval: " + any(3) + " ms" +
            (rng.next() % 2 == 0 ? "" : ", match: {source: [10.1.0.0/24, 10.9.0.0/16]}") + "}\n";
  return text;
}

// Packets tell by their ports which ones of their DSCP they are.
TEST(EgressAdopt, TheLawAndTheOrderHoldOverAnyChanges) {
  std::map<DropReason, std::uint64_t> drops;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Rng rng(seed);
    Port p(kUplink, any_queues(rng), seed);
    std::map<int, std::uint16_t> sent, left;
    std::size_t packets = 0;
    const auto transmit = [&](std::size_t room) {
      for (const auto& f : p.d.transmit(1, room)) {
        const int dscp = f[36] << 8 | f[37];
        const auto number = static_cast<std::uint16_t>(f[34] << 8 | f[35]);
        ASSERT_GT(number, left[dscp]);
        left[dscp] = number;
        ++packets;
      }
    };
    for (int step = 0; step < 400; ++step) {
      if (step % 5 == 0)
        p.reload(rng.next() % 3 == 0
                     ? kUplink
                     : kUplink + ", shape: " + std::to_string(20 + rng.next() % 800) + " Mbit/s",
                 any_queues(rng));
      std::vector<Octets> burst;
      for (auto n = rng.next() % 40; n > 0; --n) {
        constexpr std::array kDscps{kBe, kAf11, kAf12, kAf21, kEf, kCs6};
        const std::uint8_t dscp = kDscps[rng.next() % kDscps.size()];
        burst.push_back(
            udp_frame({.from = ++sent[dscp],
                       .to = dscp,
                       .tos = static_cast<std::uint8_t>(dscp << 2 | (rng.next() % 2 == 0 ? 2 : 0))},
                      60 + rng.next() % 1000));
      }
      p.d.receive(burst);
      ASSERT_NO_FATAL_FAILURE(transmit(rng.next() % 20));
      p.d.expect_law();
      p.d.turn(p.d.now + Duration(rng.next() % 200'000));
      ASSERT_FALSE(HasFailure()) << "seed " << seed << ", step " << step;
    }
    while (p.d.egresses[1]->depth() > 0) {
      ASSERT_NO_FATAL_FAILURE(transmit(64));
      p.d.turn(std::max(p.d.now + 1ns, std::min(p.next_event(), p.d.now + 1ms)));
    }
    EXPECT_GT(packets, 1000u);
    for (const DropReason r : {DropReason::ard, DropReason::early, DropReason::forced, DropReason::overflow})
      drops[r] += p.d.drops(1, r);
  }
  for (const auto& [reason, n] : drops)
    EXPECT_GT(n, 100u) << kDropReasonInfo[static_cast<std::size_t>(reason)].name;
}

}  // namespace
}  // namespace surety
