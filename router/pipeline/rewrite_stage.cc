// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/rewrite_stage.h"

#include <rte_ether.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "router/pipeline/egress_tags.h"
#include "router/pipeline/wire/header_fields.h"

namespace surety {

namespace {

// Frees the padding of a frame of several buffers whose IP packet is all in the first.
[[gnu::noinline]] void free_padding(rte_mbuf* m) {
  rte_pktmbuf_free(m->next);
  m->next = nullptr;
  m->nb_segs = 1;
}

// Puts a fresh Ethernet header right before the IP header, which drops VLAN tags, and cuts the padding behind
// it. `source_type`: the header's last 8 bytes. Returns the IP header.
std::uint8_t* write_ethernet(rte_mbuf* m, const ParsedPacket& h, NextHopWord hop, std::uint64_t source_type) {
  m->data_off = static_cast<std::uint16_t>(m->data_off + h.l3_offset - RTE_ETHER_HDR_LEN);
  m->data_len = static_cast<std::uint16_t>(RTE_ETHER_HDR_LEN + h.length);
  m->pkt_len = m->data_len;
  if (m->nb_segs > 1) [[unlikely]]
    free_padding(m);
  auto* const frame = rte_pktmbuf_mtod(m, std::uint8_t*);
  store(frame, hop.bits());  // the last two bytes are overwritten below
  store(frame + 6, source_type);
  return frame + RTE_ETHER_HDR_LEN;
}

}  // namespace

RewriteStage::RewriteStage(const NextHopTable& next_hops, std::span<const MacAddress> macs,
                           PacketDisposal& disposal, PendingPackets& pending, std::size_t worker)
    : next_hops_(next_hops), disposal_(disposal), pending_(pending), owner_(PacketOwner::base(worker)) {
  adopt(macs);
}

void RewriteStage::adopt(std::span<const MacAddress> macs) {
  for (std::size_t port = 0; port < macs.size(); ++port)
    for (const bool v6 : {false, true}) {
      const std::uint16_t type = rte_cpu_to_be_16(v6 ? RTE_ETHER_TYPE_IPV6 : RTE_ETHER_TYPE_IPV4);
      std::memcpy(&source_type_[port][v6], macs[port].data(), 6);
      std::memcpy(reinterpret_cast<char*>(&source_type_[port][v6]) + 6, &type, 2);
    }
}

[[gnu::always_inline]] inline void RewriteStage::rewrite(Burst& v, std::size_t i, NextHopWord hop) const {
  const ParsedPacket& h = v.header[i];
  rte_mbuf* const m = v.mbuf[i];
  v.egress[i] = hop.port();
  set_owner(m, owner_, v.flow[i], v.service[i], v.precedence[i]);
  const bool v6 = h.v6;
  std::uint8_t* const ip = write_ethernet(m, h, hop, source_type_[hop.port()][v6]);
  if (v.mark[i] != kKeepDscp)
    set_dscp_and_decrement_ttl(ip, v6, v.mark[i]);
  else
    decrement_ttl(ip, v6);
}

[[gnu::always_inline]] inline void RewriteStage::rewrite(Burst& v, std::size_t i,
                                                         NextHopTable::Whole hop) const {
  rewrite(v, i, hop.word);
  if (hop.word.tagged()) set_interface(v.mbuf[i], hop.interface(), hop.tags());
}

void RewriteStage::run(Burst& v) {
  const NextHopTable::Words hops = next_hops_.words();
  const std::size_t size = v.size;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const NextHopWord hop = hops(v.next_hop(i));
    if (hop.plain()) [[likely]]
      rewrite(v, i, hop);
    else if (!rewrite_rest(v, i))
      continue;
    v.keep(i, kept++);
  }
  v.size = kept;
}

