// SPDX-License-Identifier: BSD-3-Clause
#include "router/routes/neighbor_resolver.h"

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

struct NeighborResolverTest : testing::Test {
  NeighborResolver table{4};

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
  for (Duration t = 0s; t < 130s; t += 1s) {
    table.want(peer(), at(t));  // packets keep coming
    if (!requests(at(t)).empty()) asked.push_back(t);
    if (t == 3s) {
      EXPECT_THAT(changes(), IsEmpty());
    }
    if (t == 4s) {
      EXPECT_THAT(changes(), ElementsAre("10.0.0.1 unreachable"));
    }
  }
  EXPECT_THAT(asked, ElementsAre(0s, 1s, 2s, 4s, 8s, 16s, 32s, 64s, 96s, 128s));
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
  table.learn(peer(), kMac, true, true, at(5s));
  EXPECT_FALSE(table.unreachable(peer()));
  EXPECT_FALSE(table.unreachable(peer(2)));
}

TEST_F(NeighborResolverTest, AnAnswerIsAFactAndTheEndOfAsking) {
  table.want(peer(), at(0s));
  requests(at(0s));
  EXPECT_TRUE(table.learn(peer(), kMac, true, true, at(100ms)));
  EXPECT_THAT(changes(), ElementsAre("10.0.0.1 at 02:00:00:00:00:07"));
  EXPECT_EQ(*table.find(peer()), kMac);
  EXPECT_EQ(table.next_event(), at(30100ms));
  EXPECT_THAT(requests(at(30099ms)), IsEmpty());
}

TEST_F(NeighborResolverTest, AKnownStationIsAskedAloneBeforeItCouldBeWrong) {
  table.want(peer(), at(0s));
  table.learn(peer(), kMac, true, true, at(0s));
  changes();
  EXPECT_THAT(requests(at(30s)), ElementsAre("10.0.0.1 at 02:00:00:00:00:07?"));
  EXPECT_TRUE(table.learn(peer(), kMac, true, true, at(31s)));
  EXPECT_THAT(requests(at(60999ms)), IsEmpty());
  EXPECT_THAT(requests(at(61s)), ElementsAre("10.0.0.1 at 02:00:00:00:00:07?"));
  EXPECT_THAT(changes(), IsEmpty()) << "nothing has changed";
}

TEST_F(NeighborResolverTest, ASilentStationIsDeadAfterThreeProbesAndItsAddressSoughtAnew) {
  table.want(peer(), at(0s));
  table.learn(peer(), kMac, true, true, at(0s));
  changes();
  for (const Duration t : {30s, 31s, 32s})
    EXPECT_THAT(requests(at(t)), ElementsAre("10.0.0.1 at 02:00:00:00:00:07?"));
  EXPECT_THAT(changes(), IsEmpty());
  EXPECT_THAT(requests(at(33s)), ElementsAre("who-has 10.0.0.1"));
  EXPECT_THAT(changes(), ElementsAre("10.0.0.1 gone"));
  EXPECT_EQ(table.find(peer()), nullptr);
  EXPECT_TRUE(table.learn(peer(), kOther, true, true, at(33s)));
  EXPECT_THAT(changes(), ElementsAre("10.0.0.1 at 02:00:00:00:00:08"));
}

TEST_F(NeighborResolverTest, AStationThatOnlyAskedForUsIsForgottenWhenItIsSilent) {
  EXPECT_TRUE(table.meet(peer(), kMac, at(0s)));
  EXPECT_THAT(changes(), ElementsAre("10.0.0.1 at 02:00:00:00:00:07"));
  for (const Duration t : {30s, 31s, 32s}) EXPECT_EQ(requests(at(t)).size(), 1U);
  EXPECT_THAT(requests(at(33s)), IsEmpty());
  EXPECT_THAT(changes(), ElementsAre("10.0.0.1 gone"));
  EXPECT_EQ(table.size(), 0U);
}

TEST_F(NeighborResolverTest, AnswersThatNobodyAskedForAreIgnored) {
  EXPECT_FALSE(table.learn(peer(), kMac, true, true, at(0s)));
  EXPECT_EQ(table.size(), 0U);
  EXPECT_THAT(changes(), IsEmpty());
}

