// SPDX-License-Identifier: BSD-3-Clause
// The four IPv4 prefixes that reach, or could fill up, the upper end of the address
// space, as routes that do not.
//
// Where routes inside a prefix fill it up to 255.255.255.255, DPDK 22.11's rte_fib takes its end, 0,
// for the beginning and writes the prefix's value over the whole table. Nothing is forwarded to
// 224.0.0.0/3 (multicast and reserved addresses): so 192.0.0.0/2 stands in the table as 192.0.0.0/3,
// and 128.0.0.0/1 as that and 128.0.0.0/2.
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

  // Which of the four a prefix is, if it is one.
  static std::optional<std::size_t> find(std::uint32_t address, std::uint8_t length) {
    for (std::size_t i = 0; i < 4; ++i)
      if (kPrefixes[i].address == address && kPrefixes[i].length == length) return i;
    return {};
  }
  bool has(std::size_t which) const { return values_[which].has_value(); }
  void set(std::size_t which, std::optional<std::uint32_t> value) { values_[which] = value; }

  // What the table is to have in place of them.
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
