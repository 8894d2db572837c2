// SPDX-License-Identifier: BSD-3-Clause
// The VLAN tags that a port accepts: those that one of its rules names. A rule that names the outer tag
// accepts frames with this tag alone; `per: vlan` without tags accepts frames with any one tag.
//
// A second tag that no rule names is refused: the sender chooses it freely, so it must not lead to a
// contract. Frames with tags that no rule names would otherwise use the contract of the port's untagged
// customer.
#pragma once

#include <bitset>
#include <set>
#include <vector>

#include "config/config.h"

namespace surety {

class TagAdmission {
 public:
  explicit TagAdmission(const config::Config& config);

  // `vlan` is not 0; `inner` is 0 for one tag.
  bool admits(std::uint8_t port, std::uint16_t vlan, std::uint16_t inner) const {
    const Port& p = ports_[port];
    return inner == 0 ? p.single[vlan] : p.pairs.contains(pair(vlan, inner));
  }

 private:
  struct Port {
    std::bitset<4096> single;       // outer tags of frames with one tag
    std::set<std::uint32_t> pairs;  // tags of frames with two tags
  };
  static std::uint32_t pair(std::uint16_t vlan, std::uint16_t inner) {
    return std::uint32_t{vlan} << 12 | inner;
  }

  std::vector<Port> ports_;
};

}  // namespace surety
