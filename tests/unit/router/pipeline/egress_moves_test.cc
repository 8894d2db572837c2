// SPDX-License-Identifier: BSD-3-Clause
// A port whose classes come, go, change places and become strict while packets go through it.
#include <malloc.h>

#include <map>

#include "tests/unit/router/pipeline/egress_port.h"

namespace surety {
namespace {

using namespace test;

const std::string kUplink = ", queues: uplink";

std::string queues(const std::vector<std::string>& classes) {
  std::string text = "\nqueues:\n  uplink:\n";
  for (const auto& c : classes) text += "    - {" + c + "}\n";
  return text;
}
const std::string
    kControl = "name: control, dscp: [CS6, CS7], priority: strict",
    kVoice = "name: voice, dscp: [EF], priority: strict, rate: 8 Mbit/s",
    kOne = "name: one, dscp: {in: [AF11], out: [AF12]}, aqm: tail-drop, weight: 3, limit: 400 packets",
    kTwo = "name: two, dscp: {in: [AF21], out: [AF22, BE]}, aqm: tail-drop, weight: 1, limit: 400 packets";

TEST(EgressMoves, AClassComesAndTheOthersKeepTheirPackets) {
  Port p(kUplink, queues({kControl, kTwo}));
  p.send(kAf21, 3);
  p.send(kCs6, 2);
  p.reload(kUplink, queues({kOne, kTwo, kControl}));
  p.send(kAf11, 1);
  EXPECT_EQ(p.queue(1, Precedence::in).arrivals, 3u);
  EXPECT_EQ(p.queue(2, Precedence::in).arrivals, 2u);
  EXPECT_EQ(p.queue(0, Precedence::in).arrivals, 1u);
  EXPECT_THAT(p.dscps(), ElementsAre(kCs6, kCs6, kAf21, kAf11, kAf21, kAf21));
}

TEST(EgressMoves, WhatWaitsInAClassThatIsGoneLeavesBehindWhatItsHeirHas) {
  Port p(kUplink, queues({kControl, kOne, kTwo}));
  p.send(kAf21, 2);
  p.send(kAf11, 2);
  p.reload(kUplink, queues({kControl, kTwo}));
  EXPECT_EQ(p.d.egresses[1]->depth(), 4u);
  p.d.expect_law();
  p.send(kAf11, 1);
  p.send(kAf21, 1);
  EXPECT_EQ(p.queue(1, Precedence::out).arrivals, 1u) << "AF11 is one of the rest now";
  EXPECT_THAT(p.dscps(), ElementsAre(kAf21, kAf21, kAf11, kAf11, kAf11, kAf21));
}

TEST(EgressMoves, AClassOfAnotherNameInheritsAndBeginsItsCountersAnew) {
  Port p(kUplink, queues({kOne, kTwo}));
  p.send(kAf11, 2, 300);
  p.reload(kUplink, queues({"name: gold, dscp: {in: [AF11], out: [AF12]}, aqm: tail-drop", kTwo}));
  EXPECT_EQ(p.queue(0, Precedence::in).arrivals, 0u);
  p.send(kAf11, 1, 400);
  std::vector<std::size_t> sizes;
  for (const auto& f : p.d.transmit(1)) sizes.push_back(f.size());
  EXPECT_THAT(sizes, ElementsAre(314, 314, 414));
  EXPECT_EQ(p.queue(0, Precedence::in).departures, 1u);
}

TEST(EgressMoves, TheTokensOfAnAggregateAndTheCapOfAClassGoAlong) {
  const std::string settings =
      "marker: arm, threshold: 1 B, interval: 100 s, bucket: 5000 B, rate: 8 Mbit/s}\n";
  const std::string a = "aggregates:\n  a: {port: out0, queue: one, " + settings;
  Port p(kUplink, queues({kVoice, kOne, kTwo}) + a);
  p.send(kEf, 9, 1500);
  EXPECT_EQ(p.dscps().size(), 2u) << "the burst";
  p.send(kAf11, 3);
  p.reload(kUplink, queues({kTwo, kOne, kVoice}) + a);
  EXPECT_EQ(p.d.egresses[1]->aggregates()[0].class_index, 1u);
  EXPECT_EQ(p.d.egresses[1]->aggregates()[0].marker.tokens(), 2000 * kCreditPerByte);
  EXPECT_EQ(p.dscps().size(), 3u) << "no more of voice";
  EXPECT_EQ(p.next_event(), p.d.now + 1ns);
  p.reload(kUplink, queues({kVoice, kTwo, kOne, "name: more, dscp: [CS1]"}) + a);
  p.send(kAf11, 3);
  EXPECT_EQ(p.d.egresses[1]->aggregates()[0].counters.remarked, 1u);
  EXPECT_THAT(p.dscps(), ElementsAre(kAf11, kAf11, kAf12));
}

// What another worker has looked up by the classes before, or by those to come.
TEST(EgressMoves, HandedPacketsOfOtherClassesAreLookedAtAgain) {
  Port p(kUplink, queues({kOne, kTwo}));
  Egress& egress = *p.d.egresses[1];
  const auto hand = [&](const PortQueues& classes) {
    rte_mbuf* m = to_mbuf(udp_frame({.tos = kAf11 << 2}));
    const HandedPacket packet = egress.describe(m, 100, classes);
    egress.enqueue_handed({&packet, 1}, p.d.now);
    ++p.d.ports[1].taken_over;
  };
  p.prepare(kUplink, queues({kControl, kTwo, kOne}));
  hand(p.snapshot->queues[1]);
  EXPECT_EQ(p.queue(0, Precedence::in).arrivals, 1u);
  p.adopt();
  hand(p.d.snapshot.queues[1]);
  hand(p.snapshot->queues[1]);
  EXPECT_EQ(p.queue(2, Precedence::in).arrivals, 3u);
}

// 11 OUT packets of silver's class: the onset, and 30 ms later the eighth.
void congest(CsaPort& p) {
  p.send(kBe, 4);
  p.d.turn(p.d.now + 30ms);
  p.send(kBe, 7);
}
// kCsa with its classes in another order, or one of another name.
std::string swapped() {
  const std::string text = kCsa;
  const auto gold = text.find("    - name: gold"), assured = text.find("    - name: assured"),
             services = text.find("services:");
  return text.substr(0, gold) + text.substr(assured, services - assured) + text.substr(gold, assured - gold) +
         text.substr(services);
}
std::string renamed() {
  std::string text = kCsa;
  return text.replace(text.find("name: assured"), 13, "name: other");
}

TEST(EgressMoves, AlphaFollowsItsClass) {
  CsaPort p;
  congest(p);
  ASSERT_EQ(p.silver(), Ratio::of(0.3));
  p.reload(kUplink, swapped());
  EXPECT_EQ(p.snapshot->domain(1, 1), p.d.snapshot.domain(1, 1));
  EXPECT_EQ(p.silver(), Ratio::of(0.3));
  EXPECT_EQ(p.gold(), Ratio::of(0.9));
  p.d.turn(kStart + 60ms);
  p.send(kBe, 8);
  EXPECT_EQ(p.silver(), Ratio::of(0.2)) << "its queue is the first one now";
  EXPECT_EQ(p.gold(), Ratio::of(0.9));
}

TEST(EgressMoves, AlphaOfAClassThatIsGoneGoesOnWithItsHeir) {
  CsaPort p;
  congest(p);
  p.reload(kUplink, renamed());
  EXPECT_EQ(p.snapshot->domain(1, 1), p.d.snapshot.domain(1, 1)) << "and needs no more room";
  EXPECT_EQ(p.snapshot->domains[p.snapshot->domain(1, 1)].name, "out0/other");
  EXPECT_EQ(p.silver(), Ratio::of(0.3));
}

TEST(EgressMoves, WhoFeedsACongestedQueueIsRemindedWhereverItStands) {
  const std::string assured =
      "name: assured, dscp: {in: [AF11], out: [AF12, BE]}, limit: 400 packets, count: packets, rio: "
      "{average: 1, in: {min: "
      "390, max: 390, pmax: 0.01}, out: {min: 4, max: 300, pmax: 0.000001}}";
  Port p(kUplink, queues({kControl, assured}));
  Egress& egress = *p.d.egresses[1];
  egress.enable_signals(true);
  p.send(kBe, 40);
  std::array<CongestionSignal, 64> signals;
  while (egress.take_signals(signals) > 0) {
  }
  p.reload(kUplink, queues({assured, kControl, "name: more, dscp: [CS1]"}));
  p.send(kBe, 1);
  p.d.turn(p.d.now + Contributors::kPace);
  ASSERT_GT(egress.take_signals(signals), 0u);
  EXPECT_EQ(signals[0].class_index, 0u);
}

// Kinds of packets by DSCP, in classes of any number and order. A class whose kinds change is another one, of
// another name: so whenever a kind gets another class, the one before is gone.
class AnyClasses {
 public:
  explicit AnyClasses(Rng& rng) : rng_(rng) {}
  std::string next() {
    std::map<std::size_t, std::vector<std::size_t>> groups;
    const bool same = rng_.next() % 3 == 0;
    for (std::size_t kind = 0; kind < kDscps.size(); ++kind) {
      if (!same) group_of_[kind] = rng_.next() % kDscps.size();
      groups[group_of_[kind]].push_back(kind);
    }
    std::map<std::vector<std::size_t>, std::string> names;
    std::vector<std::string> classes;
    for (const auto& [group, kinds] : groups) {
      const auto known = names_.find(kinds);
      const bool keeps = known != names_.end() && rng_.next() % 4 != 0;
      const std::string name = keeps ? known->second : "c" + std::to_string(++serial_);
      names[kinds] = name;
      std::string text = "name: " + name + ", dscp: [";
      for (const std::size_t kind : kinds)
        text += (text.back() == '[' ? "" : ", ") + std::string(kNames[kind]);
      text += "], limit: " + std::to_string(20 + rng_.next() % 200) + " packets";
      text += rng_.next() % 3 == 0 ? ", priority: strict" + cap()
                                   : ", weight: " + std::to_string(1 + rng_.next() % 5);
      classes.insert(classes.begin() + static_cast<std::ptrdiff_t>(rng_.next() % (classes.size() + 1)), text);
    }
    names_ = names;
    return queues(classes);
  }
  static constexpr std::array kDscps{kBe, kAf11, kAf21, kEf, kCs6};

