// SPDX-License-Identifier: BSD-3-Clause
// Packets that wait for their next hop's MAC address: the newest few for each (RFC 1122 2.3.2.2, RFC 1812
// 3.3.2), and the newest in all, so that packets for neighbours that never answer are displaced.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "config/config.h"

namespace surety {

class HeldPackets {
 public:
  static constexpr std::size_t kInAll = 256, kForEach = 8;

  // `most`: bytes of a packet, at most.
  explicit HeldPackets(std::size_t most) : most_(most) {}

  // False: the packet is larger.
  bool hold(const IpAddress& next_hop, std::span<const std::uint8_t> packet) {
    if (packet.size() > most_) return false;
    const auto same = [&](const Held& h) { return h.next_hop == next_hop; };
    if (static_cast<std::size_t>(std::ranges::count_if(held_, same)) == kForEach)
      held_.erase(std::ranges::find_if(held_, same));
    else if (held_.size() == kInAll)
      held_.pop_front();
    held_.push_back({next_hop, {packet.begin(), packet.end()}});
    return true;
  }
  // Removes and returns the oldest packet for this next hop; nullopt: there is none.
  std::optional<std::vector<std::uint8_t>> take(const IpAddress& next_hop) {
    const auto it = std::ranges::find(held_, next_hop, &Held::next_hop);
    if (it == held_.end()) return {};
    std::vector<std::uint8_t> bytes = std::move(it->bytes);
    held_.erase(it);
    return bytes;
  }

 private:
  struct Held {
    IpAddress next_hop;
    std::vector<std::uint8_t> bytes;
  };

  std::size_t most_;
  std::deque<Held> held_;  // the oldest first
};

}  // namespace surety
