// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/udp/udp_sender.h"

#include <gtest/gtest.h>

#include <vector>

namespace surety::endpoints {
namespace {

using namespace literals;

constexpr Time kStart = Time(5s);
constexpr Duration kAlways = Duration::zero();

// The departures of the first n packets when each leaves on time, relative to the start.
std::vector<Duration> departures(Cbr cbr, int n) {
  std::vector<Duration> out;
  for (int i = 0; i < n; ++i) {
    out.push_back(cbr.next_send() - kStart);
    cbr.on_sent(cbr.next_send());
  }
  return out;
}

TEST(Cbr, PacketsLeaveAtMultiplesOfTheirTime) {
  const Cbr cbr(1000_B, 8_Mbps, kAlways, kAlways, kStart);
  EXPECT_EQ(departures(cbr, 4), (std::vector<Duration>{0ms, 1ms, 2ms, 3ms}));
}

TEST(Cbr, FractionsOfANanosecondAddUp) {
  // 64 bytes at 3 Gbit/s: 170.666.. ns.
  const Cbr cbr(64_B, 3_Gbps, kAlways, kAlways, kStart);
  EXPECT_EQ(departures(cbr, 7), (std::vector<Duration>{0ns, 171ns, 342ns, 512ns, 683ns, 854ns, 1024ns}));
}

// 1500 bytes at 7 Mbit/s: 12000/7 microseconds.
TEST(Cbr, TenMillionPacketsDoNotDrift) {
  Cbr cbr(1500_B, 7_Mbps, kAlways, kAlways, kStart);
  for (int i = 0; i < 10'000'000; ++i) cbr.on_sent(cbr.next_send());
  EXPECT_EQ(cbr.next_send() - kStart, Duration((10'000'000 * std::int64_t{12'000'000} + 6) / 7));
}

TEST(Cbr, NeverFasterThanTheRateAndNeverANanosecondSlower) {
  for (const std::uint64_t rate : {1ul, 999'999'937ul, 12'345'678'901ul, 1'000'000'000'000ul}) {
    Cbr cbr(Bytes(777), Rate::bits_per_second(rate), kAlways, kAlways, kStart);
    for (std::uint64_t n = 0; n < 1000; ++n) {
      const auto sent = static_cast<unsigned __int128>((cbr.next_send() - kStart).count()) * rate;
      const auto exact = static_cast<unsigned __int128>(n * 777 * 8) * 1'000'000'000u;
      ASSERT_TRUE(sent >= exact && sent < exact + rate) << rate << ' ' << n;
      cbr.on_sent(cbr.next_send());
    }
  }
}

TEST(Cbr, BeingLateDoesNotShiftWhatFollows) {
  Cbr cbr(1000_B, 8_Mbps, kAlways, kAlways, kStart);
  cbr.on_sent(kStart + 2500us);
  EXPECT_EQ(cbr.next_send(), kStart + 1ms);
  cbr.on_sent(kStart + 2500us);
  EXPECT_EQ(cbr.next_send(), kStart + 2ms);
}

TEST(Cbr, BeyondTheGreatestLatenessItGoesOnFromThere) {
  Cbr cbr(1000_B, 8_Mbps, kAlways, kAlways, kStart);
  cbr.on_sent(kStart + Cbr::kMaxLateness);
  EXPECT_EQ(cbr.next_send(), kStart + 1ms) << "just in time to catch up";
  cbr.on_sent(kStart + 3s);
  EXPECT_EQ(cbr.next_send(), kStart + 3s + 1ms);
}

TEST(Cbr, OnAndOff) {
  const Cbr cbr(1000_B, 8_Mbps, 3ms, 10ms, kStart);
  EXPECT_EQ(departures(cbr, 7), (std::vector<Duration>{0ms, 1ms, 2ms, 13ms, 14ms, 15ms, 26ms}));
}

TEST(Cbr, ThePauseStopsTheClockOfTheRate) {
  // A packet each 2 ms of on time, and 3 ms of it before each pause of 10 ms.
  const Cbr cbr(1000_B, 4_Mbps, 3ms, 10ms, kStart);
  EXPECT_EQ(departures(cbr, 5), (std::vector<Duration>{0ms, 2ms, 14ms, 26ms, 28ms}));
}

TEST(Cbr, PhasesShorterThanAPacketKeepTheAverage) {
  // 1 ms on, 4 ms off; a packet takes 3.5 ms of on time: it is due half way through each 3rd or 4th phase.
  const Cbr cbr(3500_B, 8_Mbps, 1ms, 4ms, kStart);
  EXPECT_EQ(departures(cbr, 4), (std::vector<Duration>{0ms, 15ms + 500us, 35ms, 50ms + 500us}));
}

TEST(Cbr, ResumesInTheNextOnPhase) {
  Cbr cbr(1000_B, 8_Mbps, 3ms, 97ms, kStart);
  cbr.on_sent(kStart + 150ms);  // in a pause
  EXPECT_EQ(cbr.next_send(), kStart + 200ms);
  cbr.on_sent(kStart + 200ms);
  EXPECT_EQ(cbr.next_send(), kStart + 201ms);
  cbr.on_sent(kStart + 1001500us);  // in the on phase from 1000 ms
  EXPECT_EQ(cbr.next_send(), kStart + 1002500us);
  cbr.on_sent(cbr.next_send());
  EXPECT_EQ(cbr.next_send(), kStart + 1100500us);
}

TEST(Cbr, APauseBeyondAllTimeIsForEver) {
  Cbr cbr(9000_B, Rate::bits_per_second(1), 1ns, 1000h, kStart);
  cbr.on_sent(kStart);
  EXPECT_EQ(cbr.next_send(), kNever);
}

}  // namespace
}  // namespace surety::endpoints
