// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/class_split.h"

#include <bit>
#include <cstring>

namespace surety {

std::size_t ClassSplit::begin(const Burst& v, LaneMask lanes, std::span<Packet> room) {
  const bool all = lanes == v.all();
  const std::size_t n = all ? describe<true>(v, lanes, room.data()) : describe<false>(v, lanes, room.data());
  start(room.data(), n);
  return n;
}

template <bool kAll>
std::size_t ClassSplit::describe(const Burst& v, LaneMask lanes, Packet* packets) {
  const std::size_t size = kAll ? v.size : static_cast<std::size_t>(std::popcount(lanes));
  std::array<std::uint8_t, kBurst> bytes;
  for (std::size_t n = 0; n < size; ++n) {
    const std::size_t i = kAll ? n : static_cast<std::size_t>(std::countr_zero(lanes));
    if (!kAll) lanes &= lanes - 1;
    const std::uint8_t byte = v.traffic_class(i);
    const auto entry = by_dscp_[byte >> 2];
    packets[n] = {v.mbuf[i], kNoFlow, v.header[i].length, entry.precedence};
    class_of_[n] = entry.class_index;
    bytes[n] = byte;
  }
  for (std::size_t n = 0; n < size; ++n) ecn_capable_[n] = ecn_capable(bytes[n]);
  return size;
}

void ClassSplit::begin(std::span<const HandedPacket> burst, std::span<Packet> room, std::uint16_t layout) {
  for (std::size_t i = 0; i < burst.size(); ++i) {
    room[i] = {burst[i].mbuf(), kNoFlow, burst[i].length(), burst[i].precedence()};
    Arrival arrival{burst[i].class_index(), burst[i].ecn_capable()};
    if (burst[i].layout() != layout) [[unlikely]]
      arrival = look_up(room[i], traffic_class(egress_ip(room[i])), by_dscp_);
    class_of_[i] = arrival.class_index;
    ecn_capable_[i] = arrival.ecn_capable;
  }
  start(room.data(), burst.size());
}

void ClassSplit::start(Packet* packets, std::size_t n) {
  packets_ = packets;
  size_ = n;
  left_ = first_lanes(n);
}

bool ClassSplit::take(ClassRun& run) {
  if (left_ == 0) return false;
  const std::uint8_t class_index = class_of_[static_cast<std::size_t>(std::countr_zero(left_))];
  run.class_index = class_index;
  const LaneMask members = lanes_with(class_index, class_of_) & left_;
  if (members == first_lanes(size_)) {
    run.packets = {packets_, size_};
    run.ecn_capable = {ecn_capable_.data(), size_};
  } else {
    copy(members, run);
  }
  left_ &= ~members;
  return true;
}

// No branch depends on a packet's class, which is unpredictable.
void ClassSplit::copy(LaneMask members, ClassRun& run) {
  std::size_t n = 0;
  for (; members != 0; members &= members - 1, ++n) {
    const auto at = static_cast<std::size_t>(std::countr_zero(members));
    std::memcpy(&taken_[n], &packets_[at], sizeof(Packet));  // whole, as it is read later
    taken_ecn_capable_[n] = ecn_capable_[at];
  }
  run.packets = {taken_.data(), n};
  run.ecn_capable = {taken_ecn_capable_.data(), n};
}

}  // namespace surety
