// SPDX-License-Identifier: BSD-3-Clause
#include "router/dpdk/workers/fabric.h"

#include <fmt/format.h>

namespace surety {

namespace {
constexpr unsigned kInjected = 1024;
}  // namespace

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
      if (to != w)
        signals_[w][to] =
            std::make_unique<SignalRing>(fmt::format("{}-s{}-{}", name, w, to), kSignalRingSize);
  }
  for (std::size_t p = 0; p < plan.ports.size(); ++p) {
    injected_[p] = std::make_unique<Handover>(fmt::format("{}-i{}", name, p), kInjected);
    dispatched_[p].resize(workers);
    for (std::size_t w = 0; w < workers; ++w) {
      if (w != plan.ports[p].owner)
        owner_[w][p] = std::make_unique<EgressHandover>(fmt::format("{}-o{}-{}", name, w, p));
      if (plan.ports[p].dispatch && w != plan.ports[p].readers[0])
        dispatched_[p][w] = std::make_unique<Handover>(fmt::format("{}-d{}-{}", name, p, w));
    }
  }
}

}  // namespace surety
