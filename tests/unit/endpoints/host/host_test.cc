// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/host/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/endpoints/fake_engine.h"

namespace surety::endpoints {
namespace {

using namespace literals;
using frames::be16;
using frames::zeros;
using frames::operator+;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Time at(Duration d) {
  return Time(d);
}
Tuple tuple(std::uint16_t remote_port) {
  return {IpAddress::v4(10, 0, 0, 1), IpAddress::v4(10, 0, 0, 2), 80, remote_port};
}

struct HostTest : testing::Test {
  std::deque<Script> scripts;
  FakeAcceptor acceptor;
  std::deque<FakeAcceptor> acceptors;
  std::deque<Datagram> datagrams;
  Host host{{.max_flows = 4}, at(0s)};

  Script& add(std::uint16_t remote_port, std::vector<Time> departures) {
    Script& s = scripts.emplace_back();
    s.departures = std::move(departures);
    s.mark = static_cast<std::uint8_t>(scripts.size());
    EXPECT_NE(host.add<FakeEngine>(Transport::udp, tuple(remote_port), s, tuple(remote_port)), kNoFlowIndex);
    return s;
  }
  const IpPacket& udp(std::uint16_t from, std::uint16_t to = 80) {
    Tuple t = tuple(from);
    return datagrams.emplace_back(t, kUdpProtocol, be16(from) + be16(to) + be16(8) + zeros(2)).packet;
  }
  // The marks of the packets that it sends.
  std::vector<int> poll(Time now, std::size_t room = 64) {
    Slots slots(room);
    const std::size_t n = host.poll(slots.slots, now);
    std::vector<int> marks;
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(slots.slots[i].length, 21u);
      marks.push_back(slots.bytes[i][20]);
    }
    return marks;
  }
  std::uint64_t refused(Refusal r) const { return host.refusals()[static_cast<std::size_t>(r)]; }
  std::uint64_t refused() const {
    std::uint64_t n = 0;
    for (const std::uint64_t c : host.refusals()) n += c;
    return n;
  }
};

TEST_F(HostTest, WakesAFlowWhenItsTimeHasCome) {
  add(1000, {at(1ms), at(2ms)});
  EXPECT_EQ(host.next_wakeup(), at(1000192ns));  // 3907 slots of 256 ns
  EXPECT_THAT(poll(at(1ms)), IsEmpty());
  EXPECT_THAT(poll(at(1000192ns)), ElementsAre(1));
  EXPECT_THAT(poll(at(2ms + 256ns)), ElementsAre(1));
  EXPECT_EQ(host.next_wakeup(), kNever);
}

TEST_F(HostTest, AFlowThatIsAsleepIsNotPolled) {
  Script& s = add(1000, {at(1s)});
  poll(at(500ms));
  poll(at(999ms));
  EXPECT_THAT(s.polled, IsEmpty());
}

TEST_F(HostTest, ATupleIsAddedOnceAndThePoolHasAnEnd) {
  for (std::uint16_t port = 1; port <= 3; ++port) add(port, {});
  Script& s = scripts.emplace_back();
  EXPECT_EQ(host.add<FakeEngine>(Transport::udp, tuple(1), s, tuple(1)), kNoFlowIndex);
  EXPECT_NE(host.add<FakeEngine>(Transport::tcp, tuple(1), s, tuple(1)), kNoFlowIndex);
  EXPECT_EQ(host.add<FakeEngine>(Transport::udp, tuple(4), s, tuple(4)), kNoFlowIndex);
  EXPECT_EQ(host.flows(), 4u);
}

TEST_F(HostTest, AnEngineThatIsLargerThanASlotIsRefused) {
  Script s;
  Host small({.max_flows = 2, .engine_bytes = 64}, at(0s));
  static_assert(sizeof(FakeEngine) == 64);
  struct Large : FakeEngine {
    using FakeEngine::FakeEngine;
    std::uint64_t more = 0;
  };
  EXPECT_EQ(small.add<Large>(Transport::udp, tuple(1), s, tuple(1)), kNoFlowIndex);
  EXPECT_NE(small.add<FakeEngine>(Transport::udp, tuple(1), s, tuple(1)), kNoFlowIndex);
  EXPECT_TRUE(small.listen(Transport::udp, 80, acceptor));
  acceptor.bytes = 65;
  EXPECT_FALSE(small.listen(Transport::udp, 81, acceptor));
}

TEST_F(HostTest, APacketGoesToItsFlow) {
  Script& one = add(1001, {});
  Script& two = add(1002, {});
  EXPECT_EQ(host.receive(udp(1002), at(1s)), Refusal::none);
  EXPECT_THAT(one.received, IsEmpty());
  EXPECT_EQ(two.received.size(), 1u);
  EXPECT_EQ(two.received[0].payload.data(), datagrams.back().bytes.data());
}

TEST_F(HostTest, ABurstIsReceivedInOrderAndEveryRefusalCounted) {
  Script& one = add(1001, {});
  std::vector<IpPacket> burst;
  for (int i = 0; i < 70; ++i) burst.push_back(udp(i % 10 == 9 ? 2000 : 1001));
  host.receive(burst, at(1s));
  EXPECT_EQ(one.received.size(), 63u);
  EXPECT_TRUE(std::ranges::is_sorted(one.received, {}, [&](const IpPacket& p) {
    return std::ranges::find_if(burst,
                                [&](const IpPacket& b) { return b.payload.data() == p.payload.data(); }) -
           burst.begin();
  }));
  EXPECT_EQ(refused(Refusal::no_listener), 7u);
  one.answer = Refusal::duplicate;
  EXPECT_EQ(host.receive(udp(1001), at(1s)), Refusal::duplicate);
  EXPECT_EQ(refused(Refusal::duplicate), 1u);
  EXPECT_EQ(refused(), 8u);
}

TEST_F(HostTest, AListenersAcceptorMakesTheFlowAndItGetsTheFirstPacket) {
  EXPECT_TRUE(host.listen(Transport::udp, 80, acceptor));
  EXPECT_FALSE(host.listen(Transport::udp, 80, acceptor));
  EXPECT_EQ(host.receive(udp(1001), at(1s)), Refusal::none);
  EXPECT_EQ(host.receive(udp(1001), at(1s)), Refusal::none);
  EXPECT_EQ(host.receive(udp(1002), at(1s)), Refusal::none);
  EXPECT_EQ(host.receive(udp(1001, 81), at(1s)), Refusal::no_listener);
  ASSERT_EQ(acceptor.scripts.size(), 2u);
  EXPECT_EQ(acceptor.scripts[0].received.size(), 2u);
  std::vector<std::uint16_t> ports;
  host.for_each([&](FlowIndex f, Transport t, const Tuple& tuple, const Engine& e, bool accepted) {
    EXPECT_EQ(t, Transport::udp);
    EXPECT_TRUE(accepted);
    EXPECT_EQ(&e, &host.engine(f));
    ports.push_back(tuple.remote_port);
  });
  EXPECT_THAT(ports, testing::UnorderedElementsAre(1001, 1002));
}

TEST_F(HostTest, ManyListenersAreToldApart) {
  acceptors.resize(100);
  for (std::uint16_t i = 0; i < 100; ++i)
    EXPECT_TRUE(host.listen(Transport::udp, static_cast<std::uint16_t>(i * 37 % 101 + 1), acceptors[i]));
  host.receive(udp(1001, 37 + 1), at(1s));
  EXPECT_EQ(acceptors[1].scripts.size(), 1u);
}

TEST_F(HostTest, WhatTheAcceptorRefusesIsNoFlow) {
  host.listen(Transport::udp, 80, acceptor);
  acceptor.refusal = Refusal::not_ours;
  EXPECT_EQ(host.receive(udp(1001), at(1s)), Refusal::not_ours);
  EXPECT_EQ(refused(Refusal::not_ours), 1u);
  EXPECT_EQ(host.flows(), 0u);
}

TEST_F(HostTest, BeyondThePoolNewFlowsAreRefused) {
  host.listen(Transport::udp, 80, acceptor);
  for (std::uint16_t port = 1; port <= 4; ++port) EXPECT_EQ(host.receive(udp(port), at(1s)), Refusal::none);
  EXPECT_EQ(host.receive(udp(5), at(1s)), Refusal::flow_limit);
  EXPECT_EQ(host.receive(udp(4), at(1s)), Refusal::none);
}

// UDP to port 6511 around 12 bytes of DCCP; its port is anything.
TEST_F(HostTest, DccpInUdpIsStrippedAndPortZeroListensForAll) {
  Datagram d(tuple(4000), kUdpProtocol,
             be16(50000) + be16(6511) + be16(20) + zeros(2) + be16(4000) + be16(80) + zeros(8));
  d.fix_checksum(6);
  EXPECT_TRUE(host.listen(Transport::dccp_udp, 0, acceptor));
  EXPECT_EQ(host.receive(d.packet, at(1s)), Refusal::none);
  ASSERT_EQ(acceptor.scripts.size(), 1u);
  const IpPacket& p = acceptor.scripts[0].received.at(0);
  EXPECT_EQ(p.protocol, 33);
  EXPECT_EQ(p.payload.size(), 12u);
  EXPECT_EQ(p.udp_source, 50000);
  d.bytes[19] ^= 1;
  EXPECT_EQ(host.receive(d.packet, at(1s)), Refusal::checksum);
}

TEST_F(HostTest, WithoutDccpInUdpItsPortIsLikeAnyOther) {
  host.listen(Transport::udp, 6511, acceptor);
  EXPECT_EQ(host.receive(udp(1001, 6511), at(1s)), Refusal::none);
  Script& s = scripts.emplace_back();
  host.add<FakeEngine>(Transport::dccp_udp, tuple(1), s, tuple(1));
  EXPECT_EQ(host.receive(udp(1001, 6511), at(1s)), Refusal::truncated);
}

TEST_F(HostTest, ReceivingMayWakeAFlow) {
  Script& s = add(1001, {at(10s)});
  s.departures.insert(s.departures.begin(), at(1s));
  host.receive(udp(1001), at(1s));
  EXPECT_LE(host.next_wakeup(), at(1s));
  EXPECT_THAT(poll(at(1s)), ElementsAre(1));
  s.departures = {at(5s)};
  host.receive(udp(1001), at(2s));
  EXPECT_THAT(poll(at(5s)), ElementsAre(1));
}

TEST_F(HostTest, ATimerThatMovesAwayWakesOnceTooOftenButNeverTooLate) {
  Script& s = add(1001, {at(1s)});
  s.departures = {at(3s)};
  host.receive(udp(1001), at(500ms));
  EXPECT_LE(host.next_wakeup(), at(1s));
  EXPECT_THAT(poll(at(1s)), IsEmpty());
  EXPECT_EQ(s.polled.size(), 1u);
  EXPECT_GT(host.next_wakeup(), at(2s));
  EXPECT_THAT(poll(at(2999ms)), IsEmpty());
  EXPECT_THAT(poll(at(3s)), ElementsAre(1));
}

TEST_F(HostTest, ShortRoomGoesRoundRobin) {
  const std::vector<Time> always(6, at(0s));
  add(1, always);
  add(2, always);
  add(3, {at(0s)});
  std::vector<int> all;
  for (int i = 0; i < 7; ++i)
    for (const int m : poll(at(1us), 2)) all.push_back(m);
  EXPECT_THAT(all, ElementsAre(3, 2, 2, 2, 1, 1, 2, 2, 1, 1, 2, 1, 1));
}

TEST_F(HostTest, FlowsThatFoundNoRoomComeFirstNextTime) {
  for (std::uint16_t port = 1; port <= 4; ++port) add(port, {at(0s)});
  std::vector<int> all = poll(at(1us), 3);
  EXPECT_EQ(all.size(), 3u);
  EXPECT_LE(host.next_wakeup(), at(1us));
  for (const int m : poll(at(1us), 3)) all.push_back(m);
  EXPECT_THAT(all, testing::UnorderedElementsAre(1, 2, 3, 4));
  EXPECT_THAT(poll(at(1us), 0), IsEmpty());
}

// An engine that says "now" but sends nothing breaks its contract; the host goes on.
TEST_F(HostTest, AnEngineThatAlwaysWantsToBeWokenDoesNotHoldTheHost) {
  Script& s = add(1, {});
  s.wakeup = at(0s);
  host.receive(udp(1), at(1s));
  EXPECT_THAT(poll(at(1s)), IsEmpty());
  EXPECT_EQ(s.polled.size(), 1u);
  EXPECT_GT(host.next_wakeup(), at(1s));
}

struct Observer : FlowObserver {
  std::vector<std::uint16_t> ports;
  std::uint64_t packets = 0;
  void on_forget(FlowIndex, Transport, const Tuple& t, const Engine& e, bool) override {
    FlowReading r;
    e.read(r);
    packets += r.received_packets;
    ports.push_back(t.remote_port);
  }
};

TEST_F(HostTest, AcceptedFlowsThatAreOverAreForgottenAfterAWhile) {
  Observer observer;
  host.observe(&observer);
  host.listen(Transport::udp, 80, acceptor);
  host.receive(udp(1001), at(1s));
  acceptor.scripts[0].state = FlowState::closed;
  host.receive(udp(1001), at(2s));
  poll(at(3s));
  EXPECT_EQ(host.flows(), 1u);
  EXPECT_LE(host.next_wakeup(), at(2s + Host::kLinger));
  poll(at(4s));
  EXPECT_EQ(host.flows(), 0u);
  EXPECT_TRUE(acceptor.scripts[0].destroyed);
  EXPECT_THAT(observer.ports, ElementsAre(1001));
  EXPECT_EQ(observer.packets, 2u);
}

TEST_F(HostTest, AFlowThatEndsInItsPollIsForgottenToo) {
  host.listen(Transport::udp, 80, acceptor);
  host.receive(udp(1001), at(1s));
  Script& s = acceptor.scripts[0];
  s.departures = {at(2s)};
  host.receive(udp(1001), at(1s));
  s.state = FlowState::closed;
  EXPECT_THAT(poll(at(2s)), ElementsAre(0));
  poll(at(4s + 1us));
  EXPECT_EQ(host.flows(), 0u);
}

TEST_F(HostTest, ANewFlowMayTakeTheTupleOfOneThatIsOver) {
  host.listen(Transport::udp, 80, acceptor);
  host.receive(udp(1001), at(1s));
  Script& s = acceptor.scripts[0];
  s.state = FlowState::closed;
  s.answer = Refusal::closed;
  EXPECT_EQ(host.receive(udp(1001), at(1s)), Refusal::none);
  EXPECT_TRUE(s.destroyed);
  EXPECT_EQ(acceptor.scripts.size(), 2u);
  EXPECT_EQ(host.flows(), 1u);
}

TEST_F(HostTest, SendersThatAreOverStay) {
  Script& s = add(1001, {});
  s.state = FlowState::closed;
  s.answer = Refusal::closed;
  EXPECT_EQ(host.receive(udp(1001), at(1s)), Refusal::closed);
  poll(at(100s));
  EXPECT_EQ(host.flows(), 1u);
}

TEST_F(HostTest, RemoveForgetsAtOnce) {
  add(1001, {at(1s)});
  FlowIndex f = kNoFlowIndex;
  host.for_each([&](FlowIndex i, Transport, const Tuple&, const Engine&, bool) { f = i; });
  EXPECT_TRUE(host.live(f));
  host.remove(f);
  host.remove(f);
  EXPECT_FALSE(host.live(f));
  EXPECT_TRUE(scripts[0].destroyed);
  EXPECT_EQ(host.next_wakeup(), kNever);
  EXPECT_EQ(host.receive(udp(1001), at(1s)), Refusal::no_listener);
}

TEST_F(HostTest, CloseAllClosesAndWakes) {
  Script& one = add(1, {at(10s)});
  Script& two = add(2, {});
  two.wakeup = at(1s);
  host.close_all(at(1s));
  EXPECT_TRUE(one.closed && two.closed);
  poll(at(1s));
  EXPECT_EQ(two.polled.size(), 1u);
}

TEST_F(HostTest, DestructionDestroysTheFlows) {
  Script s;
  {
    Host h({.max_flows = 1}, at(0s));
    h.add<FakeEngine>(Transport::udp, tuple(1), s, tuple(1));
  }
  EXPECT_TRUE(s.destroyed);
}

TEST_F(HostTest, MemoryBesideTheEnginesIsBounded) {
  const HostParams params{.max_flows = 100'000, .engine_bytes = 128};
  EXPECT_LE(Host(params, at(0s)).memory_bytes(), 100'000u * (128 + 100));
}

}  // namespace
}  // namespace surety::endpoints
