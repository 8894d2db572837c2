// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/fragment_stage.h"

#include <rte_ether.h>

#include <cstring>

#include "router/pipeline/egress_tags.h"
#include "router/pipeline/wire/header_fields.h"
#include "router/pipeline/wire/ipv4_fragments.h"

namespace surety {

namespace {
// A frame ready to leave.
bool may_be_cut(rte_mbuf* m) {
  constexpr std::uint8_t kDontFragment = 0x40;
  const std::uint8_t* const ip = ip_header(m, RTE_ETHER_HDR_LEN);
  return ip[0] >> 4 == 4 && (ip[6] & kDontFragment) == 0;
}
}  // namespace

FragmentStage::FragmentStage(const Snapshot& snapshot, std::span<PortCounters> ports,
                             PacketDisposal& disposal, rte_mempool* pool, const NextHopTable* next_hops)
    : ports_(ports), disposal_(disposal), pool_(pool), next_hops_(next_hops) {
  adopt(snapshot);
}

// The MTU of the packet's interface, or of its port if the interface was removed; a lower one of its route.
std::uint16_t FragmentStage::mtu(const Burst& v, std::size_t i) const {
  const InterfaceRecord& r = interfaces_[interface_of(v.mbuf[i], v.egress[i])];
  const std::uint16_t mtu = r.mtu != 0 ? r.mtu : interfaces_[v.egress[i]].mtu;
  return next_hops_ == nullptr ? mtu : mtu_of(next_hops_->get(v.next_hop(i)), mtu);
}

// The route stage has passed no other oversized packets; but held packets may have another egress now, when
// their senders cannot be notified.
void FragmentStage::take(Burst& v) {
  count_ = done_ = 0;
  const std::size_t size = v.size;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < size; ++i) {
    rte_mbuf* const m = v.mbuf[i];
    const std::uint16_t most = mtu(v, i);
    if (v.header[i].length <= most) {
      v.keep(i, kept++);
    } else if (may_be_cut(m)) {
      taken_[count_++] = {m, v.header[i].length, most, v.egress[i], v.precedence[i]};
    } else {
      disposal_.drop_owned(m, static_cast<PortIndex>(m->port), DropReason::mtu_exceeded);
    }
  }
  v.size = kept;
}

bool FragmentStage::next(Burst& v) {
  v.size = 0;
  if (done_ == count_) return false;
  const Original& w = taken_[done_++];
  const auto from = static_cast<PortIndex>(w.mbuf->port);
  if (cut(w, v)) {
    ports_[from].fragments += v.size - 1;
    disposal_.free(w.mbuf);
    return true;
  }
  rte_pktmbuf_free_bulk(v.mbuf.data(), static_cast<unsigned>(v.size));
  v.size = 0;
  disposal_.drop_owned(w.mbuf, from, DropReason::no_fragment_buffer);
  return true;
}

bool FragmentStage::cut(const Original& w, Burst& v) {
  const auto* const frame = rte_pktmbuf_mtod(w.mbuf, const std::uint8_t*);
  Ipv4Fragments fragments({frame + RTE_ETHER_HDR_LEN, w.length}, w.mtu);
  while (fragments.more()) {
    if (v.full()) return false;
    rte_mbuf* const m = rte_pktmbuf_alloc(pool_);
    if (m == nullptr) return false;
    const std::size_t i = v.size++;
    v.mbuf[i] = m;
    m->port = w.mbuf->port;
    if (rte_pktmbuf_tailroom(m) < RTE_ETHER_HDR_LEN + w.mtu) return false;
    auto* const out = rte_pktmbuf_mtod(m, std::uint8_t*);
    copy_interface(w.mbuf, m);
    copy_owner(w.mbuf, m);
    std::memcpy(out, frame, RTE_ETHER_HDR_LEN);
    const std::size_t length = fragments.write_next(out + RTE_ETHER_HDR_LEN);
    m->data_len = static_cast<std::uint16_t>(RTE_ETHER_HDR_LEN + length);
    m->pkt_len = m->data_len;
    v.header[i].length = static_cast<std::uint16_t>(length);
    v.header[i].traffic_class = traffic_class(out + RTE_ETHER_HDR_LEN);
    v.mark[i] = kKeepDscp;
    v.egress[i] = w.egress;
    v.precedence[i] = w.precedence;
  }
  return true;
}

}  // namespace surety
