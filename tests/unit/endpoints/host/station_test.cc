// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/host/station.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "router/pipeline/wire/host_messages.h"
#include "tests/unit/endpoints/fake_engine.h"

namespace surety::endpoints {
namespace {

using namespace literals;
using frames::be16;
using frames::Octets;
using frames::zeros;
using frames::operator+;

constexpr Time at(Duration d) {
  return Time(d);
}
constexpr MacAddress kOurs = frames::kOurMac, kPeer = frames::kTheirMac, kGateway{2, 0, 0, 0, 0, 0xfe};
const IpAddress kAddress = IpAddress::v4(10, 1, 0, 65), kGatewayAddress = IpAddress::v4(10, 1, 0, 254),
                kNear = IpAddress::v4(10, 1, 0, 66), kFar = IpAddress::v4(198, 51, 100, 1);
constexpr std::uint32_t kAddressWord = 0x0a010041, kNearWord = 0x0a010042;
const IpAddress kAddress6 = IpAddress::v6(frames::kSource6.data());
constexpr frames::Address6 kNear6{0x20, 1, 0xd, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};

struct StationTest : testing::Test {
  std::deque<Script> scripts;
  FakeAcceptor acceptor;
  Station station{
      {.mac = kOurs, .addresses = {{kAddress, 24}, {kAddress6, 64}}, .gateways = {kGatewayAddress}},
      {.max_flows = 8, .answer_unknown = false},
      at(0s)};

