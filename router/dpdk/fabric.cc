#include "router/dpdk/fabric.h"

#include <fmt/format.h>
#include <rte_ring_elem.h>

#include <stdexcept>

namespace surety {

namespace {
constexpr unsigned kInjected = 1024;
constexpr unsigned kElement = (sizeof(CongestionSignal) + 3) / 4 * 4;  // rings copy words
static_assert(std::is_trivially_copyable_v<CongestionSignal> && sizeof(CongestionSignal) == kElement);
}  // namespace

SignalRing::SignalRing(const std::string& name)
    : ring_(
          rte_ring_create_elem(name.c_str(), kElement, kSize, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ)) {
  if (ring_ == nullptr) throw std::runtime_error(fmt::format("no memory for the ring {}", name));
}

SignalRing::~SignalRing() {
  rte_ring_free(ring_);
}

void SignalRing::give(const CongestionSignal& signal) {
  rte_ring_sp_enqueue_burst_elem(ring_, &signal, kElement, 1, nullptr);
}

std::size_t SignalRing::take(std::span<CongestionSignal> out) {
  return rte_ring_sc_dequeue_burst_elem(ring_, out.data(), kElement, static_cast<unsigned>(out.size()),
                                        nullptr);
}

Fabric::Fabric(const std::string& name, const WorkPlan& plan)
    : owner_(plan.cores.size()),
      dispatched_(plan.ports.size()),
      injected_(plan.ports.size()),
      signals_(plan.cores.size()) {
  const std::size_t workers = plan.cores.size();
  for (std::size_t w = 0; w < workers; ++w) {
    owner_[w].resize(plan.ports.size());
    signals_[w].resize(workers);
    for (std::size_t to = 0; to < workers; ++to)
      if (to != w) signals_[w][to] = std::make_unique<SignalRing>(fmt::format("{}-s{}-{}", name, w, to));
  }
  for (std::size_t p = 0; p < plan.ports.size(); ++p) {
    injected_[p] = std::make_unique<Handover>(fmt::format("{}-i{}", name, p), kInjected);
    dispatched_[p].resize(workers);
    for (std::size_t w = 0; w < workers; ++w) {
      if (w != plan.ports[p].owner)
        owner_[w][p] = std::make_unique<Handover>(fmt::format("{}-o{}-{}", name, w, p));
      if (plan.ports[p].dispatch && w != plan.ports[p].readers[0])
        dispatched_[p][w] = std::make_unique<Handover>(fmt::format("{}-d{}-{}", name, p, w));
    }
  }
}

}  // namespace surety
