// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/mss_clamp.h"

#include <algorithm>

#include "router/pipeline/wire/tcp_mss.h"

namespace surety {

void MssClamp::adopt(const Snapshot& snapshot) {
  most_.fill(kNone);
  for (std::size_t p = 0; p < snapshot.config.ports.size(); ++p)
    most_[p] = snapshot.config.ports[p].tcp_mss.value_or(kNone);
  clamps_ = std::ranges::any_of(most_, [](std::uint16_t most) { return most != kNone; });
}

void MssClamp::run(const Burst& v, PortIndex from) const {
  for (std::size_t i = 0; i < v.size; ++i) run(v, i, from, v.egress[i]);
}

void MssClamp::run(const Burst& v, std::size_t i, PortIndex from, PortIndex to) const {
  constexpr std::uint8_t kTcp = 6;
  constexpr std::uint16_t kLongerHeader = 20;
  const ParsedPacket& h = v.header[i];
  const std::uint16_t most = std::min(most_[from], most_[to]);
  if (h.protocol != kTcp || h.fragment || most == kNone) return;
  rte_mbuf* const m = v.mbuf[i];
  const std::size_t there = rte_pktmbuf_data_len(m);
  if (h.l4_offset >= there) return;
  clamp_mss({rte_pktmbuf_mtod_offset(m, std::uint8_t*, h.l4_offset), there - h.l4_offset},
            h.v6 ? static_cast<std::uint16_t>(most - kLongerHeader) : most);
}

}  // namespace surety
