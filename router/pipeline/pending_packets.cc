// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/pending_packets.h"

#include <rte_ether.h>

#include <algorithm>

#include "router/pipeline/wire/ip_bytes.h"

namespace surety {

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
    ++ports_[port].forwarded;
    v.mbuf[v.size] = p.mbuf;
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
