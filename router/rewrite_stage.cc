#include "router/rewrite_stage.h"

#include <rte_ether.h>

#include <algorithm>
#include <cstring>

namespace surety {

namespace {

// Puts a fresh Ethernet header right before the IP header, which drops VLAN tags, and cuts the padding behind it.
void write_ethernet(rte_mbuf* m, const ParsedPacket& h, const config::Mac& destination, const RewriteStage::Mac& source) {
  const std::uint16_t type = h.v6 ? rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV6) : rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
  m->data_off = static_cast<std::uint16_t>(m->data_off + h.l3_offset - RTE_ETHER_HDR_LEN);
  m->data_len = static_cast<std::uint16_t>(RTE_ETHER_HDR_LEN + h.length);
  m->pkt_len = m->data_len;
  auto* p = rte_pktmbuf_mtod(m, std::uint8_t*);
  std::memcpy(p, destination.bytes.data(), 6);
  std::memcpy(p + 6, source.data(), 6);
  std::memcpy(p + 12, &type, 2);
}

}  // namespace

RewriteStage::RewriteStage(const NextHopTable& next_hops, std::span<const Mac> macs, Exits& exits)
    : next_hops_(next_hops), exits_(exits) {
  std::copy(macs.begin(), macs.end(), macs_.begin());
}

void RewriteStage::run(Vector& v, bool held) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < v.size; ++i) {
    const ParsedPacket& h = v.header[i];
    rte_mbuf* m = v.mbuf[i];
    const NextHopEntry hop = next_hops_.get(v.next_hop[i]);
    if (held) {
      if (hop.state != NextHopEntry::State::ready) {
        exits_.drop(m, static_cast<PortIndex>(m->port), DropReason::neighbor_unresolved);
        continue;
      }
      v.egress[i] = hop.port;
    }
    std::uint8_t* ip = ip_header(m, h.l3_offset);
    if (v.mark[i] != kKeepDscp) set_dscp(ip, h.v6, v.mark[i]);
    decrement_ttl(ip, h.v6);
    write_ethernet(m, h, hop.destination, macs_[v.egress[i]]);
    v.keep(i, kept++);
  }
  v.size = kept;
}

}  // namespace surety
