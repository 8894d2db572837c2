// SPDX-License-Identifier: BSD-3-Clause
// Fill of a queue as its limit and RIO count it: packets of any size, or 1500 bytes as one packet.
//
// The limit of N packets is room for N packets of any size. By bytes, there is room for more while less than
// N x 1500 bytes are counted, in `beyond` further places, which bound the packet buffers: a burst of small
// packets within a contract, which counts bytes, does not take the room of other customers. RIO averages the
// counted bytes / 1500. A packet counts with at most 1500 bytes, so that full packets count as one and larger
// ones, too (RFC 7567 section 4.4, RFC 7141 section 2.2: a queue for a link that sends bytes is measured in
// bytes, and a packet's own size does not decide whether it is dropped).
//
// The further places are shared in parts by customers (active_queue.h).
//
// OUT and red packets leave `reserved` packets of the limit, and as large a part of the further places, to IN
// ones: those find room at the onset of a flood, before RIO's average has risen (partial buffer sharing:
// Kroener, Hebuterne, Boyer and Gravey 1991).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "aqm/params.h"
#include "conditioners/customer_limits.h"
#include "conditioners/packet.h"

namespace surety {

class QueueMeasure {
 public:
  static constexpr std::uint32_t kFullPacket = 1500;  // bytes

  QueueMeasure() = default;
  explicit QueueMeasure(const ActiveQueueParams& params) : by_bytes_(params.beyond > 0) {
    const auto room = [&](std::uint32_t limit) {
      const auto beyond =
          static_cast<std::uint32_t>(std::uint64_t{params.beyond} * limit / std::max(1u, params.limit));
      return Room{limit, limit + beyond, std::uint64_t{limit} * kFullPacket};
    };
    rooms_[index(Precedence::in)] = room(params.limit);
    rooms_[index(Precedence::out)] = rooms_[index(Precedence::red)] = room(params.limit - params.reserved);
  }

  // Packets of any size that have room.
  std::uint32_t packets(Precedence precedence) const { return rooms_[index(precedence)].packets; }
  std::uint32_t places() const { return rooms_[index(Precedence::in)].places; }  // for packets, in all
  // Places that one customer alone gets (active_queue.h).
  std::uint32_t places_of_one() const {
    const Room& in = rooms_[index(Precedence::in)];
    return in.packets + CustomerQuota::most_of_one(in.places - in.packets);
  }
  bool by_bytes() const { return by_bytes_; }
  // True if a queue of so many packets has only the further places left.
  bool beyond(std::uint32_t packets) const {
    return by_bytes_ & (packets >= rooms_[index(Precedence::in)].packets);
  }
  // A copy limited to `places` places.
  QueueMeasure within(std::uint32_t places) const {
    QueueMeasure m = *this;
    for (Room& r : m.rooms_) {
      r.packets = std::min(r.packets, places);
      r.places = std::min(r.places, places);
    }
    return m;
  }

  // The bytes with which a packet of that length counts; `counted` below is their sum.
  static constexpr std::uint32_t counted(std::uint32_t length) { return std::min(length, kFullPacket); }

  // True if a queue with this content has no room for another packet of that precedence.
  bool full(Precedence precedence, std::uint32_t packets, std::uint64_t counted) const {
    const Room& room = rooms_[index(precedence)];
    if (packets < room.packets) [[likely]]
      return false;
    return (packets >= room.places) | (counted >= room.bytes);
  }

  // The level of which RIO keeps the average, in packets; at most `packets`.
  double level(std::uint32_t packets, std::uint32_t counted) const {
    return by_bytes_ ? counted * (1.0 / kFullPacket) : packets;
  }
  // Returns by how much a packet of that length raises the level.
  double step(std::uint32_t length) const { return level(1, counted(length)); }

 private:
  struct Room {
    std::uint32_t packets = 0, places = 0;
    std::uint64_t bytes = 0;
  };
  std::array<Room, kDropPrecedences> rooms_{};
  bool by_bytes_ = false;
};

}  // namespace surety
