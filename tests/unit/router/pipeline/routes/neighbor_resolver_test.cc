// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/neighbor_resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/address.h"

namespace surety {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Time at(Duration d) {
  return Time(d);
}
constexpr MacAddress kMac{{2, 0, 0, 0, 0, 7}}, kOther{{2, 0, 0, 0, 0, 8}}, kGroup{{1, 0, 0, 0, 0, 7}};
IpAddress peer(int i = 1) {
  return parse_address("10.0.0." + std::to_string(i)).value();
}

using Learned = NeighborResolver::Learned;

struct NeighborResolverTest : testing::Test {
  NeighborResolver table{4, 4};

  // It has been asked for, and answers.
  Learned answer(const IpAddress& a, const MacAddress& mac, Time now) {
    requests(now);
    return table.learn(a, mac, true, now);
  }
  // "who-has 10.0.0.1", or "10.0.0.1 at <mac>?" where one station alone is asked.
  std::vector<std::string> requests(Time now) {
    std::vector<std::string> words;
    while (const auto r = table.next_request(now))
      words.push_back(r->mac ? to_string(r->address) + " at " + to_string(*r->mac) + "?"
                             : "who-has " + to_string(r->address));
    return words;
  }
  std::vector<std::string> changes() {
    std::vector<std::string> words;
    while (const auto c = table.next_change())
      words.push_back(to_string(c->address) + (c->mac           ? " at " + to_string(*c->mac)
                                               : c->unreachable ? " unreachable"
                                                                : " gone"));
    return words;
  }
};

TEST_F(NeighborResolverTest, AWantedAddressIsAskedForAtOnceAndAgainEachSecond) {
  EXPECT_EQ(table.next_event(), kNever);
  EXPECT_TRUE(table.want(peer(), at(0s)));
  EXPECT_EQ(table.next_event(), at(0s));
  EXPECT_THAT(requests(at(0s)), ElementsAre("who-has 10.0.0.1"));
  EXPECT_TRUE(table.want(peer(), at(500ms)));
  EXPECT_THAT(requests(at(999ms)), IsEmpty()) << "wanting it again does not ask sooner";
  EXPECT_THAT(requests(at(1s)), ElementsAre("who-has 10.0.0.1"));
  EXPECT_THAT(requests(at(2s)), ElementsAre("who-has 10.0.0.1"));
  EXPECT_THAT(changes(), IsEmpty());
}

TEST_F(NeighborResolverTest, AfterThreeTriesItIsUnreachableAndAskedForEverMoreSeldom) {
  std::vector<Duration> asked;
  for (Duration t = 0s; t < 20s; t += 1s) {
    table.want(peer(), at(t));  // packets keep coming
    if (!requests(at(t)).empty()) asked.push_back(t);
    if (t == 3s) {
      EXPECT_THAT(changes(), IsEmpty());
    }
    if (t == 4s) {
      EXPECT_THAT(changes(), ElementsAre("10.0.0.1 unreachable"));
    }
  }
  EXPECT_THAT(asked, ElementsAre(0s, 1s, 2s, 4s, 8s, 12s, 16s));
  EXPECT_THAT(changes(), IsEmpty()) << "said once";
}

TEST_F(NeighborResolverTest, WhatNobodyWantsAnyMoreIsForgotten) {
  table.want(peer(), at(0s));
  for (const Duration t : {0s, 1s, 2s}) EXPECT_THAT(requests(at(t)), ElementsAre("who-has 10.0.0.1"));
  EXPECT_THAT(requests(at(4s)), IsEmpty());
  EXPECT_THAT(changes(), ElementsAre("10.0.0.1 unreachable"));
  EXPECT_EQ(table.size(), 0U);
  EXPECT_EQ(table.next_event(), kNever);
}

TEST_F(NeighborResolverTest, ItIsUnreachableFromTheEndOfTheThirdTryUntilItAnswers) {
  for (Duration t = 0s; t <= 3s; t += 1s) {
    table.want(peer(), at(t));
    requests(at(t));
    EXPECT_FALSE(table.unreachable(peer()));
  }
  requests(at(4s));
  EXPECT_TRUE(table.unreachable(peer()));
  table.learn(peer(), kMac, true, at(5s));
  EXPECT_FALSE(table.unreachable(peer()));
  EXPECT_FALSE(table.unreachable(peer(2)));
}

TEST_F(NeighborResolverTest, AnAnswerIsAFactAndTheEndOfAsking) {
  table.want(peer(), at(0s));
  requests(at(0s));
  EXPECT_EQ(table.learn(peer(), kMac, true, at(100ms)), Learned::learned);
  EXPECT_THAT(changes(), ElementsAre("10.0.0.1 at 02:00:00:00:00:07"));
  EXPECT_EQ(*table.find(peer()), kMac);
  EXPECT_EQ(table.asking(), 0U);
  EXPECT_EQ(table.next_event(), at(30100ms));
  EXPECT_THAT(requests(at(30099ms)), IsEmpty());
}

TEST_F(NeighborResolverTest, AKnownStationIsAskedAloneBeforeItCouldBeWrong) {
  table.want(peer(), at(0s));
  answer(peer(), kMac, at(0s));
  changes();
  EXPECT_THAT(requests(at(30s)), ElementsAre("10.0.0.1 at 02:00:00:00:00:07?"));
  EXPECT_EQ(table.learn(peer(), kMac, true, at(31s)), Learned::learned);
  EXPECT_THAT(requests(at(60999ms)), IsEmpty());
  EXPECT_THAT(requests(at(61s)), ElementsAre("10.0.0.1 at 02:00:00:00:00:07?"));
  EXPECT_THAT(changes(), IsEmpty()) << "nothing has changed";
}

TEST_F(NeighborResolverTest, ASilentStationIsDeadAfterThreeProbesAndItsAddressSoughtAnew) {
  table.want(peer(), at(0s));
  answer(peer(), kMac, at(0s));
  changes();
  for (const Duration t : {30s, 31s, 32s})
    EXPECT_THAT(requests(at(t)), ElementsAre("10.0.0.1 at 02:00:00:00:00:07?"));
  EXPECT_THAT(changes(), IsEmpty());
  EXPECT_THAT(requests(at(33s)), ElementsAre("who-has 10.0.0.1"));
  EXPECT_THAT(changes(), ElementsAre("10.0.0.1 gone"));
  EXPECT_EQ(table.find(peer()), nullptr);
  EXPECT_EQ(table.learn(peer(), kOther, true, at(33s)), Learned::learned);
  EXPECT_THAT(changes(), ElementsAre("10.0.0.1 at 02:00:00:00:00:08"));
}

TEST_F(NeighborResolverTest, AStationThatAsksForUsIsKnownWhenItHasAnswered) {
  EXPECT_TRUE(table.meet(peer(), kMac, at(0s)));
  EXPECT_THAT(changes(), IsEmpty()) << "whoever says so";
  EXPECT_THAT(requests(at(0s)), ElementsAre("who-has 10.0.0.1"));
  table.learn(peer(), kMac, true, at(0s));
  EXPECT_THAT(changes(), ElementsAre("10.0.0.1 at 02:00:00:00:00:07"));
  for (const Duration t : {30s, 31s, 32s}) EXPECT_EQ(requests(at(t)).size(), 1U);
  EXPECT_THAT(requests(at(33s)), IsEmpty()) << "nobody wants it";
  EXPECT_THAT(changes(), ElementsAre("10.0.0.1 gone"));
  EXPECT_EQ(table.size(), 0U);
}

// --- what stations say of themselves ---

TEST_F(NeighborResolverTest, AnswersThatNobodyAskedForAreIgnored) {
  EXPECT_EQ(table.learn(peer(), kMac, true, at(0s)), Learned::unasked);
  EXPECT_EQ(table.size(), 0U);
  table.want(peer(), at(0s));
  EXPECT_EQ(table.learn(peer(), kMac, true, at(0s)), Learned::unasked) << "before the question";
  requests(at(0s));
  EXPECT_EQ(table.learn(peer(), kMac, false, at(0s)), Learned::unasked) << "to everybody";
  EXPECT_THAT(changes(), IsEmpty());
}

TEST_F(NeighborResolverTest, AClaimMovesNothingWhileTheKnownStationAnswers) {
  table.want(peer(), at(0s));
  answer(peer(), kMac, at(0s));
  changes();
  unsigned probes = 0;
  for (Duration t = 0s; t < 60s; t += 10ms) {
    for (const bool as_an_answer : {false, true})
      EXPECT_EQ(table.learn(peer(), kOther, as_an_answer, at(t)), Learned::contested);
    for (const std::string& asked : requests(at(t))) {
      EXPECT_EQ(asked, "10.0.0.1 at 02:00:00:00:00:07?");
      ++probes;
      table.learn(peer(), kMac, true, at(t + 1ms));
    }
  }
  EXPECT_THAT(changes(), IsEmpty());
  EXPECT_EQ(*table.find(peer()), kMac);
  EXPECT_LE(probes, 60U) << "one a second, whatever is claimed";
  EXPECT_GE(probes, 55U);
}

TEST_F(NeighborResolverTest, AStationThatHasMovedIsFoundThreeSecondsAfterItSaysSo) {
  table.want(peer(), at(0s));
  answer(peer(), kMac, at(0s));
  changes();
  table.learn(peer(), kOther, false, at(10s));
  for (const Duration t : {10s, 11s, 12s}) {
    EXPECT_THAT(requests(at(t)), ElementsAre("10.0.0.1 at 02:00:00:00:00:07?"));
    table.learn(peer(), kOther, false, at(t + 500ms));
  }
  EXPECT_THAT(requests(at(13s)), ElementsAre("who-has 10.0.0.1"));
  table.learn(peer(), kOther, true, at(13s));
  EXPECT_THAT(changes(), ElementsAre("10.0.0.1 gone", "10.0.0.1 at 02:00:00:00:00:08"));
}

TEST_F(NeighborResolverTest, WhoSpeaksAgainAfterALongSilenceIsAskedAtOnce) {
  for (Duration t = 0s; t <= 12s; t += 1s) {
    table.want(peer(), at(t));
    requests(at(t));
  }
  EXPECT_EQ(table.next_event(), at(16s));
  table.meet(peer(), kMac, at(12100ms));
  EXPECT_THAT(requests(at(12999ms)), IsEmpty()) << "not twice within a second";
  EXPECT_THAT(requests(at(13s)), ElementsAre("who-has 10.0.0.1"));
}

TEST_F(NeighborResolverTest, ADoubtIsSettledByAskingAndAnnouncementsDoNotSettleIt) {
  table.want(peer(), at(0s));
  answer(peer(), kMac, at(0s));
  table.doubt(peer(), at(20s));
  table.doubt(peer(2), at(20s));
  EXPECT_EQ(table.learn(peer(), kMac, false, at(20s)), Learned::learned);
  EXPECT_THAT(requests(at(20s)), ElementsAre("10.0.0.1 at 02:00:00:00:00:07?"));
  table.learn(peer(), kMac, false, at(20s));
  EXPECT_THAT(requests(at(21s)), ElementsAre("10.0.0.1 at 02:00:00:00:00:07?"));
}

TEST_F(NeighborResolverTest, GroupsAreNoStations) {
  table.want(peer(), at(0s));
  EXPECT_EQ(answer(peer(), kGroup, at(0s)), Learned::unasked);
  EXPECT_FALSE(table.meet(peer(2), kGroup, at(0s)));
  EXPECT_EQ(table.size(), 1U);
  EXPECT_EQ(table.find(peer()), nullptr);
}

TEST_F(NeighborResolverTest, WhoIsNotKnownIsNotDoubted) {
  for (Duration t = 0s; t <= 4s; t += 1s) {
    table.want(peer(), at(t));
    requests(at(t));
  }
  ASSERT_TRUE(table.unreachable(peer()));
  table.doubt(peer(), at(4500ms));
  EXPECT_TRUE(table.unreachable(peer()));
}

TEST_F(NeighborResolverTest, WhatIsToBeForgottenIsToldAgainWhenItHasAnswered) {
  table.want(peer(), at(0s));
  answer(peer(), kMac, at(0s));
  changes();
  table.forget(peer(), at(5000ms));
  table.forget(peer(2), at(5000ms));
  EXPECT_EQ(table.find(peer()), nullptr);
  table.learn(peer(), kMac, false, at(5001ms));
  EXPECT_THAT(requests(at(5019ms)), IsEmpty()) << "whoever looks finds it gone";
  EXPECT_THAT(requests(at(5020ms)), ElementsAre("who-has 10.0.0.1"));
  table.forget(peer(), at(5021ms));  // of it nothing is known
  EXPECT_THAT(requests(at(5041ms)), IsEmpty());
  table.learn(peer(), kMac, true, at(5041ms));
  EXPECT_THAT(changes(), ElementsAre("10.0.0.1 gone", "10.0.0.1 at 02:00:00:00:00:07"));
}

// --- a full table ---

TEST_F(NeighborResolverTest, WhatNeverAnsweredGivesWayTheOldestFirst) {
  for (int i = 1; i <= 4; ++i) EXPECT_TRUE(table.want(peer(i), at(i * 1s)));
  requests(at(4s));
  EXPECT_TRUE(table.want(peer(5), at(5s)));
  EXPECT_THAT(changes(), ElementsAre("10.0.0.1 unreachable"));
  EXPECT_EQ(table.size(), 4U);
  EXPECT_THAT(requests(at(5s)), testing::Contains("who-has 10.0.0.5"));
}

TEST_F(NeighborResolverTest, WhatIsKnownGivesWayToNobody) {
  for (int i = 1; i <= 4; ++i) {
    table.want(peer(i), at(0s));
    answer(peer(i), kMac, at(0s));
  }
  changes();
  EXPECT_FALSE(table.want(peer(5), at(1s)));
  EXPECT_FALSE(table.meet(peer(5), kMac, at(1s)));
  EXPECT_TRUE(table.want(peer(4), at(1s)));
  EXPECT_THAT(changes(), IsEmpty());
}

TEST(NeighborResolver, AScanAsksForEachOnceAndCostsAKnownStationNothing) {
  NeighborResolver table(4096, 1024);
  const IpAddress base = parse_address("10.1.0.0").value();
  const auto host = [&](std::uint32_t i) {
    return IpAddress::v4(10, 1, static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i));
  };
  table.want(base, at(0s));
  ASSERT_TRUE(table.next_request(at(0s)));
  table.learn(base, kMac, true, at(0s));
  const std::uint32_t of_a_late_one = 29'999;
  std::uint32_t asked = 0;
  for (std::uint32_t i = 1; i < 30'000; ++i) {  // 3,000 a second
    const Time now = at(std::chrono::microseconds(333) * i);
    ASSERT_TRUE(table.want(host(i), now));
    while (const auto r = table.next_request(now)) {
      asked += r->address != base;
      if (r->address == base) table.learn(base, kMac, true, now);
    }
    ASSERT_LE(table.asking(), 1024U);
    ASSERT_NE(table.find(base), nullptr);
  }
  EXPECT_EQ(asked, 29'999U) << "those that do not answer have no time for a second question";
  table.learn(host(of_a_late_one), kOther, true, at(10s));
  EXPECT_NE(table.find(host(of_a_late_one)), nullptr);
}

// A table of 4,096 that one station fills: it asks for us from one address after the other, and answers.
struct FullTable : testing::Test {
  NeighborResolver table{4096, 1024};
  static IpAddress host(std::uint32_t i) {
    return IpAddress::v4(10, 1, static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i));
  }
  bool learn(const IpAddress& a, const MacAddress& mac, Time now) {
    if (!table.meet(a, mac, now)) return false;
    while (table.next_request(now)) {
    }
    table.learn(a, mac, true, now);
    while (table.next_change()) {
    }
    return table.find(a) != nullptr;
  }
  void fill(std::uint32_t from, std::uint32_t until, Time now) {
    for (std::uint32_t i = from; i < until; ++i) learn(host(i), kMac, now);
  }
};

