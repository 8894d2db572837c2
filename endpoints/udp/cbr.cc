// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/udp/cbr.h"

namespace surety::endpoints {

Cbr::Cbr(Bytes packet, Rate rate, Duration on, Duration off, Time start)
    : next_(start), rate_(rate.bits_per_second()), on_(on), off_(off) {
  const std::uint64_t bit_nanoseconds = packet.bits() * 1'000'000'000;
  step_ = Duration(static_cast<std::int64_t>(bit_nanoseconds / rate_));
  remainder_ = bit_nanoseconds % rate_;
  if (off_ > Duration::zero()) phase_end_ = start + on_;
}

void Cbr::skip_off() {
  const std::int64_t phases = (next_ - phase_end_) / on_ + 1;
  Duration::rep pause, whole;
  const bool overflow = __builtin_mul_overflow(phases, off_.count(), &pause) ||
                        __builtin_mul_overflow(phases, (on_ + off_).count(), &whole) ||
                        __builtin_add_overflow(next_.time_since_epoch().count(), pause, &pause) ||
                        __builtin_add_overflow(phase_end_.time_since_epoch().count(), whole, &whole);
  next_ = overflow ? kNever : Time(Duration(pause));
  phase_end_ = overflow ? kNever : Time(Duration(whole));
}

void Cbr::resume(Time now) {
  next_ = now;
  excess_ = 0;
  if (now < phase_end_) return;
  const Duration period = on_ + off_;
  phase_end_ += ((now - phase_end_) / period + 1) * period;
  next_ = std::max(now, phase_end_ - on_);
}

}  // namespace surety::endpoints
