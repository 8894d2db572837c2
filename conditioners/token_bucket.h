// SPDX-License-Identifier: BSD-3-Clause
// A token bucket with exact integer credit: 16 bytes of state, no division on the packet path.
//
// Credit is counted in 10^-9 bit, so that rate [bit/s] x time [ns] is a whole number and nothing is ever
// rounded: after any sequence of calls the credit is min(depth, what the rate gave) - what was taken, to the
// last unit. Depth and any one cost are at most 1 GB (2^63 units). A packet that costs more than the whole
// depth passes when the bucket is full and leaves a debt, so that a bucket shallower than the MTU slows such
// packets down instead of blocking them for ever. A bucket of rate zero only spends what it holds.
//
// TokenUnit::ticks: the credit is whole tokens and the part of a tick that has passed, in a full bucket, too.
// Packets cost whole tokens, so that one can leave from the tick on that completes its token.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "conditioners/params.h"
#include "conditioners/units.h"

namespace surety {

class TokenBucket {
 public:
  // Full at `now`.
  void reset(const TokenBucketParams& params, Time now) {
    credit_ = params.depth_;
    rebase(params, now);
  }

  // Keeps the credit (of ticks: the whole tokens) and continues from `now` of another clock.
  void rebase(const TokenBucketParams& params, Time now) {
    last_ = now;
    if (params.tick_ == 0) return;
    const Credit started = credit_ % params.tick_;
    credit_ += params.since_tick(now) - (started < 0 ? started + params.tick_ : started);
  }

  // Adds what the rate gives up to `now`; a `now` in the past adds nothing. Inlined, or each packet has a
  // call of 5 cycles.
  [[gnu::always_inline]] void fill(const TokenBucketParams& params, Time now) {
    if (params.in_ticks()) [[unlikely]]
      return fill_in_ticks(params, now);
    add(params, now);
  }
  // fill() of parameters that are not special(), or after a fill() at `now`. True: the bucket is full.
  [[gnu::always_inline]] bool add(const TokenBucketParams& params, Time now) {
    const std::int64_t elapsed = (now - last_).count();
    if (elapsed <= 0) return false;
    last_ = now;
    Credit gain;
    // A product beyond 64 bits is beyond every depth, so overflow means full.
    const bool full =
        __builtin_mul_overflow(elapsed, params.per_ns_, &gain) || gain >= params.depth_ - credit_;
    credit_ = full ? params.depth_ : credit_ + gain;
    return full;
  }

  // fill() of TokenUnit::ticks. Out of line: its division would cost each fill() registers.
  [[gnu::noinline]] void fill_in_ticks(const TokenBucketParams& params, Time now) {
    if (add(params, now)) credit_ += params.since_tick(now);
  }

  // True if take() would succeed. Call fill() first.
  bool can_take(const TokenBucketParams& params, Credit cost) const {
    return credit_ >= std::min(cost, params.depth_);
  }

  // Takes the cost of a packet if it is there. Call fill() first.
  bool take(const TokenBucketParams& params, Credit cost) {
    if (!can_take(params, cost)) return false;
    credit_ -= cost;
    return true;
  }

  // Takes `cost` with or without credit; missing credit becomes a debt. For a packet that leaves anyway.
  void charge(Credit cost) { credit_ -= cost; }

  // Time from the last fill() until take(cost) can succeed: rounded up to 1 ns, never too short, never too
  // long by more than one part in 10^12. Duration::max() when the rate is zero.
  Duration wait(const TokenBucketParams& params, Credit cost) const {
    const Credit missing = std::min(cost, params.depth_) - credit_;
    if (missing <= 0) return Duration::zero();
    if (params.per_ns_ == 0) return Duration::max();
    // Five roundings of at most 2^-53 each: 10^-15 more keeps the estimate from falling below the truth.
    const double estimate = static_cast<double>(missing) * params.ns_per_credit_ * (1 + 1e-15);
    const auto whole = static_cast<std::int64_t>(estimate);
    return Duration(whole + (whole * params.per_ns_ < missing ? 1 : 0));
  }

  // The time, as fill() is given it, from which take(cost) can succeed; kNever when it never will.
  Time ready(const TokenBucketParams& params, Credit cost) const {
    const Duration needed = wait(params, cost);
    return needed < kNever - last_ ? last_ + needed : kNever;
  }

  Credit credit() const { return credit_; }
  Time last() const { return last_; }  // time of the last fill() that added something
  // The part of the time until `now` whose tokens fill(now) finds no room for.
  Duration surplus(const TokenBucketParams& params, Time now) const {
    return std::max(now - last_ - wait(params, params.depth_), Duration::zero());
  }

 private:
  Credit credit_ = 0;
  Time last_{};
};
static_assert(sizeof(TokenBucket) == 16);

}  // namespace surety