 private:
  static constexpr std::array kNames{"BE", "AF11", "AF21", "EF", "CS6"};
  std::string cap() {
    return rng_.next() % 2 == 0 ? "" : ", rate: " + std::to_string(10 + rng_.next() % 50) + " Mbit/s";
  }
  Rng& rng_;
  std::array<std::size_t, kDscps.size()> group_of_{};
  std::map<std::vector<std::size_t>, std::string> names_;
  int serial_ = 0;
};

// Packets tell by their ports which ones of their DSCP they are.
TEST(EgressMoves, TheLawAndTheOrderHoldOverAnyChanges) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    AnyClasses any(rng);
    Port p(kUplink, any.next(), seed);
    std::map<int, std::uint16_t> sent, left;
    std::uint64_t packets = 0;
    const auto transmit = [&](std::size_t room) {
      for (const auto& f : p.d.transmit(1, room)) {
        const auto number = static_cast<std::uint16_t>(f[34] << 8 | f[35]);
        ASSERT_GT(number, left[dscp_of(f)]);
        left[dscp_of(f)] = number;
        ++packets;
      }
    };
    for (int step = 0; step < 300; ++step) {
      if (step % 3 == 0) {
        const auto depth = p.d.egresses[1]->depth();
        p.prepare(kUplink + ", shape: 90 Mbit/s", any.next());
        const std::size_t allocated = mallinfo2().uordblks;
        p.d.egresses[1]->adopt(*p.update, p.d.now);
        ASSERT_EQ(mallinfo2().uordblks, allocated);
        ASSERT_EQ(p.d.egresses[1]->depth(), depth);
      }
      std::vector<Octets> burst;
      for (auto n = rng.next() % 40; n > 0; --n) {
        const std::uint8_t dscp = AnyClasses::kDscps[rng.next() % AnyClasses::kDscps.size()];
        burst.push_back(udp_frame({.from = ++sent[dscp], .tos = static_cast<std::uint8_t>(dscp << 2)},
                                  60 + rng.next() % 1000));
      }
      p.d.receive(burst);
      ASSERT_NO_FATAL_FAILURE(transmit(rng.next() % 20));
      p.d.expect_law();
      p.d.turn(p.d.now + Duration(rng.next() % 2'000'000));
      ASSERT_FALSE(HasFailure()) << "seed " << seed << ", step " << step;
    }
    while (p.d.egresses[1]->depth() > 0) {
      ASSERT_NO_FATAL_FAILURE(transmit(64));
      p.d.turn(std::max(p.d.now + 1ns, std::min(p.next_event(), p.d.now + 1ms)));
    }
    EXPECT_GT(packets, 2000u);
    EXPECT_EQ(packets + p.d.drops(1, DropReason::overflow), p.d.ports[1].enqueued);
  }
}

}  // namespace
}  // namespace surety
