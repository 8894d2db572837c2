// SPDX-License-Identifier: BSD-3-Clause
// Stations of a template: behind which tag each one is, and that nobody takes what another has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "router/daemon/linux/responder.h"
#include "router/pipeline/wire/host_messages.h"
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

struct ResponderTemplateTest : testing::Test {
  static constexpr InterfaceIndex kFirst = 101, kSecond = 102;
  PortAddresses addresses{{prefix("10.1.0.254/24"), prefix("2001:db8:1::fe/64")}, {}, kOurs};
  Responder responder{kOurs, addresses, 1500, at(0s), 1, Responder::Answers::all, 128};

  ResponderTemplateTest() {
    responder.speak_for(100, std::make_unique<TagBindings>(2));
    sent();
  }

  // By which interface each frame leaves, and what it is.
  std::vector<std::pair<int, Octets>> sent(Time now = at(0s)) {
    endpoints::Slots room(64);
    const std::size_t n = responder.poll(room.slots, now);
    std::vector<std::pair<int, Octets>> frames;
    for (std::size_t i = 0; i < n; ++i)
      frames.emplace_back(room.slots[i].interface,
                          Octets(room.bytes[i].begin(), room.bytes[i].begin() + room.slots[i].length));
    return frames;
  }
  static Octets asks(const char* who, const MacAddress& mac = kPeer) {
    return arp_frame(Operation::request, kBroadcast, mac, who, kNobody, "10.1.0.254");
  }
  static Octets answers(const char* who, const MacAddress& mac = kPeer) {
    return arp_frame(Operation::reply, kOurs, mac, who, kOurs, "10.1.0.254");
  }
  // Asks for us behind a tag, is asked back and answers.
  void come(const char* who, InterfaceIndex tag, Time now = at(0s), const MacAddress& mac = kPeer) {
    responder.receive(asks(who, mac), now, tag);
    sent(now);
    responder.receive(answers(who, mac), now, tag);
  }
  std::vector<std::string> facts() {
    std::vector<std::string> words;
    while (const auto c = responder.next_change()) {
      responder.release(*c);
      words.push_back(to_string(c->address) + (c->mac ? " behind " + std::to_string(c->interface) : " gone"));
    }
    return words;
  }
};

// It may send right behind its question, and nobody else is behind its tag: it is known at once.
TEST_F(ResponderTemplateTest, AnswersBehindTheTagThatAskedAndBelievesIt) {
  EXPECT_EQ(responder.receive(asks("10.1.0.1"), at(0s), kSecond), Result::arp_reply);
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].first, kSecond);
  EXPECT_THAT(facts(), ElementsAre("10.1.0.1 behind 102"));
  EXPECT_EQ(responder.interface_towards(address("10.1.0.1")), kSecond);
}

TEST_F(ResponderTemplateTest, WhoIsKnownIsAskedAgainBehindItsTag) {
  come("10.1.0.1", kSecond);
  const auto frames = sent(at(NeighborResolver::kReachable));
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].first, kSecond);
}

TEST_F(ResponderTemplateTest, NobodyIsAskedBehindAllTags) {
  EXPECT_FALSE(responder.hold(address("10.1.0.7"), Octets(40, 0x45), 0, at(0s)));
  EXPECT_THAT(sent(), IsEmpty());
  EXPECT_FALSE(responder.interface_towards(address("10.1.0.7")));
}

TEST_F(ResponderTemplateTest, AnAddressStaysBehindItsTag) {
  come("10.1.0.1", kFirst);
  facts();
  EXPECT_EQ(responder.receive(asks("10.1.0.1", kOther), at(2s), kSecond), Result::contested);
  EXPECT_EQ(responder.receive(answers("10.1.0.1", kOther), at(2s), kSecond), Result::contested);
  for (const auto& [interface, frame] : sent(at(2s))) EXPECT_EQ(interface, kFirst) << "who has it is asked";
  responder.receive(answers("10.1.0.1"), at(2s), kFirst);
  EXPECT_THAT(facts(), IsEmpty());
  EXPECT_EQ(responder.interface_towards(address("10.1.0.1")), kFirst);
}

TEST_F(ResponderTemplateTest, AnAddressWhoseHostIsGoneIsFree) {
  come("10.1.0.1", kFirst);
  for (Time t = at(1s); t < at(60s); t += 1s) {
    sent(t);
    facts();
  }
  EXPECT_FALSE(responder.interface_towards(address("10.1.0.1")));
  come("10.1.0.1", kSecond, at(61s), kOther);
  EXPECT_EQ(responder.interface_towards(address("10.1.0.1")), kSecond);
}

TEST_F(ResponderTemplateTest, ATagHasSoManyHostsAtMost) {
  come("10.1.0.1", kFirst);
  come("10.1.0.2", kFirst);
  EXPECT_EQ(responder.receive(asks("10.1.0.3"), at(0s), kFirst), Result::table_full);
  EXPECT_FALSE(responder.interface_towards(address("10.1.0.3")));
  come("10.1.0.3", kSecond);
  EXPECT_EQ(responder.interface_towards(address("10.1.0.3")), kSecond) << "another's part is his";
}

// As fast as he can he asks from addresses that he may not have, or not have yet.
TEST_F(ResponderTemplateTest, WhoseTagIsFullTakesNothingFromOthers) {
  come("10.1.0.1", kFirst);
  come("10.1.0.2", kFirst);
  const auto flood = [&](Time now, int n) {
    const std::string who = "10.1.0." + std::to_string(3 + n % 200);
    EXPECT_EQ(responder.receive(asks(who.c_str(), kOther), now, kFirst), Result::table_full);
    sent(now);
  };
  for (int i = 0; i < 2000; ++i) flood(at(i * 500us), i);
  for (int i = 0; i < 60; ++i) flood(at(1s), i);
  EXPECT_EQ(responder.receive(asks("10.1.0.250"), at(1s), kSecond), Result::arp_reply);
  EXPECT_EQ(responder.interface_towards(address("10.1.0.250")), kSecond);
}

