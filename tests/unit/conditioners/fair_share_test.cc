// SPDX-License-Identifier: BSD-3-Clause
#include "conditioners/fair_share.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

// A room of 900 places.
struct Room {
  FairShare shares{2};
  std::uint32_t used = 0;
  bool enter(Customer who) {
    if (used == 900 || !shares.room(who, 900 - used)) return false;
    shares.add(who);
    return ++used;
  }
  std::uint32_t fill(Customer who) {
    std::uint32_t n = 0;
    while (enter(who)) ++n;
    return n;
  }
};

TEST(FairShare, OneAloneHasEightNinths) {
  Room room;
  EXPECT_EQ(room.fill(3), 800u);
}

TEST(FairShare, SomeRoomIsLeftHoweverManyWantAll) {
  Room room;
  for (Customer who = 0; who < 256; ++who) room.fill(who);
  EXPECT_EQ(room.used, 848u) << "a port's sixteen seventeenths, rounded up";
  EXPECT_TRUE(room.enter(0x100)) << "of another port";
}

TEST(FairShare, WhatIsGivenBackIsThereAgain) {
  Room room;
  room.fill(3);
  for (int i = 0; i < 100; ++i) room.shares.remove(3), --room.used;
  EXPECT_EQ(room.shares.of(3), 700u);
  EXPECT_EQ(room.fill(3), 100u);
}

TEST(FairShare, NobodyIsRefusedWhereThereIsPlenty) {
  Room room;
  while (FairShare::plenty(900 - room.used, 900)) ASSERT_TRUE(room.enter(3));
  EXPECT_EQ(room.used, 800u);
}

TEST(FairShare, AHolderYieldsUntilTheNewcomerHasAsMuch) {
  FairShare shares(2);
  for (int i = 0; i < 90; ++i) shares.add(1);
  EXPECT_TRUE(shares.within(2)) << "has nothing";
  EXPECT_TRUE(shares.yields(1, 2));
  EXPECT_FALSE(shares.within(1)) << "has all there is";
  for (int i = 0; i < 88; ++i) shares.add(2);
  EXPECT_TRUE(shares.within(2));
  EXPECT_TRUE(shares.yields(1, 2));
  shares.add(2);
  EXPECT_FALSE(shares.yields(1, 2)) << "it would be the same the other way round";
  EXPECT_FALSE(shares.yields(2, 1));
}

TEST(FairShare, WhoHasNoMoreThanItsPartYieldsToNobody) {
  FairShare shares(1);
  for (int i = 0; i < 90; ++i) shares.add(1);
  for (int i = 0; i < 10; ++i) shares.add(2);
  EXPECT_FALSE(shares.yields(2, 3));
  EXPECT_TRUE(shares.yields(1, 3));
}

// A port is a port, however many customers it has: those behind another cannot take more than half.
TEST(FairShare, BetweenPortsThePartOfThePortCounts) {
  constexpr Customer kAlone = 0x100;
  FairShare shares(2);
  for (int i = 0; i < 45; ++i) shares.add(kAlone);
  for (Customer c = 0; c < 50; ++c) shares.add(c);
  EXPECT_FALSE(shares.within(50 - 1));
  EXPECT_FALSE(shares.yields(kAlone, 49)) << "its port has less";
  EXPECT_TRUE(shares.within(kAlone));
  EXPECT_TRUE(shares.yields(49, kAlone));
  shares.add(49);
  EXPECT_TRUE(shares.yields(49, kAlone));
  EXPECT_FALSE(shares.yields(48, kAlone)) << "has less than the mean of its port";
}

TEST(FairShare, APortThatHasNothingIsWithinItsPart) {
  FairShare shares(2);
  for (int i = 0; i < 90; ++i) shares.add(1);
  EXPECT_TRUE(shares.within(0x100));
  EXPECT_TRUE(shares.yields(1, 0x100));
}

}  // namespace
}  // namespace surety
