// SPDX-License-Identifier: BSD-3-Clause
// IPv6 prefixes of at most 16 bits, beside the table of the longer ones: one value for each value of an
// address's first 16 bits.
//
// The table of longer prefixes would store such a prefix in every gap between the longer routes inside it, a
// large part of a full table. Here the widest takes 32,768 stores. One thread writes while others look up; a
// reader gets the value before or after a change.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "config/config.h"

namespace surety {

class ShortPrefixes {
 public:
  static constexpr std::uint8_t kBits = 16;
  static bool holds(const Prefix& p) { return p.address.is_v6() && p.length > 0 && p.length <= kBits; }

  class Slots {
   public:
    // The value of the longest prefix that contains the address; 0: none.
    std::uint32_t of(const std::uint8_t* address) const {
      return values_[std::size_t{address[0]} << 8 | address[1]].load(std::memory_order_relaxed);
    }

   private:
    friend ShortPrefixes;
    std::array<std::atomic<std::uint32_t>, 1 << kBits> values_{};
  };

  // Adds or replaces a prefix for which holds() is true; host bits are ignored.
  void set(const Prefix& prefix, std::uint32_t value);
  // false: there was no such prefix.
  bool remove(const Prefix& prefix);

  // Thread-safe; nullptr: there has never been a prefix.
  const Slots* slots() const { return published_.load(std::memory_order_acquire); }

 private:
  struct Node {
    std::uint32_t value = 0;
    bool used = false;
  };
  static std::uint32_t node_of(const Prefix& prefix);
  void make();
  void fill(std::uint32_t node, std::uint32_t value);

  // A heap of prefixes: the two children of node n, one bit longer, are 2n and 2n + 1; the first node is
  // ::/0.
  std::unique_ptr<std::array<Node, 2 << kBits>> nodes_;
  std::unique_ptr<Slots> slots_;
  std::atomic<const Slots*> published_{nullptr};
};

}  // namespace surety
