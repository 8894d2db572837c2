// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/engine/timer_wheel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "conditioners/rng.h"

namespace surety::endpoints {
namespace {

using namespace literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr Time at(Duration d) {
  return Time(d);
}
std::vector<std::uint32_t> expire(TimerWheel& wheel, Time now, std::size_t room = 1000) {
  std::vector<std::uint32_t> keys(room);
  keys.resize(wheel.expire(now, keys));
  return keys;
}

TEST(TimerWheel, SlotsArePowersOfTwo) {
  EXPECT_EQ(TimerWheel(1, 200ns, at(0ns)).slot(), 256ns);
  EXPECT_EQ(TimerWheel(1, 256ns, at(0ns)).slot(), 256ns);
  EXPECT_EQ(TimerWheel(1, 0ns, at(0ns)).slot(), 8ns);
  EXPECT_GE(TimerWheel(1, 256ns, at(0ns)).horizon(), 1000s);
}

TEST(TimerWheel, NeverEarlyAndLessThanOneSlotLate) {
  TimerWheel wheel(3, 256ns, at(0ns));
  EXPECT_EQ(wheel.next_event(), kNever);
  wheel.insert(1, at(1ns));
  wheel.insert(2, at(256ns));
  wheel.insert(3, at(257ns));
  EXPECT_EQ(wheel.size(), 3u);
  EXPECT_EQ(wheel.next_event(), at(256ns));
  EXPECT_THAT(expire(wheel, at(255ns)), IsEmpty());
  EXPECT_THAT(expire(wheel, at(256ns)), UnorderedElementsAre(1, 2));
  EXPECT_EQ(wheel.next_event(), at(512ns));
  EXPECT_THAT(expire(wheel, at(511ns)), IsEmpty());
  EXPECT_THAT(expire(wheel, at(512ns)), ElementsAre(3));
  EXPECT_EQ(wheel.next_event(), kNever);
  EXPECT_EQ(wheel.size(), 0u);
}

TEST(TimerWheel, PastTimesComeWithTheNextCall) {
  TimerWheel wheel(2, 256ns, at(1s));
  wheel.insert(1, Time::min());
  wheel.insert(2, at(1ms));
  EXPECT_LE(wheel.next_event(), at(1s));
  EXPECT_THAT(expire(wheel, at(1s)), UnorderedElementsAre(1, 2));
}

TEST(TimerWheel, AKeyIsInOnlyOnce) {
  TimerWheel wheel(1, 256ns, at(0ns));
  wheel.insert(1, at(10us));
  wheel.insert(1, at(5us));
  EXPECT_EQ(wheel.size(), 1u);
  EXPECT_THAT(expire(wheel, at(6us)), ElementsAre(1));
  EXPECT_THAT(expire(wheel, at(20us)), IsEmpty());
}

TEST(TimerWheel, RemovedKeysDoNotComeOut) {
  TimerWheel wheel(4, 256ns, at(0ns));
  wheel.remove(1);
  for (const std::uint32_t key : {1u, 2u, 3u}) wheel.insert(key, at(1us));
  wheel.insert(4, at(10s));
  wheel.remove(2);
  wheel.remove(4);
  wheel.remove(4);
  EXPECT_EQ(wheel.size(), 2u);
  EXPECT_THAT(expire(wheel, at(100s)), UnorderedElementsAre(1, 3));
}

TEST(TimerWheel, TakesNoMoreThanThereIsRoomFor) {
  TimerWheel wheel(5, 256ns, at(0ns));
  for (std::uint32_t key = 1; key <= 5; ++key) wheel.insert(key, at(1us));
  auto keys = expire(wheel, at(1us + 256ns), 2);
  EXPECT_EQ(keys.size(), 2u);
  EXPECT_LE(wheel.next_event(), at(1us + 256ns));
  for (const std::uint32_t key : expire(wheel, at(1us + 256ns), 10)) keys.push_back(key);
  EXPECT_THAT(keys, UnorderedElementsAre(1, 2, 3, 4, 5));
}

TEST(TimerWheel, TheQueueComesFirstAndInOrder) {
  TimerWheel wheel(6, 256ns, at(0ns));
  wheel.insert(1, at(1us));
  wheel.enqueue(2);
  wheel.enqueue(3);
  wheel.enqueue_first(4);
  wheel.enqueue(1);  // moves
  wheel.insert(5, at(512ns));
  EXPECT_EQ(wheel.size(), 5u);
  EXPECT_EQ(wheel.next_event(), at(0ns));
  EXPECT_THAT(expire(wheel, at(512ns), 2), ElementsAre(4, 2));
  wheel.remove(3);
  EXPECT_THAT(expire(wheel, at(512ns)), ElementsAre(1, 5));
  wheel.enqueue_first(6);
  EXPECT_THAT(expire(wheel, at(512ns)), ElementsAre(6));
  EXPECT_EQ(wheel.size(), 0u);
}

TEST(TimerWheel, DueKeysLineUpBehindTheQueue) {
  TimerWheel wheel(3, 256ns, at(0ns));
  wheel.insert(3, at(256ns));
  wheel.enqueue(1);
  wheel.enqueue(2);
  EXPECT_THAT(expire(wheel, at(256ns), 2), ElementsAre(1, 2));
  wheel.enqueue(1);
  wheel.enqueue(2);
  EXPECT_THAT(expire(wheel, at(256ns), 2), ElementsAre(3, 1));
}

TEST(TimerWheel, AKeyCoversWhatIsNoEarlier) {
  TimerWheel wheel(2, 256ns, at(0ns));
  EXPECT_FALSE(wheel.covers(1, at(1s)));
  wheel.insert(1, at(1000ns));
  EXPECT_TRUE(wheel.covers(1, at(1000ns)));
  EXPECT_TRUE(wheel.covers(1, at(800ns)));  // of the same slot
  EXPECT_FALSE(wheel.covers(1, at(768ns)));
  EXPECT_TRUE(wheel.covers(1, kNever));
  wheel.insert(1, at(50s));
  EXPECT_TRUE(wheel.covers(1, at(50s)));
  EXPECT_FALSE(wheel.covers(1, at(49s)));
  wheel.enqueue(2);
  EXPECT_TRUE(wheel.covers(2, Time::min()));
}

// From 1 us to 100 s, the wheels' borders among them.
TEST(TimerWheel, EveryDistanceIsExact) {
  TimerWheel wheel(1, 256ns, at(12345ns));
  Time now = at(12345ns);
  for (std::int64_t d = 1000; d <= 100'000'000'000; d = d * 5 / 3) {
    const Time when = now + Duration(d);
    const Time slot = Time((when.time_since_epoch() + 255ns) / 256 * 256);
    wheel.insert(1, when);
    while (wheel.next_event() < slot) {
      const Time event = wheel.next_event();
      ASSERT_THAT(expire(wheel, event), IsEmpty());
      ASSERT_GT(wheel.next_event(), event);
    }
    ASSERT_THAT(expire(wheel, slot - 1ns), IsEmpty());
    ASSERT_EQ(wheel.next_event(), slot);
    ASSERT_THAT(expire(wheel, slot), ElementsAre(1)) << d;
    now = slot;
  }
}

TEST(TimerWheel, BeyondTheHorizonComesOutThereAndEarly) {
  TimerWheel wheel(1, 256ns, at(0ns));
  wheel.insert(1, at(100h));
  EXPECT_THAT(expire(wheel, at(wheel.horizon() - 1s)), IsEmpty());
  EXPECT_THAT(expire(wheel, at(wheel.horizon() + 1s)), ElementsAre(1));
}

// Against a sorted map, with jumps of every size: exact to the slot, earliest first.
TEST(TimerWheel, BehavesLikeASortedMap) {
  constexpr std::uint32_t kKeys = 300;
  TimerWheel wheel(kKeys, 256ns, at(0ns));
  std::map<std::uint32_t, std::int64_t> model;  // key: tick
  Rng rng(5);
  std::int64_t now = 0;
  const auto any_distance = [&] { return std::int64_t{rng.next()} << 6 >> rng.next() % 30; };  // up to 274 s
  for (int step = 0; step < 60'000; ++step) {
    for (int i = 0; i < 3; ++i) {
      const std::uint32_t key = rng.next() % kKeys + 1;
      const std::int64_t when = now + any_distance();
      wheel.insert(key, at(Duration(when)));
      model[key] = (when + 255) / 256;
    }
    if (const std::uint32_t key = rng.next() % kKeys + 1; rng.next() % 4 == 0) {
      wheel.remove(key);
      model.erase(key);
    }
    now += any_distance() >> 8;
    std::int64_t last = 0;
    for (const std::uint32_t key : expire(wheel, at(Duration(now)))) {
      ASSERT_TRUE(model.contains(key));
      ASSERT_LE(model[key], now / 256);
      ASSERT_GE(model[key], last);
      last = model[key];
      model.erase(key);
    }
    for (const auto& [key, tick] : model) ASSERT_GT(tick, now / 256) << key;
    ASSERT_EQ(wheel.size(), model.size());
    ASSERT_GT(wheel.next_event(), at(Duration(now)));
  }
}

}  // namespace
}  // namespace surety::endpoints
