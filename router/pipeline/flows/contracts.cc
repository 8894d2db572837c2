// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/flows/contracts.h"

#include <algorithm>
#include <bit>

namespace surety {

ContractLedger::ContractLedger(std::uint32_t flows) : places_(std::min(flows, kMost)), place_of_(flows) {
  free_.reserve(places_.size());
}

void ContractLedger::open(FlowId id, std::uint32_t rule, InterfaceIndex interface, Bytes before) {
  std::uint32_t at = used_.load(std::memory_order_relaxed);
  if (!free_.empty()) {
    at = free_.back();
    free_.pop_back();
  } else if (at == places_.size()) {
    return overflowed_.store(true, std::memory_order_relaxed);
  }
  Place& place = places_[at];
  place.id.store(id, std::memory_order_relaxed);
  place.rule.store(rule, std::memory_order_relaxed);
  place.interface.store(interface, std::memory_order_relaxed);
  for (std::size_t p = 0; p < kPrecedences; ++p) place.before[p].store(before[p], std::memory_order_relaxed);
  place.generation.store(place.generation.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  place_of_[id] = at + 1;
  used_.store(std::max(used_.load(std::memory_order_relaxed), at + 1), std::memory_order_release);
}

void ContractLedger::rename(FlowId id, std::uint32_t rule) {
  if (place_of_[id] != 0) places_[place_of_[id] - 1].rule.store(rule, std::memory_order_relaxed);
}

void ContractLedger::close(FlowId id) {
  if (place_of_[id] == 0) return;
  const std::uint32_t at = place_of_[id] - 1;
  place_of_[id] = 0;
  Place& place = places_[at];
  place.generation.store(place.generation.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // ordered before the stores of open()
  free_.push_back(at);
}

// Read twice, since the worker may have put another one there meanwhile.
std::optional<ContractLedger::Entry> ContractLedger::at(std::uint32_t place) const {
  const Place& p = places_[place];
  const std::uint32_t generation = p.generation.load(std::memory_order_acquire);
  if (generation % 2 == 0) return std::nullopt;
  const Entry entry{
      generation,
      p.id.load(std::memory_order_relaxed),
      p.rule.load(std::memory_order_relaxed),
      p.interface.load(std::memory_order_relaxed),
      {p.before[0].load(std::memory_order_relaxed), p.before[1].load(std::memory_order_relaxed)}};
  std::atomic_thread_fence(std::memory_order_acquire);
  if (p.generation.load(std::memory_order_relaxed) != generation) return std::nullopt;
  return entry;
}

ContractBounds::ContractBounds(std::uint32_t flows, std::uint32_t slots)
    : slots_(std::bit_ceil(std::clamp(slots, 1u, kMostSlots))), charged_to_(flows) {}

// A used slot with count 0 does not end the search: the pair may be behind it.
std::uint32_t ContractBounds::find(std::uint64_t pair) const {
  const auto mask = static_cast<std::uint32_t>(slots_.size() - 1);
  const auto home = static_cast<std::uint32_t>(pair * 0x9e3779b97f4a7c15u >> 32);
  std::uint32_t free = kNone;
  for (std::uint32_t probe = 0; probe < kProbes; ++probe) {
    const std::uint32_t at = (home + probe) & mask;
    const Slot& slot = slots_[at];
    if (slot.pair == pair) return at;
    if (slot.count == 0 && free == kNone) free = at;
    if (slot.pair == 0) break;
  }
  return free;
}

bool ContractBounds::room(std::uint32_t rule, InterfaceIndex interface, std::uint32_t most) const {
  const std::uint64_t pair = pair_of(rule, interface);
  const std::uint32_t at = find(pair);
  if (at == kNone || most == 0) return false;
  return slots_[at].pair != pair || slots_[at].count < most;
}

void ContractBounds::charge(FlowId id, std::uint32_t rule, InterfaceIndex interface) {
  if (charged(id, rule, interface)) return;
  release(id);
  const std::uint64_t pair = pair_of(rule, interface);
  const std::uint32_t at = find(pair);
  if (at == kNone) return;
  slots_[at].pair = pair;
  ++slots_[at].count;
  charged_to_[id] = at + 1;
}

void ContractBounds::release(FlowId id) {
  if (charged_to_[id] == 0) return;
  --slots_[charged_to_[id] - 1].count;
  charged_to_[id] = 0;
}

bool ContractBounds::charged(FlowId id, std::uint32_t rule, InterfaceIndex interface) const {
  return charged_to_[id] != 0 && slots_[charged_to_[id] - 1].pair == pair_of(rule, interface);
}

std::uint32_t ContractBounds::count(std::uint32_t rule, InterfaceIndex interface) const {
  const std::uint64_t pair = pair_of(rule, interface);
  const std::uint32_t at = find(pair);
  return at == kNone || slots_[at].pair != pair ? 0 : slots_[at].count;
}

}  // namespace surety
