// SPDX-License-Identifier: BSD-3-Clause
// The contracts of a worker: live conditioner states, by their record in the flow table.
//
// The worker opens and closes; other threads read, place by place. Memory is taken at the start, 4 bytes for
// each flow of the table and 32 for each place.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "conditioners/packet.h"
#include "router/pipeline/interfaces/interface_record.h"

namespace surety {

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

}  // namespace surety
