// SPDX-License-Identifier: BSD-3-Clause
#include "router/dpdk/workers/receiver.h"

#include <rte_prefetch.h>

#include <algorithm>

namespace surety {

Receiver::Receiver(const WorkerContext& context, std::uint64_t dispatch_seed) : context_(context) {
  static_assert(kMaxWorkers <= 64, "dispatched_to_ has a bit for each");
  const std::size_t self = context.index;
  for (std::size_t p = 0; p < context.plan.ports.size(); ++p) {
    const auto port = static_cast<PortIndex>(p);
    const WorkPlan::Port& plan = context.plan.ports[p];
    dispatch_.emplace_back(plan.spread, context.plan.cores.size(), dispatch_seed);
    for (std::size_t q = 0; q < plan.readers.size(); ++q)
      if (plan.readers[q] == self)
        sources_.push_back({port, static_cast<std::uint16_t>(q), plan.dispatch, nullptr});
    if (Handover* ring = context.fabric != nullptr ? context.fabric->dispatched(port, self) : nullptr)
      sources_.push_back({port, 0, false, ring});
  }
}

std::size_t Receiver::receive(Ingress& ingress, Time now) {
  std::size_t total = 0;
  std::array<rte_mbuf*, kVector> burst;
  for (const Source& source : sources_) {
    std::size_t n = take(source, burst);
    if (n == 0) continue;
    total += n;
    context_.meter.lap(Stage::rx, n);
    if (source.dispatch) n = dispatch({burst.data(), n}, source.port);
    ingress.receive({burst.data(), n}, source.port, now);
  }
  return total;
}

std::size_t Receiver::take(const Source& source, std::span<rte_mbuf*> room) const {
  if (source.dispatched != nullptr) {
    const std::size_t n = source.dispatched->dequeue(room);
    for (std::size_t i = 0; i < n; ++i) rte_prefetch0(room[i]);
    return n;
  }
  return receiving_ ? context_.ports[source.port]->receive(source.queue, room) : 0;
}

// Hands packets on to the workers that have their flows; how many stay, in front and in order.
std::size_t Receiver::dispatch(std::span<rte_mbuf*> burst, PortIndex port) {
  std::array<std::array<rte_mbuf*, kVector>, kMaxWorkers> to;
  std::array<std::uint8_t, kMaxWorkers> count{};
  for (std::size_t i = 0; i < std::min<std::size_t>(8, burst.size()); ++i)
    rte_prefetch0(rte_pktmbuf_mtod(burst[i], void*));
  for (std::size_t i = 0; i < burst.size(); ++i) {
    if (i + 8 < burst.size()) rte_prefetch0(rte_pktmbuf_mtod(burst[i + 8], void*));
    rte_mbuf* m = burst[i];
    const std::size_t w = dispatch_[port]({rte_pktmbuf_mtod(m, const std::uint8_t*), m->data_len});
    to[w][count[w]++] = m;
  }
  const std::size_t self = context_.index;
  for (std::size_t w = 0; w < context_.plan.cores.size(); ++w) {
    if (w == self || count[w] == 0) continue;
    const std::size_t given = context_.fabric->dispatched(port, w)->enqueue({to[w].data(), count[w]});
    dispatched_to_ |= std::uint64_t{1} << w;
    for (std::size_t i = given; i < count[w]; ++i) {
      ++context_.counters[port].rx_packets;
      context_.counters[port].rx_bytes += to[w][i]->pkt_len;
      context_.disposal.drop(to[w][i], port, DropReason::dispatch_full);
    }
  }
  context_.disposal.flush();
  std::copy_n(to[self].begin(), count[self], burst.begin());
  return count[self];
}

bool Receiver::dispatched_waits() const {
  return std::any_of(sources_.begin(), sources_.end(),
                     [](const Source& s) { return s.dispatched != nullptr && !s.dispatched->empty(); });
}

bool Receiver::watch(Sleeper& sleeper) const {
  bool all_wake = true;
  for (const Source& s : sources_) {
    if (s.dispatched != nullptr) continue;  // who fills a ring wakes its reader
    const auto fds = context_.ports[s.port]->wake_fds(s.queue);
    all_wake = all_wake && !fds.empty();
    for (const int fd : fds) sleeper.watch(fd);
  }
  return all_wake;
}

void Receiver::arm(bool on) const {
  for (const Source& s : sources_) {
    if (s.dispatched != nullptr) continue;
    DpdkPort& port = *context_.ports[s.port];
    on ? port.arm(s.queue) : port.disarm(s.queue);
  }
}

}  // namespace surety
