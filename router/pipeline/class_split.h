// SPDX-License-Identifier: BSD-3-Clause
// Splits a burst by class: the DSCP of a packet, which a conditioner or a router before us has set, decides
// its class and its drop precedence (RFC 2475: the behaviour aggregate classifier).
//
// Traffic is a mixture of classes, and each change of queue costs cycles: take() returns all packets of a
// class in the burst at once, in their order. The class of the first packet comes first.
#pragma once

#include <rte_ether.h>

#include <array>
#include <cstdint>
#include <span>

#include "conditioners/packet.h"
#include "config/config.h"
#include "router/pipeline/burst.h"
#include "router/pipeline/handover.h"
#include "router/pipeline/wire/header_fields.h"
#include "router/pipeline/wire/rewrite.h"

namespace surety {

// The IP header of a packet at an egress: its frame has a 14-byte Ethernet header, without tags.
inline std::uint8_t* egress_ip(const Packet& p) {
  return ip_header(static_cast<rte_mbuf*>(p.handle), RTE_ETHER_HDR_LEN);
}

// Packets of one class, in their order.
struct ClassRun {
  std::size_t class_index = 0;
  std::span<Packet> packets;
  std::span<bool> ecn_capable;  // one per packet
};

class ClassSplit {
 public:
  using ClassesByDscp = decltype(config::QueueSet::by_dscp);
  struct Arrival {
    std::uint8_t class_index;
    bool ecn_capable;
  };
  // Finds the class by the traffic class, and sets the packet's precedence.
  static Arrival look_up(Packet& p, std::uint8_t traffic_class, const ClassesByDscp& by_dscp) {
    const auto entry = by_dscp[traffic_class >> 2];
    p.precedence = entry.precedence;
    return {entry.class_index, ecn_capable(traffic_class)};
  }

  explicit ClassSplit(const ClassesByDscp& by_dscp) : by_dscp_(by_dscp) {}
  void adopt(const ClassesByDscp& by_dscp) { by_dscp_ = by_dscp; }
  std::size_t class_of(std::uint8_t dscp) const { return by_dscp_[dscp].class_index; }

  // Starts on the rewritten packets at `lanes` of `v`. `room` holds descriptors for them. Returns their
  // number. Does not read frames: `v` has the DSCPs stored into them.
  std::size_t begin(const Burst& v, LaneMask lanes, std::span<Packet> room);
  // Starts on at most kBurst packets; `room` holds descriptors for as many. The class of a packet with this
  // layout is known, that of others is looked up in the frame.
  void begin(std::span<const HandedPacket> burst, std::span<Packet> room, std::uint16_t layout);
  // Gives the packets of the next class, which the caller may change; they are good until the next call.
  // false: the burst is done.
  bool take(ClassRun& run);

 private:
  void start(Packet* packets, std::size_t n);
  template <bool kAll>
  std::size_t describe(const Burst& v, LaneMask lanes, Packet* packets);
  void copy(LaneMask members, ClassRun& run);

  ClassesByDscp by_dscp_;
  Packet* packets_ = nullptr;  // the burst; class_of_ and ecn_capable_ run parallel
  std::size_t size_ = 0;
  LaneMask left_ = 0;  // packets not taken yet
  std::array<std::uint8_t, kBurst> class_of_{};
  std::array<bool, kBurst> ecn_capable_, taken_ecn_capable_;
  std::array<Packet, kBurst> taken_;
};

}  // namespace surety
