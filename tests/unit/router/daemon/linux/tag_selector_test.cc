// SPDX-License-Identifier: BSD-3-Clause
// The tags of a template by which answers of a DHCP server and router advertisements leave.
#include "router/daemon/linux/tag_selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "router/pipeline/wire/host_messages.h"
#include "tests/unit/endpoints/fake_engine.h"
#include "tests/unit/router/daemon/linux/responder_frames.h"

namespace surety {
namespace {

using namespace std::chrono_literals;
using namespace responder_frames;
using responder_frames::address;
using responder_frames::prefix;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Time at(Duration d) {
  return Time(d);
}

constexpr const char* kPeerLocal = "fe80::ff:fe00:99";
const std::string kOurLocal = to_string(nd::link_local(kOurs));
constexpr MacAddress kAllRoutersMac{{0x33, 0x33, 0, 0, 0, 2}};

struct Ports {
  std::uint16_t from, to;
};
Octets dhcp(std::uint8_t operation, std::uint32_t transaction, const MacAddress& hardware,
            const std::string& destination, Ports ports) {
  const Octets message =
      Octets{operation, 1, 6, 0} + frames::be32(transaction) + zeros(20) + octets(hardware) + zeros(10);
  const Octets udp = be16(ports.from) + be16(ports.to) + be16(8 + message.size()) + be16(0) + message;
  const bool request = operation == 1;
  return ethernet(word(destination) == 0xffffffff ? kBroadcast : hardware, request ? hardware : kOurs,
                  0x0800) +
         frames::ip4(
             17, udp,
             {.source = request ? 0 : word("10.1.0.254"), .destination = word(destination), .place = 0});
}
Octets request(std::uint32_t transaction, const MacAddress& hardware = kPeer) {
  return dhcp(1, transaction, hardware, "255.255.255.255", {68, 67});
}
Octets reply(std::uint32_t transaction, const MacAddress& hardware = kPeer,
             const std::string& destination = "255.255.255.255", Ports ports = {67, 68}) {
  return dhcp(2, transaction, hardware, destination, ports);
}
Octets solicitation(const std::string& source) {
  return ethernet(kAllRoutersMac, kPeer, 0x86dd) +
         ip6(source, "ff02::2", 255, Octets{133, 0, 0, 0, 0, 0, 0, 0});
}
Octets router_advertisement(std::uint8_t hops, const std::string& to = "ff02::1") {
  return ethernet(is_multicast(address(to)) ? kAllNodesMac : kPeer, kOurs, 0x86dd) +
         ip6(kOurLocal, to, 255, Octets{134, 0, 0, 0, hops, 0, 7, 8} + zeros(8));
}
Octets dhcp6(const std::string& source, const std::string& destination, Ports ports) {
  const Octets udp = be16(ports.from) + be16(ports.to) + be16(12) + be16(0) + Octets{1, 0, 0, 1};
  return ethernet(is_multicast(address(destination)) ? group_mac(destination) : kPeer, kPeer, 0x86dd) +
         Octets{0x60, 0, 0, 0} + be16(udp.size()) + Octets{17, 64} + octets(address(source)) +
         octets(address(destination)) + udp;
}

struct TagSelectorTest : testing::Test {
  static constexpr InterfaceIndex kFirst = 101, kSecond = 102;
  static constexpr std::uint32_t kHosts = 2;
  PortAddresses addresses{{prefix("10.1.0.254/24"), prefix("2001:db8:1::fe/64")}, {}, kOurs};
  Responder responder{kOurs, addresses, 1500, at(0s), 1, Responder::Answers::none, 4096};
  TagSelector tags{kHosts};

  TagSelectorTest() {
    responder.speak_for(100, std::make_unique<TagBindings>(kHosts));
    responder.add_address({nd::link_local(kOurs), 64});
  }

