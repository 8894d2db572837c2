// SPDX-License-Identifier: BSD-3-Clause
#include "router/alpha_clocks.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <array>

#include "conditioners/rng.h"

namespace surety {
namespace {

using namespace literals;

constexpr Time kStart = Time(1000s);
constexpr std::uint32_t kNextHops = 64;
constexpr RouteTarget kPath{10, 1}, kOther{11, 1}, kThird{12, 1};

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
  bool signal(Duration at, RouteTarget path, std::uint16_t domain = 0) {
    turn(at);
    return clocks.signal(path, domain, now);
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
  AlphaClocks clocks{domains, kNextHops, kStart, AlphaClocks::Mode::act, 2};
};

TEST_F(AlphaClocksTest, WithoutSignalsADomainHasOneClock) {
  EXPECT_EQ(clocks.of(0, 10), 0);
  EXPECT_EQ(clocks.of(1, 10), 1);
  EXPECT_FALSE(clocks.moves(0));
  EXPECT_EQ(gain(0, 100ms), 40ms);
  EXPECT_EQ(gain(1, 200ms), 80ms);
  EXPECT_EQ(clocks[1].now(), clocks.now(1));
  EXPECT_EQ(clocks.next_event(), kNever);
  EXPECT_TRUE(clocks.remotes().empty());
}

TEST_F(AlphaClocksTest, APathThatIsHeldBackHasAClockOfItsOwn) {
  ASSERT_TRUE(signal(0ms, kPath));
  const AlphaClocks::Index path = clocks.of(0, 10);
  EXPECT_GE(path, 2);
  EXPECT_EQ(clocks.domain(path), 0);
  EXPECT_TRUE(clocks.moves(path));
  EXPECT_TRUE(clocks.moves(0)) << "its flows may be there still";
  EXPECT_EQ(gain(path, 10ms), 3ms);
  EXPECT_EQ(gain(0, 20ms), 4ms);
  EXPECT_EQ(clocks[path].now(), clocks.now(path));
  EXPECT_EQ(clocks.of(0, 11), 0) << "another path";
  EXPECT_EQ(clocks.of(1, 10), 1) << "another domain";
  EXPECT_EQ(clocks.next_event(), kStart + 90ms);
}

TEST_F(AlphaClocksTest, ThePaceIsTheMinimumOfQueueAndPath) {
  signal(0ms, kPath);
  const AlphaClocks::Index path = clocks.of(0, 10);
  local[0] = Ratio::of(0.2);
  EXPECT_EQ(gain(path, 10ms), 2ms) << "the queue's";
  signal(30ms, kPath);
  signal(60ms, kPath);
  EXPECT_EQ(gain(path, 70ms), 1ms) << "the path's";
}

TEST_F(AlphaClocksTest, AllNextHopsOfARouteAreHeldBack) {
  signal(0ms, {20, 3});
  const AlphaClocks::Index path = clocks.of(0, 20);
  EXPECT_NE(path, 0);
  EXPECT_EQ(clocks.of(0, 21), path);
  EXPECT_EQ(clocks.of(0, 22), path);
  EXPECT_EQ(clocks.of(0, 19), 0);
  EXPECT_EQ(clocks.of(0, 23), 0);
}

TEST_F(AlphaClocksTest, AtTheMaximumThePathIsGivenUpAndItsTimeGoesOn) {
  signal(0ms, kPath);
  const AlphaClocks::Index path = clocks.of(0, 10);
  turn(90ms - 1ns);
  EXPECT_EQ(clocks.of(0, 10), path);
  const Time before = clocks.now(path);
  turn(90ms);
  EXPECT_EQ(clocks.of(0, 10), 0);
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
  AlphaClocks one(domains, kNextHops, kStart, AlphaClocks::Mode::act, 1);
  one.signal(kPath, 1, kStart);
  const AlphaClocks::Index path = one.of(1, 10);
  one.advance(local, kStart + 90ms);
  ASSERT_EQ(one.of(1, 10), 1);
  one.advance(local, kStart + 200ms);
  const Time before = one.now(path);
  ASSERT_TRUE(one.signal(kOther, 0, kStart + 200ms));
  ASSERT_EQ(one.of(0, 11), path);
  EXPECT_EQ(one.domain(path), 0);
  EXPECT_EQ(one.now(path), before);
  one.advance(local, kStart + 210ms);
  EXPECT_EQ(one.now(path) - before, 3ms);
}

TEST_F(AlphaClocksTest, TheOneGivenUpLongestAgoIsReusedFirst) {
  signal(0ms, kPath);
  signal(10ms, kOther);
  const AlphaClocks::Index first = clocks.of(0, 10), second = clocks.of(0, 11);
  ASSERT_NE(first, second);
  signal(80ms, kPath);
  turn(100ms);  // the second path is given up
  ASSERT_EQ(clocks.of(0, 11), 0);
  turn(1s);
  signal(1s, kThird);
  EXPECT_EQ(clocks.of(0, 12), second);
  signal(1s, kPath);
  EXPECT_EQ(clocks.of(0, 10), first);
}

TEST_F(AlphaClocksTest, RoomIsBounded) {
  EXPECT_TRUE(signal(0ms, kPath));
  EXPECT_TRUE(signal(0ms, kPath, 1));
  EXPECT_FALSE(signal(0ms, kOther));
  EXPECT_EQ(clocks.of(0, 11), 0);
  EXPECT_TRUE(signal(30ms, kPath)) << "what is held back is still heard";
  turn(120ms);
  EXPECT_TRUE(signal(120ms, kOther)) << "the gold flows' has been given up";
  EXPECT_NE(clocks.of(0, 11), 0);
}

TEST_F(AlphaClocksTest, WithoutNextHopsThereIsNoRoom) {
  AlphaClocks none(domains, 0, kStart);
  EXPECT_FALSE(none.signal(kPath, 0, kStart));
  EXPECT_EQ(none.of(0, 10), 0);
}

TEST_F(AlphaClocksTest, AFixedAlphaTakesNoRoom) {
  domains[0].params.min = domains[0].params.max;
  EXPECT_TRUE(signal(0ms, kPath));
  EXPECT_TRUE(clocks.remotes().empty());
  EXPECT_EQ(clocks.of(0, 10), 0);
  EXPECT_TRUE(signal(0ms, kPath, 1));
  EXPECT_TRUE(signal(0ms, kOther, 1));
}

// Ids of a route that is gone come again as part of another route.
TEST_F(AlphaClocksTest, APathThatIsNoMoreMakesRoom) {
  signal(0ms, {10, 2});
  signal(0ms, {10, 2}, 1);
  ASSERT_TRUE(signal(10ms, {11, 3}));
  EXPECT_EQ(clocks.of(0, 10), 0);
  EXPECT_EQ(clocks.of(1, 10), 1);
  EXPECT_NE(clocks.of(0, 11), 0);
  EXPECT_EQ(clocks.of(0, 11), clocks.of(0, 13));
  ASSERT_EQ(clocks.remotes().size(), 1u);
  EXPECT_EQ(clocks.remotes()[0].path.first, 11u);
  EXPECT_EQ(clocks.remotes()[0].path.count, 3u);
}

TEST_F(AlphaClocksTest, RemotesAreReadByPathAndDomain) {
  AlphaClocks many(domains, kNextHops, kStart);
  for (const RouteTarget path : {kThird, kPath})
    for (const std::uint16_t domain : {std::uint16_t{1}, std::uint16_t{0}}) many.signal(path, domain, kStart);
  many.advance(local, kStart + 30ms);
  many.signal(kPath, 1, kStart + 30ms);
  std::vector<std::array<std::uint32_t, 3>> all;
  for (const auto& r : many.remotes()) all.push_back({r.path.first, r.domain, r.alpha.millionths()});
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
  AlphaClocks many(domains, kNextHops, kStart);
  Time t = kStart;
  Rng rng(1);
  const std::size_t before = mallinfo2().uordblks;
  for (int i = 0; i < 10'000; ++i) {
    t += Duration(rng.next() % 20'000'000);
    many.advance(local, t);
    many.signal({rng.next() % 60, 1 + rng.next() % 4}, static_cast<std::uint16_t>(rng.next() % 2), t);
  }
  EXPECT_EQ(mallinfo2().uordblks, before);
}

// Flows of three paths and two domains that are looked at now and then, against the integral of their alpha
// as a plain model has it: nothing is lost or made up by moving, except a nanosecond's remainder each time.
TEST_F(AlphaClocksTest, MovingFlowsGainTheIntegralOfTheirAlpha) {
  struct Flow {
    std::uint32_t hop;
    std::uint16_t domain;
    AlphaClocks::Index clock;
    Time last{};
    Duration gained{};
    unsigned __int128 integral = 0;  // in 10^-6 ns
    std::int64_t moves = 0;
  };
  AlphaClocks many(domains, kNextHops, kStart);
  std::vector<Flow> flows;
  for (std::uint16_t domain = 0; domain < 2; ++domain)
    for (std::uint32_t hop = 10; hop < 13; ++hop) flows.push_back({hop, domain, domain});
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
      const AlphaClocks::Index clock = many.of(f.domain, f.hop);
      if (clock != f.clock) ++f.moves;
      f.clock = clock;
      f.last = many.now(clock);
    };
    const std::size_t signalled = rng.next() % 10;
    if (signalled < flows.size()) {
      many.signal({flows[signalled].hop, 1}, flows[signalled].domain, t);
      paths[signalled].signal(t);
      look(flows[signalled]);
    }
    for (Flow& f : flows)
      if (rng.next() % 4 == 0) look(f);
    if (rng.next() % 8 == 0) local[0] = Ratio::of(0.1 * (1 + rng.next() % 4));
    if (rng.next() % 8 == 0) local[1] = Ratio::of(0.2 * (1 + rng.next() % 4));
  }
  for (Flow& f : flows) {
    const Duration exact(static_cast<std::int64_t>(f.integral / 1'000'000));
    f.gained += many.now(f.clock) - f.last;
    EXPECT_LE(std::abs((f.gained - exact).count()), f.moves + 1) << f.hop << " " << f.domain;
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
  AlphaClocks roomy{domains, kNextHops, kStart, AlphaClocks::Mode::act, 2, 10};
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
  EXPECT_EQ(roomy.of(2, 10), 2);
}

TEST_F(AlphaClocksReload, PathsKeepTheirClocks) {
  turn_all(0ms);
  ASSERT_TRUE(roomy.signal(kPath, 0, now));
  const AlphaClocks::Index path = roomy.of(0, 10);
  EXPECT_GE(path, 10) << "behind all domains that may come";
  turn_all(10ms);
  const Time before = roomy.now(path);
  roomy.adopt(more, AlphaClocks::Mode::act, now);
  EXPECT_EQ(roomy.of(0, 10), path);
  EXPECT_EQ(roomy.domain(path), 0);
  ASSERT_TRUE(roomy.signal(kPath, 2, now));
  EXPECT_EQ(roomy.domain(roomy.of(2, 10)), 2);
  turn_all(20ms);
  EXPECT_EQ(roomy.now(path) - before, 3ms);
}

TEST_F(AlphaClocksReload, WhetherSignalsAreObeyedMayChange) {
  turn_all(0ms);
  ASSERT_TRUE(roomy.signal(kPath, 1, now));
  const AlphaClocks::Index path = roomy.of(1, 10);
  roomy.adopt(more, AlphaClocks::Mode::observe, now);
  EXPECT_FALSE(roomy.acting());
  EXPECT_EQ(roomy.of(1, 10), 1);
  EXPECT_TRUE(roomy.moves(path)) << "its flows return";
  EXPECT_EQ(roomy.remote_count(), 1u);
  roomy.adopt(more, AlphaClocks::Mode::act, now);
  EXPECT_EQ(roomy.of(1, 10), path);
}

TEST_F(AlphaClocksReload, AdoptionAllocatesNothing) {
  const auto before = mallinfo2().uordblks;
  roomy.adopt(more, AlphaClocks::Mode::act, now);
  turn_all(10ms);
  EXPECT_EQ(mallinfo2().uordblks, before);
}

}  // namespace
}  // namespace surety
