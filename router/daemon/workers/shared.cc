// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/shared.h"

#include <fmt/format.h>
#include <rte_malloc.h>

#include <atomic>
#include <stdexcept>
#include <string>

namespace surety {

namespace {

constexpr unsigned kInjected = 1024;  // frames of the kernel in the ring of a port

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

Fabric::Fabric(const std::string& name, const WorkPlan& plan)
    : name_(name),
      owner_(plan.cores.size()),
      dispatched_(plan.ports.size()),
      injected_(plan.ports.size()),
      signals_(plan.cores.size()) {
  const std::size_t workers = plan.cores.size();
  for (std::size_t w = 0; w < workers; ++w) {
    owner_[w].resize(plan.ports.size());
    signals_[w].resize(workers);
    for (std::size_t to = 0; to < workers; ++to)
      if (to != w)
        signals_[w][to] =
            std::make_unique<SignalRing>(fmt::format("{}-s{}-{}", name, w, to), kSignalRingSize);
  }
  for (std::size_t p = 0; p < plan.ports.size(); ++p) {
    dispatched_[p].resize(workers);
    if (plan.ports[p].exists()) open(plan, static_cast<PortIndex>(p));
  }
}

void Fabric::open(const WorkPlan& plan, PortIndex port) {
  const WorkPlan::Port& p = plan.ports[port];
  injected_[port].reset();  // two rings of one name cannot be
  injected_[port] = std::make_unique<Handover>(fmt::format("{}-i{}", name_, port), kInjected);
  for (std::size_t w = 0; w < plan.cores.size(); ++w) {
    owner_[w][port].reset();
    dispatched_[port][w].reset();
    if (w != p.owner)
      owner_[w][port] = std::make_unique<EgressHandover>(fmt::format("{}-o{}-{}", name_, w, port));
    if (p.dispatch && w != p.readers[0])
      dispatched_[port][w] = std::make_unique<Handover>(fmt::format("{}-d{}-{}", name_, port, w));
  }
}

}  // namespace surety
