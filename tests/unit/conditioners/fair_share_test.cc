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

}  // namespace
}  // namespace surety
