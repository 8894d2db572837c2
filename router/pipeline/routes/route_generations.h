// SPDX-License-Identifier: BSD-3-Clause
// Validity of cached results of the IPv6 table: a result is valid while the generation of its address is what
// it was before the lookup.
//
// Addresses are divided into parts by their first 48 bits, hashed, and by their first 32, as used for sites
// and providers: a change of a route of 40 bits or more invalidates 1 to 256 parts by 48, a route of 24 bits
// or more as many parts by 32, and a shorter one all results. A cache therefore repeats few lookups, however
// many routes flap. One thread writes, others read.
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
  // `high`: the first half of an address, as loaded. No counter ever decreases, so that the sum changes
  // whenever one changes.
  std::uint64_t of(std::uint64_t high) const {
    return all_.load(std::memory_order_acquire) + providers_.of(high) + sites_.of(high);
  }
  // Invalidates cached results for a changed IPv6 prefix, after the change is visible to readers.
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

  // Parts by the first `kBits` of addresses.
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

// A cached result in 64 bits: its value, 30 bits, and the generation, of which 33 bits are kept. These wrap
// after ten days of 10,000 changes a second; a flow is looked up again or removed long before.
class RememberedRoute {
 public:
  static constexpr unsigned kValueBits = 30;
  static std::uint64_t encode(std::uint64_t generation, std::uint32_t value) {
    return tag(generation) | value;
  }
  // Returns a number beyond kMaxValue if the result is invalid, or if `remembered` is 0: nothing cached.
  static std::uint64_t decode(std::uint64_t remembered, std::uint64_t generation) {
    return remembered ^ tag(generation);
  }
  static constexpr std::uint64_t kMaxValue = (std::uint64_t{1} << kValueBits) - 1;

 private:
  static std::uint64_t tag(std::uint64_t generation) { return (generation << 1 | 1) << kValueBits; }
};

}  // namespace surety
