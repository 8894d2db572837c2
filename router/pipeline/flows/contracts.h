// SPDX-License-Identifier: BSD-3-Clause
// The contracts of a worker: a list of them for other threads, their number by rule and interface, and their
// state for another process.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "conditioners/packet.h"
#include "router/pipeline/flows/flow_record.h"
#include "router/pipeline/interfaces/interface_record.h"
#include "router/pipeline/wire/headers.h"

namespace surety {

// The contracts of a worker: live conditioner states, by their record in the flow table.
//
// The worker opens and closes; other threads read, place by place. Memory is taken at the start, 4 bytes for
// each flow of the table and 32 for each place.
class ContractLedger {
 public:
  static constexpr std::uint32_t kMost = 65536;  // contracts that are distinguished at a time

  explicit ContractLedger(std::uint32_t flows);

  using Bytes = std::array<std::uint64_t, kPrecedences>;
  // Opens the contract of a record. `rule`: Classifier::id(); `interface`: its first packet's; `before`:
  // bytes passed before it was a contract. No effect if all places are taken.
  void open(FlowId id, std::uint32_t rule, InterfaceIndex interface, Bytes before = {});
  // Assigns the contract to another rule.
  void rename(FlowId id, std::uint32_t rule);
  // Closes the contract; no effect if it had no place.
  void close(FlowId id);

  struct Entry {
    std::uint32_t generation;  // number of the place: changes with the contract
    FlowId id;
    std::uint32_t rule;
    InterfaceIndex interface;
    Bytes before;
  };
  // True if a contract has ever found all places taken. Thread-safe.
  bool overflowed() const { return overflowed_.load(std::memory_order_relaxed); }
  // Places below this number have been used; at() returns the contract at one, if any. Thread-safe.
  std::uint32_t places() const { return used_.load(std::memory_order_acquire); }
  std::optional<Entry> at(std::uint32_t place) const;

 private:
  struct Place {
    std::atomic<std::uint32_t> generation{0};  // odd: taken
    std::atomic<FlowId> id{kNoFlow};
    std::atomic<std::uint32_t> rule{0};
    std::atomic<InterfaceIndex> interface { 0 };
    std::array<std::atomic<std::uint64_t>, kPrecedences> before{};
  };
  std::vector<Place> places_;
  std::vector<std::uint32_t> place_of_;  // indexed by flow: its place plus one; 0: none
  std::vector<std::uint32_t> free_;      // below used_
  std::atomic<std::uint32_t> used_{0};
  std::atomic<bool> overflowed_{false};
};

// Counts the contracts of a worker by rule and interface, so that a rule has no more than its `contracts:`.
//
// Used when a contract begins or ends, never for a packet of a known flow. Memory is taken at the start: 4
// bytes for each flow of the table, and 16 for each slot of an open-addressed table, two for each flow but
// kMostSlots at most. A pair of rule and interface is searched in kProbes slots. If none of them is free
// there is no room for a contract of that pair.
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

// State of a contract's conditioner, for another process with the same configuration and clock.
struct ContractState {
  FlowKey key;             // the flow's, or that of the contract that flows share
  ConditionerState state;  // csa: nothing is held
  std::uint16_t rule = 0;
  std::uint16_t service = 0;
  InterfaceIndex interface = 0;  // ingress interface of its first packet
  bool shared = false;
};
static_assert(std::is_trivially_copyable_v<ContractState>);

}  // namespace surety
