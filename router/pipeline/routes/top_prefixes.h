// SPDX-License-Identifier: BSD-3-Clause
// Replaces the four IPv4 prefixes that reach, or could fill up, the upper end of the address space by routes
// that do not.
//
// If routes inside a prefix fill it up to 255.255.255.255, DPDK 22.11's rte_fib mistakes its end, 0, for the
// beginning and writes the prefix's value over the whole table. Packets to 224.0.0.0/3 (multicast and
// reserved addresses) are not forwarded: the table therefore has 192.0.0.0/3 for 192.0.0.0/2, and 192.0.0.0/3
// and 128.0.0.0/2 for 128.0.0.0/1.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace surety {

class TopPrefixes {
 public:
  struct Route {
    std::uint32_t address;
    std::uint8_t length;
    std::optional<std::uint32_t> value;
  };

  // Index of a prefix among the four, if it is one of them.
  static std::optional<std::size_t> find(std::uint32_t address, std::uint8_t length) {
    for (std::size_t i = 0; i < 4; ++i)
      if (kPrefixes[i].address == address && kPrefixes[i].length == length) return i;
    return {};
  }
  bool has(std::size_t which) const { return values_[which].has_value(); }
  void set(std::size_t which, std::optional<std::uint32_t> value) { values_[which] = value; }

  // The routes for the table in place of them.
  std::array<Route, 2> stored() const {
    const auto& [half, third, last, fourth] = values_;
    return {{{0x80000000, 2, third ? third : half}, {0xc0000000, 3, fourth ? fourth : last ? last : half}}};
  }

 private:
  struct Prefix {
    std::uint32_t address;
    std::uint8_t length;
  };
  static constexpr std::array<Prefix, 4> kPrefixes{
      {{0x80000000, 1}, {0x80000000, 2}, {0xc0000000, 2}, {0xc0000000, 3}}};
  std::array<std::optional<std::uint32_t>, 4> values_;
};

}  // namespace surety
