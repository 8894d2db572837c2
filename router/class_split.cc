// SPDX-License-Identifier: BSD-3-Clause
#include "router/class_split.h"

#include <cstring>

namespace surety {

void ClassSplit::begin(std::span<Packet> burst) {
  packets_ = burst.data();
  size_ = burst.size();
  bool mixed = false;
  for (std::size_t i = 0; i < burst.size(); ++i) {
    const Arrival arrival = look_up(burst[i], by_dscp_);
    class_of_[i] = arrival.class_index;
    ecn_capable_[i] = arrival.ecn_capable;
    mixed |= arrival.class_index != class_of_[0];
  }
  mixed_ = mixed;
}

void ClassSplit::begin(std::span<const HandedPacket> burst, std::span<Packet> room) {
  packets_ = room.data();
  size_ = burst.size();
  bool mixed = false;
  for (std::size_t i = 0; i < burst.size(); ++i) {
    room[i] = {burst[i].mbuf(), kNoFlow, burst[i].length(), burst[i].precedence()};
    class_of_[i] = burst[i].class_index();
    ecn_capable_[i] = burst[i].ecn_capable();
    mixed |= class_of_[i] != class_of_[0];
  }
  mixed_ = mixed;
}

// Those that are left move up. No branch depends on a packet's class: it is any.
void ClassSplit::take_first_class(ClassRun& run) {
  const std::uint8_t first = class_of_[0];
  Packet* const packets = packets_;
  const std::size_t size = size_;
  std::size_t taken = 0, left = 0;
  bool mixed = false;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint8_t class_index = class_of_[i];
    const bool ecn = ecn_capable_[i], is_first = class_index == first;
    std::memcpy(&taken_[taken], &packets[i], sizeof(Packet));  // whole, as it is read
    std::memmove(&packets[left], &packets[i], sizeof(Packet));
    taken_ecn_capable_[taken] = ecn_capable_[left] = ecn;
    class_of_[left] = class_index;
    taken += is_first;
    left += !is_first;
    mixed |= !is_first & (class_index != class_of_[0]);
  }
  size_ = left;
  mixed_ = mixed;
  run.packets = {taken_.data(), taken};
  run.ecn_capable = {taken_ecn_capable_.data(), taken};
}

}  // namespace surety
