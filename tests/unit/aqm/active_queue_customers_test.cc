// SPDX-License-Identifier: BSD-3-Clause
// The parts of customers in the places beyond the limit.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "aqm/active_queue.h"

namespace surety {
namespace {

constexpr Time kStart{};
constexpr Customer kFirst = 0, kSecond = 1, kOfOtherPort = 1 << 8;

// Small packets of customers at a queue with room for 100 packets of any size and 900 small ones.
class CustomersOfAQueue : public testing::Test {
 protected:
  // Admitted of as many packets as never have room, one by one or in bursts.
  std::uint32_t admitted(FlowId customer, std::size_t burst = 1, std::uint16_t length = 46) {
    const std::vector<Packet> packets(burst,
                                      {.flow = customer, .length = length, .precedence = Precedence::in});
    const std::uint32_t before = queue_.depth();
    for (std::size_t n = 0; n < 1100; n += burst) {
      std::array<ActiveQueue::Notice, 64> notices;
      const std::array<bool, 64> ecn_capable{};
      if (burst == 1)
        queue_.enqueue(packets[0], false, kStart);
      else
        queue_.enqueue(packets, std::span(ecn_capable).first(burst), notices, kStart);
    }
    return queue_.depth() - before;
  }
  void leave(std::uint32_t packets) {
    std::vector<Packet> out(packets);
    queue_.dequeue(out, kStart);
  }

  ActiveQueue queue_{{.limit = 100, .rio = {}, .beyond = 900}, 1};
};

// With n admitted, one more where n < 8 (1000 - n).
TEST_F(CustomersOfAQueue, OneAloneGetsEightNinthsOfThePlaces) {
  EXPECT_EQ(admitted(kFirst), 889u);
  leave(889);
  EXPECT_EQ(admitted(kFirst, 32), 889u) << "in bursts, too";
}

TEST_F(CustomersOfAQueue, OthersFindPlacesBesideOneThatFillsTheQueue) {
  admitted(kFirst);
  EXPECT_EQ(admitted(kSecond), 53u) << "a port has at most 16 times what is free";
  EXPECT_EQ(admitted(kOfOtherPort), 52u) << "51 < 8 * 7, but not 52 < 8 * 6";
}

TEST_F(CustomersOfAQueue, PlacesOfPacketsThatLeftAreFree) {
  admitted(kFirst);
  admitted(kSecond);
  leave(942);
  EXPECT_EQ(admitted(kSecond), 889u);
  leave(100);
  EXPECT_EQ(admitted(kSecond), 100u);
}

TEST_F(CustomersOfAQueue, OneMayFillTheLimitItself) {
  EXPECT_EQ(admitted(kFirst, 1, 1500), 100u);
  leave(1);
  EXPECT_EQ(admitted(kFirst, 1, 1500), 1u);
}

TEST_F(CustomersOfAQueue, PacketsWithoutCustomerHaveAllPlaces) {
  admitted(kFirst);
  EXPECT_EQ(admitted(kNoFlow), 111u);
}

// A reload from `count: packets` to bytes, in which packets wait, and back.
TEST_F(CustomersOfAQueue, WaitingPacketsCountAfterAReload) {
  ActiveQueue by_packets({.limit = 1000, .rio = {}}, 1),
      by_bytes({.limit = 100, .rio = {}, .beyond = 900}, 1);
  std::swap(queue_, by_packets);
  EXPECT_EQ(admitted(kFirst), 1000u);
  leave(600);
  queue_.adopt(by_bytes, kStart);
  EXPECT_EQ(admitted(kFirst), 489u);
  ActiveQueue again({.limit = 1000, .rio = {}}, 1);
  queue_.adopt(again, kStart);
  EXPECT_EQ(admitted(kSecond), 111u);
  leave(1000);
  EXPECT_EQ(admitted(kSecond), 1000u);
}

}  // namespace
}  // namespace surety