TEST_F(FullTable, AStationThatAnswersForThousandsMakesRoom) {
  fill(1, 5000, at(1s));
  ASSERT_EQ(table.size(), 4096U);
  EXPECT_TRUE(table.want(host(60'000), at(2s)));
  EXPECT_TRUE(learn(host(60'001), kOther, at(2s)));
  ASSERT_NE(table.find(host(60'001)), nullptr);
  table.learn(host(60'000), kOther, true, at(2s));
  EXPECT_NE(table.find(host(60'000)), nullptr);
}

// Also while it goes on, and before it has answered.
TEST_F(FullTable, WhoHasNoMoreThanItsPartKeepsIt) {
  for (std::uint32_t i = 0; i < 64 * NeighborAddresses::kPart; ++i) {
    const MacAddress mac{{2, 0, 0, 0, 1, static_cast<std::uint8_t>(i % 64)}};
    ASSERT_TRUE(learn(host(60'000 + i), mac, at(1s)));
  }
  fill(1, 10'000, at(1s));
  ASSERT_TRUE(table.meet(host(59'999), kOther, at(2s)));
  while (table.next_request(at(2s))) {
  }
  fill(10'000, 20'000, at(2s));
  table.learn(host(59'999), kOther, true, at(2s));
  EXPECT_NE(table.find(host(59'999)), nullptr);
  for (std::uint32_t i = 0; i < 64 * NeighborAddresses::kPart; ++i)
    ASSERT_NE(table.find(host(60'000 + i)), nullptr) << i;
  EXPECT_EQ(table.size(), 4096U);
}

// Among the addresses of a station that answers for many, those that no packet waits for go first.
TEST_F(FullTable, WhatIsWantedGoesLast) {
  fill(1, 4097, at(1s));
  for (std::uint32_t i = 1; i < 50; ++i) table.want(host(i), at(1s));
  for (std::uint32_t i = 0; i < 100; ++i) ASSERT_TRUE(learn(host(60'000 + i), kOther, at(2s)));
  for (std::uint32_t i = 1; i < 50; ++i) EXPECT_NE(table.find(host(i)), nullptr) << i;
  EXPECT_EQ(table.find(host(50)), nullptr);
}

TEST_F(NeighborResolverTest, ALinkThatComesUpBeginsAnew) {
  for (Duration t = 0s; t < 20s; t += 1s) {
    table.want(peer(), at(t));
    requests(at(t));
  }
  table.want(peer(2), at(19s));
  answer(peer(2), kMac, at(19s));
  changes();
  table.restart(at(20s));
  EXPECT_THAT(changes(), ElementsAre("10.0.0.2 gone"));
  EXPECT_EQ(table.asking(), 2U);
  EXPECT_THAT(requests(at(20s)), ElementsAre("who-has 10.0.0.1", "who-has 10.0.0.2"));
  EXPECT_EQ(table.next_event(), at(21s));
}

TEST_F(NeighborResolverTest, WhatIsKnownCanBeToldAgain) {
  for (const int i : {3, 2, 1}) table.want(peer(i), at(0s));
  answer(peer(2), kOther, at(0s));
  answer(peer(1), kMac, at(0s));
  std::vector<std::string> known;
  table.for_each_known(
      [&](const IpAddress& a, const MacAddress& m) { known.push_back(to_string(a) + " " + to_string(m)); });
  EXPECT_THAT(known, ElementsAre("10.0.0.1 02:00:00:00:00:07", "10.0.0.2 02:00:00:00:00:08"));
}

}  // namespace
}  // namespace surety
