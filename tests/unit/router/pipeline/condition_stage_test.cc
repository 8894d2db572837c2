// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/condition_stage.h"

#include <gmock/gmock.h>

#include <map>

#include "tests/unit/router/pipeline/condition_stage_bed.h"

namespace surety {
namespace {

using frames::Octets;
using testing::ElementsAre;
using namespace literals;
using namespace test;

TEST_F(ConditionStageTest, TokenBucketMarksInWhileItHasTokens) {
  send(kMarked, 3);
  EXPECT_THAT(marks(), ElementsAre(kAf11, kAf11, kAf12));
  d.turn(kStart + 1ms - 1ns);
  send(kMarked, 1);
  EXPECT_THAT(marks(), ElementsAre(kAf12));
  d.turn(kStart + 1ms);
  send(kMarked, 2);
  EXPECT_THAT(marks(), ElementsAre(kAf11, kAf12));
  const ServiceCounters& c = d.service("marked");
  EXPECT_EQ(c.packets[index(Precedence::in)], 3u);
  EXPECT_EQ(c.bytes[index(Precedence::in)], 3000u);
  EXPECT_EQ(c.bytes[index(Precedence::out)], 3000u);
  EXPECT_EQ(c.dropped, 0u);
}

TEST_F(ConditionStageTest, EachFlowHasABucketOfItsOwn) {
  send(kMarked, 3, {.from = 1});
  send(kMarked, 3, {.from = 2});
  EXPECT_THAT(marks(), ElementsAre(kAf11, kAf11, kAf12, kAf11, kAf11, kAf12));
}

TEST_F(ConditionStageTest, FlowsOfOneContractShareItsBucket) {
  send(kMarkedOfSource, 2, {.from = 1});
  send(kMarkedOfSource, 1, {.from = 2});
  send(kMarkedOfSource, 1, {.source = 0x0a010002});
  EXPECT_THAT(marks(), ElementsAre(kAf11, kAf11, kAf12, kAf11));
}

TEST_F(ConditionStageTest, PoliceDropsWhatIsBeyondTheRate) {
  send(kCapped, 5);
  EXPECT_THAT(marks(), ElementsAre(kEf, kEf));
  EXPECT_EQ(d.drops(0, DropReason::police), 3u);
  EXPECT_EQ(d.service("capped").dropped, 3u);
  d.turn(kStart + 1ms);
  send(kCapped, 2);
  EXPECT_THAT(marks(), ElementsAre(kEf));
}

TEST_F(ConditionStageTest, SingleRateMeterHasThreeColours) {
  send(kOneRate, 5);
  EXPECT_THAT(marks(), ElementsAre(kAf11, kAf11, kAf12, kAf12, kAf13));
  EXPECT_EQ(d.service("one-rate").packets[index(Precedence::in)], 2u);
  EXPECT_EQ(d.service("one-rate").packets[index(Precedence::out)], 3u);
}

// A DSCP that `mark` does not have is no colour: such a packet is metered as colour-blind, and marked.
TEST_F(ConditionStageTest, AColourAwareMeterReadsTheDscpsOfItsMarks) {
  const auto came = [&](int dscp, std::size_t n) {
    send(kAware, n, {.tos = static_cast<std::uint8_t>(dscp << 2 | 2)});
    return marks();
  };
  EXPECT_THAT(came(kAf13, 1), ElementsAre(kAf13));
  EXPECT_THAT(came(kAf12, 1), ElementsAre(kAf12)) << "from the excess bucket";
  EXPECT_THAT(came(kEf, 1), ElementsAre(kAf11));
  EXPECT_THAT(came(kAf11, 3), ElementsAre(kAf11, kAf12, kAf13));
  EXPECT_EQ(d.service("aware").packets[index(Precedence::in)], 2u);
  EXPECT_EQ(d.service("aware").packets[index(Precedence::out)], 4u);
}

TEST_F(ConditionStageTest, TwoRateMeterMayDropRed) {
  send(kTwoRates, 5);
  EXPECT_THAT(marks(), ElementsAre(kAf11, kAf11, kAf12));
  EXPECT_EQ(d.drops(0, DropReason::police), 2u);
  EXPECT_EQ(d.service("two-rates").dropped, 2u);
}

TEST_F(ConditionStageTest, NoneMarksAndCounts) {
  send(kBestEffort, 2, {.tos = 0xba});  // EF with ECT(0)
  for (const auto& f : d.transmit(1)) EXPECT_EQ(test::traffic_class_of(f), 2);
  EXPECT_EQ(d.service("best-effort").bytes[index(Precedence::in)], 2000u);
}

// In-bucket: a packet per millisecond. Out-bucket: one per 2.5 ms, alpha being 0.4.
TEST_F(ConditionStageTest, CsaLetsPacketsGoInOrderAsTokensCome) {
  send(kSilver, 9);
  EXPECT_EQ(d.ports[0].held, 5u);
  EXPECT_EQ(d.service("silver").held, 5u);
  EXPECT_EQ(d.ingress->next_event(), slot_end(kStart + 1ms));
  d.expect_law();
  const auto at = [](Duration t) { return slot_end(kStart + t); };
  EXPECT_THAT(
      departures(kStart + 10ms),
      ElementsAre(Departure{1, kAf11, kStart}, Departure{2, kAf11, kStart}, Departure{3, kBe, kStart},
                  Departure{4, kBe, kStart}, Departure{5, kAf11, at(1ms)}, Departure{6, kAf11, at(2ms)},
                  Departure{7, kBe, at(2500us)}, Departure{8, kAf11, at(3ms)}, Departure{9, kAf11, at(4ms)}));
  EXPECT_EQ(d.ports[0].held, 0u);
  EXPECT_EQ(d.service("silver").held, 0u);
  EXPECT_EQ(d.ingress->next_event(), kNever);
  EXPECT_EQ(d.service("silver").packets[index(Precedence::in)], 6u);
  EXPECT_EQ(d.service("silver").packets[index(Precedence::out)], 3u);
}

TEST_F(ConditionStageTest, NothingLeavesBeforeItsTime) {
  send(kSilver, 5);
  d.transmit(1);
  d.turn(d.ingress->next_event() - 1ns);
  EXPECT_TRUE(d.transmit(1).empty());
  d.turn(d.ingress->next_event());
  EXPECT_EQ(d.transmit(1).size(), 1u);
}

// A packet must not overtake one that waits, even when there would be tokens for it.
TEST_F(ConditionStageTest, AShortPacketWaitsBehindALongOne) {
  send(kSilver, 5);
  d.transmit(1);
  d.turn(kStart + 900us);
  Octets small = udp_frame({.to = kSilver}, 100);
  small.back() = 99;
  d.receive({small});
  EXPECT_EQ(d.ports[0].held, 2u);
  EXPECT_THAT(departures(kStart + 5ms), ElementsAre(Departure{5, kAf11, slot_end(kStart + 1ms)},
                                                    Departure{99, kBe, slot_end(kStart + 1ms)}))
      << "the out-bucket has 400 bytes by then";
}

TEST_F(ConditionStageTest, FlowsThatWaitAreIndependent) {
  send(kSilver, 6, {.from = 1});
  d.turn(kStart + 500us);
  send(kSilver, 5, {.from = 2});
  const auto at = [](Duration t) { return slot_end(kStart + t); };
  auto all = departures(kStart + 10ms);
  all.erase(all.begin(), all.begin() + 8);
  EXPECT_THAT(all, ElementsAre(Departure{5, kAf11, at(1ms)}, Departure{11, kAf11, at(1500us)},
                               Departure{6, kAf11, at(2ms)}));
}

TEST_F(ConditionStageTest, ManyFlowsMayBeDueAtOnce) {
  for (std::uint16_t from = 1; from <= 50; ++from) {
    send(kSilver, 5, {.from = from});
    d.transmit(1);
  }
  EXPECT_EQ(d.ports[0].held, 50u);
  d.turn(slot_end(kStart + 1ms));
  EXPECT_EQ(d.ports[0].held, 0u);
  std::vector<int> numbers, expected;
  for (const auto& f : d.transmit(1)) numbers.push_back(f.back());
  for (int from = 1; from <= 50; ++from) expected.push_back((5 * from) & 0xff);
  EXPECT_EQ(numbers, expected) << "in the order in which they began to wait";
}

// More than a vector's worth in one turn: nothing is left behind, each flow's order stays.
TEST_F(ConditionStageTest, ManyPacketsMayBeDueAtOnce) {
  for (std::uint16_t from = 1; from <= 15; ++from) {
    number = 1;
    send(kSilver, 4, {.from = from});
    send(kSilver, 8, {.from = from}, 500);
    d.transmit(1);
  }
  EXPECT_EQ(d.ports[0].held, 120u);
  d.turn(slot_end(kStart + 10ms));
  EXPECT_EQ(d.ports[0].held, 0u);
  std::map<int, std::vector<int>> by_flow;
  for (int bursts = 0; bursts < 2; ++bursts)
    for (const auto& f : d.transmit(1)) by_flow[f[34] << 8 | f[35]].push_back(f.back());
  EXPECT_EQ(by_flow.size(), 15u);
  for (const auto& [from, numbers] : by_flow)
    EXPECT_THAT(numbers, ElementsAre(5, 6, 7, 8, 9, 10, 11, 12)) << from;
}

TEST_F(ConditionStageTest, FullBucketsLetGoNoMoreThanTheyHold) {
  send(kSilver, 44);
  EXPECT_EQ(d.transmit(1).size(), 4u);
  d.turn(kStart + 10s);
  EXPECT_EQ(d.ports[0].held, 36u);
}

TEST_F(ConditionStageTest, AFullBufferDropsTheNewcomer) {
  send(kSilver, 47);
  EXPECT_EQ(d.ports[0].held, 40u);
  EXPECT_EQ(d.drops(0, DropReason::buffer), 3u);
  EXPECT_EQ(d.service("silver").dropped, 3u);
}

TEST_F(ConditionStageTest, ACustomerMayHoldEightNinthsOfAllBuffers) {
  for (std::uint16_t from = 1; from <= 2; ++from) send(kSilver, 44, {.from = from});
  send(kSilver, 34, {.from = 3});
  send(kSilver, 20, {.from = 4});
  EXPECT_EQ(d.ports[0].held, 120u);
  EXPECT_EQ(d.drops(0, DropReason::buffer), 0u);
  EXPECT_EQ(d.drops(0, DropReason::buffer_share), 6u);
  send(kSilver, 5, {.from = 5});
  EXPECT_EQ(d.drops(0, DropReason::buffer_share), 7u) << "a flow that was not waiting yet";
  send(kSilver, 5, {.source = 0x0a014001, .from = 6});
  EXPECT_EQ(d.ports[0].held, 121u) << "another customer's";
  d.run_until(kStart + 100ms);
  EXPECT_EQ(d.ports[0].held, 0u);
}

// As a router without packet buffers enough for all that is configured has it.
TEST_F(ConditionStageTest, AReloadMayHaveLessHeldThanThereWas) {
  send(kSilver, 44);
  const auto with = [](const std::string& held) {
    std::string text = kRouter;
    return text.replace(text.find("135 packets"), 11, held + " packets");
  };
  d.reload(with("45"));
  send(kSilver, 10, {.source = 0x0a014001, .from = 2});
  EXPECT_EQ(d.ports[0].held, 43u)
      << "another customer's, while the port has no more than 16 times what is free";
  EXPECT_EQ(d.drops(0, DropReason::buffer_share), 3u);
  d.reload(with("20"));
  send(kSilver, 10, {.source = 0x0a014101, .from = 3});
  EXPECT_EQ(d.ports[0].held, 43u);
  EXPECT_EQ(d.drops(0, DropReason::buffer_total), 6u);
  d.run_until(kStart + 100ms);
  EXPECT_EQ(d.ports[0].held, 0u) << "what waits is not lost";
  send(kSilver, 44);
  EXPECT_EQ(d.ports[0].held, 18u) << "eight ninths of 20";
  d.reload(kRouter);
  send(kSilver, 10);
  EXPECT_EQ(d.ports[0].held, 28u);
  d.run_until(d.now + 100ms);
}

TEST_F(ConditionStageTest, HeldPacketsKeepTheirFlowAlive) {
  send(kSilver, 5);
  d.turn(kStart + 1h);
  EXPECT_EQ(d.service("silver").flows, 1u);
  EXPECT_EQ(d.ports[0].held, 0u);
  for (int s = 0; s < 25; ++s) d.turn(d.now + 1s);
  EXPECT_EQ(d.service("silver").flows, 1u) << "the timeout runs from when they left";
  for (int s = 0; s < 100; ++s) d.turn(d.now + 1s);
  EXPECT_EQ(d.service("silver").flows, 0u);
}

TEST_F(ConditionStageTest, ANextHopThatGoesTakesWhatIsHeldWithIt) {
  send(kSilver, 6);
  d.transmit(1);
  d.next_hops.set(hop, not_ready(NextHopEntry::State::unresolved, 1));
  d.run_until(kStart + 1500us);
  EXPECT_EQ(d.drops(0, DropReason::neighbor_unresolved), 1u);
  d.expect_law();
  d.next_hops.set(hop, ready(1));
  EXPECT_EQ(departures(kStart + 5ms).size(), 1u);
}

TEST_F(ConditionStageTest, AFlowWhoseRouteMovesGoesOnInOrder) {
  send(kSilver, 6);
  d.transmit(1);
  d.route("10.2.0.0/25", {ready(2)});
  send(kSilver, 1);
  EXPECT_EQ(d.ports[0].held, 3u);
  const auto at = [](Duration t) { return slot_end(kStart + t); };
  EXPECT_THAT(departures(kStart + 2ms + 100us),
              ElementsAre(Departure{5, kAf11, at(1ms)}, Departure{6, kAf11, at(2ms)}));
  EXPECT_THAT(departures(kStart + 5ms, 2), ElementsAre(Departure{7, kBe, at(2500us)}));
}

// A contract's flows may leave by several ports: what its out-bucket gained by one of them
// is not lost at the other.
TEST_F(ConditionStageTest, TheOutBucketKeepsItsCreditFromPortToPort) {
  const Udp there{.destination = 0x0a030001};
  send(kSilverOfSource, 4);
  EXPECT_THAT(marks(), ElementsAre(kAf11, kAf11, kBe, kBe));
  d.turn(kStart + 2500us);
  send(kSilverOfSource, 3, there);
  EXPECT_EQ(d.transmit(2).size(), 3u) << "two IN, and one OUT for 2.5 ms";
  d.turn(kStart + 5ms);
  send(kSilverOfSource, 3);
  EXPECT_THAT(marks(), ElementsAre(kAf11, kAf11, kBe));
  EXPECT_EQ(d.ports[0].held, 0u);
}

TEST_F(AlphaTest, StepsDownAtTheEighthArrivalAfterT1AndRecovers) {
  ASSERT_EQ(d.snapshot.services[4].name, "silver");
  arrivals(kStart, 20);  // 14 of them find more than 5 packets
  EXPECT_EQ(alpha(), Ratio::of(0.4));
  arrivals(kStart + 30ms - 1ns, 2);  // the 16th: T1 is running
  EXPECT_EQ(alpha(), Ratio::of(0.4));
  arrivals(kStart + 30ms, 7);
  EXPECT_EQ(alpha(), Ratio::of(0.4));
  arrivals(kStart + 30ms, 1);
  EXPECT_EQ(alpha(), Ratio::of(0.3));
  arrivals(kStart + 50ms, 8);
  EXPECT_EQ(alpha(), Ratio::of(0.3));
  arrivals(kStart + 60ms, 8);
  EXPECT_EQ(alpha(), Ratio::of(0.2));
  arrivals(kStart + 90ms, 8);
  EXPECT_EQ(alpha(), Ratio::of(0.2)) << "the minimum";
  EXPECT_EQ(alpha(2), Ratio::of(0.4)) << "of the other port's queue";
  d.turn(kStart + 180ms);
  EXPECT_EQ(alpha(), Ratio::of(0.2)) << "still congested, though nothing arrives";
  drain();
  d.turn(kStart + 270ms - 1ns);
  EXPECT_EQ(alpha(), Ratio::of(0.2));
  d.turn(kStart + 270ms);
  EXPECT_EQ(alpha(), Ratio::of(0.3)) << "T2 expired and the queue is idle";
  d.turn(kStart + 360ms);
  EXPECT_EQ(alpha(), Ratio::of(0.4));
  d.turn(kStart + 10s);
  EXPECT_EQ(alpha(), Ratio::of(0.4));
}

TEST_F(AlphaTest, IsTheRateOfTheOutBuckets) {
  EXPECT_EQ(out_packets_in_10_ms({}, 1s), 4u);
  const Time t = kStart + 2s;
  arrivals(t, 20);
  arrivals(t + 30ms, 8);
  arrivals(t + 60ms, 8);
  ASSERT_EQ(alpha(), Ratio::of(0.2));
  drain();
  EXPECT_EQ(out_packets_in_10_ms({}, 1s), 2u);
  EXPECT_EQ(alpha(), Ratio::of(0.4)) << "a second later";
  EXPECT_EQ(out_packets_in_10_ms({}, 1s), 4u);
}

// Each has its own tokens and counters, in whatever order they stand in a burst.
TEST_F(ConditionStageTest, ServicesMayAlternateWithinABurst) {
  std::vector<Octets> burst;
  for (int i = 0; i < 3; ++i)
    for (const std::uint16_t service : {kSilver, kBestEffort, kMarked, kSilver}) {
      Udp u;
      u.to = service;
      burst.push_back(udp_frame(u, 1000));
    }
  d.receive(burst);
  // Of silver's six packets two leave IN, two OUT, two wait.
  EXPECT_THAT(marks(), ElementsAre(kAf11, kBe, kAf11, kAf11, kBe, kBe, kAf11, kBe, kBe, kAf12));
  EXPECT_EQ(d.service("silver").packets[index(Precedence::in)], 2u);
  EXPECT_EQ(d.service("silver").packets[index(Precedence::out)], 2u);
  EXPECT_EQ(d.service("silver").bytes[index(Precedence::in)], 2000u);
  EXPECT_EQ(d.service("silver").held, 2u);
  EXPECT_EQ(d.service("marked").packets[index(Precedence::in)], 2u);
  EXPECT_EQ(d.service("best-effort").packets[index(Precedence::in)], 3u);
}

}  // namespace
}  // namespace surety