  void receive(const Octets& frame, InterfaceIndex tag, Time now = at(0s)) {
    tags.received(frame, tag, responder, now);
  }
  std::optional<InterfaceIndex> tag_of(const Octets& frame) const { return tags.tag_of(frame, responder); }
  void meet(const std::string& host, InterfaceIndex tag) {
    responder.receive(arp_frame(arp::Operation::request, kBroadcast, kPeer, host, kNobody, "10.1.0.254"),
                      at(0s), tag);
  }
  std::vector<InterfaceIndex> advertised(Time now) {
    std::vector<InterfaceIndex> found;
    while (const auto tag = tags.next_tag(responder, now)) found.push_back(*tag);
    return found;
  }
};

TEST_F(TagSelectorTest, AnAnswerLeavesByTheTagOfItsRequest) {
  receive(request(7), kFirst);
  receive(request(8), kSecond);
  EXPECT_EQ(tag_of(reply(7)), kFirst);
  EXPECT_EQ(tag_of(reply(8)), kSecond);
  EXPECT_EQ(tag_of(reply(7, kPeer, "10.1.0.9")), kFirst)
      << "by unicast, to an address that no station has yet";
  EXPECT_EQ(tag_of(reply(9)), std::nullopt);
  EXPECT_EQ(tag_of(reply(7, kOther)), std::nullopt) << "another host";
}

TEST_F(TagSelectorTest, OnlyDhcpLeavesByARequest) {
  receive(request(7), kFirst);
  EXPECT_EQ(tag_of(reply(7, kPeer, "255.255.255.255", {67, 67})), std::nullopt);
  EXPECT_EQ(tag_of(reply(7, kPeer, "255.255.255.255", {68, 67})), std::nullopt);
  EXPECT_EQ(tag_of(request(7)), std::nullopt);
  receive(reply(8), kSecond);
  EXPECT_EQ(tag_of(reply(8)), std::nullopt) << "an answer of a home asks for nothing";
}

// Two homes may have one hardware address; the transaction ID is known to its host alone.
TEST_F(TagSelectorTest, ATagCannotTakeAnothersAnswer) {
  receive(request(7), kFirst);
  receive(request(7), kSecond);
  EXPECT_EQ(tag_of(reply(7)), kFirst);
  for (std::uint32_t n = 100; n < 1100; ++n) receive(request(n), kSecond);
  EXPECT_EQ(tag_of(reply(7)), kFirst);
}

TEST_F(TagSelectorTest, ATagKeepsItsLastRequests) {
  for (std::uint32_t n = 1; n <= 3; ++n) receive(request(n), kFirst);
  EXPECT_EQ(tag_of(reply(1)), std::nullopt);
  EXPECT_EQ(tag_of(reply(2)), kFirst);
  EXPECT_EQ(tag_of(reply(3)), kFirst);
  receive(request(1), kSecond);
  EXPECT_EQ(tag_of(reply(1)), kSecond) << "what a tag has forgotten is free";
}

TEST_F(TagSelectorTest, WithoutARequestAnAnswerLeavesByItsAddress) {
  meet("10.1.0.9", kSecond);
  EXPECT_EQ(tag_of(reply(7, kPeer, "10.1.0.9")), kSecond);
}

TEST_F(TagSelectorTest, ALinkLocalSourceOfARequestIsAskedBehindItsTag) {
  receive(dhcp6(kPeerLocal, "ff02::1:2", {546, 547}), kFirst);
  EXPECT_EQ(responder.interface_towards(address(kPeerLocal)), kFirst);
  endpoints::Slots room(4);
  ASSERT_EQ(responder.poll(room.slots, at(0s)), 1u);
  EXPECT_EQ(room.slots[0].interface, kFirst);
  EXPECT_EQ(tag_of(dhcp6(kOurLocal, kPeerLocal, {547, 546})), kFirst);
  const IpAddress group = nd::solicited_node(address(kPeerLocal));
  EXPECT_EQ(tag_of(responder_frames::solicitation(kOurs, kOurLocal, to_string(group), kPeerLocal)), kFirst)
      << "the kernel asks for it";
}

TEST_F(TagSelectorTest, OtherSourcesBindNothing) {
  receive(dhcp6("2001:db8:1::9", "ff02::1:2", {546, 547}), kFirst);
  receive(dhcp6(kPeerLocal, "ff02::1:2", {546, 548}), kFirst);
  receive(solicitation("::"), kFirst);
  EXPECT_THAT(responder.tags(), IsEmpty());
}

TEST_F(TagSelectorTest, AnAdvertisementLeavesByTheTagsThatHaveAsked) {
  receive(solicitation("::"), kSecond);
  EXPECT_THAT(advertised(at(0s)), IsEmpty());
  ASSERT_TRUE(tags.hold_advertisement(router_advertisement(64)));
  EXPECT_THAT(advertised(at(0s)), ElementsAre(kSecond));
  ASSERT_TRUE(tags.hold_advertisement(router_advertisement(64)));
  EXPECT_THAT(advertised(at(10s)), IsEmpty()) << "no tag has asked since";
}

TEST_F(TagSelectorTest, AnAdvertisementLeavesByTheTagsWithStations) {
  meet("10.1.0.9", kFirst);
  receive(solicitation(kPeerLocal), kSecond);
  const Octets frame = router_advertisement(64);
  ASSERT_TRUE(tags.hold_advertisement(frame));
  EXPECT_THAT(advertised(at(0s)), ElementsAre(kSecond, kSecond, kFirst));
  EXPECT_THAT(tags.advertisement(), testing::ElementsAreArray(frame));
}

TEST_F(TagSelectorTest, AnAdvertisementForOneStationLeavesByItsTag) {
  receive(solicitation(kPeerLocal), kSecond);
  const Octets frame = router_advertisement(64, kPeerLocal);
  EXPECT_FALSE(tags.hold_advertisement(frame));
  EXPECT_EQ(tag_of(frame), kSecond);
}

TEST_F(TagSelectorTest, SolicitationsOfOneTagDoNotLoadOthers) {
  meet("10.1.0.9", kFirst);
  std::size_t first = 0, second = 0;
  for (Time now = at(0s); now < at(9s); now += 10ms) {
    receive(solicitation("::"), kSecond, now);
    tags.hold_advertisement(router_advertisement(64));
    for (const InterfaceIndex tag : advertised(now)) ++(tag == kFirst ? first : second);
  }
  EXPECT_EQ(first, 3u);
  EXPECT_EQ(second, 900u);
}

// What changes within the interval is not lost.
TEST_F(TagSelectorTest, TheLastAdvertisementLeavesAfterTheInterval) {
  meet("10.1.0.9", kFirst);
  tags.hold_advertisement(router_advertisement(64));
  EXPECT_THAT(advertised(at(0s)), ElementsAre(kFirst));
  tags.hold_advertisement(router_advertisement(63));
  EXPECT_THAT(advertised(at(1s)), IsEmpty());
  EXPECT_THAT(advertised(at(3s)), ElementsAre(kFirst));
  EXPECT_THAT(tags.advertisement(), testing::ElementsAreArray(router_advertisement(63)));
}

TEST_F(TagSelectorTest, AdvertisementsToManyTagsArePaced) {
  constexpr std::size_t kTags = 100;
  for (std::size_t i = 0; i < kTags; ++i)
    meet("10.1.0." + std::to_string(1 + i), static_cast<InterfaceIndex>(200 + i));
  tags.hold_advertisement(router_advertisement(64));
  std::set<InterfaceIndex> all;
  for (Time now = at(0s); all.size() < kTags; now += TagSelector::kPause) {
    ASSERT_LT(now, at(1s));
    const auto batch = advertised(now);
    EXPECT_THAT(batch, SizeIs(std::min(TagSelector::kAtOnce, kTags - all.size())));
    all.insert(batch.begin(), batch.end());
  }
  EXPECT_THAT(advertised(at(2s)), IsEmpty());
}

TEST_F(TagSelectorTest, OtherFramesForGroupsLeaveByNoTag) {
  meet("10.1.0.9", kFirst);
  const Octets ospf =
      ethernet({{1, 0, 0x5e, 0, 0, 5}}, kOurs, 0x0800) +
      frames::ip4(89, zeros(44), {.source = word("10.1.0.254"), .destination = word("224.0.0.5")});
  EXPECT_EQ(tag_of(ospf), std::nullopt);
  EXPECT_FALSE(tags.hold_advertisement(ospf));
}

// Hostile bytes: every length of every frame above.
TEST_F(TagSelectorTest, EveryLengthOfAFrameIsTaken) {
  for (const Octets& frame : {request(7), reply(7), solicitation(kPeerLocal), router_advertisement(64),
                              dhcp6(kPeerLocal, "ff02::1:2", {546, 547})})
    for (std::size_t n = 0; n < frame.size(); ++n) {
      const Octets cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(n));
      receive(cut, kFirst);
      EXPECT_EQ(tag_of(cut), std::nullopt) << n;
      EXPECT_FALSE(tags.hold_advertisement(cut)) << n;
    }
  EXPECT_THAT(responder.tags(), IsEmpty());
}

}  // namespace
}  // namespace surety
