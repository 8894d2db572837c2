// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/forwarding.h"

#include <rte_malloc.h>

#include <atomic>
#include <stdexcept>
#include <string>

namespace surety {

namespace {

// Two of one name would be one to DPDK.
std::string name_of_next() {
  static std::atomic<unsigned> serial{0};
  return "surety-" + std::to_string(serial.fetch_add(1)) + "-";
}

}  // namespace

void Forwarding::Free::operator()(rte_rcu_qsbr* p) const {
  rte_free(p);
}

Forwarding::Forwarding(std::uint32_t max_routes, unsigned workers) : fib_(name_of_next(), max_routes) {
  const std::size_t size = rte_rcu_qsbr_get_memsize(workers);
  rcu_.reset(static_cast<rte_rcu_qsbr*>(rte_zmalloc("rcu", size, RTE_CACHE_LINE_SIZE)));
  if (rcu_ == nullptr || rte_rcu_qsbr_init(rcu_.get(), workers) != 0)
    throw std::runtime_error("no memory for RCU; give DPDK more with `dpdk: {memory: ...}`");
  fib_.set_quiesce([this] { rte_rcu_qsbr_synchronize(rcu_.get(), RTE_QSBR_THRID_INVALID); });
}

}  // namespace surety
