// SPDX-License-Identifier: BSD-3-Clause
// Moments at a fixed distance from one another, finer than a nanosecond: a million packets at a rate that
// does not divide the second add up to less than a nanosecond of error (of slow ones: 2 in 10^16). The next
// moment costs additions only.
#pragma once

#include <cmath>
#include <cstdint>

#include "conditioners/units.h"

namespace surety::endpoints {

inline constexpr int kFractionBits = 24;

// Time of `bytes` at `rate` (bytes/s, not zero): whole nanoseconds and 2^-24 of them, rounded down.
struct PacedGap {
  Duration whole{};
  std::uint32_t fraction = 0;

  static PacedGap of(double bytes, double rate) {
    const double ns = bytes * 1e9 / rate;
    const double whole = std::floor(ns);
    return {Duration(static_cast<std::int64_t>(whole)),
            static_cast<std::uint32_t>((ns - whole) * (1 << kFractionBits))};
  }
};

struct PacedTime {
  Time at;
  std::uint32_t fraction = 0;

  void advance(const PacedGap& gap) {
    fraction += gap.fraction;
    at += gap.whole + Duration(fraction >> kFractionBits);
    fraction &= (1u << kFractionBits) - 1;
  }
};

}  // namespace surety::endpoints
