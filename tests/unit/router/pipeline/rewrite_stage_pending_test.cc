// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/rewrite_stage.h"

#include <gmock/gmock.h>

#include "router/pipeline/wire/header_fields.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using namespace test;
using State = NextHopEntry::State;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kRouter = R"(
version: 1
ports:
  lan0: {addresses: [10.1.0.254/16], trust: core}
  wan0: {addresses: [10.2.0.254/16], trust: core}
  lan1: {addresses: [10.3.0.254/16], trust: core}
)";

class PendingPacketsTest : public testing::Test {
 protected:
  static NextHopEntry hop(State state) { return {neighbor_mac(1), 1, state}; }
  // Packets to the hop's station, with the next numbers.
  void receive(std::size_t n = 1, PortIndex port = 0) {
    for (; n > 0; --n) d.receive({udp_frame({.from = sent++, .port = port})}, port);
  }
  void set(State state) { d.next_hops.set(id, hop(state)); }
  void announce() { d.next_hops.announce_opening(); }
  // The numbers of those that have left.
  std::vector<unsigned> left() {
    std::vector<unsigned> numbers;
    for (const Octets& frame : d.transmit(1)) {
      numbers.push_back(static_cast<unsigned>(frame[14 + 20] << 8 | frame[14 + 21]));
      EXPECT_EQ(read_mac(frame.data()), neighbor_mac(1));
      EXPECT_EQ(frame[14 + 8], 63) << "TTL";
      EXPECT_TRUE(checksum_right(frame));
    }
    return numbers;
  }

  DataPlane d{kRouter};
  std::uint32_t id = d.route("10.2.0.0/24", {hop(State::waiting)});
  std::uint16_t sent = 0;
};

TEST_F(PendingPacketsTest, WaitsUntilItsNextHopIsOpenedAndGoesBeforeThoseBehindIt) {
  receive(3);
  d.turn(d.now);
  EXPECT_THAT(left(), IsEmpty());
  EXPECT_EQ(d.ports[0].held, 3u);
  d.expect_law();
  set(State::opening);
  announce();
  d.turn(d.now);
  receive();
  EXPECT_THAT(left(), ElementsAre(0, 1, 2, 3));
  set(State::ready);
  receive();
  EXPECT_THAT(left(), ElementsAre(4));
  EXPECT_EQ(d.ports[0].held, 0u);
  EXPECT_EQ(d.ports[0].forwarded, 5u);
  d.expect_law();
}

// The control thread opens it in the midst of a turn.
TEST_F(PendingPacketsTest, NoneGoesBeforeThoseThatWaitThoughItIsOpen) {
  receive();
  set(State::opening);
  receive();
  announce();
  receive();
  EXPECT_THAT(left(), IsEmpty());
  d.turn(d.now);
  EXPECT_THAT(left(), ElementsAre(0, 1, 2));
  d.expect_law();
}

TEST_F(PendingPacketsTest, WhereNoneWaitsAnOpenOneIsAsGoodAsReady) {
  set(State::opening);
  receive();
  EXPECT_THAT(left(), ElementsAre(0));
}

// Not while others are set: a turn that looked meanwhile would find some of its packets' next hops open.
TEST_F(PendingPacketsTest, LooksAgainOnlyWhenAllHaveBeenOpened) {
  receive();
  set(State::opening);
  d.turn(d.now);
  EXPECT_THAT(left(), IsEmpty());
  announce();
  d.turn(d.now);
  EXPECT_THAT(left(), ElementsAre(0));
}

TEST_F(PendingPacketsTest, OtherNextHopsGoOnWaiting) {
  const std::uint32_t other = d.route("10.2.1.0/24", {hop(State::waiting)});
  d.receive({udp_frame({.destination = 0x0a020101, .from = 100}), udp_frame({.from = 101}),
             udp_frame({.destination = 0x0a020101, .from = 102})});
  set(State::opening);
  announce();
  d.turn(d.now);
  EXPECT_THAT(left(), ElementsAre(101));
  d.next_hops.set(other, hop(State::opening));
  announce();
  d.turn(d.now);
  EXPECT_THAT(left(), ElementsAre(100, 102));
  d.expect_law();
}

TEST_F(PendingPacketsTest, IsDroppedWhenItsNextHopGoes) {
  receive(2);
  set(State::unresolved);
  announce();
  d.turn(d.now);
  EXPECT_THAT(left(), IsEmpty());
  EXPECT_EQ(d.drops(0, DropReason::neighbor_unresolved), 2u);
  EXPECT_EQ(d.in_use(), 0u);
  d.expect_law();
}

TEST_F(PendingPacketsTest, EachPortHasRoomOfItsOwn) {
  receive(PendingPackets::kPerPort + 7);
  EXPECT_EQ(d.drops(0, DropReason::neighbor_unresolved), 7u);
  receive(1, 2);
  EXPECT_EQ(d.drops(2, DropReason::neighbor_unresolved), 0u);
  EXPECT_EQ(d.ports[0].held, PendingPackets::kPerPort);
  EXPECT_EQ(d.ports[2].held, 1u);
  d.expect_law();
  set(State::opening);
  announce();
  d.turn(d.now);
  std::vector<unsigned> all, expected;
  for (unsigned i = 0; i < PendingPackets::kPerPort; ++i) expected.push_back(i);
  expected.push_back(PendingPackets::kPerPort + 7);
  for (auto some = left(); !some.empty(); some = left()) all.insert(all.end(), some.begin(), some.end());
  EXPECT_EQ(all, expected);
  d.expect_law();
  receive(1, 2);
  EXPECT_THAT(left(), ElementsAre(PendingPackets::kPerPort + 8));
}

TEST_F(PendingPacketsTest, NobodyWaitsWhenThereIsNobodyToOpen) {
  receive(2);
  d.ingress->stop_waiting();
  d.turn(d.now);
  receive();
  EXPECT_THAT(left(), ElementsAre(0, 1, 2));
  EXPECT_EQ(d.ingress->held(), 0u);
  d.expect_law();
}

TEST_F(PendingPacketsTest, WhatCannotBeForwardedDoesNotWait) {
  EXPECT_EQ(d.fate(udp_frame({.ttl = 1})), "drop ttl_exceeded");
  EXPECT_EQ(d.fate(udp_frame({}, 100)), "held");
}

}  // namespace
}  // namespace surety
