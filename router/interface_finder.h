// SPDX-License-Identifier: BSD-3-Clause
// By its tags, which interface a frame came by, and what its priority says; for the ingress.
//
// A tag of VLAN 0 says a priority and is no tag (IEEE 802.1Q 9.6), but before another one. Tags of no
// interface of the port belong to the port itself where a rule names them (tag_admission.h), and else to
// nobody.
#pragma once

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
  // Of a frame with tags that has been parsed. kNoInterface: nobody's.
  InterfaceIndex find(const std::uint8_t* frame, const ParsedPacket& h, PortIndex port) const;
  void count(InterfaceIndex interface, std::uint32_t bytes) {
    if (counters_ != nullptr && interface >= ports_) counters_->received(interface, bytes);
  }
  // Where its interface is trusted, gives an IP packet the DSCP of its priority, if its own has another.
  void take_priority(std::uint8_t* frame, ParsedPacket& h) const;

 private:
  const Snapshot* snapshot_ = nullptr;
  const Interfaces* interfaces_ = nullptr;
  const config::Config::Pcp* pcp_ = nullptr;
  // By port: the kernel takes the outer tag away, and DPDK's driver puts another back, always of 802.1Q
  // (af_packet): its protocol is not known.
  std::vector<std::uint8_t> any_protocol_;
  std::size_t ports_ = 0;
  InterfaceCounters* counters_;
};

}  // namespace surety
