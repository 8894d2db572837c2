// SPDX-License-Identifier: BSD-3-Clause
// Packets that wait for their next hop's MAC address: the newest for each (RFC 1122 2.3.2.2,
// RFC 1812 3.3.2), kFew in all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "config/config.h"

namespace surety {

class HeldPackets {
 public:
  static constexpr std::size_t kFew = 64;

  // Of up to `most` bytes each.
  explicit HeldPackets(std::size_t most) : most_(most) {}

  // False: larger than that, or too many wait already.
  bool hold(const IpAddress& next_hop, std::span<const std::uint8_t> packet) {
    if (packet.size() > most_) return false;
    Slot* slot = find(next_hop);
    if (slot == nullptr) slot = free_slot();
    if (slot == nullptr) return false;
    slot->busy = true;
    slot->next_hop = next_hop;
    slot->bytes.assign(packet.begin(), packet.end());
    return true;
  }
  // The packet for it, which waits no more; empty: there is none. Good until the next call of hold().
  std::span<std::uint8_t> take(const IpAddress& next_hop) {
    Slot* const slot = find(next_hop);
    if (slot == nullptr) return {};
    slot->busy = false;
    return slot->bytes;
  }

 private:
  struct Slot {
    IpAddress next_hop;
    bool busy = false;
    std::vector<std::uint8_t> bytes;
  };
  Slot* find(const IpAddress& next_hop) {
    const auto it =
        std::ranges::find_if(slots_, [&](const Slot& s) { return s.busy && s.next_hop == next_hop; });
    return it == slots_.end() ? nullptr : &*it;
  }
  Slot* free_slot() {
    const auto it = std::ranges::find_if(slots_, [](const Slot& s) { return !s.busy; });
    if (it != slots_.end()) return &*it;
    return slots_.size() < kFew ? &slots_.emplace_back() : nullptr;
  }

  std::size_t most_;
  std::vector<Slot> slots_;
};

}  // namespace surety
