// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/scoreboard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "conditioners/rng.h"

namespace surety::endpoints {
namespace {

constexpr std::uint32_t kS = 1000;
constexpr std::uint64_t kBase = 0xffff'0000;  // positions wrap in their low 32 bits soon

// A sender of segments of kS bytes, numbered from 0.
struct Board : Scoreboard {
  std::uint64_t max = kBase;
  explicit Board(std::uint64_t segments) {
    begin(kS, kBase);
    send(segments);
  }
  void send(std::uint64_t segments) {
    on_sent(max, max + segments * kS, max);
    max += segments * kS;
  }
  static std::uint64_t at(std::uint64_t segment) { return kBase + segment * kS; }
  static tcp::Block block(std::uint64_t from, std::uint64_t to) {
    return {static_cast<std::uint32_t>(at(from)), static_cast<std::uint32_t>(at(to))};
  }
  Told ack(std::uint64_t segments, std::vector<tcp::Block> blocks = {}) {
    return on_ack(at(segments), blocks, max);
  }
  // The segments that are to be sent again, each of which is.
  std::vector<std::uint64_t> resend(std::size_t most = 1000) {
    std::vector<std::uint64_t> out;
    for (Hole h = next_lost(); !h.empty() && out.size() < most; h = next_lost()) {
      EXPECT_EQ((h.from - kBase) % kS, 0u);
      out.push_back((h.from - kBase) / kS);
      on_sent(h.from, std::min(h.to, h.from + kS), max);
    }
    return out;
  }
  std::uint64_t in_flight() const { return pipe() / kS; }
};
using Numbers = std::vector<std::uint64_t>;

TEST(Scoreboard, IsOffUntilThePeerPermitsIt) {
  EXPECT_FALSE(Scoreboard().on());
  EXPECT_TRUE(Board(0).on());
}

TEST(Scoreboard, WhatIsAcknowledgedIsDelivered) {
  Board b(10);
  EXPECT_EQ(b.in_flight(), 10u);
  const auto told = b.ack(4);
  EXPECT_EQ(told.delivered, 4 * kS);
  EXPECT_EQ(told.pipe, 6 * kS);
  EXPECT_FALSE(told.lost);
}

// RFC 6675 4, IsLost: more than two segments above it, or three ranges.
TEST(Scoreboard, ThreeSegmentsBeyondMakeALoss) {
  Board b(10);
  EXPECT_FALSE(b.ack(0, {b.block(1, 2)}).lost);
  EXPECT_FALSE(b.ack(0, {b.block(1, 3)}).lost);
  EXPECT_EQ(b.in_flight(), 8u);
  const auto told = b.ack(0, {b.block(1, 4)});
  EXPECT_TRUE(told.lost);
  EXPECT_EQ(told.delivered, kS);
  EXPECT_EQ(told.sacked, 3 * kS);
  EXPECT_EQ(told.pipe, 6 * kS) << "0 is lost, 1 to 3 have arrived";
  EXPECT_EQ(b.resend(), Numbers{0});
  EXPECT_EQ(b.in_flight(), 7u);
}

TEST(Scoreboard, ThreeSmallRangesBeyondMakeALoss) {
  Board b(10);
  const auto low = [&](std::uint64_t segment, std::uint32_t plus) {
    return static_cast<std::uint32_t>(b.at(segment)) + plus;
  };
  b.ack(0, {{low(1, 0), low(1, 10)}});
  EXPECT_FALSE(b.ack(0, {{low(3, 0), low(3, 10)}}).lost);
  EXPECT_TRUE(b.ack(0, {{low(5, 0), low(5, 10)}}).lost);
}

TEST(Scoreboard, OfManyHolesThoseThatAreLostAreSentAgainInOrderOnce) {
  Board b(12);
  b.ack(0, {b.block(9, 11), b.block(5, 6), b.block(2, 3)});
  EXPECT_EQ(b.resend(2), (Numbers{0, 1}));
  EXPECT_EQ(b.in_flight(), 4u + 2) << "above 6 to 8 and 11 two have arrived, or none";
  EXPECT_EQ(b.resend(), (Numbers{3, 4}));
}

TEST(Scoreboard, ARepairedHoleIsNotInFlight) {
  Board b(10);
  b.ack(0, {b.block(4, 10)});
  EXPECT_EQ(b.resend(), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(b.in_flight(), 4u);
  EXPECT_EQ(b.ack(0, {b.block(1, 2), b.block(4, 10)}).pipe, 3 * kS);
  EXPECT_EQ(b.ack(2, {b.block(4, 10)}).pipe, 2 * kS);
  const auto told = b.ack(10);
  EXPECT_EQ(told.delivered, 2 * kS) << "4 to 9 were known";
  EXPECT_EQ(told.pipe, 0u);
  EXPECT_EQ(told.sacked, 0u);
}

// --- timeouts

TEST(Scoreboard, AfterATimeoutAllThatHasNotArrivedIsLost) {
  Board b(10);
  b.ack(0, {b.block(8, 9)});
  b.on_timeout(b.max, false);
  EXPECT_EQ(b.in_flight(), 0u);
  EXPECT_TRUE(b.after_timeout());
  EXPECT_EQ(b.resend(3), (Numbers{0, 1, 2}));
  EXPECT_EQ(b.resent(), 3 * kS);
  EXPECT_EQ(b.resend(), (Numbers{3, 4, 5, 6, 7, 9}));
  b.send(2);
  EXPECT_EQ(b.in_flight(), 11u);
  EXPECT_EQ(b.ack(10).pipe, 2 * kS);
  EXPECT_FALSE(b.after_timeout());
}

// RFC 2018 8: the peer may have reneged.
TEST(Scoreboard, WhatTimesOutAgainHasNotArrivedEither) {
  Board b(10);
  b.ack(0, {b.block(1, 10)});
  b.on_timeout(b.max, false);
  EXPECT_EQ(b.resend(), Numbers{0});
  b.on_timeout(b.max, true);
  EXPECT_EQ(b.resend(3), (Numbers{0, 1, 2}));
}

// --- what no honest peer says

TEST(Scoreboard, BlocksOutsideWhatWasSentAreNotBelieved) {
  Board b(10);
  b.ack(2);
  const auto low = [&](std::uint64_t segment) { return static_cast<std::uint32_t>(b.at(segment)); };
  const tcp::Block wrong[] = {
      {low(5), low(11)},                // beyond SND.MAX
      {low(20), low(21)},               // all of it
      {low(5), low(5)},                 // nothing
      {low(6), low(5)},                 // backwards
      {low(2), low(3)},                 // at SND.UNA: then it would be acknowledged
      {low(1), low(4)},                 // over SND.UNA
      {low(5) + 0x8000'0000u, low(6)},  // half the world away
  };
  for (const tcp::Block& w : wrong) {
    const auto told = b.ack(2, {b.block(9, 10), w});
    EXPECT_EQ(told.sacked, kS) << w.begin - low(0) << ".." << w.end - low(0);
    EXPECT_FALSE(told.lost);
  }
}

TEST(Scoreboard, BlocksThatOverlapOrGoBackCountOnce) {
  Board b(10);
  EXPECT_EQ(b.ack(0, {b.block(4, 6), b.block(5, 7), b.block(3, 8)}).delivered, 5 * kS);
  EXPECT_EQ(b.ack(0, {b.block(6, 7), b.block(4, 6)}).delivered, 0u);
  EXPECT_EQ(b.ack(0, {b.block(3, 5)}).sacked, 5 * kS);
}

TEST(Scoreboard, AnAckThatEndsInABlockHasTakenItBack) {
  Board b(10);
  b.ack(0, {b.block(2, 10)});
  EXPECT_EQ(b.resend(), (Numbers{0, 1}));
  const auto told = b.ack(5);
  EXPECT_EQ(told.delivered, 2 * kS);
  EXPECT_EQ(told.sacked, 0u);
  EXPECT_EQ(told.pipe, 5 * kS) << "nobody knows of 5 to 9";
  EXPECT_FALSE(told.lost);
}

TEST(Scoreboard, MoreRangesThanThereMayBeAreNotBelieved) {
  Board b(100'000);
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < RangeSet::kMost + 5; ++i)
    last = b.ack(0, {b.block(2 * i + 1, 2 * i + 2)}).sacked;
  EXPECT_EQ(last, RangeSet::kMost * kS);
}

// --- D-SACK (RFC 2883)

TEST(Scoreboard, DuplicatesAreToldApart) {
  Board b(10);
  b.ack(3, {b.block(1, 2)});
  EXPECT_EQ(b.duplicates(), 1u) << "below the ACK";
  const auto told = b.ack(3, {b.block(6, 7), b.block(5, 8)});
  EXPECT_EQ(b.duplicates(), 2u) << "within the second";
  EXPECT_EQ(told.sacked, 3 * kS);
  b.ack(3, {b.block(5, 8), b.block(9, 10)});
  EXPECT_EQ(b.duplicates(), 2u);
}

// --- all of it at random, against sets of segments

TEST(Scoreboard, PipeIsWhatRfc6675Says) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Rng rng(seed);
    Board b(0);
    std::set<std::uint64_t> sacked, resent;
    std::uint64_t una = 0, max = 0;
    const auto lost = [&](std::uint64_t n) {
      return std::distance(sacked.upper_bound(n), sacked.end()) >= 3;  // of a segment each: both rules in one
    };
    for (int step = 0; step < 200; ++step) {
      if (rng.next() % 3 == 0) {
        const std::uint64_t n = rng.next() % 5;
        b.send(n);
        max += n;
      }
      for (const std::uint64_t n : b.resend(rng.next() % 3)) {
        EXPECT_TRUE(lost(n) && !sacked.contains(n) && resent.insert(n).second) << n;
      }
      if (una < max && rng.next() % 2 == 0) {
        const std::uint64_t n = una + 1 + rng.next() % (max - una);
        if (n < max && sacked.insert(n).second) b.ack(una, {b.block(n, n + 1)});
      }
      if (una < max && rng.next() % 6 == 0) {
        for (++una; sacked.contains(una); ++una) {
        }
        b.ack(una);
        sacked.erase(sacked.begin(), sacked.lower_bound(una));
        resent.erase(resent.begin(), resent.lower_bound(una));
      }
      std::uint64_t pipe = 0;
      for (std::uint64_t n = una; n < max; ++n) {
        if (sacked.contains(n)) continue;
        pipe += lost(n) ? 0 : 1;
        pipe += resent.contains(n) ? 1 : 0;
      }
      ASSERT_EQ(b.in_flight(), pipe) << "seed " << seed << " step " << step;
    }
  }
}

}  // namespace
}  // namespace surety::endpoints