  void receive(const Octets& frame, Time now = at(0s)) {
    const std::span<const std::uint8_t> one[] = {frame};
    station.receive(one, now);
  }
  std::vector<Octets> poll(Time now, std::size_t room = 64) {
    Slots slots(room);
    const std::size_t n = station.poll(slots.slots, now);
    std::vector<Octets> frames;
    for (std::size_t i = 0; i < n; ++i)
      frames.emplace_back(slots.bytes[i].begin(), slots.bytes[i].begin() + slots.slots[i].length);
    return frames;
  }
  Octets arp(arp::Operation operation, const IpAddress& sender, const MacAddress& mac,
             const IpAddress& target = kAddress) {
    Octets frame(arp::kFrame);
    arp::write(frame.data(), kOurs, {operation, mac, {}, sender, target});
    return frames::pad(frame, 60);
  }
  void introduce_gateway(Time now = at(0s)) {
    receive(arp(arp::Operation::reply, kGatewayAddress, kGateway), now);
  }
  Script& add(const IpAddress& peer, std::vector<Time> departures, std::uint16_t port = 1) {
    Script& s = scripts.emplace_back();
    s.departures = std::move(departures);
    s.mark = static_cast<std::uint8_t>(scripts.size());
    const Tuple t{peer.is_v6() ? kAddress6 : kAddress, peer, port, 80};
    EXPECT_NE(station.host().add<FakeEngine>(Transport::udp, t, s, t), kNoFlowIndex);
    return s;
  }
  std::uint64_t dropped(DropReason r) const { return station.drops()[static_cast<std::size_t>(r)]; }
  // Every frame is somewhere.
  ~StationTest() override {
    const StationCounters& c = station.counters();
    const std::uint64_t drops =
        std::accumulate(station.drops().begin(), station.drops().end(), std::uint64_t{0}) -
        dropped(DropReason::neighbor_unresolved);
    EXPECT_EQ(c.frames, c.to_host + c.arp + c.neighbor_discovery + c.echoes + c.icmp + drops);
  }
};

Octets udp4(std::uint32_t destination = kAddressWord, std::uint16_t port = 5001) {
  return frames::ethernet(frames::kIpv4) +
         frames::ip4(17, frames::udp(4000, port, 4), {.source = kNearWord, .destination = destination});
}

TEST_F(StationTest, AnnouncesItsAddressesAndAsksForItsGateway) {
  EXPECT_EQ(station.next_wakeup(), kNow);
  const std::vector<Octets> said = poll(at(0s));
  ASSERT_EQ(said.size(), 4u);
  Octets want(arp::kFrame);
  arp::write(want.data(), kBroadcastMac, {arp::Operation::request, kOurs, {}, kAddress, kAddress});
  EXPECT_EQ(said[0], want);
  for (const std::size_t i : {1u, 2u}) {
    EXPECT_EQ(read_mac(said[i].data()), nd::multicast_mac(nd::all_nodes()));
    EXPECT_EQ(said[i][54], 136);
  }
  EXPECT_EQ(IpAddress::v6(&said[1][62]), kAddress6);
  EXPECT_EQ(IpAddress::v6(&said[2][62]), nd::link_local(kOurs));
  arp::write(want.data(), kBroadcastMac, {arp::Operation::request, kOurs, {}, kAddress, kGatewayAddress});
  EXPECT_EQ(said[3], want);
  EXPECT_EQ(station.next_wakeup(), at(1s));
  EXPECT_TRUE(poll(at(999ms)).empty());
  EXPECT_THAT(poll(at(1s)), testing::ElementsAre(want));
}

TEST_F(StationTest, IsReadyWhenItsGatewayHasAnswered) {
  EXPECT_FALSE(station.ready());
  EXPECT_FALSE(station.resolved(kFar));
  introduce_gateway();
  EXPECT_TRUE(station.ready());
  EXPECT_TRUE(station.resolved(kFar));
  EXPECT_FALSE(station.resolved(kNear));
}

TEST_F(StationTest, AnswersArpForItsAddress) {
  poll(at(0s));
  receive(arp(arp::Operation::request, kNear, kPeer));
  Octets want(arp::kFrame);
  arp::write(want.data(), kPeer, {arp::Operation::reply, kOurs, kPeer, kAddress, kNear});
  EXPECT_THAT(poll(at(0s)), testing::ElementsAre(want));
  receive(arp(arp::Operation::request, kNear, kPeer, kFar));
  receive(arp(arp::Operation::request, kAddress, kPeer));
  EXPECT_TRUE(poll(at(0s)).empty());
  EXPECT_EQ(station.counters().arp, 3u);
}

TEST_F(StationTest, AnswersSolicitationsForItsAddresses) {
  poll(at(0s));
  for (const IpAddress& own : {kAddress6, nd::link_local(kOurs)}) {
    Octets frame(nd::kFrame);
    const IpAddress to = nd::solicited_node(own);
    nd::write(frame.data(), nd::multicast_mac(to), kPeer, IpAddress::v6(kNear6.data()), to,
              {.solicitation = true, .flags = 0, .target = own, .link_layer = kPeer});
    receive(frame);
    Octets want(nd::kFrame);
    nd::write(want.data(), kPeer, kOurs, own, IpAddress::v6(kNear6.data()),
              {.solicitation = false,
               .flags = nd::kSolicitedFlag | nd::kOverrideFlag,
               .target = own,
               .link_layer = kOurs});
    EXPECT_THAT(poll(at(0s)), testing::ElementsAre(want));
  }
  Octets other(nd::kFrame);
  const IpAddress stranger = IpAddress::v6(kNear6.data()), to = nd::solicited_node(stranger);
  nd::write(other.data(), nd::multicast_mac(to), kPeer, IpAddress::v6(frames::kDestination6.data()), to,
            {.solicitation = true, .flags = 0, .target = stranger, .link_layer = kPeer});
  receive(other);
  EXPECT_TRUE(poll(at(0s)).empty());
  EXPECT_EQ(station.counters().neighbor_discovery, 3u);
}

Octets ping() {
  Octets icmp = Octets{8, 0, 0, 0} + be16(1) + be16(2) + zeros(8);
  store(&icmp[2], swap16(frames::checksum(icmp.data(), icmp.size())));
  return frames::ethernet(frames::kIpv4) +
         frames::ip4(1, icmp, {.source = 0xc6336401, .destination = kAddressWord});
}

TEST_F(StationTest, AnswersPingsToWhereTheyCameFrom) {
  poll(at(0s));
  receive(ping());
  const std::vector<Octets> said = poll(at(0s));
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(read_mac(said[0].data()), kPeer);
  EXPECT_EQ(read_mac(&said[0][6]), kOurs);
  EXPECT_EQ(said[0].size(), ping().size());
  EXPECT_EQ(said[0][34], 0);
  EXPECT_EQ(load_be32(&said[0][30]), 0xc6336401u);
  EXPECT_EQ(station.echoes(), 1u);
}

TEST_F(StationTest, PingsAreAnsweredAtALimitedRate) {
  poll(at(0s));
  std::size_t answered = 0;
  for (int ms = 0; ms < 1000; ++ms) {
    for (int i = 0; i < 3; ++i) receive(ping(), at(1ms * ms));
    answered += poll(at(1ms * ms)).size();
  }
  EXPECT_EQ(answered, std::size_t{Station::kEchoesAtOnce} + 999);
  EXPECT_EQ(station.counters().echoes, 3000u);
}

TEST_F(StationTest, OtherIcmpIsIgnoredAndCounted) {
  poll(at(0s));
  const Octets unreachable = Octets{3, 3, 0, 0} + zeros(4) + zeros(28);
  receive(frames::ethernet(frames::kIpv4) +
          frames::ip4(1, unreachable, {.source = kNearWord, .destination = kAddressWord}));
  EXPECT_EQ(station.counters().icmp, 1u);
  EXPECT_TRUE(poll(at(0s)).empty());
}

TEST_F(StationTest, PacketsForItsAddressesReachTheHost) {
  station.host().listen(Transport::udp, 5001, acceptor);
  receive(frames::pad(udp4(), 60));
  ASSERT_EQ(acceptor.scripts.size(), 1u);
  const IpPacket& p = acceptor.scripts[0].received.at(0);
  EXPECT_EQ(p.source, kNear);
  EXPECT_EQ(p.destination, kAddress);
  EXPECT_EQ(p.payload.size(), 12u);
  EXPECT_EQ(p.length, 32);
  receive(frames::ethernet(frames::kIpv6) +
          frames::ip6(17, frames::udp(4000, 5001, 4),
                      {.source = kNear6, .destination = frames::kSource6, .traffic_class = 0x28}));
  ASSERT_EQ(acceptor.scripts.size(), 2u);
  EXPECT_EQ(acceptor.scripts[1].received.at(0).dscp(), 10);
  EXPECT_EQ(acceptor.scripts[1].received.at(0).source, IpAddress::v6(kNear6.data()));
  EXPECT_EQ(station.counters().to_host, 2u);
}

TEST_F(StationTest, ABurstKeepsItsOrderWhateverIsAmongIt) {
  station.host().listen(Transport::udp, 5001, acceptor);
  std::vector<Octets> all;
  for (int i = 0; i < 150; ++i)
    all.push_back(i % 3 == 0 ? udp4() : i % 3 == 1 ? ping() : udp4(kNearWord + 1));
  std::vector<std::span<const std::uint8_t>> views(all.begin(), all.end());
  station.receive(views, at(0s));
  ASSERT_EQ(acceptor.scripts.size(), 1u);
  ASSERT_EQ(acceptor.scripts[0].received.size(), 50u);
  for (std::size_t i = 0; i < 50; ++i)
    EXPECT_EQ(acceptor.scripts[0].received[i].payload.data(), all[3 * i].data() + 34);
  EXPECT_EQ(dropped(DropReason::no_route), 50u);
}

TEST_F(StationTest, WhatIsNotForUsIsCountedByReason) {
  station.host().listen(Transport::udp, 5001, acceptor);
  const auto one = [&](const Octets& frame, DropReason r) {
    const std::uint64_t before = dropped(r);
    receive(frame);
    EXPECT_EQ(dropped(r), before + 1) << info(r).name;
  };
  one(udp4(kNearWord + 1), DropReason::no_route);
  one(Octets(10), DropReason::truncated);
  Octets foreign = udp4();
  foreign[5] ^= 1;
  one(foreign, DropReason::foreign_mac);
  Octets checksum = udp4();
  checksum[24] ^= 1;
  one(checksum, DropReason::ipv4_checksum);
  const Octets ip =
      frames::ip4(17, frames::udp(4000, 5001, 4), {.source = kNearWord, .destination = kAddressWord});
  one(frames::ethernet(0x8100) + frames::vlan(7, frames::kIpv4) + ip, DropReason::ethertype);
  one(frames::ethernet(frames::kIpv4) +
          frames::ip4(17, frames::udp(4000, 5001, 4),
                      {.source = kNearWord, .destination = kAddressWord, .place = 0x2000}),
      DropReason::fragment);
  one(frames::ethernet(frames::kIpv4) +
          frames::ip4(89, zeros(24), {.source = kNearWord, .destination = kAddressWord}),
      DropReason::no_kernel_peer);
  one(frames::ethernet(frames::kIpv4, frames::kGroupMac) +
          frames::ip4(17, frames::udp(4000, 5001, 4), {.source = kNearWord, .destination = 0xe0000005}),
      DropReason::no_kernel_peer);
  one(frames::ethernet(0x88cc) + zeros(46), DropReason::no_kernel_peer);
  EXPECT_TRUE(acceptor.scripts.empty());
  receive(frames::ethernet(0x8100) + frames::vlan(0, frames::kIpv4) + ip);  // a priority tag
  EXPECT_EQ(acceptor.scripts.size(), 1u);
}

TEST_F(StationTest, RouterAlertsAndLinkLocalPeersReachTheHost) {
  station.host().listen(Transport::udp, 5001, acceptor);
  receive(frames::ethernet(frames::kIpv4) +
          frames::ip4(17, frames::udp(4000, 5001, 4),
                      {.source = kNearWord, .destination = kAddressWord, .options = {148, 4, 0, 0}}));
  receive(frames::ethernet(frames::kIpv4) +
          frames::ip4(17, frames::udp(4000, 5001, 4), {.source = 0xa9fe0102, .destination = kAddressWord}));
  EXPECT_EQ(acceptor.scripts.size(), 2u);
}

// What leaves: the flow's packet behind an Ethernet header.
TEST_F(StationTest, FramesGoToTheNextHop) {
  introduce_gateway();
  station.resolve(kNear, at(0s));
  receive(arp(arp::Operation::reply, kNear, kPeer));
  poll(at(0s));
  add(kFar, {at(1s)});
  add(kNear, {at(2s)});
  const std::vector<Octets> far = poll(at(1s)), near = poll(at(2s));
  ASSERT_EQ(far.size(), 1u);
  EXPECT_EQ(read_mac(far[0].data()), kGateway);
  EXPECT_EQ(read_mac(&far[0][6]), kOurs);
  EXPECT_EQ(load_be16(&far[0][12]), frames::kIpv4);
  EXPECT_EQ(load_be32(&far[0][30]), 0xc6336401u);
  EXPECT_EQ(far[0].size(), 14u + 21u);
  ASSERT_EQ(near.size(), 1u);
  EXPECT_EQ(read_mac(near[0].data()), kPeer);
}

TEST_F(StationTest, FramesOfIpv6GoToTheirNeighbour) {
  const IpAddress peer = IpAddress::v6(kNear6.data());
  station.resolve(peer, at(0s));
  const std::vector<Octets> said = poll(at(0s));
  Octets question(nd::kFrame);
  nd::write(question.data(), nd::multicast_mac(nd::solicited_node(peer)), kOurs, kAddress6,
            nd::solicited_node(peer),
            {.solicitation = true, .flags = 0, .target = peer, .link_layer = kOurs});
  EXPECT_THAT(said, testing::Contains(question));
  Octets answer(nd::kFrame);
  nd::write(answer.data(), kOurs, kPeer, peer, kAddress6,
            {.solicitation = false, .flags = nd::kSolicitedFlag, .target = peer, .link_layer = kPeer});
  receive(answer);
  EXPECT_TRUE(station.resolved(peer));
  add(peer, {at(500ms)});
  const std::vector<Octets> sent = poll(at(500ms));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(read_mac(sent[0].data()), kPeer);
  EXPECT_EQ(load_be16(&sent[0][12]), frames::kIpv6);
}

TEST_F(StationTest, WithoutANextHopPacketsAreCountedAndTheOthersCloseUp) {
  introduce_gateway();
  poll(at(0s));
  add(kFar, {at(100ms), at(300ms)}, 1);
  add(kNear, {at(200ms)}, 2);
  add(IpAddress::v6(frames::kDestination6.data()), {at(200ms)}, 3);
  const std::vector<Octets> sent = poll(at(400ms));
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0][34], 1);
  EXPECT_EQ(sent[1][34], 1);
  EXPECT_EQ(read_mac(sent[1].data()), kGateway);
  EXPECT_EQ(dropped(DropReason::neighbor_unresolved), 1u);
  EXPECT_EQ(station.counters().unroutable, 1u);
  const std::vector<Octets> asked = poll(at(400ms));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].size(), arp::kFrame);
}

