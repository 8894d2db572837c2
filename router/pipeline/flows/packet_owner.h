// SPDX-License-Identifier: BSD-3-Clause
// The owner of a packet behind its conditioner. It travels with the packet, so that a later loss, on any
// worker, is counted for the owner.
//
// Stored in two words of the mbuf that no device reads on transmission: `packet_type` (0: no owner, as in a
// fresh mbuf) and `hash.fdir.hi`.
#pragma once

#include <rte_mbuf.h>

#include <cstdint>

#include "conditioners/packet.h"

namespace surety {

struct PacketOwner {
  FlowId flow = kNoFlow;  // in the worker's table: the contract's record, or the flow's; kNoFlow: no record
  std::uint32_t word = 0;

  static constexpr std::uint32_t kOwned = 1u << 31, kOut = 1u << 30;
  static constexpr unsigned kWorker = 16;  // bits of it: 14
  // The part of the word that is the same for all packets of a worker.
  static constexpr std::uint32_t base(std::size_t worker) {
    return kOwned | static_cast<std::uint32_t>(worker) << kWorker;
  }
  static PacketOwner of(const rte_mbuf* m) { return {m->hash.fdir.hi, m->packet_type}; }

  bool any() const { return (word & kOwned) != 0; }
  std::uint16_t service() const { return static_cast<std::uint16_t>(word); }
  std::size_t worker() const { return word >> kWorker & 0x3fff; }
  Precedence precedence() const { return (word & kOut) != 0 ? Precedence::out : Precedence::in; }
};

inline void set_owner(rte_mbuf* m, std::uint32_t base, FlowId flow, std::uint16_t service, Precedence p) {
  m->packet_type = base | service | static_cast<std::uint32_t>(p) << 30;
  m->hash.fdir.hi = flow;
}
inline void copy_owner(const rte_mbuf* from, rte_mbuf* to) {
  to->packet_type = from->packet_type;
  to->hash.fdir.hi = from->hash.fdir.hi;
}
// Marks a packet of the router itself or of the kernel.
inline void disown(rte_mbuf* m) {
  m->packet_type = 0;
}

}  // namespace surety
