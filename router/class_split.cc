// SPDX-License-Identifier: BSD-3-Clause
#include "router/class_split.h"

#include <bit>
#include <cstring>

namespace surety {

void ClassSplit::begin(std::span<Packet> burst) {
  for (std::size_t i = 0; i < burst.size(); ++i) {
    const Arrival arrival = look_up(burst[i], by_dscp_);
    class_of_[i] = arrival.class_index;
    ecn_capable_[i] = arrival.ecn_capable;
  }
  start(burst.data(), burst.size());
}

std::size_t ClassSplit::begin(const Vector& v, PortIndex port, bool all, std::span<Packet> room) {
  const std::size_t n = all ? describe<true>(v, port, room.data()) : describe<false>(v, port, room.data());
  start(room.data(), n);
  return n;
}

template <bool kAll>
std::size_t ClassSplit::describe(const Vector& v, PortIndex port, Packet* packets) {
  const std::size_t size = v.size;
  std::array<std::uint8_t, kVector> bytes;
  std::size_t n = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint8_t byte = v.traffic_class(i);
    const auto entry = by_dscp_[byte >> 2];
    packets[n] = {v.mbuf[i], kNoFlow, v.header[i].length, entry.precedence};
    class_of_[n] = entry.class_index;
    bytes[n] = byte;
    n += kAll || v.egress[i] == port;
  }
  for (std::size_t i = 0; i < n; ++i) ecn_capable_[i] = ecn_capable(bytes[i]);
  return n;
}

void ClassSplit::begin(std::span<const HandedPacket> burst, std::span<Packet> room) {
  for (std::size_t i = 0; i < burst.size(); ++i) {
    room[i] = {burst[i].mbuf(), kNoFlow, burst[i].length(), burst[i].precedence()};
    class_of_[i] = burst[i].class_index();
    ecn_capable_[i] = burst[i].ecn_capable();
  }
  start(room.data(), burst.size());
}

void ClassSplit::start(Packet* packets, std::size_t n) {
  packets_ = packets;
  size_ = n;
  left_ = n == 0 ? 0 : ~std::uint64_t{0} >> (kVector - n);
}

bool ClassSplit::take(ClassRun& run) {
  if (left_ == 0) return false;
  run.class_index = class_of_[static_cast<std::size_t>(std::countr_zero(left_))];
  const std::uint64_t members = this->members(run.class_index) & left_;
  if (members == ~std::uint64_t{0} >> (kVector - size_)) {
    run.packets = {packets_, size_};
    run.ecn_capable = {ecn_capable_.data(), size_};
  } else {
    copy(members, run);
  }
  left_ &= ~members;
  return true;
}

// A bit each. Eight at a time: no class has the top bit of a byte, and the sum sets it for all but
// `class_index`.
std::uint64_t ClassSplit::members(std::size_t class_index) const {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kMove = 0x0102040810204080;
  std::uint64_t members = 0;
  for (std::size_t i = 0; i < kVector; i += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, &class_of_[i], sizeof eight);
    const std::uint64_t others = (eight ^ kOnes * class_index) + kOnes * 0x7f;
    members |= (~others >> 7 & kOnes) * kMove >> 56 << i;
  }
  return members;
}

// No branch depends on a packet's class: it is any.
void ClassSplit::copy(std::uint64_t members, ClassRun& run) {
  std::size_t n = 0;
  for (; members != 0; members &= members - 1, ++n) {
    const auto at = static_cast<std::size_t>(std::countr_zero(members));
    std::memcpy(&taken_[n], &packets_[at], sizeof(Packet));  // whole, as it is read
    taken_ecn_capable_[n] = ecn_capable_[at];
  }
  run.packets = {taken_.data(), n};
  run.ecn_capable = {taken_ecn_capable_.data(), n};
}

}  // namespace surety