TEST_F(StationTest, AGatewayThatMovesIsFollowed) {
  introduce_gateway();
  poll(at(0s));
  add(kFar, {at(1s), at(2s)});
  EXPECT_EQ(read_mac(poll(at(1s)).at(0).data()), kGateway);
  receive(arp(arp::Operation::request, kGatewayAddress, kPeer, kGatewayAddress), at(1500ms));
  EXPECT_EQ(read_mac(poll(at(2s)).at(0).data()), kPeer);
}

TEST_F(StationTest, AUsedNeighbourIsKeptByAskingItself) {
  station.resolve(kNear, at(0s));
  introduce_gateway();
  receive(arp(arp::Operation::reply, kNear, kPeer));
  poll(at(0s));
  std::vector<Time> departures;
  for (int s = 1; s <= 300; ++s) departures.push_back(at(1s * s));
  add(kNear, departures);
  std::size_t packets = 0;
  for (int s = 1; s <= 300; ++s) {
    for (const Octets& f : poll(at(1s * s))) {
      if (load_be16(&f[12]) != frames::kArp) {
        ++packets;
      } else if (read_mac(f.data()) == kPeer) {
        receive(arp(arp::Operation::reply, kNear, kPeer), at(1s * s));
      } else {
        introduce_gateway(at(1s * s));
      }
    }
  }
  EXPECT_EQ(packets, 300u);
  EXPECT_EQ(dropped(DropReason::neighbor_unresolved), 0u);
}

