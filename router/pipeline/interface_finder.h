// SPDX-License-Identifier: BSD-3-Clause
// Finds the interface of an incoming frame by its VLAN tags, and the DSCP by its 802.1Q priority.
//
// A tag of VLAN 0 has only a priority (IEEE 802.1Q 9.6), except before another tag. Tags without an interface
// belong to the port itself where a rule matches them (interfaces.h); other frames are refused.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "router/pipeline/burst.h"
#include "router/pipeline/interfaces/interface_counters.h"
#include "router/pipeline/snapshot.h"

namespace surety {

class InterfaceFinder {
 public:
  // `counters`: the worker's; nullptr: frames are not counted.
  InterfaceFinder(const Snapshot& snapshot, InterfaceCounters* counters) : counters_(counters) {
    adopt(snapshot);
  }
  void adopt(const Snapshot& snapshot);

  bool any_on(PortIndex port) const { return interfaces_->any_on(port); }
  // Finds the interface of an ordinary frame; `inner`: the inner tag of 802.1Q. kNoInterface: the function
  // below decides.
  InterfaceIndex find(PortIndex port, std::uint16_t protocol, std::uint16_t outer,
                      std::uint16_t inner) const {
    return interfaces_->find(port, protocol, outer, inner);
  }
  // Finds the interface of any parsed frame with tags. kNoInterface: none.
  InterfaceIndex find(const std::uint8_t* frame, const ParsedPacket& h, PortIndex port) const;
  // note() is called for each frame of a burst, at most kBurst; then count() updates all counters,
  // prefetched meanwhile.
  void note(InterfaceIndex interface, std::uint32_t bytes) {
    if (counters_ == nullptr || interface < ports_) return;
    counters_->expect_received(interface);
    noted_[notes_++] = {interface, bytes};
  }
  void count() {
    for (std::size_t i = 0; i < notes_; ++i) counters_->received(noted_[i].interface, noted_[i].bytes);
    notes_ = 0;
  }
  // On a trusted interface, sets the DSCP of an IP packet to that of its priority, if they differ.
  void take_priority(std::uint8_t* frame, ParsedPacket& h) const {
    if (pcp_ != nullptr) [[unlikely]]
      take_priority_by_map(frame, h);
  }

 private:
  void take_priority_by_map(std::uint8_t* frame, ParsedPacket& h) const;

  struct Note {
    InterfaceIndex interface;
    std::uint32_t bytes;
  };
  const Snapshot* snapshot_ = nullptr;
  const Interfaces* interfaces_ = nullptr;
  const config::Config::Pcp* pcp_ = nullptr;
  // Indexed by port: true if 802.1Q may have been 802.1ad, because the kernel removes either tag and DPDK's
  // driver restores it as 802.1Q (af_packet).
  std::vector<std::uint8_t> any_protocol_;
  std::size_t ports_ = 0;
  InterfaceCounters* counters_;
  std::size_t notes_ = 0;
  std::array<Note, kBurst> noted_;
};

}  // namespace surety
