// SPDX-License-Identifier: BSD-3-Clause
// Sojourn times of packets in a queue, counted in buckets with round bounds: 1 us, 2.5, 5, 10, ... 2.5 s. A
// time that is a bound counts below it, as in Prometheus.
//
// Between two powers of two there is one bound at most, so that the width of a time and one comparison give
// its bucket.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "conditioners/units.h"

namespace surety {

struct SojournHistogram {
  static constexpr std::size_t kBuckets = 20;
  static constexpr std::array<std::uint64_t, kBuckets> kBounds = [] {  // in ns
    std::array<std::uint64_t, kBuckets> bounds{};
    std::uint64_t decade = 1000;
    for (std::size_t i = 0; i < kBuckets; ++i) {
      bounds[i] = i % 3 == 0 ? decade : i % 3 == 1 ? decade * 5 / 2 : decade * 5;
      if (i % 3 == 2) decade *= 10;
    }
    return bounds;
  }();

  std::array<std::uint64_t, kBuckets + 1> counts{};  // the last one: of all that took longer
  std::uint64_t sum_ns = 0;
  // `times`: so many packets that waited equally long.
  void add(Duration d, std::uint64_t times = 1) {
    const auto ns = static_cast<std::uint64_t>(std::max<Duration::rep>(d.count(), 0));
    counts[bucket_of(ns)] += times;
    sum_ns += ns * times;
  }

 private:
  struct Width {
    std::uint64_t bound;   // the first one that is not below all times of this width
    std::uint64_t bucket;  // bucket of the times up to `bound`
  };
  static constexpr std::array<Width, 65> kWidths = [] {  // indexed by std::bit_width() of the time
    std::array<Width, 65> widths{};
    for (std::size_t w = 0; w < widths.size(); ++w) {
      const std::uint64_t least = w == 0 ? 0 : std::uint64_t{1} << (w - 1);
      const auto* const bound = std::ranges::lower_bound(kBounds, least);
      widths[w] = {bound != kBounds.end() ? *bound : ~std::uint64_t{0},
                   static_cast<std::uint64_t>(bound - kBounds.begin())};
    }
    return widths;
  }();
  static std::size_t bucket_of(std::uint64_t ns) {
    const Width& w = kWidths[static_cast<std::size_t>(std::bit_width(ns))];
    return w.bucket + (ns > w.bound ? 1 : 0);
  }
};

}  // namespace surety
