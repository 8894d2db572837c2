// SPDX-License-Identifier: BSD-3-Clause
// Smoothed round-trip time and its variation (RFC 6298 2), and the least one seen (GTCP's rtt_base).
//
// Whole nanoseconds, rounded towards zero. 24 bytes, no division on the way of a packet.
#pragma once

#include <algorithm>

#include "conditioners/units.h"

namespace surety::endpoints {

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

}  // namespace surety::endpoints
