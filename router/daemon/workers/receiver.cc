// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/receiver.h"

#include <rte_prefetch.h>

#include <algorithm>

namespace surety {

Receiver::Receiver(const WorkerContext& context, std::uint64_t dispatch_seed)
    : context_(context), dispatch_seed_(dispatch_seed), sources_(prepare(context.plan)) {
  static_assert(kMaxWorkers <= 64, "dispatched_to_ has a bit for each");
}

Receiver::Sources Receiver::prepare(const WorkPlan& next) const {
  Sources sources;
  const std::size_t self = context_.index;
  for (std::size_t p = 0; p < next.ports.size(); ++p) {
    const auto port = static_cast<PortIndex>(p);
    const WorkPlan::Port& plan = next.ports[p];
    sources.dispatch.emplace_back(plan.spread, next.cores.size(), dispatch_seed_);
    for (std::size_t q = 0; q < plan.readers.size(); ++q)
      if (plan.readers[q] == self && context_.ports[p] != nullptr)
        sources.all.push_back(
            {port, static_cast<std::uint16_t>(q), plan.dispatch, context_.ports[p].get(), nullptr});
    const bool known = plan.exists() || context_.plan.ports[p].exists();
    if (Handover* ring =
            known && context_.fabric != nullptr ? context_.fabric->dispatched(port, self) : nullptr)
      sources.all.push_back({port, 0, false, nullptr, ring});
  }
  return sources;
}

bool Receiver::adopt(Sources& sources, Sleeper& sleeper) {
  const bool same = sources_.all == sources.all;
  for (const Source& s : sources_.all)
    if (!same && s.device != nullptr)
      for (const int fd : s.device->wake_fds(s.queue)) sleeper.unwatch(fd);
  std::swap(sources_, sources);
  return same ? all_wake_ : watch(sleeper);
}

std::size_t Receiver::receive(Ingress& ingress, Time now) {
  std::size_t total = 0;
  std::array<rte_mbuf*, kBurst> burst;
  for (const Source& source : sources_.all) {
    std::size_t n = take(source, burst);
    if (n == 0) continue;
    total += n;
    context_.meter.lap(Stage::rx, n);
    if (source.device != nullptr && source.device->accepts_others()) [[unlikely]]
      source.device->readdress({burst.data(), n});
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
  if (!receiving_) return 0;
  const std::size_t n = source.device->receive(source.queue, room);
  if (CaptureTap* const tap = context_.disposal.tap(); tap != nullptr) [[unlikely]]
    tap->frames(room.first(n), source.port, pcapng::Direction::inbound);
  return n;
}

// Hands packets on to the workers that have their flows; how many stay, in front and in order.
std::size_t Receiver::dispatch(std::span<rte_mbuf*> burst, PortIndex port) {
  std::array<std::array<rte_mbuf*, kBurst>, kMaxWorkers> to;
  std::array<std::uint8_t, kMaxWorkers> count{};
  for (std::size_t i = 0; i < std::min<std::size_t>(8, burst.size()); ++i)
    rte_prefetch0(rte_pktmbuf_mtod(burst[i], void*));
  for (std::size_t i = 0; i < burst.size(); ++i) {
    if (i + 8 < burst.size()) rte_prefetch0(rte_pktmbuf_mtod(burst[i + 8], void*));
    rte_mbuf* m = burst[i];
    const std::size_t w = sources_.dispatch[port]({rte_pktmbuf_mtod(m, const std::uint8_t*), m->data_len});
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
  return std::any_of(sources_.all.begin(), sources_.all.end(),
                     [](const Source& s) { return s.dispatched != nullptr && !s.dispatched->empty(); });
}

bool Receiver::watch(Sleeper& sleeper) {
  all_wake_ = true;
  for (const Source& s : sources_.all) {
    if (s.device == nullptr) continue;  // the writer of a ring wakes its reader
    const auto fds = s.device->wake_fds(s.queue);
    all_wake_ = all_wake_ && !fds.empty();
    for (const int fd : fds) all_wake_ = sleeper.watch(fd) && all_wake_;
  }
  return all_wake_;
}

void Receiver::arm(bool on) const {
  for (const Source& s : sources_.all) {
    if (s.device == nullptr) continue;
    on ? s.device->arm(s.queue) : s.device->disarm(s.queue);
  }
}

}  // namespace surety