TEST_F(StationTest, LocalAddressesAreOfThePeersFamilyOnLinkPreferred) {
  IpAddress a;
  EXPECT_TRUE(station.local_address(kFar, a));
  EXPECT_EQ(a, kAddress);
  EXPECT_TRUE(station.local_address(IpAddress::v6(frames::kDestination6.data()), a));
  EXPECT_EQ(a, kAddress6);
  EXPECT_TRUE(station.local_address(nd::link_local(kPeer), a));
  EXPECT_EQ(a, nd::link_local(kOurs));
  Station two(
      {.mac = kOurs, .addresses = {{kAddress, 24}, {IpAddress::v4(192, 0, 2, 1), 25}}, .gateways = {}},
      {.max_flows = 1}, at(0s));
  EXPECT_TRUE(two.local_address(IpAddress::v4(192, 0, 2, 127), a));
  EXPECT_EQ(a, IpAddress::v4(192, 0, 2, 1));
  EXPECT_TRUE(two.local_address(IpAddress::v4(192, 0, 2, 128), a));
  EXPECT_EQ(a, kAddress);
  EXPECT_FALSE(two.local_address(kAddress6, a));
  EXPECT_TRUE(two.reachable(IpAddress::v4(192, 0, 2, 127)));
  EXPECT_FALSE(two.reachable(IpAddress::v4(192, 0, 2, 128)));
  EXPECT_TRUE(two.ready());
}

}  // namespace
}  // namespace surety::endpoints
