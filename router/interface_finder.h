// SPDX-License-Identifier: BSD-3-Clause
// By its tags, which interface a frame came by, and what its priority says; for the ingress.
//
// A tag of VLAN 0 says a priority and is no tag (IEEE 802.1Q 9.6), but before another one. Tags of no
// interface of the port belong to the port itself where a rule names them (tag_admission.h), and else to
// nobody.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "router/interfaces/interface_counters.h"
#include "router/snapshot.h"
#include "router/vector.h"

namespace surety {

class InterfaceFinder {
 public:
  // `counters`: of the worker; null: nothing is counted.
  InterfaceFinder(const Snapshot& snapshot, InterfaceCounters* counters) : counters_(counters) {
    adopt(snapshot);
  }
  void adopt(const Snapshot& snapshot);

  bool any_on(PortIndex port) const { return interfaces_->any_on(port); }
  // By the tags of a frame, the inner one of 802.1Q; of those in `interfaces:` only.
  InterfaceIndex find(PortIndex port, std::uint16_t protocol, std::uint16_t outer,
                      std::uint16_t inner) const {
    const InterfaceIndex found = interfaces_->find(port, protocol, outer, inner);
    if (found != kNoInterface || any_protocol_[port] == 0) [[likely]]
      return found;
    return interfaces_->find(port, kServiceTag, outer, inner);
  }
  // Of any frame with tags that has been parsed. kNoInterface: nobody's.
  InterfaceIndex find(const std::uint8_t* frame, const ParsedPacket& h, PortIndex port) const;
  // Each frame of a burst, kVector at most; then all of them, whose counters have come meanwhile.
  void note(InterfaceIndex interface, std::uint32_t bytes) {
    if (counters_ == nullptr || interface < ports_) return;
    counters_->expect_received(interface);
    noted_[notes_++] = {interface, bytes};
  }
  void count() {
    for (std::size_t i = 0; i < notes_; ++i) counters_->received(noted_[i].interface, noted_[i].bytes);
    notes_ = 0;
  }
  // Where its interface is trusted, gives an IP packet the DSCP of its priority, if its own has another.
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
  // By port: the kernel takes the outer tag away, and DPDK's driver puts another back, always of 802.1Q
  // (af_packet): its protocol is not known.
  std::vector<std::uint8_t> any_protocol_;
  std::size_t ports_ = 0;
  InterfaceCounters* counters_;
  std::size_t notes_ = 0;
  std::array<Note, kVector> noted_;
};

}  // namespace surety
