// SPDX-License-Identifier: BSD-3-Clause
// The fields of an mbuf that carry our own data from one stage to another. Each function below writes or
// reads them; no other code does, except for `port`, the ingress port.
//
// clang-format off
// | field                         | in an input buffer | rewrite to device  | to the control thread |
// |-------------------------------|--------------------|--------------------|-----------------------|
// | `l2_len`                      | IP header's offset | -                  | IP header's offset    |
// | `hash.usr`                    | route              | tags (egress)      | next hop, punt reason |
// | `vlan_tci`                    | -                  | egress interface   | ingress interface     |
// | `vlan_tci_outer`              | customer           | -                  | customer              |
// | `packet_type`, `hash.fdir.hi` | -                  | owner of a packet  | -                     |
// clang-format on
//
// The note of an egress interface is there if `ol_flags` has RTE_MBUF_F_TX_VLAN. No device reads any of these
// on transmission: the flag is cleared before.
#pragma once

#include <rte_mbuf.h>

#include <cstdint>

#include "conditioners/packet.h"
#include "router/pipeline/interfaces/interface_record.h"
#include "router/pipeline/wire/headers.h"

namespace surety {

// --- A packet in an input buffer (condition stage), from the turn that holds it to the one that releases it.
inline void note_held(rte_mbuf* m, std::uint32_t route, std::size_t l3_offset, Customer customer) {
  m->l2_len = l3_offset & 0x7f;
  m->hash.usr = route;
  m->vlan_tci_outer = customer;
}
inline std::uint32_t held_route(const rte_mbuf* m) {
  return m->hash.usr;
}
// The offset of the IP header, here or for the control thread; 0: not an IP packet.
inline std::uint8_t noted_l3_offset(const rte_mbuf* m) {
  return static_cast<std::uint8_t>(m->l2_len);
}
inline Customer noted_customer(const rte_mbuf* m) {
  return m->vlan_tci_outer;
}

// --- The owner of a packet behind its conditioner, so that a later loss, on any worker, is counted for the
// owner.
struct PacketOwner {
  FlowId flow = kNoFlow;   // in the worker's table: the contract's record, or the flow's; kNoFlow: no record
  std::uint32_t word = 0;  // 0: no owner, as in a fresh mbuf

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
inline void clear_owner(rte_mbuf* m) {
  m->packet_type = 0;
}

// --- The egress interface and its tags: a reload may have removed the interface when the frame leaves.
// Without them the frame leaves by the port itself, untagged.
inline void set_interface(rte_mbuf* m, InterfaceIndex interface, VlanTags tags) {
  m->ol_flags |= RTE_MBUF_F_TX_VLAN;
  m->vlan_tci = interface;
  m->hash.usr = tags.word();
}
inline bool has_interface(const rte_mbuf* m) {
  return (m->ol_flags & RTE_MBUF_F_TX_VLAN) != 0;
}
inline InterfaceIndex interface_of(const rte_mbuf* m, InterfaceIndex port) {
  return has_interface(m) ? m->vlan_tci : port;
}
inline VlanTags noted_tags(const rte_mbuf* m) {
  return VlanTags::of_word(m->hash.usr);
}
inline void copy_interface(const rte_mbuf* from, rte_mbuf* to) {
  if (has_interface(from)) set_interface(to, from->vlan_tci, noted_tags(from));
}

// --- A packet for the control thread: punted, or dropped and to be reported to its sender.

// Why a packet is dropped and reported to its sender (RFC 1812 5.2.7.1, RFC 4443 3.1).
enum class Refusal : std::uint8_t { no_route, unreachable, prohibited, source };

// `what`: the next hop, or with PuntReason::none the Refusal; 24 bits.
inline void note_punted(rte_mbuf* m, PuntReason reason, std::uint32_t what, std::size_t l3_offset,
                        Customer customer, InterfaceIndex interface) {
  m->vlan_tci = interface;
  m->vlan_tci_outer = customer;
  m->hash.usr = what | static_cast<std::uint32_t>(reason) << 24;
  m->l2_len = l3_offset & 0x7f;
}
inline InterfaceIndex punted_interface(const rte_mbuf* m) {
  return m->vlan_tci;
}
inline std::uint32_t punted_next_hop(const rte_mbuf* m) {
  return m->hash.usr & 0xffffff;
}
inline PuntReason punted_reason(const rte_mbuf* m) {
  return static_cast<PuntReason>(m->hash.usr >> 24);  // none: it was dropped and is to be reported
}
inline Refusal punted_refusal(const rte_mbuf* m) {
  return static_cast<Refusal>(punted_next_hop(m));
}

}  // namespace surety
