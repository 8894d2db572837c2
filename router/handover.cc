#include "router/handover.h"

#include <fmt/format.h>
#include <rte_errno.h>

#include <array>
#include <stdexcept>

namespace surety {

Handover::Handover(const std::string& name, unsigned size, int socket)
    : ring_(rte_ring_create(name.c_str(), size, socket, RING_F_SP_ENQ | RING_F_SC_DEQ)) {
  if (ring_ == nullptr)
    throw std::runtime_error(fmt::format("no memory for the ring {}: {}; raise `dpdk: {{memory: ...}}`", name,
                                         rte_strerror(rte_errno)));
}

Handover::~Handover() {
  std::array<rte_mbuf*, 64> burst;
  while (const std::size_t n = take(burst)) rte_pktmbuf_free_bulk(burst.data(), static_cast<unsigned>(n));
  rte_ring_free(ring_);
}

}  // namespace surety
