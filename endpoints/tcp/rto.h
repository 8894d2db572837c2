// SPDX-License-Identifier: BSD-3-Clause
// The retransmission timeout, and the estimate of the round-trip time that it follows from (RFC 6298).
#pragma once

#include <algorithm>

#include "conditioners/units.h"

namespace surety::endpoints {

// Smoothed round-trip time and its variation (RFC 6298 2), and the least one seen (GTCP's rtt_base).
//
// Whole nanoseconds, rounded towards zero. 24 bytes, no division on the way of a packet.
class RttEstimator {
 public:
  // A sample for all three; r <= 0 counts as 1 ns. Meant for one sample per round trip, which is what the
  // gains 1/8 and 1/4 of RFC 6298 are for: give what is measured beyond that to on_further_sample()
  // (RFC 7323 4.2).
  void on_sample(Duration r) {
    r = std::max(r, Duration(1));
    const bool first = !known();
    on_further_sample(r);
    if (first) {
      smoothed_ = r;
      variation_ = r / 2;
      return;
    }
    const Duration off = smoothed_ > r ? smoothed_ - r : r - smoothed_;
    variation_ = (3 * variation_ + off) / 4;  // 2.3: with the old SRTT
    smoothed_ = (7 * smoothed_ + r) / 8;
  }
  // A sample that only counts if it is the least.
  void on_further_sample(Duration r) {
    r = std::max(r, Duration(1));
    if (r < least_ || least_ == Duration{}) least_ = r;
  }

  bool known() const { return smoothed_ != Duration{}; }
  Duration smoothed() const { return smoothed_; }    // SRTT; zero: not known
  Duration variation() const { return variation_; }  // RTTVAR
  Duration least() const { return least_; }          // zero: not known

 private:
  Duration smoothed_{}, variation_{}, least_{};
};

struct RtoParams {
  Duration min = std::chrono::seconds(1), max = std::chrono::seconds(60),
           granularity = std::chrono::milliseconds(1);
};

// The timeout from the estimator, with bounds, granularity, backoff, and coarse
// ticks on request.
class RetransmissionTimeout {
 public:
  // A granularity beyond this means a clock that ticks, as BSD's does each 500 ms. Finer ones are only the G
  // of the formula: the exact microsecond of a timer of a second does not matter.
  static constexpr Duration kFine = std::chrono::milliseconds(1);

  // RTO = SRTT + max(G, 4 RTTVAR), within [min, max], doubled by every backoff(); 1 s before the first sample
  // (2.1), 3 s then if the SYN had to be repeated (5.7).
  Duration value(const RtoParams& p, const RttEstimator& rtt) const {
    const Duration initial = syn_lost_ ? std::chrono::seconds(3) : std::chrono::seconds(1);
    const Duration base =
        rtt.known() ? rtt.smoothed() + std::max(p.granularity, 4 * rtt.variation()) : initial;
    const Duration bounded = std::clamp(base, p.min, std::max(p.min, p.max));
    return bounded.count() > p.max.count() >> doublings_ ? p.max : bounded * (std::int64_t{1} << doublings_);
  }

  void backoff() { doublings_ = std::min(doublings_ + 1, 62); }  // 5.5; value() never exceeds max
  void reset() { doublings_ = 0; }                               // a new sample ends the backoff
  void on_syn_lost() { syn_lost_ = true; }

  // Expiry of a timer that is armed at `now` for `value`: with coarse ticks, on the first tick that is not
  // early. Ticks are counted from `tick`, an earlier one: clocks of different hosts do not tick at the same
  // moments, or connections that time out together would stay together for good.
  static Time expiry(const RtoParams& p, Time now, Duration value, Time tick) {
    const Time exact = now + value;
    if (p.granularity <= kFine) return exact;
    const Duration beyond = (exact - tick) % p.granularity;
    return beyond == Duration{} ? exact : exact + (p.granularity - beyond);
  }

 private:
  int doublings_ = 0;
  bool syn_lost_ = false;
};

}  // namespace surety::endpoints
