// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/alpha_clocks.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <array>

#include "conditioners/rng.h"

namespace surety {
namespace {

using namespace literals;

constexpr Time kStart = Time(1000s);
constexpr Path path_of(std::uint8_t third) {
  return {IpAddress::v4(10, 2, third, 0), 24};
}
constexpr Path kPath = path_of(10), kOther = path_of(11), kThird = path_of(12);
constexpr auto kReminder = SignalKind::reminder;

// Two domains; a path's alpha goes down from 0.4 (0.8) by 0.1.
class AlphaClocksTest : public testing::Test {
 protected:
  static std::vector<CsaDomain> two_domains() {
    const CsaParams params{.min = Ratio::of(0.1), .max = Ratio::of(0.4), .step = Ratio::of(0.1)};
    CsaParams faster = params;
    faster.max = Ratio::of(0.8);
    return {{"uplink/silver", 0, 0, params}, {"uplink/gold", 0, 1, faster}};
  }
  void turn(Duration at) {
    now = kStart + at;
    clocks.advance(local, now);
  }
  void signal(Duration at, const Path& path, std::uint16_t domain = 0) {
    turn(at);
    clocks.signal(path, domain, kReminder, now);
  }
  // What a bucket of this clock gains from one turn to the next.
  Duration gain(AlphaClocks::Index i, Duration until) {
    const Time before = clocks.now(i);
    turn(until);
    return clocks.now(i) - before;
  }