TEST_F(NeighborResolverTest, AnotherStationsClaimCountsOnlyWithOverride) {
  table.want(peer(), at(0s));
  table.learn(peer(), kMac, true, true, at(0s));
  EXPECT_FALSE(table.learn(peer(), kOther, false, true, at(1s)));
  EXPECT_EQ(*table.find(peer()), kMac);
  EXPECT_TRUE(table.learn(peer(), kOther, true, false, at(2s)));
  EXPECT_THAT(changes(), ElementsAre("10.0.0.1 at 02:00:00:00:00:07", "10.0.0.1 at 02:00:00:00:00:08"));
  EXPECT_THAT(requests(at(31s)), IsEmpty());
  EXPECT_THAT(requests(at(32s)), ElementsAre("10.0.0.1 at 02:00:00:00:00:08?"));
}

TEST_F(NeighborResolverTest, AnnouncementsDoNotConfirmThatItHearsUs) {
  table.want(peer(), at(0s));
  table.learn(peer(), kMac, true, true, at(0s));
  table.learn(peer(), kMac, true, false, at(20s));
  EXPECT_EQ(requests(at(30s)).size(), 1U);
}

TEST_F(NeighborResolverTest, GroupsAreNoStations) {
  table.want(peer(), at(0s));
  EXPECT_FALSE(table.learn(peer(), kGroup, true, true, at(0s)));
  EXPECT_FALSE(table.meet(peer(2), kGroup, at(0s)));
  EXPECT_EQ(table.size(), 1U);
  EXPECT_EQ(table.find(peer()), nullptr);
}

TEST_F(NeighborResolverTest, AFullTableTakesNoMoreStrangersButWantedAddressesInTheirPlace) {
  for (int i = 1; i <= 4; ++i) EXPECT_TRUE(table.meet(peer(i), kMac, at(i * 1s)));
  EXPECT_FALSE(table.meet(peer(5), kMac, at(5s)));
  changes();
  EXPECT_TRUE(table.want(peer(6), at(6s)));
  EXPECT_THAT(changes(), ElementsAre("10.0.0.1 gone")) << "the one not heard of for the longest time";
  EXPECT_EQ(table.size(), 4U);
  for (int i = 7; i <= 9; ++i) EXPECT_TRUE(table.want(peer(i), at(6s)));
  EXPECT_FALSE(table.want(peer(10), at(6s))) << "all the others are wanted, too";
  EXPECT_TRUE(table.want(peer(9), at(6s)));
  EXPECT_THAT(requests(at(6s)),
              ElementsAre("who-has 10.0.0.6", "who-has 10.0.0.7", "who-has 10.0.0.8", "who-has 10.0.0.9"));
}

TEST_F(NeighborResolverTest, ALinkThatComesUpBeginsAnew) {
  for (Duration t = 0s; t < 20s; t += 1s) {
    table.want(peer(), at(t));
    requests(at(t));
  }
  table.meet(peer(2), kMac, at(19s));
  changes();
  table.restart(at(20s));
  EXPECT_THAT(changes(), ElementsAre("10.0.0.2 gone"));
  EXPECT_THAT(requests(at(20s)), ElementsAre("who-has 10.0.0.1", "who-has 10.0.0.2"));
  EXPECT_EQ(table.next_event(), at(21s));
}

TEST_F(NeighborResolverTest, WhatIsKnownCanBeToldAgain) {
  table.want(peer(3), at(0s));
  table.meet(peer(2), kOther, at(0s));
  table.meet(peer(1), kMac, at(0s));
  std::vector<std::string> known;
  table.for_each_known(
      [&](const IpAddress& a, const MacAddress& m) { known.push_back(to_string(a) + " " + to_string(m)); });
  EXPECT_THAT(known, ElementsAre("10.0.0.1 02:00:00:00:00:07", "10.0.0.2 02:00:00:00:00:08"));
}

}  // namespace
}  // namespace surety
