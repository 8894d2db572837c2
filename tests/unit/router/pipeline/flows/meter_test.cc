// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/flows/meter.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "conditioners/rng.h"
#include "router/pipeline/flows/flow_table.h"

namespace surety {
namespace {

using namespace literals;

using enum Color;

constexpr std::uint64_t kNs = 1'000'000'000;  // of a second
constexpr std::uint64_t kMs = 1'000'000;

Time at_ns(std::uint64_t ns) {
  return Time{Duration(static_cast<std::int64_t>(ns))};
}

static_assert(sizeof(Meter::State) == sizeof(ConditionerState::meter));

struct Metered {
  Meter meter;
  ConditionerState state;
  template <class Params>
  explicit Metered(const Params& params) : meter(params) {
    meter.reset(state.meter);
  }
  Color at(std::uint64_t ns, std::uint32_t length, Color came = green) {
    return meter.check(state.meter, at_ns(ns), length, came);
  }
};

// 8 Mbit/s: a byte per microsecond.
constexpr Rate kByteAMicrosecond = 8_Mbps;

// As TokenBucket counts: exactly.
TEST(Meter, ABucketIsGreenAndBeyondItYellowOrRed) {
  const TokenBucketParams bucket(kByteAMicrosecond, Depth::bytes(3000));
  Metered marker(config::TokenBucketMarker{bucket});
  Metered police(config::Police{bucket});
  for (auto* m : {&marker, &police}) {
    const Color beyond = m == &marker ? yellow : red;
    EXPECT_EQ(m->at(5 * kMs, 3000), green) << "full, whenever the first packet comes";
    EXPECT_EQ(m->at(5 * kMs, 1), beyond);
    EXPECT_EQ(m->at(6 * kMs, 1001), beyond) << "1000 bytes have come";
    EXPECT_EQ(m->at(6 * kMs, 1000), green);
    EXPECT_EQ(m->at(6 * kMs + 999, 1), beyond);
    EXPECT_EQ(m->at(6 * kMs + 1000, 1), green);
  }
}

TEST(Meter, TellsWhatIsInItsBuckets) {
  Metered bucket(config::Police{TokenBucketParams(kByteAMicrosecond, Depth::bytes(3000))});
  bucket.at(5 * kMs, 2000);
  const auto one = bucket.meter.levels(bucket.state.meter, at_ns(5 * kMs + 500'000));
  EXPECT_EQ(one[0].tokens, 1500);
  EXPECT_EQ(one[0].depth, 3000);
  EXPECT_EQ(one[1].depth, 0);
  EXPECT_EQ(bucket.at(5 * kMs + 500'000, 1500), green) << "asking takes nothing";
  Metered two(config::SrTcm{.cir = kByteAMicrosecond, .cbs = Bytes(2000), .ebs = Bytes(1000)});
  two.at(5 * kMs, 1600);
  two.at(5 * kMs, 700);
  const auto levels = two.meter.levels(two.state.meter, at_ns(5 * kMs));
  EXPECT_EQ(levels[0].tokens, 400);
  EXPECT_EQ(levels[0].depth, 2000);
  EXPECT_EQ(levels[1].tokens, 300);
  EXPECT_EQ(levels[1].depth, 1000);
}

// RFC 2697 section 3: B <= Tc green; else B <= Te yellow; else red and nothing is taken.
TEST(SrTcm, BurstsAndRefill) {
  Metered m(config::SrTcm{kByteAMicrosecond, 3000_B, 2000_B});
  EXPECT_EQ(m.at(0, 1500), green);
  EXPECT_EQ(m.at(0, 1500), green);
  EXPECT_EQ(m.at(0, 1), yellow);
  EXPECT_EQ(m.at(0, 1999), yellow);
  EXPECT_EQ(m.at(0, 1), red);
  EXPECT_EQ(m.at(1 * kMs, 1001), red) << "1000 bytes have come";
  EXPECT_EQ(m.at(1 * kMs, 1000), green);
  EXPECT_EQ(m.at(1 * kMs, 1), red);
}

// One rate fills both: E gets what C cannot hold.
TEST(SrTcm, TheExcessBucketFillsLast) {
  Metered m(config::SrTcm{kByteAMicrosecond, 3000_B, 2000_B});
  EXPECT_EQ(m.at(0, 3000), green);
  EXPECT_EQ(m.at(0, 2000), yellow);
  EXPECT_EQ(m.at(4 * kMs, 3001), red) << "3000 in C, 1000 in E: neither is enough alone";
  EXPECT_EQ(m.at(4 * kMs, 3000), green);
  EXPECT_EQ(m.at(4 * kMs, 1001), red);
  EXPECT_EQ(m.at(4 * kMs, 1000), yellow);
  EXPECT_EQ(m.at(1000 * kMs, 3000), green);
  EXPECT_EQ(m.at(1000 * kMs, 2000), yellow);
  EXPECT_EQ(m.at(1000 * kMs, 1), red) << "buckets end at CBS and EBS";
}

TEST(SrTcm, WithoutExcessBurstThereIsNoYellow) {
  Metered m(config::SrTcm{kByteAMicrosecond, 3000_B, 0_B});
  EXPECT_EQ(m.at(0, 3000), green);
  EXPECT_EQ(m.at(0, 1), red);
  EXPECT_EQ(m.at(10 * kMs, 3001), red);
}

// RFC 2698 section 3: B > Tp red; else B > Tc yellow, from P alone; else green, from both.
TEST(TrTcm, Rfc2698) {
  Metered m(config::TrTcm{kByteAMicrosecond, 2.0 * kByteAMicrosecond, 2000_B, 5000_B});
  EXPECT_EQ(m.at(0, 2000), green);   // C 0, P 3000
  EXPECT_EQ(m.at(0, 1000), yellow);  // C 0, P 2000
  EXPECT_EQ(m.at(0, 2001), red);     // nothing taken
  EXPECT_EQ(m.at(0, 2000), yellow);  // C 0, P 0
  EXPECT_EQ(m.at(0, 1), red);
  EXPECT_EQ(m.at(1 * kMs, 1500), yellow);  // C 1000, P 2000 - 1500
  EXPECT_EQ(m.at(1 * kMs, 1000), red) << "in C there would be room";
  EXPECT_EQ(m.at(1 * kMs, 500), green);
  EXPECT_EQ(m.at(1 * kMs, 1), red);
}

// RFC 4115 section 3.1 (colour-blind): B <= Tc green, from C alone;
// else B <= Te yellow, from E alone; else red.
TEST(TrTcm, Rfc4115) {
  Metered m(config::TrTcm{kByteAMicrosecond, 3.0 * kByteAMicrosecond, 2000_B, 4000_B, true});
  EXPECT_EQ(m.at(0, 2000), green);
  EXPECT_EQ(m.at(0, 4000), yellow) << "green has taken nothing from it";
  EXPECT_EQ(m.at(0, 1), red);
  EXPECT_EQ(m.at(1 * kMs, 1000), green);  // C 0, E 2000: the excess rate is 3 - 1
  EXPECT_EQ(m.at(1 * kMs, 2001), red);
  EXPECT_EQ(m.at(1 * kMs, 2000), yellow);
  EXPECT_EQ(m.at(100 * kMs, 2001), yellow);  // C is full at 2000, E at 4000
  EXPECT_EQ(m.at(100 * kMs, 2000), green);
  EXPECT_EQ(m.at(100 * kMs, 1999), yellow);
  EXPECT_EQ(m.at(100 * kMs, 1), red);
}

TEST(TrTcm, Rfc4115WithAPeakOfTheCommittedRateHasNoExcessRate) {
  Metered m(config::TrTcm{kByteAMicrosecond, kByteAMicrosecond, 2000_B, 4000_B, true});
  EXPECT_EQ(m.at(0, 2000), green);
  EXPECT_EQ(m.at(0, 4000), yellow);
  EXPECT_EQ(m.at(1000 * kMs, 2000), green);
  EXPECT_EQ(m.at(1000 * kMs, 1), red);
}

// RFC 2697 section 3, colour-aware: green and B <= Tc green; green or yellow and B <= Te yellow, from E
// alone; else red, and nothing is taken.
TEST(SrTcm, ColourAware) {
  Metered m(config::SrTcm{kByteAMicrosecond, 3000_B, 2000_B});
  EXPECT_EQ(m.at(0, 1, red), red);
  EXPECT_EQ(m.at(0, 1500, yellow), yellow);      // C 3000, E 500
  EXPECT_EQ(m.at(0, 501, yellow), red);          // in C there would be room
  EXPECT_EQ(m.at(0, 3000, green), green);        // C 0, E 500
  EXPECT_EQ(m.at(0, 500, green), yellow);        // C 0, E 0
  EXPECT_EQ(m.at(0, 1, green), red);             //
  EXPECT_EQ(m.at(1 * kMs, 1000, yellow), red);   // 1000 bytes have come, to C
  EXPECT_EQ(m.at(1 * kMs, 1000, red), red);      //
  EXPECT_EQ(m.at(1 * kMs, 1000, green), green);  //
}

// RFC 2698 section 3, colour-aware: red or B > Tp red; yellow or B > Tc yellow, from P alone; else green,
// from both.
TEST(TrTcm, Rfc2698ColourAware) {
  Metered m(config::TrTcm{kByteAMicrosecond, 2.0 * kByteAMicrosecond, 2000_B, 5000_B});
  EXPECT_EQ(m.at(0, 1, red), red);
  EXPECT_EQ(m.at(0, 2500, yellow), yellow);      // C 2000, P 2500
  EXPECT_EQ(m.at(0, 2501, yellow), red);         //
  EXPECT_EQ(m.at(0, 2501, green), red);          //
  EXPECT_EQ(m.at(0, 1500, green), green);        // C 500, P 1000
  EXPECT_EQ(m.at(0, 501, green), yellow);        // C 500, P 499
  EXPECT_EQ(m.at(0, 500, green), red);           // P comes first
  EXPECT_EQ(m.at(0, 499, green), green);         // C 1, P 0
  EXPECT_EQ(m.at(1 * kMs, 2000, red), red);      // C 1001, P 2000
  EXPECT_EQ(m.at(1 * kMs, 1001, green), green);  //
  EXPECT_EQ(m.at(1 * kMs, 999, yellow), yellow);
  EXPECT_EQ(m.at(1 * kMs, 1, yellow), red);
}

// RFC 4115 section 3.2, colour-aware: green and B <= Tc green, from C alone; green or yellow and B <= Te
// yellow, from E alone; else red.
TEST(TrTcm, Rfc4115ColourAware) {
  Metered m(config::TrTcm{kByteAMicrosecond, 3.0 * kByteAMicrosecond, 2000_B, 4000_B, true});
  EXPECT_EQ(m.at(0, 1, red), red);
  EXPECT_EQ(m.at(0, 3000, yellow), yellow);     // C 2000, E 1000
  EXPECT_EQ(m.at(0, 1001, yellow), red);        // in C there would be room
  EXPECT_EQ(m.at(0, 2000, green), green);       // C 0, E 1000
  EXPECT_EQ(m.at(0, 1000, green), yellow);      // C 0, E 0
  EXPECT_EQ(m.at(1 * kMs, 2001, yellow), red);  // C 1000, E 2000
  EXPECT_EQ(m.at(1 * kMs, 2000, yellow), yellow);
  EXPECT_EQ(m.at(1 * kMs, 1000, red), red);
  EXPECT_EQ(m.at(1 * kMs, 1000, green), green);
}

// Whatever a sender colours: no packet gets a better colour than its own, and all of them together take no
// more green than colour-blind.
TEST(Meter, AColourBeforeNeverGivesMore) {
  const config::SrTcm one{kByteAMicrosecond, 3000_B, 2000_B};
  const config::TrTcm two{kByteAMicrosecond, 2.0 * kByteAMicrosecond, 3000_B, 5000_B};
  config::TrTcm other = two;
  other.rfc4115 = true;
  const auto check = [](auto params, std::uint64_t rate, std::uint64_t bursts) {
    Metered m(params);
    Rng rng(3);
    std::uint64_t ns = 0, all_green = 0, passed = 0;
    for (int i = 0; i < 50'000; ++i) {
      ns += rng.next() % kMs;
      const auto came = static_cast<Color>(rng.next() % 3);
      const std::uint32_t length = 40 + rng.next() % 1460;
      const Color color = m.at(ns, length, came);
      ASSERT_GE(color, came);
      all_green += color == green ? length : 0;
      passed += color != red ? length : 0;
      ASSERT_LE(all_green, 3000 + ns / 1000 * 1001 / 1000 + 1);
      ASSERT_LE(passed, bursts + rate * (ns / 1000) * 1001 / 1000 + 1);
    }
    EXPECT_GT(all_green, 0u);
    EXPECT_GT(passed, all_green);
  };
  check(one, 1, 5000);
  check(two, 2, 5000);
  check(other, 2, 8000);
}

TEST(Meter, StartsFullWhateverTheTime) {
  for (const std::uint64_t start : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 60}) {
    Metered sr(config::SrTcm{10_Gbps, 3000_B, 2000_B});
    EXPECT_EQ(sr.at(start, 3000), green);
    EXPECT_EQ(sr.at(start, 2000), yellow);
    EXPECT_EQ(sr.at(start, 1), red);
    Metered tr(config::TrTcm{10_Gbps, 20_Gbps, 2000_B, 5000_B});
    EXPECT_EQ(tr.at(start, 2000), green);
    EXPECT_EQ(tr.at(start, 3000), yellow);
    EXPECT_EQ(tr.at(start, 1), red);
  }
}

TEST(Meter, WithoutARateTheBucketsAreAllThereIs) {
  Metered m(config::SrTcm{0_bps, 3000_B, 2000_B});
  EXPECT_EQ(m.at(0, 3000), green);
  EXPECT_EQ(m.at(3600 * kNs, 2000), yellow);
  EXPECT_EQ(m.at(7200 * kNs, 1), red);
}

TEST(Meter, StatesOfOneProfileAreIndependent) {
  const Meter meter(config::SrTcm{kByteAMicrosecond, 3000_B, 0_B});
  ConditionerState a, b;
  meter.reset(a.meter);
  meter.reset(b.meter);
  EXPECT_EQ(meter.check(a.meter, Time{}, 3000), green);
  EXPECT_EQ(meter.check(a.meter, Time{}, 3000), red);
  EXPECT_EQ(meter.check(b.meter, Time{}, 3000), green);
}

// Bytes of each colour in a second of 3 x CIR, offered in packets of `length` after
// the buckets have run empty.
struct Shares {
  double green, yellow, red;
};
template <class Params>
Shares shares(const Params& params, std::uint32_t length, double packets_per_second, int packets) {
  Metered m(params);
  while (m.at(0, 100) != red) {
  }
  std::array<std::uint64_t, 3> bytes{};
  for (int i = 0; i < packets; ++i)
    bytes[static_cast<std::size_t>(m.at(static_cast<std::uint64_t>(i / packets_per_second * 1e9), length))] +=
        length;
  const double time = packets / packets_per_second;
  const auto rate = [&](Color c) {
    return static_cast<double>(8 * bytes[static_cast<std::size_t>(c)]) / time;
  };
  return {rate(green), rate(yellow), rate(red)};
}

// 200,000 packets at three times CIR: a packet more or less is 10^-5.
TEST(Meter, LongRunRatesAreTheConfiguredOnes) {
  for (const std::uint64_t bits :
       {64'000u, 1'000'000u, 1'234'567u, 34'000'000u, 987'654'321u, 4'000'000'000u}) {
    const Rate cir = Rate::bits_per_second(bits);
    const double offered = 3.0 * static_cast<double>(bits) / 8 / 500;
    const auto sr = shares(config::SrTcm{cir, 64_kB, 64_kB}, 500, offered, 200'000);
    EXPECT_NEAR(sr.green / static_cast<double>(bits), 1, 5e-5) << bits;
    EXPECT_EQ(sr.yellow, 0) << "C never overflows";
    const auto tr = shares(config::TrTcm{cir, 2.0 * cir, 64_kB, 64_kB}, 500, offered, 200'000);
    EXPECT_NEAR(tr.green / static_cast<double>(bits), 1, 5e-5) << bits;
    EXPECT_NEAR(tr.yellow / static_cast<double>(bits), 1, 5e-5);
    const auto dtr = shares(config::TrTcm{cir, 2.0 * cir, 64_kB, 64_kB, true}, 500, offered, 200'000);
    EXPECT_NEAR(dtr.green / static_cast<double>(bits), 1, 5e-5) << bits;
    EXPECT_NEAR(dtr.yellow / static_cast<double>(bits), 1, 5e-5);
  }
}

// What the header promises for buckets of one MTU and any rate up to 1 Gbit/s.
TEST(Meter, ShallowBucketsKeepTheRateToAThousandth) {
  Rng rng(1);
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t bits = 8000 + rng.next() % 1'000'000'000;
    const double offered = 3.0 * static_cast<double>(bits) / 8 / 64;
    const auto s = shares(config::SrTcm{Rate::bits_per_second(bits), 1500_B, 1500_B}, 64, offered, 100'000);
    EXPECT_NEAR(s.green / static_cast<double>(bits), 1, 1e-3) << bits;
  }
}

}  // namespace
}  // namespace surety