  std::vector<CsaDomain> domains = two_domains();
  std::array<Ratio, 2> local{Ratio::of(0.4), Ratio::of(0.8)};
  Time now = kStart;
  AlphaClocks clocks{domains, kStart, AlphaClocks::Mode::act, 2};
};

TEST_F(AlphaClocksTest, WithoutSignalsADomainHasOneClock) {
  EXPECT_EQ(clocks.of(0, kPath), 0);
  EXPECT_EQ(clocks.of(1, kPath), 1);
  EXPECT_FALSE(clocks.moves(0));
  EXPECT_EQ(gain(0, 100ms), 40ms);
  EXPECT_EQ(gain(1, 200ms), 80ms);
  EXPECT_EQ(clocks.at(1).alpha(), Ratio::of(0.8));
  EXPECT_EQ(clocks[1].now(), clocks.now(1));
  EXPECT_EQ(clocks.next_event(), kNever);
  EXPECT_TRUE(clocks.remotes().empty());
}

TEST_F(AlphaClocksTest, APathThatIsHeldBackHasAClockOfItsOwn) {
  signal(0ms, kPath);
  const AlphaClocks::Index path = clocks.of(0, kPath);
  EXPECT_GE(path, 2);
  EXPECT_EQ(clocks.domain(path), 0);
  EXPECT_TRUE(clocks.moves(path));
  EXPECT_TRUE(clocks.moves(0)) << "its flows may be there still";
  EXPECT_EQ(gain(path, 10ms), 3ms);
  EXPECT_EQ(gain(0, 20ms), 4ms);
  EXPECT_EQ(clocks.at(path).now(), clocks[path].now());
  EXPECT_EQ(clocks[path].now(), clocks.now(path));
  EXPECT_EQ(clocks.of(0, kOther), 0) << "another path";
  EXPECT_EQ(clocks.of(1, kPath), 1) << "another domain";
  EXPECT_EQ(clocks.next_event(), kStart + 90ms);
}

TEST_F(AlphaClocksTest, ThePaceIsTheMinimumOfQueueAndPath) {
  signal(0ms, kPath);
  const AlphaClocks::Index path = clocks.of(0, kPath);
  local[0] = Ratio::of(0.2);
  EXPECT_EQ(gain(path, 10ms), 2ms) << "the queue's";
  signal(30ms, kPath);
  signal(60ms, kPath);
  EXPECT_EQ(gain(path, 70ms), 1ms) << "the path's";
}

TEST_F(AlphaClocksTest, AtTheMaximumThePathIsGivenUpAndItsTimeGoesOn) {
  signal(0ms, kPath);
  const AlphaClocks::Index path = clocks.of(0, kPath);
  turn(90ms - 1ns);
  EXPECT_EQ(clocks.of(0, kPath), path);
  const Time before = clocks.now(path);
  turn(90ms);
  EXPECT_EQ(clocks.of(0, kPath), 0);
  EXPECT_EQ(clocks.next_event(), kNever);
  EXPECT_FALSE(clocks.moves(0));
  EXPECT_TRUE(clocks.moves(path));
  EXPECT_EQ(clocks.domain(path), 0);
  EXPECT_LE(clocks.now(path) - before, 1ns);
  EXPECT_EQ(gain(path, 100ms), 4ms) << "at the pace of the domain";
  EXPECT_EQ(clocks.now(0) - clocks.now(path), 9ms) << "a tenth of the 90 ms";
}

// Flows of the last path, not seen since, must not find time turned back.
TEST_F(AlphaClocksTest, AClockThatIsReusedGoesOnFromWhereItWas) {
  AlphaClocks one(domains, kStart, AlphaClocks::Mode::act, 1);
  one.signal(kPath, 1, kReminder, kStart);
  const AlphaClocks::Index path = one.of(1, kPath);
  one.advance(local, kStart + 90ms);
  ASSERT_EQ(one.of(1, kPath), 1);
  one.advance(local, kStart + 200ms);
  const Time before = one.now(path);
  one.signal(kOther, 0, kReminder, kStart + 200ms);
  ASSERT_EQ(one.of(0, kOther), path);
  EXPECT_EQ(one.domain(path), 0);
  EXPECT_EQ(one.now(path), before);
  one.advance(local, kStart + 210ms);
  EXPECT_EQ(one.now(path) - before, 3ms);
}

TEST_F(AlphaClocksTest, TheOneGivenUpLongestAgoIsReusedFirst) {
  signal(0ms, kPath);
  signal(10ms, kOther);
  const AlphaClocks::Index first = clocks.of(0, kPath), second = clocks.of(0, kOther);
  ASSERT_NE(first, second);
  signal(80ms, kPath);
  turn(100ms);  // the second path is given up
  ASSERT_EQ(clocks.of(0, kOther), 0);
  turn(1s);
  signal(1s, kThird);
  EXPECT_EQ(clocks.of(0, kThird), second);
  signal(1s, kPath);
  EXPECT_EQ(clocks.of(0, kPath), first);
}

// Two paths have a clock of their own here; signals for a third hold back all flows that have none.
TEST_F(AlphaClocksTest, BeyondItsRoomAllOthersAreHeldBack) {
  signal(0ms, kPath);
  signal(0ms, kPath, 1);
  EXPECT_EQ(clocks.of(0, kThird), 0);
  signal(0ms, kOther);
  const AlphaClocks::Index others = clocks.of(0, kThird);
  EXPECT_NE(others, 0);
  EXPECT_EQ(clocks.of(0, kOther), others);
  EXPECT_NE(clocks.of(0, kPath), others);
  EXPECT_EQ(clocks.of(1, kOther), 1) << "not those of another domain";
  EXPECT_EQ(gain(others, 10ms), 3ms);
  signal(30ms, kThird);
  EXPECT_EQ(gain(others, 40ms), 2ms) << "as one path";
  ASSERT_EQ(clocks.remotes().size(), 3u);
  EXPECT_EQ(clocks.remotes()[0].path, Path{});
  signal(60ms, kPath);
  EXPECT_EQ(clocks.domain(clocks.of(0, kPath)), 0) << "what has a clock keeps it";
  turn(125ms);
  signal(125ms, kOther);
  EXPECT_NE(clocks.of(0, kOther), others) << "the gold flows' has been given up";
  EXPECT_EQ(clocks.of(0, kThird), others) << "until T2 gives it back";
  turn(1s);
  EXPECT_TRUE(clocks.remotes().empty());
  EXPECT_EQ(clocks.of(0, kThird), 0);
}

TEST_F(AlphaClocksTest, AFixedAlphaTakesNoRoom) {
  domains[0].params.min = domains[0].params.max;
  signal(0ms, kPath);
  EXPECT_TRUE(clocks.remotes().empty());
  EXPECT_EQ(clocks.of(0, kPath), 0);
}

TEST_F(AlphaClocksTest, TheEndOfACongestionThatHoldsNothingBackTakesNoRoom) {
  clocks.signal(kPath, 0, SignalKind::clear, kStart);
  EXPECT_TRUE(clocks.remotes().empty());
  clocks.signal(kPath, 0, SignalKind::onset, kStart);
  EXPECT_EQ(clocks.remotes().size(), 1u) << "its T1 runs";
}

// With more paths than slots, too.
TEST_F(AlphaClocksTest, TheEndOfACongestionReachesThePathsThatShareASlot) {
  for (const Path& path : {kPath, kOther, kThird}) clocks.signal(path, 0, SignalKind::onset, kStart);
  clocks.signal(kThird, 0, SignalKind::clear, kStart);
  turn(1ms);
  EXPECT_EQ(clocks.of(0, kThird), 0) << "at its maximum, and nothing congested";
  EXPECT_NE(clocks.of(0, kOther), 0);
}

// Also at a maximum that a class without RIO lowers: nothing is congested.
TEST_F(AlphaClocksTest, AClockIsFreeAtTheMaximumOfItsDomain) {
  turn(0ms);
  EXPECT_TRUE(clocks.at(0).free());
  EXPECT_TRUE(clocks.at(1).free());
  signal(0ms, kPath);
  EXPECT_FALSE(clocks.at(clocks.of(0, kPath)).free());
  local[1] = Ratio::of(0.7);
  turn(1ms);
  turn(1ms);
  EXPECT_FALSE(clocks.at(1).free());
  domains[1].params.max = Ratio::of(0.7);
  clocks.adopt(domains, AlphaClocks::Mode::act, now);
  EXPECT_TRUE(clocks.at(1).free());
}

// Without what has been sent, a sampled silence says nothing.
TEST_F(AlphaClocksTest, WhatIsSentIsCountedForItsPath) {
  clocks.signal(kPath, 0, SignalKind::sample, kStart);
  clocks.signal(kOther, 0, SignalKind::sample, kStart);
  for (std::uint32_t i = 0; i < RemoteAlpha::kEnough; ++i) {
    clocks.sent(0, kPath);
    clocks.sent(1, kOther);
    clocks.sent(0, kThird);
  }
  turn(90ms);
  EXPECT_EQ(clocks.of(0, kPath), 0) << "back at its maximum";
  EXPECT_NE(clocks.of(0, kOther), 0);
}

TEST_F(AlphaClocksTest, RemotesAreReadByPathAndDomain) {
  AlphaClocks many(domains, kStart);
  for (const Path& path : {kThird, kPath})
    for (const std::uint16_t domain : {std::uint16_t{1}, std::uint16_t{0}})
      many.signal(path, domain, kReminder, kStart);
  many.advance(local, kStart + 30ms);
  many.signal(kPath, 1, kReminder, kStart + 30ms);
  std::vector<std::array<std::uint32_t, 3>> all;
  for (const auto& r : many.remotes())
    all.push_back({r.path.address.data()[2], r.domain, r.alpha.millionths()});
  const std::vector<std::array<std::uint32_t, 3>> expected{
      {10, 0, 300'000}, {10, 1, 600'000}, {12, 0, 300'000}, {12, 1, 700'000}};
  EXPECT_EQ(all, expected);
}

TEST_F(AlphaClocksTest, NextEventIsTheEarliestT2) {
  signal(0ms, kPath);
  signal(20ms, kOther);
  EXPECT_EQ(clocks.next_event(), kStart + 90ms);
  signal(40ms, kPath);
  EXPECT_EQ(clocks.next_event(), kStart + 110ms);
}

TEST_F(AlphaClocksTest, NothingIsAllocatedAfterConstruction) {
  AlphaClocks many(domains, kStart, AlphaClocks::Mode::act, 100);  // of 256 that come
  Time t = kStart;
  Rng rng(1);
  const std::size_t before = mallinfo2().uordblks;
  for (int i = 0; i < 10'000; ++i) {
    t += Duration(rng.next() % 20'000'000);
    many.advance(local, t);
    many.signal(path_of(static_cast<std::uint8_t>(rng.next())), static_cast<std::uint16_t>(rng.next() % 2),
                kReminder, t);
  }
  EXPECT_EQ(mallinfo2().uordblks, before);
}

// Flows of three paths and two domains that are looked at now and then, against the integral of their alpha
// as a plain model has it: nothing is lost or made up by moving, except a nanosecond's remainder each time.
TEST_F(AlphaClocksTest, MovingFlowsGainTheIntegralOfTheirAlpha) {
  struct Flow {
    std::uint8_t to;
    std::uint16_t domain;
    AlphaClocks::Index clock;
    Time last{};
    Duration gained{};
    unsigned __int128 integral = 0;  // in 10^-6 ns
    std::int64_t moves = 0;
  };
  AlphaClocks many(domains, kStart);
  std::vector<Flow> flows;
  for (std::uint16_t domain = 0; domain < 2; ++domain)
    for (std::uint8_t to = 10; to < 13; ++to) flows.push_back({to, domain, domain});
  std::vector<RemoteAlpha> paths;  // of each flow, all by itself
  for (const Flow& f : flows) paths.emplace_back(domains[f.domain].params, kStart);
  Rng rng(7);
  Time t = kStart;
  std::int64_t moves = 0;
  for (int turns = 0; turns < 20'000; ++turns) {
    const Duration step(rng.next() % 20'000'000);
    t += step;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const Ratio alpha = std::min(local[flows[i].domain], paths[i].alpha());
      flows[i].integral += static_cast<unsigned __int128>(step.count()) * alpha.millionths();
      paths[i].advance(t);
    }
    many.advance(local, t);
    // All are looked at where they move, as a flow that is busy is.
    const auto look = [&](Flow& f) {
      f.gained += many.now(f.clock) - f.last;
      const AlphaClocks::Index clock = many.of(f.domain, path_of(f.to));
      if (clock != f.clock) ++f.moves;
      f.clock = clock;
      f.last = many.now(clock);
    };
    const std::size_t signalled = rng.next() % 10;
    if (signalled < flows.size()) {
      many.signal(path_of(flows[signalled].to), flows[signalled].domain, kReminder, t);
      paths[signalled].signal(kReminder, t);
      look(flows[signalled]);
    }
    for (std::size_t i = 0; i < flows.size(); ++i) {
      many.sent(flows[i].domain, path_of(flows[i].to));
      paths[i].sent(t);
      if (rng.next() % 4 == 0) look(flows[i]);
    }
    if (rng.next() % 8 == 0) local[0] = Ratio::of(0.1 * (1 + rng.next() % 4));
    if (rng.next() % 8 == 0) local[1] = Ratio::of(0.2 * (1 + rng.next() % 4));
  }
  for (Flow& f : flows) {
    const Duration exact(static_cast<std::int64_t>(f.integral / 1'000'000));
    f.gained += many.now(f.clock) - f.last;
    EXPECT_LE(std::abs((f.gained - exact).count()), f.moves + 1) << int{f.to} << " " << f.domain;
    moves += f.moves;
  }
  EXPECT_GT(moves, 300) << "or nothing has been tested";
}

// A reload adds a domain, and retires the first one, whose flows may still wait.
class AlphaClocksReload : public AlphaClocksTest {
 protected:
  AlphaClocksReload() {
    more.push_back({"uplink/new", 0, 0, CsaParams{.min = Ratio::of(0.1), .max = Ratio::of(0.5)}});
    more[0].retired = true;
  }
  void turn_all(Duration at) {
    now = kStart + at;
    roomy.advance(all, now);
  }

