// SPDX-License-Identifier: BSD-3-Clause
#include "conditioners/customer_limits.h"

#include <gtest/gtest.h>

namespace surety {
namespace {

// A room of 900 places.
struct Room {
  CustomerQuota shares{2};
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

TEST(CustomerQuota, OneAloneHasEightNinths) {
  Room room;
  EXPECT_EQ(room.fill(3), 800u);
}

TEST(CustomerQuota, SomeRoomIsLeftHoweverManyWantAll) {
  Room room;
  for (Customer who = 0; who < 256; ++who) room.fill(who);
  EXPECT_EQ(room.used, 848u) << "a port's sixteen seventeenths, rounded up";
  EXPECT_TRUE(room.enter(0x100)) << "of another port";
}

TEST(CustomerQuota, WhatIsGivenBackIsThereAgain) {
  Room room;
  room.fill(3);
  for (int i = 0; i < 100; ++i) room.shares.remove(3), --room.used;
  EXPECT_EQ(room.shares.of(3), 700u);
  EXPECT_EQ(room.fill(3), 100u);
}

TEST(CustomerQuota, NobodyIsRefusedWhereThereIsPlenty) {
  Room room;
  while (CustomerQuota::above_reserve(900 - room.used, 900)) ASSERT_TRUE(room.enter(3));
  EXPECT_EQ(room.used, 800u);
}

TEST(CustomerQuota, AHolderYieldsUntilTheNewcomerHasAsMuch) {
  CustomerQuota shares(2);
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

TEST(CustomerQuota, WhoHasNoMoreThanItsPartYieldsToNobody) {
  CustomerQuota shares(1);
  for (int i = 0; i < 90; ++i) shares.add(1);
  for (int i = 0; i < 10; ++i) shares.add(2);
  EXPECT_FALSE(shares.yields(2, 3));
  EXPECT_TRUE(shares.yields(1, 3));
}

// A port is a port, however many customers it has: those behind another cannot take more than half.
TEST(CustomerQuota, BetweenPortsThePartOfThePortCounts) {
  constexpr Customer kAlone = 0x100;
  CustomerQuota shares(2);
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

TEST(CustomerQuota, APortThatHasNothingIsWithinItsPart) {
  CustomerQuota shares(2);
  for (int i = 0; i < 90; ++i) shares.add(1);
  EXPECT_TRUE(shares.within(0x100));
  EXPECT_TRUE(shares.yields(1, 0x100));
}

using namespace std::chrono_literals;
constexpr Time kStart{};
constexpr Customer of(std::uint8_t port, std::uint8_t part) {
  return static_cast<Customer>(port << 8 | part);
}

// How many of `n` events a millisecond of this customer are permitted in [from, to).
std::uint32_t permitted(CustomerLimiter& limit, Customer who, std::uint32_t n, Time from, Time to) {
  std::uint32_t count = 0;
  for (Time t = from; t < to; t += 1ms)
    for (std::uint32_t i = 0; i < n; ++i) count += limit.permit(who, t);
  return count;
}

TEST(CustomerLimiter, ThePortsThatAreThereShareIt) {
  // One wants all that it gets; what is another port's share is the rate over the ports that are there.
  const auto of_the_other = [](std::size_t sharing) {
    CustomerLimiter limit(1000, 100, 32, kStart);
    limit.share_among(sharing);
    permitted(limit, of(0, 1), 1000, kStart, kStart + 1s);
    std::uint32_t count = 0;
    for (Time t = kStart + 1s; t < kStart + 3s; t += 1ms) {
      for (int i = 0; i < 100; ++i) limit.permit(of(0, 1), t);
      for (int i = 0; i < 100; ++i) count += limit.permit(of(1, 1), t);
    }
    return count;
  };
  EXPECT_GT(of_the_other(2), 2 * of_the_other(32));
}

TEST(CustomerLimiter, OneAloneHasTheWholeRate) {
  CustomerLimiter limit(1000, 100, 4, kStart);
  const std::uint32_t at_once = permitted(limit, of(2, 7), 1000, kStart, kStart + 1ms);
  EXPECT_GE(at_once, 100u);
  EXPECT_LE(at_once, 200u);
  EXPECT_NEAR(permitted(limit, of(2, 7), 10, kStart + 1ms, kStart + 1ms + 2s), 2000, 10);
}

TEST(CustomerLimiter, NeverMoreThanTheRateAndWhatWasThereAtOnce) {
  CustomerLimiter limit(1000, 100, 4, kStart);
  std::uint32_t all = 0;
  for (Time t = kStart; t < kStart + 1s; t += 1ms)
    for (std::uint32_t who = 0; who < 1024; who += 16) all += limit.permit(static_cast<Customer>(who), t);
  EXPECT_LE(all, 1200u);
  EXPECT_GE(all, 1000u);
}

// A port's share is 250 a second, an eighth of it 31.
TEST(CustomerLimiter, TheModestAreNotRefusedBecauseOfOneWhoWantsAll) {
  CustomerLimiter limit(1000, 100, 4, kStart);
  std::uint32_t neighbour = 0, elsewhere = 0, greedy = 0;
  for (int ms = 0; ms < 10'000; ++ms) {
    const Time t = kStart + ms * 1ms;
    greedy += permitted(limit, of(1, 1), 40, t, t + 1ms);
    if (ms % 40 != 39) continue;
    neighbour += limit.permit(of(1, 2), t);
    elsewhere += limit.permit(of(0, 1), t);
  }
  EXPECT_EQ(neighbour, 250u);
  EXPECT_EQ(elsewhere, 250u);
  EXPECT_NEAR(greedy, 9'600, 100) << "what the others leave";
}

TEST(CustomerLimiter, WhoHasAllPartsOfAPortHasThatPortAlone) {
  CustomerLimiter limit(1000, 100, 4, kStart);
  std::uint32_t elsewhere = 0;
  for (int ms = 0; ms < 10'000; ++ms) {
    const Time t = kStart + ms * 1ms;
    for (int part = 0; part < 256; ++part) limit.permit(of(1, static_cast<std::uint8_t>(part)), t);
    if (ms % 5 == 4) elsewhere += limit.permit(of(0, static_cast<std::uint8_t>(ms / 5)), t);
  }
  EXPECT_EQ(elsewhere, 2'000u) << "200 of the 250 a second that are its port's";
}

}  // namespace
}  // namespace surety
