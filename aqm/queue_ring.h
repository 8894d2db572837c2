// SPDX-License-Identifier: BSD-3-Clause
// Packets in a ring, and when they came, by positions that run on and wrap at 2^32.
//
// Packets and times have an array each: packets are copied whole bursts at a time, and of a burst only one
// time is read. The ring's owner keeps the positions.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "conditioners/packet.h"
#include "conditioners/units.h"

namespace surety {

class QueueRing {
 public:
  QueueRing() = default;
  // A power of two of slots, more than `packets`.
  explicit QueueRing(std::uint32_t packets)
      : packets_(std::make_unique<Packet[]>(std::bit_ceil(packets + 1))),
        times_(std::make_unique<Time[]>(std::bit_ceil(packets + 1))),
        mask_(std::bit_ceil(packets + 1) - 1) {}

  std::uint32_t most() const { return mask_; }  // packets that the ring can hold
  const Packet& packet(std::uint32_t at) const { return packets_[at & mask_]; }
  Time time(std::uint32_t at) const { return times_[at & mask_]; }

  void put(std::uint32_t at, const Packet& packet, Time time) {
    packets_[at & mask_] = packet;
    times_[at & mask_] = time;
  }
  // At most most() of them.
  void put(std::uint32_t at, std::span<const Packet> packets, Time time) {
    const std::size_t before = before_end(at, packets.size());
    std::copy_n(packets.begin(), before, &packets_[at & mask_]);
    std::fill_n(&times_[at & mask_], before, time);
    if (before == packets.size()) [[likely]]
      return;
    std::copy_n(packets.begin() + static_cast<std::ptrdiff_t>(before), packets.size() - before,
                packets_.get());
    std::fill_n(times_.get(), packets.size() - before, time);
  }
  void get(std::uint32_t at, std::span<Packet> out) const {
    const std::size_t before = before_end(at, out.size());
    std::copy_n(&packets_[at & mask_], before, out.begin());
    if (before < out.size()) [[unlikely]]
      std::copy_n(packets_.get(), out.size() - before, out.begin() + static_cast<std::ptrdiff_t>(before));
  }

 private:
  std::size_t before_end(std::uint32_t at, std::size_t packets) const {
    return std::min<std::size_t>(packets, std::size_t{mask_} + 1 - (at & mask_));
  }

  std::unique_ptr<Packet[]> packets_;
  std::unique_ptr<Time[]> times_;
  std::uint32_t mask_ = 0;
};

}  // namespace surety
