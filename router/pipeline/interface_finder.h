// SPDX-License-Identifier: BSD-3-Clause
// Finds the interface of an incoming frame by its VLAN tags, and the DSCP by its 802.1Q priority.
//
// A tag of VLAN 0 has only a priority (IEEE 802.1Q 9.6), except before another tag. Tags without an interface
// belong to the port itself where a rule matches them (interfaces.h); other frames are refused.
#pragma once

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
  // Counts a frame that leaves the burst.
  void count(InterfaceIndex interface, std::uint32_t bytes) {
    if (counters_ != nullptr && interface >= ports_) counters_->received(interface, bytes);
  }
  // Counts the frames of a burst. Apart from the loop that parses them, which has no register left.
  void count(const Burst& v) {
    if (counters_ == nullptr) return;
    InterfaceCounters& counters = *counters_;
    const std::size_t ports = ports_, size = v.size;
    for (std::size_t i = 0; i < size; ++i)
      if (v.header[i].interface >= ports) counters.expect_received(v.header[i].interface);
    for (std::size_t i = 0; i < size; ++i)
      if (v.header[i].interface >= ports) counters.received(v.header[i].interface, v.mbuf[i]->pkt_len);
  }
  // On a trusted interface, sets the DSCP of an IP packet to that of its priority, if they differ.
  void take_priority(std::uint8_t* frame, ParsedPacket& h) const {
    if (pcp_ != nullptr) [[unlikely]]
      take_priority_by_map(frame, h);
  }

 private:
  void take_priority_by_map(std::uint8_t* frame, ParsedPacket& h) const;

  const Snapshot* snapshot_ = nullptr;
  const Interfaces* interfaces_ = nullptr;
  const config::Config::Pcp* pcp_ = nullptr;
  // Indexed by port: true if 802.1Q may have been 802.1ad, because the kernel removes either tag and DPDK's
  // driver restores it as 802.1Q (af_packet).
  std::vector<std::uint8_t> any_protocol_;
  std::size_t ports_ = 0;
  InterfaceCounters* counters_;
};

}  // namespace surety
