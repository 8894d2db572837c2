// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/responder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/endpoints/fake_engine.h"
#include "tests/unit/router/daemon/linux/responder_frames.h"

namespace surety {
namespace {

using namespace std::chrono_literals;
using namespace responder_frames;
using arp::Operation;
using testing::ElementsAre;
using testing::IsEmpty;
using Result = ResponderResult;

constexpr Time at(Duration d) {
  return Time(d);
}

struct ResponderTest : testing::Test {
  static constexpr std::uint16_t kMtu = 1500;
  static constexpr std::size_t kFrom = 3;  // the port that packets come by
  PortAddresses addresses{{prefix("10.1.0.254/24"), prefix("2001:db8:1::fe/64")},
                          {prefix("10.1.0.254/24"), prefix("2001:db8:1::fe/64"), prefix("10.2.0.254/24")},
                          kOurs};
  Responder responder{kOurs, addresses, kMtu, at(0s), 1, Responder::Answers::all, 4};

  ResponderTest() { sent(); }
  static Octets who_has(const char* target) {
    return arp_frame(Operation::request, kBroadcast, kOurs, "10.1.0.254", kNobody, target);
  }
  // It is asked for, and answers as kPeer.
  void learn(const char* station) {
    responder.want(address(station), at(0s));
    sent();
    receive(arp_frame(Operation::reply, kOurs, kPeer, station, kOurs, "10.1.0.254"));
  }
  // What it sends now.
  std::vector<Octets> sent(Time now = at(0s)) {
    endpoints::Slots room(64);
    const std::size_t n = responder.poll(room.slots, now);
    std::vector<Octets> frames;
    for (std::size_t i = 0; i < n; ++i) frames.push_back(frame(room, i));
    return frames;
  }
  static Octets frame(const endpoints::Slots& room, std::size_t i) {
    const auto& b = room.bytes[i];
    return without_flow_label(Octets(b.begin(), b.begin() + room.slots[i].length));
  }
  std::vector<std::string> facts() {
    std::vector<std::string> words;
    while (const auto c = responder.next_change()) {
      responder.release(*c);
      words.push_back(to_string(c->address) + (c->mac ? " at " + to_string(*c->mac) : " gone"));
    }
    return words;
  }
  std::uint64_t counted(Result r) const { return responder.results()[static_cast<std::size_t>(r)]; }
  Result receive(const Octets& frame, Time now = at(0s)) {
    std::uint64_t before = 0, after = 0;
    for (const auto n : responder.results()) before += n;
    const Result r = responder.receive(frame, now);
    for (const auto n : responder.results()) after += n;
    EXPECT_EQ(after, before + 1) << "each frame once";
    return r;
  }
};

// --- ARP ---

TEST_F(ResponderTest, AnnouncesItsAddressesAtTheStartAndWhenTheLinkComesUp) {
  Responder fresh(kOurs, addresses, kMtu, at(0s), 1);
  for (int i = 0; i < 2; ++i) {
    endpoints::Slots room(8);
    ASSERT_EQ(fresh.poll(room.slots, at(0s)), 3U) << "one for IPv4, IPv6 and its link-local address";
    EXPECT_EQ(frame(room, 0),
              arp_frame(Operation::request, kBroadcast, kOurs, "10.1.0.254", kNobody, "10.1.0.254"));
    EXPECT_EQ(frame(room, 1),
              advertisement(kAllNodesMac, "2001:db8:1::fe", "ff02::1", 0xa0, "2001:db8:1::fe", kOurs));
    fresh.link_up(at(1s));
  }
}

TEST_F(ResponderTest, AnnouncesAnotherMacAddressAndAsksForAllAgain) {
  constexpr MacAddress kNew{2, 0, 0, 0, 0, 0x77};
  for (const auto answers : {Responder::Answers::all, Responder::Answers::none}) {
    Responder r(kOurs, addresses, kMtu, at(0s), 1, answers);
    endpoints::Slots room(16);
    r.poll(room.slots, at(0s));
    r.want(address("10.1.0.1"), at(0s));
    r.poll(room.slots, at(0s));
    r.receive(arp_frame(Operation::reply, kOurs, kPeer, "10.1.0.1", kOurs, "10.1.0.254"), at(0s));
    ASSERT_NE(r.neighbors().find(address("10.1.0.1")), nullptr);
    r.change_mac(kNew, at(1s));
    const std::size_t n = r.poll(room.slots, at(1s));
    ASSERT_GE(n, 4U);
    EXPECT_EQ(frame(room, 0),
              arp_frame(Operation::request, kBroadcast, kNew, "10.1.0.254", kNobody, "10.1.0.254"));
    EXPECT_EQ(frame(room, 1),
              advertisement(kAllNodesMac, "2001:db8:1::fe", "ff02::1", 0xa0, "2001:db8:1::fe", kNew));
    EXPECT_EQ(frame(room, n - 1),
              arp_frame(Operation::request, kBroadcast, kNew, "10.1.0.254", kNobody, "10.1.0.1"));
    r.receive(arp_frame(Operation::reply, kNew, kPeer, "10.1.0.1", kNew, "10.1.0.254"), at(1s));
    EXPECT_NE(r.neighbors().find(address("10.1.0.1")), nullptr);
  }
}

TEST_F(ResponderTest, AnswersArpForItsAddressAndRemembersWhoAsks) {
  EXPECT_EQ(receive(arp_frame(Operation::request, kBroadcast, kPeer, "10.1.0.1", kNobody, "10.1.0.254")),
            Result::arp_reply);
  EXPECT_THAT(sent(), ElementsAre(arp_frame(Operation::reply, kPeer, kOurs, "10.1.0.254", kPeer, "10.1.0.1"),
                                  who_has("10.1.0.1")));
  EXPECT_THAT(facts(), IsEmpty()) << "whoever says so";
  receive(arp_frame(Operation::reply, kOurs, kPeer, "10.1.0.1", kOurs, "10.1.0.254"));
  EXPECT_THAT(facts(), ElementsAre("10.1.0.1 at 02:00:00:00:00:99"));
}

TEST_F(ResponderTest, WithAKernelBehindThePortItAsksAndLeavesTheAnswersToIt) {
  Responder silent(kOurs, addresses, kMtu, at(0s), 1, Responder::Answers::none);
  endpoints::Slots room(8);
  EXPECT_EQ(silent.poll(room.slots, at(0s)), 0U) << "no announcements";
  EXPECT_EQ(silent.receive(
                arp_frame(Operation::request, kBroadcast, kPeer, "10.1.0.1", kNobody, "10.1.0.254"), at(0s)),
            Result::unhandled);
  EXPECT_EQ(silent.receive(solicitation(kPeer, "2001:db8:1::1", "ff02::1:ff00:fe", "2001:db8:1::fe"), at(0s)),
            Result::unhandled);
  EXPECT_EQ(silent.receive(probe(kPeer, "2001:db8:1::fe"), at(0s)), Result::unhandled);
  EXPECT_EQ(silent.receive(ping(kPeer, "10.1.0.1", "10.1.0.254"), at(0s)), Result::unhandled);
  ASSERT_EQ(silent.poll(room.slots, at(0s)), 2U);
  EXPECT_EQ(frame(room, 0), who_has("10.1.0.1"));
  EXPECT_EQ(frame(room, 1), solicitation(kOurs, "2001:db8:1::fe", "ff02::1:ff00:1", "2001:db8:1::1"));
  silent.receive(advertisement(kOurs, "2001:db8:1::1", "2001:db8:1::fe", 0x60, "2001:db8:1::1", kPeer),
                 at(0s));
  EXPECT_NE(silent.neighbors().find(address("2001:db8:1::1")), nullptr);
}

TEST_F(ResponderTest, AKernelsAddressesAreThePortsToo) {
  Responder silent(kOurs, addresses, kMtu, at(0s), 1, Responder::Answers::none);
  const Octets ask = arp_frame(Operation::request, kBroadcast, kPeer, "10.9.0.1", kNobody, "10.9.0.254");
  EXPECT_EQ(silent.receive(ask, at(0s)), Result::not_ours);
  silent.add_address(prefix("10.9.0.254/24"));
  silent.receive(ask, at(0s));
  endpoints::Slots room(8);
  ASSERT_EQ(silent.poll(room.slots, at(0s)), 1U);
  EXPECT_EQ(frame(room, 0),
            arp_frame(Operation::request, kBroadcast, kOurs, "10.9.0.254", kNobody, "10.9.0.1"));
  silent.remove_address(prefix("10.9.0.254/24"));
  EXPECT_EQ(silent.receive(ask, at(0s)), Result::not_ours);
}

TEST_F(ResponderTest, AForgedAnnouncementDoesNotTakeAKnownStation) {
  learn("10.1.0.1");
  facts();
  for (const auto& forged :
       {arp_frame(Operation::request, kBroadcast, kOther, "10.1.0.1", kNobody, "10.1.0.1"),
        arp_frame(Operation::reply, kBroadcast, kOther, "10.1.0.1", kBroadcast, "10.1.0.1"),
        arp_frame(Operation::reply, kOurs, kOther, "10.1.0.1", kOurs, "10.1.0.254")})
    EXPECT_EQ(receive(forged, at(5s)), Result::contested);
  EXPECT_EQ(
      receive(arp_frame(Operation::request, kBroadcast, kOther, "10.1.0.1", kNobody, "10.1.0.254"), at(5s)),
      Result::arp_reply);
  EXPECT_THAT(facts(), IsEmpty());
  EXPECT_THAT(sent(at(5s)), testing::Contains(arp_frame(Operation::request, kPeer, kOurs, "10.1.0.254",
                                                        kNobody, "10.1.0.1")))
      << "the known station is asked";
}

TEST_F(ResponderTest, AnswersArpForNobodyElse) {
  for (const char* target : {"10.1.0.7", "10.2.0.254", "10.1.0.255"})
    EXPECT_EQ(receive(arp_frame(Operation::request, kBroadcast, kPeer, "10.1.0.1", kNobody, target)),
              Result::not_ours);
  EXPECT_THAT(sent(), IsEmpty());
  EXPECT_THAT(facts(), IsEmpty());
}

TEST_F(ResponderTest, AnswersAddressProbesAndStrangersButRemembersNone) {
  for (const char* sender : {"0.0.0.0", "192.0.2.1", "10.1.0.0", "10.1.0.255"}) {
    EXPECT_EQ(receive(arp_frame(Operation::request, kBroadcast, kPeer, sender, kNobody, "10.1.0.254")),
              Result::off_link);
    EXPECT_EQ(sent().size(), 1U);
  }
  EXPECT_EQ(responder.neighbors().size(), 0U);
}

TEST_F(ResponderTest, AnotherStationWithOurAddressIsNamed) {
  EXPECT_EQ(receive(arp_frame(Operation::request, kBroadcast, kPeer, "10.1.0.254", kNobody, "10.1.0.254")),
            Result::conflict);
  EXPECT_EQ(receive(arp_frame(Operation::reply, kOurs, kPeer, "10.1.0.254", kOurs, "10.1.0.254")),
            Result::conflict);
  EXPECT_EQ(receive(advertisement(kOurs, "2001:db8:1::1", "2001:db8:1::fe", 0x60, "2001:db8:1::fe", kPeer)),
            Result::conflict);
  EXPECT_THAT(sent(), IsEmpty());
}

TEST_F(ResponderTest, RepliesCountOnlyWhereItAsked) {
  const Octets reply = arp_frame(Operation::reply, kOurs, kPeer, "10.1.0.1", kOurs, "10.1.0.254");
  EXPECT_EQ(receive(reply), Result::unasked);
  EXPECT_EQ(responder.neighbors().size(), 0U);
  ASSERT_TRUE(responder.want(address("10.1.0.1"), at(0s)));
  EXPECT_THAT(sent(), ElementsAre(who_has("10.1.0.1")));
  EXPECT_EQ(receive(arp_frame(Operation::reply, kBroadcast, kOther, "10.1.0.1", kOther, "10.1.0.1")),
            Result::unasked)
      << "not to us";
  EXPECT_EQ(receive(reply), Result::learned);
  EXPECT_THAT(facts(), ElementsAre("10.1.0.1 at 02:00:00:00:00:99"));
}

TEST_F(ResponderTest, AFloodOfArpFillsTheTableAndNoMore) {
  for (int i = 1; i <= 200; ++i) {
    const auto r = receive(arp_frame(Operation::request, kBroadcast, kPeer, "10.1.0." + std::to_string(i),
                                     kNobody, "10.1.0.254"));
    EXPECT_EQ(r, i <= 32 ? Result::arp_reply : Result::limited) << i;
  }
  EXPECT_EQ(responder.neighbors().size(), 4U);
  EXPECT_EQ(sent().size(), 32U + 4U) << "no more at once";
}

TEST_F(ResponderTest, TruncatedArpIsMalformed) {
  const Octets good = arp_frame(Operation::request, kBroadcast, kPeer, "10.1.0.1", kNobody, "10.1.0.254");
  for (std::size_t n = 0; n < good.size(); ++n)
    EXPECT_EQ(receive(Octets(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n))),
              Result::malformed);
  Octets other = good;
  other[14] = 9;  // hardware type
  EXPECT_EQ(receive(other), Result::malformed);
  EXPECT_THAT(sent(), IsEmpty());
}

// Whoever hands frames over has taken them away.
TEST_F(ResponderTest, KnowsNoTags) {
  Octets tagged = arp_frame(Operation::request, kBroadcast, kPeer, "10.1.0.1", kNobody, "10.1.0.254");
  for (const std::uint8_t byte : Octets{7, 0, 0, 0x81}) tagged.insert(tagged.begin() + 12, byte);
  EXPECT_EQ(receive(tagged), Result::unhandled);
}

// --- neighbour discovery ---

TEST_F(ResponderTest, AnswersSolicitationsForItsAddressesAsARouter) {
  const Octets ask = solicitation(kPeer, "2001:db8:1::1", "ff02::1:ff00:fe", "2001:db8:1::fe");
  EXPECT_EQ(receive(ask), Result::advertisement);
  EXPECT_THAT(sent(), ElementsAre(advertisement(kPeer, "2001:db8:1::fe", "2001:db8:1::1", 0xe0,
                                                "2001:db8:1::fe", kOurs),
                                  solicitation(kOurs, "2001:db8:1::fe", "ff02::1:ff00:1", "2001:db8:1::1")));
  receive(advertisement(kOurs, "2001:db8:1::1", "2001:db8:1::fe", 0x60, "2001:db8:1::1", kPeer));
  EXPECT_THAT(facts(), ElementsAre("2001:db8:1::1 at 02:00:00:00:00:99"));
}

TEST_F(ResponderTest, ItsLinkLocalAddressIsItsOwnToo) {
  EXPECT_EQ(receive(solicitation(kPeer, "fe80::99", "ff02::1:ff00:1", "fe80::ff:fe00:1")),
            Result::advertisement);
  EXPECT_THAT(sent(),
              testing::Contains(solicitation(kOurs, "fe80::ff:fe00:1", "ff02::1:ff00:99", "fe80::99")));
}

TEST_F(ResponderTest, DuplicateAddressDetectionIsAnsweredToEverybody) {
  EXPECT_EQ(receive(probe(kPeer, "2001:db8:1::fe")), Result::advertisement);
  EXPECT_THAT(sent(), ElementsAre(advertisement(kAllNodesMac, "2001:db8:1::fe", "ff02::1", 0xa0,
                                                "2001:db8:1::fe", kOurs)));
  EXPECT_EQ(responder.neighbors().size(), 0U);
}

TEST_F(ResponderTest, SolicitationsForOthersAreNotAnswered) {
  EXPECT_EQ(receive(solicitation(kPeer, "2001:db8:1::1", "ff02::1:ff00:7", "2001:db8:1::7")),
            Result::not_ours);
  EXPECT_THAT(sent(), IsEmpty());
}

TEST_F(ResponderTest, AdvertisementsCountWhereTheyAnswer) {
  const auto from = [](std::uint8_t flags, const MacAddress& mac, const char* to = "2001:db8:1::fe") {
    return advertisement(kOurs, "2001:db8:1::1", to, flags, "2001:db8:1::1", mac);
  };
  EXPECT_EQ(receive(from(0x60, kPeer)), Result::unasked);
  responder.want(address("2001:db8:1::1"), at(0s));
  EXPECT_THAT(sent(), ElementsAre(solicitation(kOurs, "2001:db8:1::fe", "ff02::1:ff00:1", "2001:db8:1::1")));
  EXPECT_EQ(receive(from(0x20, kOther)), Result::unasked) << "unsolicited";
  EXPECT_EQ(receive(from(0x60, kOther, "ff02::1")), Result::malformed);
  EXPECT_EQ(receive(from(0x60, kOther, "2001:db8:1::7")), Result::unasked) << "not to us";
  EXPECT_EQ(receive(from(0x60, kPeer)), Result::learned);
  for (const std::uint8_t flags : Octets{0x20, 0x40, 0x60})
    EXPECT_EQ(receive(from(flags, kOther)), Result::contested) << "another station is known";
  EXPECT_THAT(facts(), ElementsAre("2001:db8:1::1 at 02:00:00:00:00:99"));
}

TEST_F(ResponderTest, DiscoveryWithAWrongChecksumIsMalformed) {
  Octets ask = solicitation(kPeer, "2001:db8:1::1", "ff02::1:ff00:fe", "2001:db8:1::fe");
  ask.back() ^= 1;
  EXPECT_EQ(receive(ask), Result::malformed);
}

TEST_F(ResponderTest, NoAnswerGoesToAGroup) {
  const MacAddress group{{1, 0, 0x5e, 0, 0, 1}};
  EXPECT_EQ(receive(solicitation(group, "2001:db8:1::1", "ff02::1:ff00:fe", "2001:db8:1::fe")),
            Result::malformed);
  EXPECT_EQ(receive(ping(group, "10.1.0.1", "10.1.0.254")), Result::malformed);
  EXPECT_THAT(sent(), IsEmpty());
}

// --- echo ---

TEST_F(ResponderTest, AnswersPingsOfAllTheRoutersAddresses) {
  for (const char* target : {"10.1.0.254", "10.2.0.254"}) {
    EXPECT_EQ(receive(ping(kPeer, "192.0.2.1", target)), Result::echo_reply);
    EXPECT_THAT(sent(), ElementsAre(pong(kPeer, target, "192.0.2.1")));
  }
  EXPECT_EQ(receive(ping6(kPeer, "2001:db8:9::1", "2001:db8:1::fe")), Result::echo_reply);
  EXPECT_THAT(sent(), ElementsAre(pong6(kPeer, "2001:db8:1::fe", "2001:db8:9::1")));
  EXPECT_EQ(receive(ping6(kPeer, "fe80::99", "fe80::ff:fe00:1")), Result::echo_reply);
  EXPECT_EQ(responder.neighbors().size(), 0U) << "who asks need not be known";
}

TEST_F(ResponderTest, WhatIsForAKernelIsNamed) {
  EXPECT_EQ(receive(ping(kPeer, "10.1.0.1", "10.1.0.9")), Result::unhandled);
  EXPECT_EQ(receive(udp(kPeer, "10.1.0.1", "10.1.0.254")), Result::unhandled);
  EXPECT_EQ(receive(udp(kPeer, "10.1.0.1", "224.0.0.5")), Result::unhandled);
  EXPECT_EQ(receive(fragment(kPeer, "10.1.0.1", "10.1.0.254")), Result::fragment);
  EXPECT_THAT(sent(), IsEmpty());
}

TEST_F(ResponderTest, PingsBeyondTheRateAreNotAnswered) {
  for (std::uint32_t i = 0; i < Responder::kEchoesAtOnce; ++i) {
    EXPECT_EQ(receive(ping(kPeer, "10.1.0.1", "10.1.0.254")), Result::echo_reply);
    sent();
  }
  EXPECT_EQ(receive(ping(kPeer, "10.1.0.1", "10.1.0.254")), Result::limited);
  EXPECT_EQ(receive(ping(kPeer, "10.1.0.1", "10.1.0.254"), at(1ms)), Result::echo_reply);
}

// --- packets that wait ---

TEST_F(ResponderTest, APacketWaitsForItsNextHopAndGoesOnWithItsTtlOneLess) {
  const Octets frame = udp(kOther, "192.0.2.1", "10.1.0.1");
  const Octets packet(frame.begin() + 14, frame.end());
  ASSERT_TRUE(responder.hold(address("10.1.0.1"), packet, kFrom, at(0s)));
  EXPECT_THAT(sent(), ElementsAre(arp_frame(Operation::request, kBroadcast, kOurs, "10.1.0.254", kNobody,
                                            "10.1.0.1")));
  receive(arp_frame(Operation::reply, kOurs, kPeer, "10.1.0.1", kOurs, "10.1.0.254"));
  facts();
  EXPECT_THAT(sent(), ElementsAre(ethernet(kPeer, kOurs, 0x0800) + one_hop_on(packet)));
  EXPECT_THAT(sent(at(1s)), IsEmpty()) << "once";
}

TEST_F(ResponderTest, PacketsThatWaitKeepTheirOrder) {
  const Octets first = udp(kOther, "192.0.2.1", "10.1.0.1"), second = udp(kOther, "192.0.2.2", "10.1.0.1");
  responder.hold(address("10.1.0.1"), std::span(first).subspan(14), kFrom, at(0s));
  responder.hold(address("10.1.0.1"), std::span(second).subspan(14), kFrom, at(0s));
  sent();
  receive(arp_frame(Operation::reply, kOurs, kPeer, "10.1.0.1", kOurs, "10.1.0.254"));
  facts();
  const auto on = [](const Octets& frame) {
    return ethernet(kPeer, kOurs, 0x0800) + one_hop_on(Octets(frame.begin() + 14, frame.end()));
  };
  EXPECT_THAT(sent(), ElementsAre(on(first), on(second)));
}

// They were on their way here when the station answered.
TEST_F(ResponderTest, PacketsForAStationThatIsKnownGoAtOnceBehindWhatWaits) {
  std::vector<Octets> frames, expected;
  for (const char* from : {"192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"}) {
    frames.push_back(udp(kOther, from, "10.1.0.1"));
    expected.push_back(ethernet(kPeer, kOurs, 0x0800) +
                       one_hop_on(Octets(frames.back().begin() + 14, frames.back().end())));
  }
  const auto hold = [&](std::size_t i) {
    return responder.hold(address("10.1.0.1"), std::span(frames[i]).subspan(14), kFrom, at(0s));
  };
  EXPECT_TRUE(hold(0));
  sent();
  receive(arp_frame(Operation::reply, kOurs, kPeer, "10.1.0.1", kOurs, "10.1.0.254"));
  EXPECT_TRUE(hold(1)) << "before anybody has asked for changes";
  facts();
  EXPECT_TRUE(hold(2));
  EXPECT_THAT(sent(), ElementsAre(expected[0], expected[1], expected[2]));
  EXPECT_TRUE(hold(3));
  EXPECT_THAT(sent(), ElementsAre(expected[3]));
  EXPECT_FALSE(responder.hold(address("10.1.0.1"), Octets(kMtu + 1), kFrom, at(0s))) << "larger than a frame";
}

TEST_F(ResponderTest, NotMoreThanTheOutboxHolds) {
  const Octets frame = udp(kOther, "192.0.2.1", "10.1.0.1");
  const auto hold = [&] {
    return responder.hold(address("10.1.0.1"), std::span(frame).subspan(14), kFrom, at(0s));
  };
  hold();
  sent();
  receive(arp_frame(Operation::reply, kOurs, kPeer, "10.1.0.1", kOurs, "10.1.0.254"));
  facts();
  sent();
  for (std::uint32_t i = 0; i < Outbox::kFrames; ++i) EXPECT_TRUE(hold());
  EXPECT_FALSE(hold());
  EXPECT_EQ(sent().size(), Outbox::kFrames);
}

TEST_F(ResponderTest, WhoDoesNotAnswerKeepsNothingWaiting) {
  const Octets frame = udp(kOther, "192.0.2.1", "10.1.0.1");
  const auto packet = std::span(frame).subspan(14);
  EXPECT_TRUE(responder.hold(address("10.1.0.1"), packet, kFrom, at(0s)));
  for (const Duration t : {0s, 1s, 2s}) EXPECT_EQ(sent(at(t)).size(), 1U);
  responder.want(address("10.1.0.1"), at(3s));
  EXPECT_EQ(sent(at(4s)).size(), 1U);
  EXPECT_THAT(facts(), ElementsAre("10.1.0.1 gone"));
  EXPECT_FALSE(responder.hold(address("10.1.0.1"), packet, kFrom, at(5s)));
  receive(arp_frame(Operation::reply, kOurs, kPeer, "10.1.0.1", kOurs, "10.1.0.254"), at(6s));
  EXPECT_THAT(facts(), ElementsAre("10.1.0.1 at 02:00:00:00:00:99"));
  EXPECT_THAT(sent(at(6s)), IsEmpty());
}

TEST_F(ResponderTest, AScanBehindOneTagLeavesTheQuestionsOfOtherTags) {
  constexpr InterfaceIndex kScanner = kFrom + 7, kOtherTag = kScanner + 1;
  Responder large(kOurs, addresses, kMtu, at(0s), 1);
  const auto ask = [&](std::uint32_t host, InterfaceIndex interface) {
    const auto low = static_cast<std::uint8_t>(host);
    const Octets frame = udp(kOther, "192.0.2." + std::to_string(low), "10.1.0.1");
    return large.hold(IpAddress::v4(10, 1, static_cast<std::uint8_t>(host >> 8), low),
                      std::span(frame).subspan(14), kFrom, at(0s), interface);
  };
  std::uint32_t asked = 0;
  while (ask(asked, kScanner)) ++asked;
  EXPECT_EQ(asked, 2 * RequestParts::kAtOnce) << "from whatever sources";
  EXPECT_TRUE(ask(60'000, kOtherTag));
}

TEST_F(ResponderTest, AScanOfOnePortLeavesTheQuestionsOfOthers) {
  Responder large(kOurs, addresses, kMtu, at(0s), 1);
  const Octets frame = udp(kOther, "192.0.2.1", "10.1.0.1");
  const auto ask = [&](std::uint32_t host, std::size_t from) {
    return large.hold(
        IpAddress::v4(10, 1, static_cast<std::uint8_t>(host >> 8), static_cast<std::uint8_t>(host)),
        std::span(frame).subspan(14), from, at(0s));
  };
  std::uint32_t asked = 0;
  while (ask(asked, kFrom)) ++asked;
  EXPECT_EQ(asked, 2 * RequestParts::kAtOnce);
  EXPECT_TRUE(ask(0, kFrom)) << "is asked for already";
  EXPECT_TRUE(ask(60'000, kFrom + 1));
  EXPECT_EQ(large.refused(), 1U);
}

TEST_F(ResponderTest, WakesWhenThereIsSomethingToSend) {
  EXPECT_EQ(responder.next_wakeup(), kNever);
  receive(ping(kPeer, "10.1.0.1", "10.1.0.254"));
  EXPECT_LE(responder.next_wakeup(), at(0s));
  sent();
  responder.want(address("10.1.0.1"), at(0s));
  sent();
  EXPECT_EQ(responder.next_wakeup(), at(1s));
  EXPECT_EQ(responder.requests(), 1U);
}

// The finding: 4,095 answers of one station, and a newcomer on that link got nothing.
TEST(Responder, AStationThatAnswersForThousandsLeavesRoomForANewcomer) {
  const PortAddresses addresses{{prefix("10.1.0.254/16")}, {prefix("10.1.0.254/16")}, kOurs};
  Responder responder(kOurs, addresses, 1500, at(0s), 1);
  endpoints::Slots room(64);
  Time now = at(0s);
  const auto asks_and_answers = [&](const MacAddress& mac, const std::string& from) {
    now += 2ms;
    while (responder.poll(room.slots, now) == room.slots.size()) {
    }
    const auto asked = responder.receive(
        arp_frame(Operation::request, kBroadcast, mac, from.c_str(), kNobody, "10.1.0.254"), now);
    while (responder.poll(room.slots, now) == room.slots.size()) {
    }
    responder.receive(arp_frame(Operation::reply, kOurs, mac, from.c_str(), kOurs, "10.1.0.254"), now);
    return asked;
  };
  for (int i = 0; i < 4200; ++i)
    asks_and_answers(kPeer, "10.1." + std::to_string(1 + i / 200) + "." + std::to_string(1 + i % 200));
  ASSERT_EQ(responder.neighbors().size(), 4096U);
  EXPECT_EQ(asks_and_answers(kOther, "10.1.200.1"), Result::arp_reply);
  EXPECT_NE(responder.neighbors().find(address("10.1.200.1")), nullptr);
}

}  // namespace
}  // namespace surety