TEST_F(ResponderTemplateTest, ATagHasItsPartOfTheQuestionsASecond) {
  responder.speak_for(100, std::make_unique<TagBindings>(1000));
  const auto flood = [&](Time now, int n) {
    const std::string who = "10.1.0." + std::to_string(3 + n % 200);
    responder.receive(asks(who.c_str(), kOther), now, kFirst);
    sent(now);
  };
  for (int i = 0; i < 200; ++i) flood(at(0s), i);
  EXPECT_EQ(responder.receive(asks("10.1.0.250"), at(0s), kSecond), Result::arp_reply);
  EXPECT_EQ(responder.interface_towards(address("10.1.0.250")), kSecond);
}

// Since this router started it has not spoken: its packets are the only sign of it.
TEST_F(ResponderTemplateTest, WhoSendsUnknownIsAskedBehindItsTagOnly) {
  responder.suspect(address("10.1.0.9"), kSecond, at(0s));
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].first, kSecond);
  responder.receive(answers("10.1.0.9"), at(0s), kSecond);
  EXPECT_THAT(facts(), ElementsAre("10.1.0.9 behind 102"));
}

TEST_F(ResponderTemplateTest, WhoSendsAnothersAddressGetsNothingByIt) {
  come("10.1.0.1", kFirst);
  responder.suspect(address("10.1.0.1"), kSecond, at(2s));
  EXPECT_EQ(responder.interface_towards(address("10.1.0.1")), kFirst);
  responder.suspect(address("203.0.113.1"), kSecond, at(2s));
  EXPECT_FALSE(responder.interface_towards(address("203.0.113.1"))) << "not on the subnet";
}

// Its router's routes lead by it, and it has never spoken by it.
TEST_F(ResponderTemplateTest, ALinkLocalGatewayIsAskedBehindTheTagOfTheStationThatItIsMadeOf) {
  const IpAddress gateway = nd::link_local(kPeer);
  responder.want(gateway, at(0s));
  EXPECT_THAT(sent(), IsEmpty()) << "nobody is asked behind all tags";
  come("10.1.0.1", kFirst, at(1s), kOther);
  come("10.1.0.2", kSecond, at(1s), kPeer);
  for (Time t = at(1s); t < at(5s); t += 1s) {
    sent(t);
    facts();
  }
  responder.want(gateway, at(5s));
  const auto frames = sent(at(5s));
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].first, kSecond);
  EXPECT_EQ(responder.interface_towards(gateway), kSecond);
  const std::string theirs = to_string(gateway), ours = to_string(nd::link_local(kOurs));
  responder.receive(advertisement(kOurs, theirs, ours, 0x60, theirs, kPeer), at(5s), kSecond);
  EXPECT_THAT(facts(), ElementsAre(to_string(gateway) + " behind 102"));
}

TEST_F(ResponderTemplateTest, ALinkLocalGatewayIsNobodysWhereTwoHaveItsMac) {
  come("10.1.0.1", kFirst);
  come("10.1.0.2", kSecond);
  responder.want(nd::link_local(kPeer), at(0s));
  EXPECT_THAT(sent(), IsEmpty());
  EXPECT_FALSE(responder.interface_towards(nd::link_local(kPeer)));
}

// A new link forgets who answers, and not behind which tag that is to be: else what answers is behind none.
TEST_F(ResponderTemplateTest, WhoIsAskedAgainByANewLinkIsStillBehindItsTag) {
  come("10.1.0.1", kFirst);
  facts();
  responder.link_up(at(2s));
  ASSERT_EQ(sent(at(2s)).size(), 1u);
  EXPECT_THAT(facts(), ElementsAre("10.1.0.1 gone"));
  responder.receive(answers("10.1.0.1"), at(2s), kFirst);
  EXPECT_THAT(facts(), ElementsAre("10.1.0.1 behind 101"));
  EXPECT_EQ(responder.interface_towards(address("10.1.0.1")), kFirst);
}

TEST_F(ResponderTemplateTest, WhoAnswersAsItIsForgottenIsStillBehindItsTag) {
  come("10.1.0.1", kFirst);
  facts();
  responder.link_up(at(2s));
  ASSERT_EQ(sent(at(2s)).size(), 1u);
  responder.receive(answers("10.1.0.1"), at(2s), kFirst);
  EXPECT_THAT(facts(), ElementsAre("10.1.0.1 gone", "10.1.0.1 behind 101"));
}

// It did not answer, so that its address was free; nobody has been asked since.
TEST_F(ResponderTemplateTest, AnAnswerFromBehindNoTagThatWasAskedIsNotBelieved) {
  come("10.1.0.1", kFirst);
  for (Time t = at(1s); t < at(60s); t += 1s) {
    responder.want(address("10.1.0.1"), t);
    sent(t);
    facts();
  }
  EXPECT_FALSE(responder.interface_towards(address("10.1.0.1")));
  EXPECT_EQ(responder.receive(answers("10.1.0.1"), at(60s), kSecond), Result::unasked);
  EXPECT_THAT(facts(), IsEmpty());
  come("10.1.0.1", kSecond, at(61s));
  EXPECT_THAT(facts(), ElementsAre("10.1.0.1 behind 102"));
}

TEST_F(ResponderTemplateTest, AnnouncesNothingToThousands) {
  responder.link_up(at(1s));
  EXPECT_THAT(sent(at(1s)), IsEmpty());
}

}  // namespace
}  // namespace surety
