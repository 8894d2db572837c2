// SPDX-License-Identifier: BSD-3-Clause
// Counts the contracts of a worker by rule and interface, so that a rule has no more than its `contracts:`.
//
// Used when a contract begins or ends, never for a packet of a known flow. Memory is taken at the start: 4
// bytes for each flow of the table, and 16 for each slot of an open-addressed table, two for each flow but
// kMostSlots at most. A pair of rule and interface is searched in kProbes slots. If none of them is free
// there is no room for a contract of that pair.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "conditioners/packet.h"
#include "router/pipeline/interfaces/interface_record.h"

namespace surety {

class ContractBounds {
 public:
  static constexpr std::uint32_t kProbes = 32, kMostSlots = 131072;

  explicit ContractBounds(std::uint32_t flows) : ContractBounds(flows, 2 * std::min(flows, kMostSlots)) {}
  // `slots` are rounded up to a power of two.
  ContractBounds(std::uint32_t flows, std::uint32_t slots);

  // True if fewer than `most` contracts of the rule (Classifier::id()) by the interface are charged, and one
  // more can be.
  bool room(std::uint32_t rule, InterfaceIndex interface, std::uint32_t most) const;
  // Charges the record as a contract of that rule and interface, and of no other. No effect if the table has
  // no slot for the pair.
  void charge(FlowId id, std::uint32_t rule, InterfaceIndex interface);
  // Releases the record; no effect if it was not charged.
  void release(FlowId id);

  bool charged(FlowId id, std::uint32_t rule, InterfaceIndex interface) const;
  std::uint32_t count(std::uint32_t rule, InterfaceIndex interface) const;

 private:
  struct Slot {
    std::uint64_t pair = 0;  // rule << 16 | interface, plus one; 0: never used
    std::uint32_t count = 0;
  };
  static constexpr std::uint32_t kNone = 0xffffffff;
  static std::uint64_t pair_of(std::uint32_t rule, InterfaceIndex interface) {
    return (std::uint64_t{rule} << 16 | interface) + 1;
  }
  // The slot of the pair, else one that may become its slot; kNone: there is none.
  std::uint32_t find(std::uint64_t pair) const;

  std::vector<Slot> slots_;                // a power of two
  std::vector<std::uint32_t> charged_to_;  // indexed by flow: its slot plus one; 0: not charged
};

}  // namespace surety
