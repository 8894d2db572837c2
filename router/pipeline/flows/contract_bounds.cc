// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/flows/contract_bounds.h"

#include <bit>

namespace surety {

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
