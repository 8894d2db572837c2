// SPDX-License-Identifier: BSD-3-Clause
#include "conditioners/release_wheel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "conditioners/rng.h"

namespace surety {
namespace {

using namespace literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Time at(std::int64_t ns) {
  return Time(Duration(ns));
}

std::vector<std::uint32_t> expire(ReleaseWheel& wheel, Time now, std::size_t room = 1000) {
  std::vector<std::uint32_t> keys(room);
  keys.resize(wheel.expire(now, keys));
  return keys;
}

TEST(ReleaseWheel, SlotsArePowersOfTwo) {
  EXPECT_EQ(ReleaseWheel(1, 1000ns, 64, at(0)).slot(), 1024ns);
  EXPECT_EQ(ReleaseWheel(1, 1024ns, 64, at(0)).slot(), 1024ns);
  EXPECT_EQ(ReleaseWheel(1, 0ns, 64, at(0)).slot(), 1ns);
}

TEST(ReleaseWheel, NeverEarlyAndAtMostOneSlotLate) {
  ReleaseWheel wheel(3, 1024ns, 64, at(0));
  EXPECT_EQ(wheel.next_event(), kNever);
  wheel.insert(1, at(1));
  wheel.insert(2, at(1024));
  wheel.insert(3, at(1025));
  EXPECT_EQ(wheel.size(), 3u);
  EXPECT_EQ(wheel.next_event(), at(1024));
  EXPECT_THAT(expire(wheel, at(1023)), IsEmpty());
  EXPECT_THAT(expire(wheel, at(1024)), ElementsAre(1, 2));
  EXPECT_EQ(wheel.next_event(), at(2048));
  EXPECT_THAT(expire(wheel, at(2047)), IsEmpty());
  EXPECT_THAT(expire(wheel, at(2048)), ElementsAre(3));
  EXPECT_EQ(wheel.next_event(), kNever);
}

TEST(ReleaseWheel, PastTimesComeWithTheNextCall) {
  ReleaseWheel wheel(2, 1024ns, 64, at(0));
  EXPECT_THAT(expire(wheel, at(100'000)), IsEmpty());
  wheel.insert(1, at(5));
  EXPECT_LE(wheel.next_event(), at(100'000));
  EXPECT_THAT(expire(wheel, at(100'000)), ElementsAre(1));
}

TEST(ReleaseWheel, TimesBeyondTheHorizonAreParkedInTheLastSlot) {
  ReleaseWheel wheel(2, 1024ns, 64, at(0));
  wheel.insert(1, kNever);
  wheel.insert(2, at(63 * 1024));
  EXPECT_EQ(wheel.next_event(), at(63 * 1024));
  EXPECT_THAT(expire(wheel, at(63 * 1024 - 1)), IsEmpty());
  EXPECT_THAT(expire(wheel, at(63 * 1024)), ElementsAre(1, 2));
}

TEST(ReleaseWheel, EarliestSlotFirstAcrossTheWrap) {
  ReleaseWheel wheel(4, 1024ns, 64, at(60 * 1024));
  wheel.insert(1, at(70 * 1024));
  wheel.insert(2, at(61 * 1024));
  wheel.insert(3, at(123 * 1024));  // the slot before the cursor's
  wheel.insert(4, at(64 * 1024));
  EXPECT_THAT(expire(wheel, at(1'000'000'000)), ElementsAre(2, 4, 1, 3));
}

TEST(ReleaseWheel, WhatDoesNotFitComesWithTheNextCall) {
  ReleaseWheel wheel(5, 1024ns, 64, at(0));
  for (std::uint32_t key = 1; key <= 5; ++key) wheel.insert(key, at(key < 4 ? 1024 : 2048));
  EXPECT_THAT(expire(wheel, at(9999), 2), ElementsAre(1, 2));
  EXPECT_EQ(wheel.size(), 3u);
  EXPECT_LE(wheel.next_event(), at(9999));
  wheel.insert(1, at(0));  // behind what has waited longer
  EXPECT_THAT(expire(wheel, at(9999), 0), IsEmpty());
  EXPECT_THAT(expire(wheel, at(9999), 3), ElementsAre(3, 1, 4));
  EXPECT_THAT(expire(wheel, at(9999), 3), ElementsAre(5));
}

TEST(ReleaseWheel, RemoveAndMove) {
  ReleaseWheel wheel(3, 1024ns, 64, at(0));
  wheel.remove(1);
  EXPECT_FALSE(wheel.contains(1));
  for (std::uint32_t key = 1; key <= 3; ++key) wheel.insert(key, at(1024));
  wheel.insert(1, at(4096));
  wheel.remove(2);
  EXPECT_TRUE(wheel.contains(1));
  EXPECT_FALSE(wheel.contains(2));
  EXPECT_EQ(wheel.size(), 2u);
  EXPECT_THAT(expire(wheel, at(2048)), ElementsAre(3));
  EXPECT_THAT(expire(wheel, at(4096)), ElementsAre(1));
  EXPECT_FALSE(wheel.contains(1));
}

TEST(ReleaseWheel, TimeGoingBackwardsGivesNothing) {
  ReleaseWheel wheel(1, 1024ns, 64, at(0));
  expire(wheel, at(1'000'000));
  wheel.insert(1, at(2'000'000));
  EXPECT_THAT(expire(wheel, at(0)), IsEmpty());
  EXPECT_EQ(wheel.size(), 1u);
}

// The specification in a multimap: due tick -> keys in the order of insertion.
class Model {
 public:
  Model(int shift, std::int64_t slots, std::int64_t cursor) : shift_(shift), slots_(slots), cursor_(cursor) {}
  void insert(std::uint32_t key, std::int64_t when) {
    remove(key);
    const std::int64_t size = std::int64_t{1} << shift_;
    due_.emplace(std::clamp((when + size - 1) / size, cursor_, cursor_ + slots_ - 1), key);
  }
  void remove(std::uint32_t key) {
    std::erase_if(due_, [key](const auto& entry) { return entry.second == key; });
  }
  std::vector<std::uint32_t> expire(std::int64_t now) {
    std::vector<std::uint32_t> keys;
    const auto end = due_.upper_bound(now >> shift_);
    for (auto i = due_.begin(); i != end; ++i) keys.push_back(i->second);
    due_.erase(due_.begin(), end);
    cursor_ = std::max(cursor_, now >> shift_);
    return keys;
  }
  Time next_event() const { return due_.empty() ? kNever : at(due_.begin()->first << shift_); }
  std::size_t size() const { return due_.size(); }

 private:
  int shift_;
  std::int64_t slots_, cursor_;
  std::multimap<std::int64_t, std::uint32_t> due_;
};

TEST(ReleaseWheel, BehavesAsTheModel) {
  constexpr std::uint32_t kKeys = 300;
  Rng rng(23);
  std::int64_t now = 123'456'789;
  ReleaseWheel wheel(kKeys, 256ns, 512, at(now));
  Model model(8, 512, now >> 8);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint32_t key = 1 + rng.next() % kKeys;
    const std::uint32_t action = rng.next() % 8;
    if (action < 5) {
      const std::int64_t when = now - 2000 + rng.next() % 200'000;  // from the past to beyond the horizon
      wheel.insert(key, at(when));
      model.insert(key, when);
    } else if (action == 5) {
      wheel.remove(key);
      model.remove(key);
    } else {
      now += rng.next() % (rng.next() % 50 == 0 ? 1'000'000 : 3000);
      const auto expected = model.expire(now);
      std::vector<std::uint32_t> got;
      const std::size_t room = 1 + rng.next() % 20;
      for (auto some = expire(wheel, at(now), room); !some.empty(); some = expire(wheel, at(now), room)) {
        got.insert(got.end(), some.begin(), some.end());
      }
      ASSERT_EQ(got, expected) << i;
    }
    ASSERT_EQ(wheel.size(), model.size()) << i;
    ASSERT_EQ(wheel.next_event(), model.next_event()) << i;
  }
}

}  // namespace
}  // namespace surety
