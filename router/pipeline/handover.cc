// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/handover.h"

#include <array>

namespace surety {

Handover::~Handover() {
  std::array<rte_mbuf*, 64> burst;
  while (const std::size_t n = dequeue(burst)) rte_pktmbuf_free_bulk(burst.data(), static_cast<unsigned>(n));
}

EgressHandover::~EgressHandover() {
  std::array<HandedPacket, 64> burst;
  while (const std::size_t n = dequeue(burst))
    for (const auto& p : std::span(burst).first(n)) rte_pktmbuf_free(p.mbuf());
}

}  // namespace surety
