// SPDX-License-Identifier: BSD-3-Clause
#include "conditioners/enhanced_token_bucket.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <map>

#include "conditioners/rng.h"
#include "tests/unit/conditioners/bucket_flow.h"

namespace surety {
namespace {

using namespace literals;
using namespace test;
using enum EtbVerdict;

std::uintptr_t sequence(const Packet& p) {
  return reinterpret_cast<std::uintptr_t>(p.handle);
}

// --- HoldingPool

TEST(HoldingPool, BoundsAllQueuesTogether) {
  HoldingPool pool(3);
  EXPECT_EQ(pool.capacity(), 3u);
  const auto a = pool.open(7), b = pool.open(8);
  ASSERT_NE(a, 0u);
  ASSERT_NE(b, 0u);
  EXPECT_EQ(pool.flow(a), 7u);
  EXPECT_EQ(pool.flow(b), 8u);
  EXPECT_TRUE(pool.push(a, packet(7, 1)));
  EXPECT_TRUE(pool.push(b, packet(8, 2)));
  EXPECT_TRUE(pool.push(a, packet(7, 3)));
  EXPECT_FALSE(pool.push(b, packet(8, 4)));
  EXPECT_EQ(pool.open(9), 0u);
  EXPECT_EQ(pool.held(), 3u);
  EXPECT_EQ(pool.size(a), 2u);
  EXPECT_EQ(pool.pop(a).length, 1);
  EXPECT_EQ(pool.head(a).length, 3);
  EXPECT_EQ(pool.pop(b).length, 2);
  pool.close(b);
  EXPECT_EQ(pool.held(), 1u);
  EXPECT_NE(pool.open(9), 0u);
}

TEST(HoldingPool, EmptyPoolHoldsNothing) {
  HoldingPool pool(0);
  EXPECT_EQ(pool.open(1), 0u);
  EXPECT_EQ(pool.capacity(), 0u);
}

TEST(HoldingPool, BehavesAsQueues) {
  Rng rng(31);
  HoldingPool pool(50);
  std::map<HoldingPool::Queue, std::deque<std::uintptr_t>> model;
  std::uintptr_t next = 1, held = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::uint32_t action = rng.next() % 8;
    auto some = model.begin();
    if (!model.empty()) std::advance(some, rng.next() % model.size());
    if (action == 0) {
      const auto q = pool.open(static_cast<FlowId>(i));
      ASSERT_EQ(q != 0, held < 50 && model.size() < 50);
      ASSERT_TRUE(q == 0 || model.emplace(q, std::deque<std::uintptr_t>{}).second);
    } else if (model.empty()) {
      continue;
    } else if (action < 4) {
      ASSERT_EQ(pool.push(some->first, packet(0, 0, next)), held < 50);
      if (held < 50) some->second.push_back(next++), ++held;
    } else if (!some->second.empty()) {
      ASSERT_EQ(sequence(pool.head(some->first)), some->second.front());
      ASSERT_EQ(sequence(pool.pop(some->first)), some->second.front());
      some->second.pop_front(), --held;
    } else {
      pool.close(some->first);
      model.erase(some);
      continue;
    }
    ASSERT_EQ(pool.held(), held);
    ASSERT_TRUE(some == model.end() || pool.size(some->first) == some->second.size());
  }
}

// --- EnhancedTokenBucket

TEST(EnhancedTokenBucket, InThenOutThenHeldThenRefused) {
  Flow flow(small(), 0.5);
  const EtbVerdict expected[] = {in, in, out, hold, hold, drop_buffer, drop_buffer};
  for (const EtbVerdict v : expected) EXPECT_EQ(flow.offer(0us, 1000), v);
  EXPECT_EQ(flow.pool().held(), 2u);
}

TEST(EnhancedTokenBucket, CommonPoolHasItsOwnVerdict) {
  Flow flow(small(), 0.5, 1);
  const EtbVerdict expected[] = {in, in, out, hold, drop_buffer_total, drop_buffer_total};
  for (const EtbVerdict v : expected) EXPECT_EQ(flow.offer(0us, 1000), v);
  Flow none(small(), 0.5, 0);
  const EtbVerdict without[] = {in, in, out, drop_buffer_total};
  for (const EtbVerdict v : without) EXPECT_EQ(none.offer(0us, 1000), v);
  EXPECT_FALSE(none.waiting());
}

TEST(EnhancedTokenBucket, NoBufferNeverHolds) {
  Flow flow(small(0), 0.5);
  const EtbVerdict expected[] = {in, in, out, drop_buffer};
  for (const EtbVerdict v : expected) EXPECT_EQ(flow.offer(0us, 1000), v);
  EXPECT_FALSE(flow.waiting());
  EXPECT_EQ(flow.next_release(), kNever);
}

TEST(EnhancedTokenBucket, WithoutALimitOutNeedsNoTokens) {
  Flow flow(small(), 0);
  for (const EtbVerdict v : {in, in, out, hold, hold}) EXPECT_EQ(flow.offer(0us, 1000), v);
  flow.set_alpha(0us, Ratio::unlimited());
  EXPECT_EQ(flow.next_release(), kStart + 1ns);
  EXPECT_EQ(flow.release(0us), "out out");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(flow.offer(0us, 1000), out);
  flow.set_alpha(0us, Ratio::of(0));
  EXPECT_EQ(flow.offer(0us, 1000), hold);
}

// The in-bucket gains 10 kB in the buffer's time. The buffer holds what both buckets let go in it, and at
// least 6 kB.
TEST(EnhancedTokenBucket, ABufferOfATimeFollowsAlpha) {
  EnhancedTokenBucketParams params = small(1000);
  const auto held = [&](double alpha) {
    Flow flow(params, alpha);
    while (flow.offer(0us, 1000) != drop_buffer) {
    }
    return flow.pool().held();
  };
  params.buffer_bytes = 10'000;
  EXPECT_EQ(held(0), 10u);
  EXPECT_EQ(held(0.5), 15u);
  EXPECT_EQ(held(4), 50u);
  params.buffer_bytes = 1'000;
  EXPECT_EQ(held(0), 6u);
  params.buffer = 3;
  EXPECT_EQ(held(0), 3u) << "packets limit it, too";
}

TEST(EnhancedTokenBucket, HeadLeavesInAsSoonAsTheInBucketHasItsTokens) {
  Flow flow(small(), 0.4);
  for (int i = 0; i < 5; ++i) flow.offer(0us, 1000);  // two are held
  EXPECT_EQ(flow.next_release(), kStart + 1000us);
  EXPECT_EQ(flow.release(1000us - 1ns), "");
  EXPECT_EQ(flow.release(1000us), "in");
  EXPECT_EQ(flow.next_release(), kStart + 2000us);
  EXPECT_TRUE(flow.waiting());
  EXPECT_EQ(flow.release(2000us), "in");
  EXPECT_FALSE(flow.waiting());
  EXPECT_EQ(flow.next_release(), kNever);
  EXPECT_EQ(flow.release(3000us), "");
}

TEST(EnhancedTokenBucket, HeadLeavesOutWhenThatIsSooner) {
  Flow flow(small(), 0.5);
  EXPECT_EQ(flow.offer(0us, 2000), in);
  EXPECT_EQ(flow.offer(0us, 500), out);   // 500 tokens are left
  EXPECT_EQ(flow.offer(0us, 800), hold);  // in: 800 us; out: 300 virtual = 600 real
  EXPECT_EQ(flow.next_release(), kStart + 600us);
  EXPECT_EQ(flow.release(600us - 1ns), "");
  EXPECT_EQ(flow.release(600us), "out");
}

TEST(EnhancedTokenBucket, ArrivalsQueueBehindTheHeldOnes) {
  Flow flow(small(), 0.5);
  EXPECT_EQ(flow.offer(0us, 2000), in);
  EXPECT_EQ(flow.offer(0us, 1000), out);
  EXPECT_EQ(flow.offer(0us, 1500), hold);
  EXPECT_EQ(flow.offer(1000us, 64), hold);  // the in-bucket has 1000 tokens, but the head goes first
  EXPECT_EQ(flow.release(1500us), "in out");
}

TEST(EnhancedTokenBucket, ReleaseStopsAtTheRoomGiven) {
  Flow flow(small(10), 0);
  for (int i = 0; i < 7; ++i) flow.offer(0us, 1000);  // four are held
  EXPECT_EQ(flow.release(2000us, 0), "");
  EXPECT_EQ(flow.next_release(), kStart + 2000us + 1ns);  // due, and never before now + 1 ns
  EXPECT_EQ(flow.release(2000us, 1), "in");
  EXPECT_EQ(flow.release(2000us, 5), "in");
  EXPECT_EQ(flow.pool().held(), 2u);
}

TEST(EnhancedTokenBucket, OutBucketFollowsAlpha) {
  Flow flow(small(), 0.4);
  flow.offer(0us, 2000), flow.offer(0us, 1000);
  // From here the in-bucket is kept empty by packets that take all it has.
  EXPECT_EQ(flow.offer(1000us, 1000), in);
  EXPECT_EQ(flow.offer(1000us, 400), out);  // 1000 us * 0.4
  flow.set_alpha(1000us, 0.1);
  EXPECT_EQ(flow.offer(2000us, 1000), in);
  EXPECT_EQ(flow.offer(2000us, 101), hold);
  EXPECT_EQ(flow.release(2000us), "");
  EXPECT_EQ(flow.release(2010us), "out");  // 100 + 1
}

TEST(EnhancedTokenBucket, AlphaZeroIsATokenBucketShaper) {
  Flow flow(small(3), 0);
  const EtbVerdict expected[] = {in, in, out, hold, hold, hold, drop_buffer};  // the out-bucket starts full
  for (const EtbVerdict v : expected) EXPECT_EQ(flow.offer(0us, 1000), v);
  EXPECT_EQ(flow.release(10ms), "in in");  // its depth bounds what an idle time is worth
  EXPECT_EQ(flow.release(11ms), "in");
}

TEST(EnhancedTokenBucket, WithoutAnyRateTheHeadWaitsForEver) {
  Flow flow({TokenBucketParams(0_bps, Depth::bytes(1000)), TokenBucketParams(8_Mbps, Depth::bytes(1000)), 5},
            0);
  EXPECT_EQ(flow.offer(0us, 1000), in);
  EXPECT_EQ(flow.offer(0us, 1000), out);
  EXPECT_EQ(flow.offer(0us, 1000), hold);
  EXPECT_EQ(flow.next_release(), kNever);
  flow.set_alpha(1s, 0.5);
  EXPECT_EQ(flow.next_release(), kStart + 1s + 2ms);
}

TEST(EnhancedTokenBucket, OversizePacketsAreSlowedDownNotBlocked) {
  Flow flow(small(), 1);
  EXPECT_EQ(flow.offer(0us, 9000), in);   // leaves a debt of 7000
  EXPECT_EQ(flow.offer(0us, 9000), out);  // 8000
  EXPECT_EQ(flow.offer(0us, 9000), hold);
  EXPECT_EQ(flow.next_release(), kStart + 9000us);
  EXPECT_EQ(flow.release(9000us - 1ns), "");
  EXPECT_EQ(flow.release(9000us), "in");
  EXPECT_EQ(flow.offer(9000us, 9000), out);
}

// --- Properties

struct Total {
  std::uint64_t arrivals = 0, in = 0, out = 0, dropped = 0;
};

// Random traffic of many flows under an alpha that moves; every flow looked at when next_release() says so.
class Traffic {
 public:
  static constexpr std::uint32_t kFlows = 20, kBuffer = 8, kPool = 60;

