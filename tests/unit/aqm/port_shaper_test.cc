// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/port_shaper.h"

#include <gtest/gtest.h>

#include <limits>

#include "conditioners/rng.h"

namespace surety {
namespace {

using namespace literals;

constexpr Time kStart{};
constexpr WireOverhead kEthernet{WireOverhead::Kind::bytes, 38};
constexpr WireOverhead kAtm{WireOverhead::Kind::atm, 0};

TEST(WireOverhead, AddsBytesOrCountsStartedCells) {
  EXPECT_EQ(WireOverhead{}.wire_bytes(576), 576u);
  EXPECT_EQ(kEthernet.wire_bytes(46), 84u);
  EXPECT_EQ(kAtm.wire_bytes(1), 53u);
  EXPECT_EQ(kAtm.wire_bytes(48), 53u);
  EXPECT_EQ(kAtm.wire_bytes(49), 106u);
  EXPECT_EQ(kAtm.wire_bytes(576), 636u);
}

TEST(DefaultBurst, IsTwoPacketsOrAHundredMicroseconds) {
  EXPECT_EQ(default_burst(1_Mbps), 3000_B);
  EXPECT_EQ(default_burst(240_Mbps), 3000_B);
  EXPECT_EQ(default_burst(10_Gbps), 125_kB);
}

TEST(PortShaper, WithoutARateIsAlwaysReady) {
  PortShaper shaper({}, kStart);
  for (int i = 0; i < 1000; ++i) shaper.sent(1500);
  EXPECT_TRUE(shaper.ready());
  EXPECT_EQ(shaper.next_event(kStart), kStart);
}

TEST(PortShaper, AtRateZeroOnlyTheBurstLeaves) {
  PortShaper shaper({.rate = 0_bps, .burst = 100_B, .overhead = {}}, kStart);
  EXPECT_TRUE(shaper.ready());
  shaper.sent(100);
  shaper.advance(kStart + 24h);
  EXPECT_FALSE(shaper.ready());
  EXPECT_EQ(shaper.next_event(kStart + 24h), kNever);
}

TEST(PortShaper, LetsAPacketPassWithoutAnyBurst) {
  PortShaper shaper({.rate = 8_Mbps, .burst = 0_B, .overhead = {}}, kStart);
  EXPECT_TRUE(shaper.ready());
  shaper.sent(1500);
  EXPECT_FALSE(shaper.ready());
}

// 1 byte is 1 us at 8 Mbit/s. The bucket holds 1000, 1500 leave: the debt of 500 is gone after 500 us, and
// from then on there is credit again.
TEST(PortShaper, SaysWhenTheNextPacketMayLeave) {
  PortShaper shaper({.rate = 8_Mbps, .burst = 1000_B, .overhead = {}}, kStart);
  EXPECT_EQ(shaper.next_event(kStart + 5us), kStart + 5us);
  shaper.sent(1500);
  const Time next = shaper.next_event(kStart);
  EXPECT_GT(next, kStart + 500us);
  EXPECT_LE(next, kStart + 500us + 2ns);
  EXPECT_EQ(shaper.next_event(kStart + 200us), next) << "however late it is asked";
  EXPECT_EQ(shaper.next_event(kStart + 700us), kStart + 700us);
  shaper.advance(kStart + 500us);
  EXPECT_FALSE(shaper.ready());
  shaper.advance(next);
  EXPECT_TRUE(shaper.ready());
}

TEST(PortShaper, AfterAPauseSendsTheBurstAndNoMore) {
  PortShaper shaper({.rate = 8_Mbps, .burst = 3000_B, .overhead = {}}, kStart);
  shaper.advance(kStart + 1h);
  int packets = 0;
  for (; shaper.ready(); ++packets) shaper.sent(1000);
  EXPECT_EQ(packets, 3);
}

// The link of the CSA paper: 34 Mbit/s of ATM carry 34 * 576/636 = 30.79 Mbit/s of 576-byte packets.
TEST(PortShaper, CarriesThePapersRateOverAtm) {
  PortShaper shaper({.rate = 34_Mbps, .burst = 3000_B, .overhead = kAtm}, kStart);
  const Time end = kStart + 1000s;
  std::uint64_t packets = 0;
  for (Time now = kStart; now <= end; now = shaper.next_event(now)) {
    shaper.advance(now);
    for (; shaper.ready(); ++packets) shaper.sent(576);
  }
  // Packets that start while 3000 bytes + 34 Mbit/s * 1000 s last.
  constexpr std::uint64_t kCell = 636 * 8, kBits = 3000 * 8 + 34'000'000ull * 1000;
  EXPECT_EQ(packets, (kBits + kCell - 1) / kCell);
  EXPECT_NEAR(static_cast<double>(packets * 576 * 8) / 1000e6, 30.792, 0.001);
}

// In units of 10^-9 bit, exact: wire bits * 10^9 against bit/s * ns.
struct Envelope {
  std::int64_t rate, allowed;  // bit/s; burst and one packet
  std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
  std::int64_t sent = 0;
  void before(Time now) { lowest = std::min(lowest, sent - rate * now.time_since_epoch().count()); }
  // In every interval that ends now: sent <= rate * T + allowed.
  bool holds(Time now) const { return sent - rate * now.time_since_epoch().count() - lowest <= allowed; }
};

TEST(PortShaper, NeverExceedsRateTimesTimePlusBurstPlusOnePacket) {
  for (const WireOverhead overhead : {WireOverhead{}, kEthernet, kAtm}) {
    Rng rng(11);
    PortShaper shaper({.rate = 10_Mbps, .burst = 4000_B, .overhead = overhead}, kStart);
    Envelope envelope{10'000'000, (4000 + overhead.wire_bytes(1500)) * kCreditPerByte};
    Time now = kStart;
    for (int i = 0; i < 20000; ++i) {
      // Mostly short steps with an eager sender, at times a long pause.
      now += Duration(rng.next() % (rng.next() % 100 == 0 ? 20'000'000 : 300'000));
      shaper.advance(now);
      for (auto wanted = rng.next() % 4; wanted > 0 && shaper.ready(); --wanted) {
        const std::uint32_t length = 40 + rng.next() % 1461;
        envelope.before(now);
        envelope.sent += overhead.wire_bytes(length) * kCreditPerByte;
        shaper.sent(length);
        ASSERT_TRUE(envelope.holds(now));
      }
    }
  }
}

TEST(PortShaper, GivesABackloggedSenderItsRateInEveryInterval) {
  Rng rng(12);
  PortShaper shaper({.rate = 10_Mbps, .burst = 3000_B, .overhead = kEthernet}, kStart);
  const std::int64_t packet = kEthernet.wire_bytes(1500) * kCreditPerByte;
  std::int64_t sent = 0, highest = 0;
  for (Time now = kStart; now < kStart + 30s;) {
    shaper.advance(now);
    while (shaper.ready()) {
      const std::uint32_t length = 40 + rng.next() % 1461;
      sent += kEthernet.wire_bytes(length) * kCreditPerByte;
      shaper.sent(length);
    }
    // Sent - rate * t never falls by more than one packet below any earlier value.
    const std::int64_t ahead = sent - 10'000'000 * now.time_since_epoch().count();
    highest = std::max(highest, ahead);
    ASSERT_GE(ahead, highest - packet);
    now += Duration(1 + rng.next() % 2'000'000);  // below burst/rate = 2.4 ms
  }
}

TEST(PortShaper, SendsSeveralAtOnceOnlyIfEachMayLeave) {
  PortShaper shaper({.rate = 8_Mbps, .burst = 3000_B, .overhead = kEthernet}, kStart);
  EXPECT_FALSE(shaper.send_all(3001)) << "the last one may have to wait";
  EXPECT_TRUE(shaper.ready()) << "nothing was sent";
  EXPECT_TRUE(shaper.send_all(2999));
  EXPECT_TRUE(shaper.ready());
  EXPECT_TRUE(shaper.send_all(1));
  EXPECT_FALSE(shaper.ready());
  EXPECT_FALSE(shaper.send_all(1));
  PortShaper unlimited({}, kStart);
  EXPECT_TRUE(unlimited.send_all(1'000'000'000));
}

// ---- other parameters

// Rates in Mbit/s, none: unlimited. 1000 bytes at 8 Mbit/s are 1 ms.
TEST(PortShaperAdopt, CreditAndDebtStay) {
  const struct {
    PortShaperParams before;
    std::uint32_t sent;
    PortShaperParams after;
    Duration wait;        // from the change, 1 ms after the sending, until ready()
    std::uint32_t burst;  // what may leave then, to the byte that overdraws
  } cases[] = {
      {{8_Mbps, 3000_B, {}}, 1000, {8_Mbps, 3000_B, {}}, 0ns, 3000},
      {{8_Mbps, 3000_B, {}}, 3000, {8_Mbps, 500_B, {}}, 0ns, 500},    // credit beyond the burst is lost
      {{8_Mbps, 3000_B, {}}, 3000, {8_Mbps, 9000_B, {}}, 0ns, 1000},  // and none is given
      {{8_Mbps, 3000_B, {}}, 6000, {8_Mbps, 3000_B, {}}, 2ms + 1ns, 0},
      {{8_Mbps, 3000_B, {}}, 6000, {80_Mbps, 3000_B, {}}, 200us + 1ns, 0},
      {{8_Mbps, 3000_B, {}}, 6000, {800_kbps, 3000_B, {}}, 20ms + 1ns, 0},
      {{8_Mbps, 3000_B, {}}, 6000, {0_bps, 3000_B, {}}, Duration::max(), 0},
      {{0_bps, 3000_B, {}}, 5000, {8_Mbps, 3000_B, {}}, 2ms + 1ns, 0},
      {{{}, 3000_B, {}}, 90'000, {8_Mbps, 2000_B, {}}, 0ns, 2000},  // a rate begins with its burst
      {{{}, 3000_B, {}}, 90'000, {8_Mbps, 9000_B, {}}, 0ns, 9000},
      {{8_Mbps, 3000_B, {}}, 90'000, {{}, 3000_B, {}}, 0ns, 90'000},
      {{8_Mbps, 3000_B, {}}, 3000, {8_Mbps, 3000_B, kEthernet}, 0ns, 1000},
  };
  for (const auto& c : cases) {
    PortShaper shaper(c.before, kStart);
    shaper.sent(c.sent);
    const Time change = kStart + 1ms;
    shaper.adopt(PortShaper(c.after, kStart), change);
    EXPECT_EQ(shaper.limited(), c.after.rate.has_value());
    const Time next = shaper.next_event(change);
    ASSERT_EQ(next == kNever ? Duration::max() : next - change, c.wait);
    if (next == kNever) continue;
    shaper.advance(next);
    if (c.burst > 0) {
      EXPECT_EQ(shaper.send_all(c.burst + 1), !shaper.limited());
      EXPECT_TRUE(shaper.send_all(c.burst)) << c.burst;
    }
  }
}

TEST(PortShaperAdopt, CountsWithTheNewOverhead) {
  PortShaper shaper({8_Mbps, 3000_B, {}}, kStart);
  shaper.adopt(PortShaper({8_Mbps, 3000_B, kAtm}, kStart), kStart);
  shaper.sent(576);
  EXPECT_TRUE(shaper.send_all(3000 - 636));
  EXPECT_FALSE(shaper.ready());
}

// Rates come, go and change under an eager sender: in every interval sent <= what the rates gave + the
// largest burst + one packet; and in each phase it gets its rate.
TEST(PortShaperAdopt, TheBoundHoldsOverEachChange) {
  Rng rng(13);
  PortShaperParams params{10_Mbps, 4000_B, kEthernet};
  PortShaper shaper(params, kStart);
  constexpr std::int64_t kLargestBurst = 9000 * kCreditPerByte, kPacket = (1500 + 38) * kCreditPerByte;
  std::int64_t given = 0, sent = 0, lowest = 0, phase = 0;  // sent - given: at its lowest, at the change
  int changes = 0;
  Time now = kStart;
  for (int i = 0; i < 100'000; ++i) {
    const Duration step(rng.next() % 300'000);
    now += step;
    if (params.rate) given += static_cast<std::int64_t>(params.rate->bits_per_second()) * step.count();
    if (rng.next() % 50 == 0) {
      if (params.rate) {
        ASSERT_GE(sent - given, phase - 2 * kPacket) << "too slow";
      }
      if (!params.rate) lowest = sent - given;
      phase = sent - given;
      params = {Rate::bits_per_second(1'000'000 + rng.next() % 20'000'000), Bytes(8000 + rng.next() % 1001),
                kEthernet};
      if (rng.next() % 4 == 0) params.rate.reset();
      shaper.adopt(PortShaper(params, now), now);
      ++changes;
    }
    shaper.advance(now);
    while (params.rate && shaper.ready()) {
      const std::uint32_t length = 40 + rng.next() % 1461;
      lowest = std::min(lowest, sent - given);
      sent += kEthernet.wire_bytes(length) * kCreditPerByte;
      shaper.sent(length);
      ASSERT_LE(sent - given - lowest, kLargestBurst + kPacket) << "too fast";
    }
  }
  EXPECT_GT(changes, 1000);
}

}  // namespace
}  // namespace surety
