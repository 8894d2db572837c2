// SPDX-License-Identifier: BSD-3-Clause
// The congestion signalling algorithm of the CSA paper: how much out-of-profile traffic (alpha) a congested
// queue lets the border admit.
//
// Source: Giacomazzi, Musumeci, Verticale, "Control of the Percentage of Non-conformant Packets at the Token
// Bucket"; conditioners/README.md. Three small parts, so that the remote case (a signal that arrives in a
// packet) drives the same controller:
//   CongestionDetector  counts OUT arrivals at one RIO queue modulo 8 while it is congested
//   CsaController       T1, T2 and alpha, driven by the detector's events (or by signals from an internal
//                       router)
//   AlphaClock          time that runs alpha times as fast; see enhanced_token_bucket.h
// A timer has expired at the very nanosecond for which it was set.
#pragma once

#include <cstdint>
#include <limits>

#include "conditioners/params.h"
#include "conditioners/units.h"

namespace surety {

enum class CongestionEvent : std::uint8_t { none, onset, eighth };

class CongestionDetector {
 public:
  // One OUT packet arrived at the queue; `congested` is avg_total > min_out at that moment. The first one of
  // a congestion period gives `onset` (and counts 1), each 8th of the period gives `eighth`.
  CongestionEvent out_arrival(bool congested) {
    if (!congested) {
      in_period_ = false;
      count_ = 0;
      return CongestionEvent::none;
    }
    count_ = static_cast<std::uint8_t>((count_ + 1) % 8);
    const bool onset = !in_period_;
    in_period_ = true;
    if (onset) return CongestionEvent::onset;
    return count_ == 0 ? CongestionEvent::eighth : CongestionEvent::none;
  }
  std::uint32_t count() const { return count_; }

 private:
  std::uint8_t count_ = 0;  // modulo 8
  bool in_period_ = false;
};

// Ours, not the paper's, whose alpha rises until the queue is congested, and again 90 ms after: each time
// some flows lose OUT packets, and TCP with a long round trip or without NewReno's recovery pays with its IN
// rate (conditioners/README.md). The search remembers the alpha at which congestion came last, the ceiling.
// Below it alpha rises a step each T2. The ceiling itself is tried after `wait` T2s at one level without a
// step down, and so is each step above it. Congestion that ends a climb doubles `wait`, a ceiling that holds
// for it halves `wait`. A step is at least a twentieth of alpha, so that alpha comes down from 256 to 0.4
// within 3.8 s and stays close to what a customer alone can use.
class AlphaSearch {
 public:
  static constexpr std::uint32_t kLongestWait = 64;  // T2s

  void fall(Ratio alpha);  // before congestion takes alpha down (or would, at its minimum)
  // A T2 without congestion has passed: whether alpha goes up.
  bool rise(Ratio alpha, Ratio step);
  std::uint32_t wait() const { return wait_; }

 private:
  Ratio ceiling_ = Ratio::millionths(std::numeric_limits<std::uint32_t>::max());
  std::uint32_t wait_ = 1, waited_ = 0;
  bool falling_ = false;
};

class CsaController {
 public:
  // alpha = the lesser of max and start, T2 running, T1 expired
  CsaController(const CsaParams& params, Time now, Ratio start = Ratio::unlimited());

  void onset(Time now);   // first OUT arrival of a congestion period: (re)starts T1 and T2
  void eighth(Time now);  // each 8th: if T1 has expired alpha goes one step down and both timers restart
  // Lets T2 expire as often as it should have up to `now`; `congested` is the queue's state since the last
  // call. The state is sampled: call it at least once per T2, and before an onset() or eighth() of the same
  // `now`, which would otherwise restart a T2 that has expired already.
  void advance(Time now, bool congested);

  // Sets another maximum: an alpha above it comes down at once; one below rises as before.
  void set_max(Ratio max);

  Ratio alpha() const { return alpha_; }
  Time next_event() const { return t2_; }  // next call of advance() that is due; kNever: T2 is stopped
  const CsaParams& params() const { return params_; }

 private:
  void restart(Time now);
  void search_up(std::int64_t expiries);
  Ratio step() const;

  CsaParams params_;
  Ratio alpha_;
  AlphaSearch search_;
  Time t1_, t2_;  // expiry times
};

// The integral of alpha over time. An out-bucket filled at alpha*r is a plain token bucket filled at r that
// lives in this time: exact however seldom a flow is served and however often alpha moved in between, and no
// flow is updated when it moves. Guarantees: now() advances by exactly the sum of alpha_i * dt_i, rounded
// down to 1 ns, the remainder kept.
class AlphaClock {
 public:
  explicit AlphaClock(Time now, Ratio alpha = {}, Ratio free = Ratio::of(1)) : real_(now), free_(free) {
    advance(now, alpha);
  }
  // From the last call to `now` alpha had the value `alpha`, and keeps it for the predictions below. A change
  // takes two calls at one `now`: the old value ends the time before, the new one is what holds from here.
  // While alpha is unlimited, now() runs as fast as time: 64 bits last for 292 years, or a year of congestion
  // at alpha 256.
  void advance(Time now, Ratio alpha);
  Ratio alpha() const { return alpha_; }
  // True if alpha is at least 1, or has been at a lower maximum (nothing is congested) for `hold_down`. An
  // alpha that has just come back to its maximum is a trial: congestion often follows.
  bool free(Duration hold_down = {}) const {
    return alpha_ >= free_ && (alpha_ >= Ratio::of(1) || real_ >= below_ + hold_down);
  }
  void set_free(Ratio from) { free_ = from; }  // the lesser of alpha's maximum and 1
  // Keeps its pace and continues from another time.
  void rebase(Time virtual_now) { virtual_ = virtual_now; }
  Time now() const { return virtual_; }
  // Real time from the last advance() for `virtual_wait` to pass at the present alpha: rounded up to 1 ns,
  // never too short, never too long by more than one part in 10^12; Duration::max() at alpha 0. No division.
  Duration real_wait(Duration virtual_wait) const;
  // The real time at which now() will have reached `virtual_time`; kNever when it never will. While alpha is
  // unlimited: that of the last advance(), since OUT packets need no tokens.
  Time when(Time virtual_time) const;

 private:
  Time real_;
  Time below_ = Time::min();  // the last time of an alpha below free_
  Time virtual_{};
  std::uint64_t remainder_ = 0;  // in 10^-6 ns
  Ratio alpha_, free_;
  std::uint32_t pace_ = 0;  // in 10^-6: alpha, or 1 where it is unlimited
  double inverse_ = 0;      // 1 / pace_, 0 at alpha 0
};

}  // namespace surety