  Traffic() : states_(kFlows), last_(kFlows) {
    for (auto& s : states_) EnhancedTokenBucket::reset(s, params_, kStart, clock_.now());
  }

  void step() {
    now_ += Duration(rng_.next() % 40'000);
    while (release_earliest_due()) {
    }
    released_ = now_;
    clock_.advance(now_, alpha_);
    if (rng_.next() % 100 == 0) {
      alpha_ = Ratio::millionths(rng_.next() % 3 == 0 ? 0 : rng_.next() % 400'000);
      clock_.advance(now_, alpha_);
    }
    arrive(rng_.next() % kFlows);
  }

  void check_conservation() const {
    ASSERT_EQ(total_.arrivals, total_.in + total_.out + total_.dropped + pool_.held());
    ASSERT_LE(pool_.held(), kPool);
    for (const auto& s : states_) {
      ASSERT_TRUE(s.held == 0 || (pool_.size(s.held) >= 1 && pool_.size(s.held) <= kBuffer));
    }
  }
  const Total& total() const { return total_; }

 private:
  void arrive(FlowId flow) {
    auto& s = states_[flow];
    const Packet p = packet(flow, static_cast<std::uint16_t>(40 + rng_.next() % 1461), ++total_.arrivals);
    const std::uint32_t waiting = s.held == 0 ? 0 : pool_.size(s.held);
    switch (EnhancedTokenBucket::offer(s, params_, p, now_, clock_, pool_)) {
      case in:
        return leave(p, true);
      case out:
        return leave(p, false);
      case hold:
        return;
      case drop_buffer:
        ++total_.dropped;
        ASSERT_EQ(waiting, kBuffer);
        return;
      case drop_buffer_total:
        ++total_.dropped;
        ASSERT_EQ(pool_.held(), kPool);
        return;
    }
  }

  bool release_earliest_due() {
    FlowId flow = kNoFlow;
    Time when = now_ + 1ns;
    for (FlowId f = 0; f < kFlows; ++f) {
      const Time t = EnhancedTokenBucket::next_release(states_[f], params_, released_, clock_, pool_);
      if (t < when) flow = f, when = t;
    }
    if (flow == kNoFlow) return false;
    auto& s = states_[flow];
    if (when - 1ns > released_) expect_cannot_leave(s, when - 1ns);
    clock_.advance(when, alpha_);
    std::array<Packet, 4> gone;
    const std::size_t n = EnhancedTokenBucket::release(s, params_, when, clock_, pool_, gone);
    EXPECT_GE(n, 1u);  // never early
    for (std::size_t i = 0; i < n; ++i) leave(gone[i], gone[i].precedence == Precedence::in);
    released_ = when;
    return true;
  }

  void expect_cannot_leave(const EnhancedTokenBucketState& s, Time when) {
    TokenBucket in_bucket = s.in, out_bucket = s.out;
    AlphaClock clock = clock_;
    clock.advance(when, alpha_);
    const std::uint32_t length = pool_.head(s.held).length;
    in_bucket.fill(params_.in, when);
    out_bucket.fill(params_.out, clock.now());
    ASSERT_FALSE(in_bucket.can_take(params_.in, params_.in.cost(length)));
    ASSERT_FALSE(out_bucket.can_take(params_.out, params_.out.cost(length)));
  }

  void leave(const Packet& p, bool is_in) {
    ASSERT_GT(sequence(p), last_[p.flow]) << "order of flow " << p.flow;
    last_[p.flow] = sequence(p);
    ++(is_in ? total_.in : total_.out);
  }

  EnhancedTokenBucketParams params_{TokenBucketParams(4_Mbps, Depth::packets(3)),
                                    TokenBucketParams(4_Mbps, Depth::packets(1)), kBuffer};
  Rng rng_{99};
  Ratio alpha_ = Ratio::of(0.4);
  AlphaClock clock_{kStart, Ratio::of(0.4)};
  HoldingPool pool_{kPool};
  std::vector<EnhancedTokenBucketState> states_;
  std::vector<std::uintptr_t> last_;
  Time now_ = kStart, released_ = kStart;
  Total total_;
};

TEST(EnhancedTokenBucket, RandomTrafficKeepsOrderAndLosesNothing) {
  Traffic traffic;
  for (int i = 0; i < 200'000; ++i) {
    ASSERT_NO_FATAL_FAILURE(traffic.step()) << i;
    ASSERT_NO_FATAL_FAILURE(traffic.check_conservation()) << i;
  }
  EXPECT_GT(traffic.total().in, 1000u);
  EXPECT_GT(traffic.total().out, 1000u);
  EXPECT_GT(traffic.total().dropped, 1000u);
}

// A flow that always has packets waiting: IN is r and OUT alpha * r to the token, however alpha moved.
TEST(EnhancedTokenBucket, BackloggedFlowGetsItsRatesToTheToken) {
  const TokenBucketParams in_params(1_Mbps, Depth::packets(10), TokenUnit::packets, 576_B);
  const TokenBucketParams out_params(1_Mbps, Depth::packets(2), TokenUnit::packets, 576_B);
  const EnhancedTokenBucketParams params{in_params, out_params, 100};
  HoldingPool pool(100);
  Ratio alpha = Ratio::of(0.4);
  AlphaClock clock(kStart, alpha);
  EnhancedTokenBucketState state;
  EnhancedTokenBucket::reset(state, params, kStart, clock.now());

  Rng rng(4);
  std::array<std::uint64_t, 2> left{};
  unsigned __int128 integral = 0;  // of alpha, in 10^-6 ns
  Time now = kStart, change = kStart;
  const Packet p = packet(1, 576);
  const Time end = kStart + 2000s;
  while (now < end) {
    for (auto v = hold; v != drop_buffer;) {
      v = EnhancedTokenBucket::offer(state, params, p, now, clock, pool);
      ASSERT_NE(v, drop_buffer_total);
      if (v == in || v == out) ++left[v == out];
    }
    if (now >= change) {
      alpha = Ratio::millionths(rng.next() % 400'001);
      clock.advance(now, alpha);
      change = now + Duration(rng.next() / 20);
    }
    const Time next =
        std::min({EnhancedTokenBucket::next_release(state, params, now, clock, pool), change, end});
    integral += static_cast<unsigned __int128>((next - now).count()) * alpha.millionths();
    now = next;
    clock.advance(now, alpha);
    std::array<Packet, 8> gone;
    const auto n = EnhancedTokenBucket::release(state, params, now, clock, pool, gone);
    for (std::size_t i = 0; i < n; ++i) ++left[index(gone[i].precedence)];
  }
  const Credit token = in_params.cost(576);
  const auto elapsed = static_cast<std::uint64_t>((end - kStart).count());
  const auto alpha_time = static_cast<std::uint64_t>(integral / 1'000'000);
  EXPECT_EQ(left[0], 10 + elapsed * 1'000'000 / static_cast<std::uint64_t>(token));
  EXPECT_EQ(left[1], 2 + alpha_time * 1'000'000 / static_cast<std::uint64_t>(token));
}

TEST(EnhancedTokenBucket, OfferInTakesWhatLeavesInAtOnceAndNothingElse) {
  const EnhancedTokenBucketParams p{TokenBucketParams(8_Mbps, Depth::bytes(2000)),
                                    TokenBucketParams(8_Mbps, Depth::bytes(1000)), 10};
  HoldingPool pool(10);
  const AlphaClock alpha(kStart, Ratio::of(0.4));
  EnhancedTokenBucketState s;
  EnhancedTokenBucket::reset(s, p, kStart, alpha.now());
  EXPECT_TRUE(EnhancedTokenBucket::offer_in(s, p, 1500, kStart));
  EXPECT_FALSE(EnhancedTokenBucket::offer_in(s, p, 1000, kStart)) << "500 are left";
  EXPECT_EQ(EnhancedTokenBucket::offer(s, p, packet(1, 1000), kStart, alpha, pool), out);
  EXPECT_EQ(EnhancedTokenBucket::offer(s, p, packet(1, 1000), kStart, alpha, pool), hold);
  EXPECT_FALSE(EnhancedTokenBucket::offer_in(s, p, 100, kStart + 1s)) << "not before one that waits";
}

TEST(EnhancedTokenBucket, FlushLetsAllGoOutInOrderAndOwesForIt) {
  const EnhancedTokenBucketParams p{TokenBucketParams(8_Mbps, Depth::bytes(2000)),
                                    TokenBucketParams(8_Mbps, Depth::bytes(1000)), 10};
  HoldingPool pool(10);
  AlphaClock alpha(kStart, Ratio::of(1));
  EnhancedTokenBucketState s;
  EnhancedTokenBucket::reset(s, p, kStart, alpha.now());
  for (std::uintptr_t i = 1; i <= 8; ++i)
    EnhancedTokenBucket::offer(s, p, packet(1, 1000, i), kStart, alpha, pool);
  ASSERT_EQ(pool.held(), 5u);
  std::array<Packet, 3> room;
  EXPECT_EQ(EnhancedTokenBucket::flush(s, p, pool, room), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(sequence(room[i]), 4 + i);
    EXPECT_EQ(room[i].precedence, Precedence::out);
  }
  EXPECT_NE(s.held, 0u);
  EXPECT_EQ(EnhancedTokenBucket::flush(s, p, pool, room), 2u);
  EXPECT_EQ(sequence(room[1]), 8u);
  EXPECT_EQ(s.held, 0u);
  EXPECT_EQ(pool.held(), 0u);
  EXPECT_EQ(EnhancedTokenBucket::flush(s, p, pool, room), 0u);
  EXPECT_EQ(s.out.credit(), -5 * 1000 * kCreditPerByte);
  EXPECT_EQ(s.in.credit(), 0);
}

}  // namespace
}  // namespace surety
