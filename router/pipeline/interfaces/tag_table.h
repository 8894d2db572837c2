// SPDX-License-Identifier: BSD-3-Clause
// Maps the tags of a frame to its interface, for one port: two loads at most, and memory by the tags in use.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "router/pipeline/interfaces/interface_record.h"

namespace surety {

class TagTable {
 public:
  // `inner`: 0 for an interface of one tag. `protocol`: the outer tag's. Called with the inner tags of an
  // outer one in ascending order.
  void add(std::uint16_t protocol, std::uint16_t outer, std::uint16_t inner, InterfaceIndex interface);

  // kNoInterface: none has these tags, or its outer one is of another protocol.
  InterfaceIndex find(std::uint16_t protocol, std::uint16_t outer, std::uint16_t inner) const {
    const Outer& o = outer_[outer];
    if (inner == 0) return protocol == o.one_protocol ? o.one : kNoInterface;
    const std::size_t at = inner - std::size_t{o.first};  // lower values wrap around
    return at < o.count && protocol == o.two_protocol ? inner_[o.begin + at] : kNoInterface;
  }
  // True if some interface has these tags, with any protocol.
  bool has(std::uint16_t outer, std::uint16_t inner) const {
    const Outer& o = outer_[outer];
    return find(inner == 0 ? o.one_protocol : o.two_protocol, outer, inner) != kNoInterface;
  }
  std::size_t bytes() const { return sizeof(*this) + inner_.capacity() * sizeof(InterfaceIndex); }

 private:
  struct Outer {
    std::uint32_t begin = 0;             // start of its inner tags in inner_
    std::uint16_t first = 0, count = 0;  // inner tags, from the lowest to the highest
    InterfaceIndex one = kNoInterface;   // with this tag alone
    std::uint16_t one_protocol = 0, two_protocol = 0;
  };
  std::array<Outer, 4096> outer_{};
  std::vector<InterfaceIndex> inner_;
};

}  // namespace surety