// Rewrites a packet that leaves by an interface, or whose next hop is not ready. False: it leaves the burst.
bool RewriteStage::rewrite_rest(Burst& v, std::size_t i) {
  const NextHopTable::Whole hop =
      next_hops_.whole(v.next_hop(i));  // a consistent entry: MAC, interface and tags
  if (!hop.word.ready()) [[unlikely]] {
    if (delay(v, i, hop)) return false;
  }
  rewrite(v, i, hop);
  return true;
}

// Handles a packet whose next hop is not ready. False: it stays in the burst.
[[gnu::noinline]] bool RewriteStage::delay(Burst& v, std::size_t i, NextHopTable::Whole hop) {
  rte_mbuf* const m = v.mbuf[i];
  if (!hop.word.known()) {
    set_owner(m, owner_, v.flow[i], v.service[i], v.precedence[i]);
    disposal_.drop_owned(m, static_cast<PortIndex>(m->port), DropReason::neighbor_unresolved,
                         v.header[i].length);
    return true;
  }
  if (!pending_.must_wait(v.next_hop(i), hop.word)) return false;
  rewrite(v, i, hop);
  pending_.hold(v, i);
  return true;
}

using State = NextHopEntry::State;

bool PendingPackets::must_wait(std::uint32_t next_hop, NextHopWord hop) const {
  if (hop.state() == State::waiting) return !stopped_;
  return std::ranges::find(packets_, next_hop, &Pending::next_hop) != packets_.end();
}

void PendingPackets::hold(const Burst& v, std::size_t i) {
  rte_mbuf* const m = v.mbuf[i];
  const auto port = static_cast<PortIndex>(m->port);
  if (held_[port] == kPerPort) return disposal_.drop_owned(m, port, DropReason::neighbor_unresolved);
  packets_.push_back({m, v.next_hop(i), v.header[i].length, v.egress[i], v.precedence[i]});
  ++held_[port];
  ++ports_[port].held;
}

// A turn sees all next hops of an opening as open, and no others are opened before it ends (NeighborGate):
// either all packets of a next hop are released or none.
bool PendingPackets::due() {
  const std::uint32_t openings = next_hops_.openings();
  const bool opened = openings != openings_;
  openings_ = openings;
  return (opened || stopped_) && !packets_.empty();
}

bool PendingPackets::waits(const Pending& p) const {
  return !stopped_ && next_hops_.get(p.next_hop).state == State::waiting;
}

void PendingPackets::leave(const Pending& p) {
  const auto port = static_cast<PortIndex>(p.mbuf->port);
  --held_[port];
  --ports_[port].held;
}

bool PendingPackets::release(Burst& v) {
  std::size_t kept = 0, i = 0;
  for (; i < packets_.size() && !v.full(); ++i) {
    const Pending p = packets_[i];
    if (waits(p)) {
      packets_[kept++] = p;
      continue;
    }
    leave(p);
    const auto port = static_cast<PortIndex>(p.mbuf->port);
    if (!next_hops_.word(p.next_hop).known()) {
      disposal_.drop_owned(p.mbuf, port, DropReason::neighbor_unresolved);
      continue;
    }
    v.mbuf[v.size] = p.mbuf;
    v.route[v.size] = RouteTarget{p.next_hop}.encode();
    v.header[v.size].length = p.length;
    v.header[v.size].traffic_class = traffic_class(ip_header(p.mbuf, RTE_ETHER_HDR_LEN));
    v.mark[v.size] = kKeepDscp;
    v.egress[v.size] = p.egress;
    v.precedence[v.size++] = p.precedence;
  }
  packets_.erase(std::move(packets_.begin() + static_cast<std::ptrdiff_t>(i), packets_.end(),
                           packets_.begin() + static_cast<std::ptrdiff_t>(kept)),
                 packets_.end());
  return v.full();
}

void PendingPackets::discard() {
  for (const Pending& p : packets_) {
    leave(p);
    rte_pktmbuf_free(p.mbuf);
  }
  packets_.clear();
}

}  // namespace surety