  std::vector<CsaDomain> more = two_domains();
  std::array<Ratio, 3> all{Ratio::of(0.4), Ratio::of(0.8), Ratio::of(0.5)};
  AlphaClocks roomy{domains, kStart, AlphaClocks::Mode::act, 2, 10};
};

TEST_F(AlphaClocksReload, ANewDomainsClockStartsThenAndTheOthersGoOn) {
  turn_all(100ms);
  const Time first = roomy.now(0), third = roomy.now(2);
  roomy.adopt(more, AlphaClocks::Mode::act, now);
  EXPECT_EQ(roomy.now(0), first);
  EXPECT_EQ(roomy.now(2), third);
  turn_all(200ms);
  EXPECT_EQ(roomy.now(0) - first, 40ms) << "retired";
  EXPECT_EQ(roomy.now(2) - third, 50ms) << "no time before it was there";
  EXPECT_EQ(roomy.of(2, kPath), 2);
}

TEST_F(AlphaClocksReload, PathsKeepTheirClocks) {
  turn_all(0ms);
  roomy.signal(kPath, 0, kReminder, now);
  const AlphaClocks::Index path = roomy.of(0, kPath);
  EXPECT_GE(path, 10) << "behind all domains that may come";
  turn_all(10ms);
  const Time before = roomy.now(path);
  roomy.adopt(more, AlphaClocks::Mode::act, now);
  EXPECT_EQ(roomy.of(0, kPath), path);
  EXPECT_EQ(roomy.domain(path), 0);
  roomy.signal(kPath, 2, kReminder, now);
  EXPECT_EQ(roomy.domain(roomy.of(2, kPath)), 2);
  turn_all(20ms);
  EXPECT_EQ(roomy.now(path) - before, 3ms);
}

TEST_F(AlphaClocksReload, WhetherSignalsAreObeyedMayChange) {
  turn_all(0ms);
  roomy.signal(kPath, 1, kReminder, now);
  const AlphaClocks::Index path = roomy.of(1, kPath);
  roomy.adopt(more, AlphaClocks::Mode::observe, now);
  EXPECT_FALSE(roomy.acting());
  EXPECT_EQ(roomy.of(1, kPath), 1);
  EXPECT_TRUE(roomy.moves(path)) << "its flows return";
  EXPECT_EQ(roomy.remote_count(), 1u);
  roomy.adopt(more, AlphaClocks::Mode::act, now);
  EXPECT_EQ(roomy.of(1, kPath), path);
}

TEST_F(AlphaClocksReload, AdoptionAllocatesNothing) {
  const auto before = mallinfo2().uordblks;
  roomy.adopt(more, AlphaClocks::Mode::act, now);
  turn_all(10ms);
  EXPECT_EQ(mallinfo2().uordblks, before);
}

}  // namespace
}  // namespace surety
