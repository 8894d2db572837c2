// SPDX-License-Identifier: BSD-3-Clause
// What a shaper lets through, and how long a strict packet waits for those of others.
#include <gtest/gtest.h>

#include "aqm/hierarchy/hierarchy.h"
#include "tests/unit/aqm/hierarchy/saturation.h"
#include "tests/unit/aqm/hierarchy/tree.h"

namespace surety {
namespace {

using namespace literals;

constexpr auto kPort = Hierarchy::kPort;

// From one departure to another one about a second later: as many bytes as the rate gives, to 0.1 %. A packet
// leaves when those before it are paid for: the first one counts, the last one does not.
void keeps_its_rate(Rate rate, bool of_group, Duration turn) {
  Tree t;
  if (of_group) t.group(0, 1, rate);
  std::optional<Rate> own;
  if (!of_group) own = rate;
  Saturation load(t, 2);
  load.lengths = {64, 576, 1500};
  load.depth = 64;
  const InterfaceParams& bought = t.bought({data_class(), data_class()}, 1, own);
  t.interface(0, of_group ? 0 : kPort, bought);
  load.begin(0, 0);
  load.begin(0, 1);
  load.run(300ms, turn);
  const Time begin = load.last();
  const double first = load.last_length();
  load.forget();
  load.run(1s, turn);
  const double elapsed = seconds(load.last() - begin);
  const double paid = rate.bytes_per_second() * elapsed;
  const double left = first + static_cast<double>(load.all()) - load.last_length();
  EXPECT_NEAR(left, paid, paid * 0.001) << rate.bits_per_second();
}

TEST(HierarchyShapers, OfAnInterfaceKeepTheirRate) {
  keeps_its_rate(64_kbps, false, 1us);
  keeps_its_rate(1_Mbps, false, 1us);
  keeps_its_rate(100_Mbps, false, 1us);
  keeps_its_rate(10_Gbps, false, 10us);
}
TEST(HierarchyShapers, OfAGroupKeepTheirRate) {
  keeps_its_rate(64_kbps, true, 1us);
  keeps_its_rate(10_Gbps, true, 10us);
}

// At 64 kbit/s a packet of 1,500 takes 187.5 ms: so from one to the next of equal length, to a slot.
TEST(HierarchyShapers, SpacePacketsToASlotOfTheTimers) {
  Tree t;
  t.interface(0, kPort, t.bought({data_class()}, 1, 64_kbps));
  t.fill(0, 0, 1500, 20);
  Time last{};
  for (int n = 0; n < 20; ++n) {
    while (t.next() < 0) ASSERT_TRUE(t.wait(t.now + 1s));
    // The burst is two packets; the third one waits for the credit to be more than 0.
    if (n > 2) {
      EXPECT_NEAR(static_cast<double>((t.now - last).count()), 187.5e6, 4100) << n;
    }
    last = t.now;
  }
}

// Below a packet a second.
TEST(HierarchyShapers, MayBeSlowerThanAPacketASecond) {
  Tree t;
  t.interface(0, kPort, t.bought({data_class()}, 1, 1_kbps));
  t.fill(0, 0, 1500, 4);
  for (int n = 0; n < 4; ++n)
    while (t.next() < 0) ASSERT_TRUE(t.wait(t.now + 13s));
  // The burst of 3,000 bytes lets the first two go; the third a moment after, the fourth 12 s later.
  EXPECT_NEAR(seconds(t.now - Tree::kStart), 12, 0.001);
}

TEST(HierarchyShapers, OfRateZeroLetTheirBurstGoAndNothingMore) {
  Tree t;
  t.interface(0, kPort, t.bought({data_class()}, 1, 0_bps));
  t.interface(1, kPort, t.bought({strict_class(0_bps)}));
  t.fill(0, 0, 1500, 5);
  t.fill(1, 0, 1500, 5);
  int n = 0;
  while (t.next() >= 0) ++n;
  EXPECT_EQ(n, 4);
  EXPECT_EQ(t.h.next_event(t.now), kNever);
  t.now += 100s;
  EXPECT_EQ(t.next(), -1);
}

TEST(HierarchyShapers, AGroupThatSoldMoreThanItHasKeepsItsRate) {
  Tree t(1_Gbps);
  t.group(0, 1, 10_Mbps);
  Saturation load(t, 100);
  const InterfaceParams& bought = t.bought({data_class()}, 1, 50_Mbps);  // each of them faster than the group
  for (std::uint32_t i = 0; i < 100; ++i) {
    t.interface(i, 0, bought);
    load.begin(i, 0);
  }
  load.run(100ms);
  load.forget();
  load.run(2s, 10us);
  EXPECT_NEAR(static_cast<double>(load.all()), 10e6 / 8 * 2, 2500);
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_NEAR(static_cast<double>(load.bytes(i)), 25'000, 3000);
}

// A phone's packet comes at any moment, while everybody has data without end: it waits for at most one full
// packet at each of the three levels, and a slot of the timers for each shaper that waits.
TEST(HierarchyShapers, LetAPhoneWaitForOneFullPacketAtEachLevel) {
  const Rate port = 100_Mbps, group = 20_Mbps, interface = 5_Mbps;
  Tree t(port);
  t.group(0, 1, group);
  const InterfaceParams& bought = t.bought({strict_class(1_Mbps), data_class()}, 1, interface);
  for (std::uint32_t i = 0; i < 8; ++i) t.interface(i, i < 6 ? 0 : kPort, bought);
  Rng rng(7);
  Duration bound = 2 * Hierarchy::kTimerSlot + Duration(3);
  for (const Rate r : {port, group, interface}) bound += transmission_time(1500_B, r);
  Duration longest{};
  for (int call = 0; call < 2000; ++call) {
    const Time when = t.now + Duration(10'000'000 + rng.next() % 5'000'000);
    const auto busy = [&] {
      for (std::uint32_t i = 0; i < 8; ++i)
        while (t.h.queue(i, 1).depth() < 4) t.put(i, 1, 1500);
    };
    for (busy(); t.now < when;) {
      if (t.next() >= 0)
        busy();
      else if (!t.wait(when))
        t.now = when;
    }
    t.put(rng.next() % 8, 0, 200);
    for (Packet p;;) {
      if (!t.take(p)) {
        ASSERT_TRUE(t.wait(t.now + 1s));
        continue;
      }
      busy();
      if (p.flow % 64 == 0) break;
    }
    ASSERT_LE((t.now - when).count(), bound.count()) << call;
    longest = std::max(longest, t.now - when);
  }
  EXPECT_GT(longest, transmission_time(1500_B, interface) / 2);  // it did wait
}

}  // namespace
}  // namespace surety
