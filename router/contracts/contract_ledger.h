// SPDX-License-Identifier: BSD-3-Clause
// The contracts of a worker: conditioner states alive, by the record in the flow table that has the state.
//
// The worker opens and closes; other threads look, place by place. Memory is taken at the start, 4 bytes for
// each flow of the table and 32 for each place.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "conditioners/packet.h"
#include "router/interfaces/interface_record.h"

namespace surety {

class ContractLedger {
 public:
  static constexpr std::uint32_t kMost = 65536;  // contracts at a time that are told apart

  explicit ContractLedger(std::uint32_t flows);

  using Bytes = std::array<std::uint64_t, kPrecedences>;
  // The record holds a state from now on. `rule`: Classifier::id(); `interface`: what its first packet came
  // by; `before`: what it had let go until then, as another thing. Without effect where all places are taken.
  void open(FlowId id, std::uint32_t rule, InterfaceIndex interface, Bytes before = {});
  // Another rule gives it what it has.
  void rename(FlowId id, std::uint32_t rule);
  // Not any more; nothing where it had no place.
  void close(FlowId id);

  struct Entry {
    std::uint32_t generation;  // of the place: another one, another contract
    FlowId id;
    std::uint32_t rule;
    InterfaceIndex interface;
    Bytes before;
  };
  // From any thread: whether some contract has ever found all places taken.
  bool overflowed() const { return overflowed_.load(std::memory_order_relaxed); }
  // From any thread: places below have been used; what stands at one, if anything does.
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
  std::vector<std::uint32_t> place_of_;  // by flow: one more than its place; 0: none
  std::vector<std::uint32_t> free_;      // below used_
  std::atomic<std::uint32_t> used_{0};
  std::atomic<bool> overflowed_{false};
};

}  // namespace surety
