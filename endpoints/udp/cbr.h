// SPDX-License-Identifier: BSD-3-Clause
// When the packets of a constant bit rate may leave, always or on and off.
//
// Exact in integers: packet n (from 0) leaves at start + ceil(n * packet / rate) ns of *on* time, however
// many there were before; so no interval that begins at the start ever holds more than the rate gives. The
// clock of the rate stops while the source is off: on average it sends rate * on / (on + off), whatever the
// length of a phase. A sender that comes more than kMaxLateness late does not catch up: the schedule
// continues from there.
#pragma once

#include <cstdint>

#include "conditioners/units.h"

namespace surety::endpoints {

class Cbr {
 public:
  static constexpr Duration kMaxLateness = std::chrono::milliseconds(100);

  // `rate` is not zero, `packet` at most 64 KiB. `off` zero: always on; else `on` is not zero.
  // Begins at `start`, on.
  Cbr(Bytes packet, Rate rate, Duration on, Duration off, Time start);

  Time next_send() const { return next_; }
  // The packet of next_send() has left at `now` >= next_send().
  void on_sent(Time now) {
    if (now - next_ > kMaxLateness) [[unlikely]] {
      resume(now);
      if (next_ > now) return;
    }
    // next_ is the ceiling of the exact time; excess_ is what it exceeds it by, in 1/rate ns.
    next_ += step_;
    if (excess_ >= remainder_) {
      excess_ -= remainder_;
    } else {
      excess_ += rate_ - remainder_;
      next_ += Duration(1);
    }
    if (next_ >= phase_end_) [[unlikely]]
      skip_off();
  }

 private:
  void skip_off();        // next_ has run beyond the on phase
  void resume(Time now);  // restarts at `now`, or at the next on phase

  Time next_;
  Time phase_end_ = kNever;  // end of the on phase that next_ is in
  std::uint64_t excess_ = 0;
  Duration step_;  // packet / rate = step_ + remainder_ / rate_ ns
  std::uint64_t remainder_, rate_;
  Duration on_, off_;
};
static_assert(sizeof(Cbr) == 64);

}  // namespace surety::endpoints
