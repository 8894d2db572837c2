// SPDX-License-Identifier: BSD-3-Clause
// Which VLAN tags a port takes: those that a rule of it names. `per: vlan` without tags names all.
//
// A frame with others is nobody's, and would otherwise have the contract of whoever is meant by the port
// alone.
#pragma once

#include <bitset>
#include <set>
#include <vector>

#include "config/config.h"

namespace surety {

class TagAdmission {
 public:
  explicit TagAdmission(const config::Config& config);

  // `vlan` is not 0; `inner` is where there is one tag only.
  bool admits(std::uint8_t port, std::uint16_t vlan, std::uint16_t inner) const {
    const Port& p = ports_[port];
    return p.whole[vlan] || (inner != 0 && p.pairs.contains(pair(vlan, inner)));
  }

 private:
  struct Port {
    std::bitset<4096> whole;  // with any second tag, and none
    std::set<std::uint32_t> pairs;
  };
  static std::uint32_t pair(std::uint16_t vlan, std::uint16_t inner) {
    return std::uint32_t{vlan} << 12 | inner;
  }

  std::vector<Port> ports_;
};

}  // namespace surety
