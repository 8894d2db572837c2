// SPDX-License-Identifier: BSD-3-Clause
#include <map>

#include "tests/unit/router/pipeline/egress_port.h"

namespace surety {
namespace {

using namespace test;

std::size_t class_of(std::uint8_t dscp) {  // of kQueues
  return dscp == kCs6 ? 0 : dscp == kEf ? 1 : dscp == kAf11 || dscp == kAf12 ? 2 : 3;
}

TEST(Egress, APortWithoutQueuesIsOneFifo) {
  Port p("");
  p.send(kBe);
  p.send(kCs6);
  p.send(kAf12);
  EXPECT_EQ(p.next_event(), p.d.now);
  EXPECT_THAT(p.dscps(), ElementsAre(kBe, kCs6, kAf12));
  EXPECT_EQ(p.next_event(), kNever);
  EXPECT_EQ(p.d.ports[1].tx_bytes, 3 * 1014u);
}

TEST(Egress, APortWithoutQueuesDropsAtItsLimit) {
  Port p("");
  p.send(kBe, 960);
  p.send(kBe, 64);
  EXPECT_EQ(p.d.drops(1, DropReason::overflow), 24u);
  EXPECT_EQ(p.d.egresses[1]->depth(), 1000u);
  EXPECT_EQ(p.d.ports[1].enqueued, 1024u);
  p.dscps();
  p.send(kBe, 65);
  EXPECT_EQ(p.d.drops(1, DropReason::overflow), 25u);
}

// Packets are told apart by their lengths.
TEST(Egress, AMixtureOfClassesKeepsTheOrderOfEach) {
  Port p(", queues: uplink", kQueues);
  constexpr std::array kDscps{kBe, kAf11, kAf12, kAf21, kEf, kCs6};
  Rng rng(5);
  std::vector<Octets> burst;
  std::map<std::size_t, std::vector<std::size_t>> sent, left;  // by class
  for (std::size_t length = 100; length < 164; ++length) {
    const std::uint8_t dscp = kDscps[rng.next() % kDscps.size()];
    burst.push_back(udp_frame({.tos = static_cast<std::uint8_t>(dscp << 2)}, length));
    sent[class_of(dscp)].push_back(burst.back().size());
  }
  p.d.receive(burst);
  for (const auto& f : p.d.transmit(1, 64))
    left[class_of(static_cast<std::uint8_t>(dscp_of(f)))].push_back(f.size());
  EXPECT_EQ(sent.size(), 4u);
  EXPECT_EQ(left, sent);
}

TEST(Egress, StrictClassesGoFirstWeightedOnesShareTheRest) {
  Port p(", queues: uplink", kQueues);
  p.send(kAf11, 40);
  p.send(kAf21, 40);
  p.send(kEf, 1);
  p.send(kCs6, 2);
  EXPECT_THAT(p.dscps(3), ElementsAre(kCs6, kCs6, kEf));
  std::map<int, int> shares;
  for (const int dscp : p.dscps(24)) ++shares[dscp];
  EXPECT_EQ(shares[kAf11], 18);
  EXPECT_EQ(shares[kAf21], 6);
}

// 1000 bytes at 8 Mbit/s take 1 ms; the burst is 3000 bytes, and the packet that empties it may overdraw it.
TEST(Egress, TheShaperLetsGoAtItsRate) {
  Port p(", shape: 8 Mbit/s");
  p.send(kBe, 10);
  EXPECT_EQ(p.d.transmit(1).size(), 3u);
  EXPECT_EQ(p.wait(), 1ns) << "one credit is enough to leave on";
  EXPECT_EQ(p.d.transmit(1).size(), 1u);
  EXPECT_EQ(p.wait(), 1ms + 1ns);
  EXPECT_EQ(p.d.transmit(1).size(), 1u);
  EXPECT_EQ(p.wait(), 2ms + 1ns);
  EXPECT_EQ(p.d.transmit(1).size(), 1u);
  p.d.turn(kStart + 100ms);
  EXPECT_EQ(p.d.transmit(1).size(), 3u) << "the burst, however long the pause";
}

TEST(Egress, TheShaperCountsWhatTheWireAdds) {
  Port p(", shape: 8 Mbit/s, overhead: ethernet");
  p.send(kBe, 10, 962);
  EXPECT_EQ(p.d.transmit(1).size(), 3u);
  p.wait();
  EXPECT_EQ(p.d.transmit(1).size(), 1u);
  EXPECT_EQ(p.wait(), 1ms + 1ns);
}

TEST(Egress, ACappedClassWaitsWithoutHoldingUpOthers) {
  Port p(", queues: uplink", kQueues);
  p.send(kEf, 6);
  EXPECT_THAT(p.dscps(), ElementsAre(kEf, kEf, kEf));
  EXPECT_EQ(p.wait(), 1ns);
  EXPECT_THAT(p.dscps(), ElementsAre(kEf));
  p.send(kAf11);
  EXPECT_EQ(p.next_event(), p.d.now);
  EXPECT_THAT(p.dscps(), ElementsAre(kAf11));
  EXPECT_EQ(p.wait(), 1ms + 1ns);
  EXPECT_THAT(p.dscps(), ElementsAre(kEf));
}

TEST(Egress, NextEventIsTheLaterOfCapAndShaper) {
  Port p(", queues: uplink, shape: 4 Mbit/s", kQueues);
  p.send(kEf, 9);
  EXPECT_EQ(p.dscps().size(), 3u);
  p.wait();
  EXPECT_EQ(p.dscps().size(), 1u);
  EXPECT_EQ(p.wait(), 2ms + 1ns) << "the shaper's";
  EXPECT_EQ(p.dscps().size(), 1u);
}

TEST(Egress, RoomIsRespected) {
  Port p("");
  p.send(kBe, 10);
  EXPECT_EQ(p.d.transmit(1, 0).size(), 0u);
  EXPECT_EQ(p.d.transmit(1, 3).size(), 3u);
  EXPECT_EQ(p.d.transmit(1, 64).size(), 7u);
}

// RIO over the queue length itself (average: 1), so that verdicts are known:
// early never (1e-6), forced above `max`.
TEST(Egress, QueueDropsHaveTheirReasons) {
  Port p(", queues: uplink", kRio);
  p.send(kAf12, 30);
  EXPECT_EQ(p.d.drops(1, DropReason::forced), 9u) << "21 are in when the average is above 20";
  p.send(kAf11, 30);
  EXPECT_EQ(p.d.drops(1, DropReason::overflow), 11u);
  EXPECT_EQ(p.queue(0, Precedence::out).forced_drops, 9u);
  EXPECT_EQ(p.queue(0, Precedence::in).overflow_drops, 11u);
  EXPECT_EQ(p.d.in_use(), 40u);
}

// Room for 10 packets of any size, and 70 small ones. Two customers of one port, who may send IN without
// limit.
TEST(Egress, OneContractsSmallPacketsLeavePlacesToAnother) {
  DataPlane d(R"(
version: 1
ports:
  in0: {addresses: [10.1.0.254/16]}
  out0: {addresses: [10.2.0.254/16], trust: core, queues: uplink}
queues:
  uplink:
    - {name: assured, dscp: {in: [AF11]}, aqm: tail-drop, limit: 10 packets}
services:
  sure: {conditioner: token-bucket, rate: 1 Gbit/s, bucket: 1 MB, mark: {in: AF11, out: AF12}}
classify:
  - {match: {source: 10.1.0.0/16}, service: sure, per: source, contracts: 4}
)");
  d.route("10.2.0.0/16", {ready(1)});
  const auto send = [&](std::uint32_t source) {
    for (int i = 0; i < 3; ++i) d.receive(copies(64, udp_frame({.source = source}, 46)));
    return d.egresses[1]->depth();
  };
  EXPECT_EQ(send(0x0a010001), 72u) << "71 < 8 * 9, but not 72 < 8 * 8";
  EXPECT_EQ(send(0x0a010002), 76u) << "a port has at most 16 times what is free";
  EXPECT_EQ(d.drops(1, DropReason::overflow), 2 * 192u - 76);
  EXPECT_EQ(d.transmit(1, 64).size(), 64u);
  EXPECT_EQ(d.transmit(1, 64).size(), 12u);
  EXPECT_EQ(send(0x0a010002), 72u);
  d.expect_law();
}

// With ECN a sure early drop (pmax 1 at max) becomes a mark: on ECN-capable packets, with the checksum right.
TEST(Egress, CongestionExperiencedInsteadOfEarlyDrops) {
  using namespace frames;
  Port p(", queues: uplink", R"(
queues:
  uplink:
    - name: assured
      dscp: {in: [AF11], out: [BE]}
      count: packets
      rio: {average: 1, in: {min: 50, max: 50, pmax: 1}, out: {min: 3.999, max: 4, pmax: 1}, ecn: on}
)");
  p.send(kAf11, 4);
  const Octets v4 = udp_frame({.tos = 0x02});
  const Octets v6 = ethernet(kIpv6) + ip6(17, udp(1, 2, 3), {.traffic_class = 0x01});
  EXPECT_EQ(p.d.fate(udp_frame()), "to 1, drop early") << "4 packets: p_b is 1";
  EXPECT_EQ(p.d.fate(v4), "to 1");
  EXPECT_EQ(p.d.transmit(1, 1).size(), 1u);
  EXPECT_EQ(p.d.fate(v6), "to 1");
  EXPECT_EQ(p.queue(0, Precedence::out).ecn_marks, 2u);
  const auto out = p.d.transmit(1);
  ASSERT_EQ(out.size(), 5u);
  EXPECT_EQ(test::traffic_class_of(out[2]), kAf11 << 2) << "what is not marked stays as it was";
  EXPECT_EQ(test::traffic_class_of(out[3]), 0x03);
  EXPECT_TRUE(checksum_right(out[3]));
  EXPECT_EQ(test::traffic_class_of(out[4]), 0x03);
}

// Without tokens everything is remarked; the bucket has 5 packets and nothing comes in no time.
TEST(Egress, ArmRemarksWhatHasNoTokens) {
  Port p(", queues: uplink", aggregate("marker: arm, bucket: 5000 B, threshold: 1 B, interval: 100 s"));
  p.send(kAf11, 8, 1000, 1);
  const auto& a = p.d.egresses[1]->aggregates()[0];
  EXPECT_EQ(a.counters.passed_in, 5u);
  EXPECT_EQ(a.counters.remarked, 3u);
  EXPECT_EQ(p.queue(2, Precedence::in).arrivals, 5u);
  EXPECT_EQ(p.queue(2, Precedence::out).arrivals, 3u) << "they are OUT for the queue as well";
  p.send(kAf12, 2);
  EXPECT_EQ(a.counters.passed_out, 2u);
  p.send(kAf21, 2);
  EXPECT_EQ(a.counters.passed_in, 5u) << "other classes have nothing to do with it";
  std::map<int, int> marks;
  for (const auto& f : p.d.transmit(1)) {
    ++marks[test::traffic_class_of(f)];
    EXPECT_TRUE(checksum_right(f));
  }
  EXPECT_EQ(marks,
            (std::map<int, int>{{kAf11 << 2 | 1, 5}, {kAf12 << 2 | 1, 3}, {kAf12 << 2, 2}, {kAf21 << 2, 2}}));
  EXPECT_EQ(p.d.drops(1, DropReason::ard), 0u);
}

TEST(Egress, RemarkedPacketsGetTheDscpThatIsSaidIPv6Too) {
  using namespace frames;
  Port p(", queues: uplink",
         aggregate("marker: arm, bucket: 100 B, threshold: 1 B, interval: 100 s, mark: {out: BE}"));
  const Octets frame = ethernet(kIpv6) + ip6(17, udp(1, 2, 40), {.traffic_class = kAf11 << 2 | 2});
  p.d.receive(copies(3, frame));
  std::vector<int> marks;
  for (const auto& f : p.d.transmit(1)) marks.push_back(test::traffic_class_of(f));
  EXPECT_THAT(marks, ElementsAre(kAf11 << 2 | 2, 2, 2)) << "88 bytes each";
  EXPECT_EQ(p.queue(2, Precedence::out).arrivals, 2u)
      << "the class stays, whatever the new DSCP would lead to";
}

TEST(Egress, ArdDropsAreNamedAndCounted) {
  Port p(", queues: uplink", aggregate("bucket: 5000 B, threshold: 1 B, drop: 1, interval: 100 s"));
  p.send(kAf11, 8);
  EXPECT_EQ(p.d.egresses[1]->aggregates()[0].counters.dropped, 3u);
  EXPECT_EQ(p.d.drops(1, DropReason::ard), 3u);
  EXPECT_EQ(p.d.drops(0, DropReason::ard), 0u);
  EXPECT_EQ(p.queue(2, Precedence::in).arrivals, 5u) << "RIO never sees them";
  EXPECT_EQ(p.d.in_use(), 5u);
}

TEST(Egress, TheIntervalOfAnAggregateEndsWithoutTraffic) {
  Port p(", queues: uplink", aggregate("interval: 1 s"));
  p.send(kAf11, 3);
  p.send(kAf12, 1);
  p.dscps();
  const ArdMarker& marker = p.d.egresses[1]->aggregates()[0].marker;
  EXPECT_EQ(p.next_event(), kStart + 1s);
  p.d.turn(kStart + 1s - 1ns);
  EXPECT_EQ(marker.tpr(), 8_Mbps);
  p.d.turn(kStart + 1s);
  EXPECT_EQ(marker.tpr(), 6_Mbps) << "three quarters of what came were IN";
  EXPECT_EQ(p.next_event(), kStart + 2s);
}

TEST(Egress, AlphaIsOfItsDomain) {
  CsaPort p;
  EXPECT_EQ(p.gold(0), Ratio::of(0.9));
  EXPECT_EQ(p.silver(0), Ratio::of(0.4));
  EXPECT_EQ(p.gold(), Ratio::of(0.9));
  EXPECT_EQ(p.silver(), Ratio::of(0.4));
  p.send(kBe, 4);
  p.d.turn(kStart + 30ms);
  p.send(kBe, 7);  // the onset and seven: T1 ran from the onset
  EXPECT_EQ(p.silver(), Ratio::of(0.3));
  EXPECT_EQ(p.gold(), Ratio::of(0.9));
  EXPECT_EQ(p.silver(0), Ratio::of(0.4));
}

TEST(Egress, AlphaOfAnIdlePortRecovers) {
  CsaPort p;
  p.send(kBe, 4);
  p.d.turn(kStart + 30ms);
  p.send(kBe, 7);
  ASSERT_EQ(p.silver(), Ratio::of(0.3));
  p.dscps();
  EXPECT_EQ(p.next_event(), kStart + 90ms) << "T2 of gold";
  p.d.turn(kStart + 120ms - 1ns);
  EXPECT_EQ(p.silver(), Ratio::of(0.3));
  p.d.turn(kStart + 120ms);
  EXPECT_EQ(p.silver(), Ratio::of(0.4));
}

// A full queue of everybody's must not part the router from its neighbours.
TEST(Egress, NeighbourDiscoveryOfTheRouterGoesByTheClassOfArp) {
  using namespace frames;
  Port p(", queues: uplink", kQueues);
  const auto own = [&](const Octets& frame) {
    rte_mbuf* m = to_mbuf(frame);
    ++p.d.ports[1].originated;
    p.d.egresses[1]->enqueue_own({&m, 1}, p.d.now);
  };
  const auto arrivals = [&](std::size_t cls) {
    return p.queue(cls, Precedence::in).arrivals + p.queue(cls, Precedence::out).arrivals;
  };
  const auto icmp6 = [](std::uint8_t type, std::uint8_t hop_limit) {
    return ethernet(kIpv6) + ip6(58, Octets{type} + zeros(23), {.hop_limit = hop_limit});
  };
  own(icmp6(135, 255));
  own(icmp6(136, 255));
  own(ethernet(kArp) + zeros(28));
  EXPECT_EQ(arrivals(class_of(kCs6)), 3u);
  own(icmp6(135, 254));
  own(icmp6(128, 255));
  own(ethernet(kIpv6) + ip6(17, udp(1, 2, 8), {.hop_limit = 255}));
  EXPECT_EQ(arrivals(class_of(kCs6)), 3u);
  EXPECT_EQ(arrivals(class_of(kBe)), 3u);
}

// RFC 4594 section 3.1.
TEST(Egress, NeighbourDiscoveryOfTheRouterHasItsDscp) {
  using namespace frames;
  for (const auto& [options, dscp] : {std::pair{"", kCs6}, std::pair{"router: {dscp: AF12}\n", kAf12}}) {
    Port p(", queues: uplink", options + std::string(kQueues));
    const auto own = [&](const Octets& frame) {
      rte_mbuf* m = to_mbuf(frame);
      ++p.d.ports[1].originated;
      p.d.egresses[1]->enqueue_own({&m, 1}, p.d.now);
    };
    const Octets body = Octets{136} + zeros(23);
    own(ethernet(kIpv6) + ip6(58, body, {.hop_limit = 255}));
    own(ethernet(kArp) + zeros(28));
    EXPECT_EQ(p.queue(class_of(dscp), Precedence::in).arrivals, 2u) << "also where it lists the DSCP as OUT";
    const auto sent = p.d.transmit(1);
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_EQ(sent[0],
              ethernet(kIpv6) +
                  ip6(58, body, {.traffic_class = static_cast<std::uint8_t>(dscp << 2), .hop_limit = 255}));
    EXPECT_EQ(sent[1], ethernet(kArp) + zeros(28));
  }
}

TEST(Egress, DiscardFreesWhatIsQueued) {
  Port p(", queues: uplink", kQueues);
  p.send(kEf, 5);
  p.send(kBe, 5);
  EXPECT_EQ(p.d.in_use(), 10u);
  p.dscps();
  p.send(kAf12, 5);
  DataPlane other("version: 1\nports: {a: {addresses: [10.9.0.1/24], trust: core}}\n");
  other.route("10.9.0.0/24", {ready(0)});
  other.receive(copies(3, udp_frame({.destination = 0x0a090002})));
  other.egresses[0]->discard(other.now);
  EXPECT_EQ(other.in_use(), 0u);
}

}  // namespace
}  // namespace surety
