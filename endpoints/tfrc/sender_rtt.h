// SPDX-License-Identifier: BSD-3-Clause
// The round-trip time R of a TFRC sender (RFC 5348 4.3, step 2), and the window counter of CCID 3 that it
// drives (RFC 4342 8.1), with which the receiver separates losses of one round-trip time from those of the
// next.
#pragma once

#include <algorithm>
#include <cstdint>

#include "conditioners/units.h"
#include "endpoints/tfrc/pacer.h"

namespace surety::endpoints {

class SenderRtt {
 public:
  explicit SenderRtt(Time start) : counter_at_(start) {}

  bool known() const { return value_ != Duration::zero(); }
  Duration value() const { return value_; }  // zero: not known; else 1 us to 100 s
  Duration least() const { return least_; }

  // Any value may come; R and its least are within the bounds above.
  void on_sample(Duration r, Time now) {
    r = std::clamp(r, kLeast, kMost);
    if (!known()) counter_at_ = now;
    least_ = known() ? std::min(least_, r) : r;
    value_ = known() ? from_seconds(kFilter * seconds(value_) + (1 - kFilter) * seconds(r)) : r;
    quarter_ = value_ / 4;
  }

  // The counter, modulo 16: advances by one every R / 4, by at most 5 from one call to the next.
  std::uint8_t window_counter(Time now) {
    if (quarter_ > Duration::zero() && now - counter_at_ >= quarter_) {
      const std::int64_t quarters = (now - counter_at_) / quarter_;
      // Whole quarters: what is left of one counts for the next packet.
      counter_at_ = quarters > kJump ? now : counter_at_ + quarters * quarter_;
      counter_ = static_cast<std::uint8_t>((counter_ + std::min<std::int64_t>(quarters, kJump)) & 15);
    }
    return counter_;
  }

  static constexpr Duration kLeast = std::chrono::microseconds(1), kMost = std::chrono::seconds(100);

 private:
  static constexpr double kFilter = 0.9;  // q
  static constexpr std::uint8_t kJump = 5;

  Time counter_at_;
  Duration quarter_{};  // R / 4
  std::uint8_t counter_ = 0;
  Duration value_{}, least_{};
};

}  // namespace surety::endpoints
