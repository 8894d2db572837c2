// SPDX-License-Identifier: BSD-3-Clause
// How long an answer of the IPv6 table holds: as long as the generation of its address is what it was before
// the table was asked.
//
// Addresses are in parts by their first 48 bits, hashed, and in others by their first 32, as sites and
// providers have them: a route of 40 bits or more that comes or goes ends what was known of one part by 48,
// or of 256 at most, and one of 24 or more what was known of as many by 32; a shorter one what was known of
// all. So who remembers an answer asks again for few of its addresses, however many routes flap. One thread
// writes, others read.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "config/config.h"

namespace surety {

class RouteGenerations {
 public:
  // `high`: the first half of an address, as loaded. None is ever less than before, so that the sum tells of
  // all three.
  std::uint64_t of(std::uint64_t high) const {
    return all_.load(std::memory_order_acquire) + providers_.of(high) + sites_.of(high);
  }
  // Readers see what has been done for an IPv6 prefix: whoever remembers what was before asks again.
  void changed(const Prefix& prefix) {
    if (sites_.holds(prefix)) return sites_.changed(prefix);
    if (providers_.holds(prefix)) return providers_.changed(prefix);
    next(all_);
  }

 private:
  using Generation = std::atomic<std::uint64_t>;
  static void next(Generation& g) {
    g.store(g.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  // By the first `kBits` of addresses.
  template <unsigned kBits>
  class Parts {
   public:
    std::uint64_t of(std::uint64_t high) const { return parts_[part(high)].load(std::memory_order_acquire); }
    static bool holds(const Prefix& prefix) { return prefix.length + kFew >= kBits; }
    void changed(const Prefix& prefix) {
      const unsigned within = prefix.length < kBits ? kBits - prefix.length : 0;
      const std::uint64_t first = __builtin_bswap64(prefix.masked().address.high);
      for (std::uint64_t i = 0; i < 1u << within; ++i)
        next(parts_[part(__builtin_bswap64(first + (i << (64 - kBits))))]);
    }

   private:
    static constexpr unsigned kFew = 8, kPartBits = 10;
    static std::size_t part(std::uint64_t high) {
      static_assert(std::endian::native == std::endian::little);
      return (high << (64 - kBits)) * 0x9e3779b97f4a7c15 >> (64 - kPartBits);
    }
    std::array<Generation, 1 << kPartBits> parts_{};
  };

  alignas(64) Generation all_{0};
  alignas(64) Parts<32> providers_;
  alignas(64) Parts<48> sites_;
};

// What stands for an answer in 64 bits: its value, of 30, and the generation, of which 33 are kept: they are
// used up after ten days of 10,000 changes a second, within which whoever remembers is asked again, or gone.
class RememberedRoute {
 public:
  static constexpr unsigned kValueBits = 30;
  static std::uint64_t encode(std::uint64_t generation, std::uint32_t value) {
    return tag(generation) | value;
  }
  // A number beyond kMaxValue: it does not hold any more, or is 0, which says that nothing is remembered.
  static std::uint64_t decode(std::uint64_t remembered, std::uint64_t generation) {
    return remembered ^ tag(generation);
  }
  static constexpr std::uint64_t kMaxValue = (std::uint64_t{1} << kValueBits) - 1;

 private:
  static std::uint64_t tag(std::uint64_t generation) { return (generation << 1 | 1) << kValueBits; }
};

}  // namespace surety
