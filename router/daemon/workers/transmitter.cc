// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/transmitter.h"

#include <rte_prefetch.h>

#include <algorithm>

#include "router/daemon/workers/worker_reading.h"

namespace surety {

namespace {

constexpr int kBurstsPerTurn = 4;  // per port: more packets may arrive than one burst sends

std::uint64_t seed_of(std::uint64_t worker, PortIndex port) {
  return worker + (std::uint64_t{port} << 32);
}

}  // namespace

Transmitter::Transmitter(const WorkerContext& context, const Snapshot& snapshot, bool signals,
                         std::uint64_t seed, Time now)
    : context_(context), signals_(signals), seed_(seed), egresses_(context.plan.ports.size()) {
  ports_.reserve(egresses_.size());
  for (std::size_t i = 0; i < egresses_.size(); ++i) {
    if (!context.plan.ports[i].exists() || context.plan.ports[i].owner != context.index) continue;
    const auto p = static_cast<PortIndex>(i);
    egresses_[p] =
        std::make_unique<Egress>(snapshot, p, context.counters[p], context.disposal, now, seed_of(seed, p));
    egresses_[p]->enable_signals(signals);
    ports_.push_back(port_of(p, *egresses_[p], context.plan));
  }
  use(snapshot);
}

Transmitter::Port Transmitter::port_of(PortIndex index, Egress& egress, const WorkPlan& plan) const {
  const Fabric* fabric = context_.fabric;
  Port port{.index = index,
            .egress = &egress,
            .device = context_.ports[index].get(),
            .handed = {},
            .injected = fabric != nullptr ? fabric->injected(index) : nullptr};
  for (std::size_t w = 0; w < plan.cores.size(); ++w)
    if (w != context_.index) port.handed.push_back(fabric->to_owner(w, index));
  return port;
}

void Transmitter::advance(Time now) {
  for (const Port& port : ports_) port.egress->advance(now);
}

std::size_t Transmitter::take_over(Time now) {
  std::size_t total = 0;
  for (const Port& port : ports_) total += take_over(port, now);
  return total;
}

std::size_t Transmitter::take_over(const Port& port, Time now) {
  std::size_t total = 0;
  std::array<HandedPacket, kBurst> handed;
  PortCounters& counters = context_.counters[port.index];
  for (EgressHandover* ring : port.handed) {
    const std::size_t n = ring->dequeue(handed);
    if (n == 0) continue;
    counters.taken_over += n;
    // The first to touch them will be the transmission.
    for (const HandedPacket& h : std::span(handed).first(n)) rte_prefetch0(h.mbuf());
    port.egress->enqueue_handed({handed.data(), n}, now);
    total += n;
  }
  if (port.injected != nullptr && !port.injected->empty()) {
    std::array<rte_mbuf*, kBurst> burst;
    const std::size_t n = port.injected->dequeue(burst);
    counters.originated += n;
    port.egress->enqueue_own({burst.data(), n}, now);
    total += n;
  }
  context_.disposal.flush();
  return total;
}

std::size_t Transmitter::transmit(Time now) {
  std::size_t total = 0;
  for (Port& port : ports_)
    for (int bursts = 0; bursts < kBurstsPerTurn; ++bursts) {
      const std::size_t n = transmit(port, now);
      total += n;
      if (n < kBurst) break;
    }
  return total;
}

std::size_t Transmitter::transmit(Port& port, Time now) {
  if (port.device == nullptr) [[unlikely]]
    return drop_due(port, now);
  if (!port.blocked()) {
    port.begin = 0;
    port.end = port.egress->transmit(port.mbufs, now);
    if (port.end == 0) return 0;
    if (port.interfaces) tag(port);
    if (context_.disposal.tap() != nullptr) [[unlikely]]
      show(port);
    context_.meter.lap(Stage::dequeue, port.end);
  }
  std::uint64_t bytes = 0;
  for (std::size_t i = port.begin; i < port.end; ++i) bytes += port.mbufs[i]->pkt_len;
  if (port.device->largest_frame() != DpdkPort::kAnyFrame) bytes -= drop_oversized(port);
  const std::size_t sent = port.device->transmit({port.mbufs.data() + port.begin, port.end - port.begin});
  PortCounters& c = context_.counters[port.index];
  c.tx_packets += sent;
  port.begin += sent;
  for (std::size_t i = port.begin; i < port.end; ++i)
    bytes -= port.mbufs[i]->pkt_len;  // packets not sent are still ours
  c.tx_bytes += bytes;
  context_.meter.lap(Stage::tx, sent);
  return sent;
}

// Drops the packets that the device does not send, which its driver would free without counting them. Returns
// their bytes.
std::uint64_t Transmitter::drop_oversized(Port& port) {
  std::uint64_t bytes = 0;
  std::size_t kept = port.begin;
  for (std::size_t i = port.begin; i < port.end; ++i) {
    rte_mbuf* const m = port.mbufs[i];
    if (m->pkt_len <= port.device->largest_frame()) {
      port.mbufs[kept++] = m;
      continue;
    }
    bytes += m->pkt_len;
    context_.disposal.drop_owned(m, port.index, DropReason::device_mtu);
  }
  port.end = kept;
  context_.disposal.flush();
  return bytes;
}

// Frames of this router always have headroom. A removed interface may be counted as the one that has its
// place now.
void Transmitter::tag(Port& port) {
  InterfaceCounters& counters = context_.interfaces;
  const std::span<rte_mbuf* const> frames{port.mbufs.data() + port.begin, port.end - port.begin};
  const PortIndex own = port.index;
  for (const rte_mbuf* const m : frames) {
    if (!has_interface(m)) continue;
    rte_prefetch0(rte_pktmbuf_mtod(m, const void*));
    counters.expect_sent(interface_of(m, own));
  }
  for (rte_mbuf* const m : frames) {
    if (!has_interface(m)) continue;
    const InterfaceIndex interface = interface_of(m, own);
    if (write_tags(m, priorities_, own_dscp_)) counters.sent(interface, m->pkt_len);
  }
}

void Transmitter::show(const Port& port) const {
  context_.disposal.tap()->frames({port.mbufs.data(), port.end}, port.index, pcapng::Direction::outbound);
}

// Once a port has had interfaces, packets keep being checked for tags: packets queued before a reload may
// have those of a removed interface.
void Transmitter::use(const Snapshot& snapshot) {
  priorities_ = snapshot.config.pcp ? snapshot.config.pcp->of_dscp : Priorities{};
  own_dscp_ = snapshot.config.router.dscp;
  for (Port& port : ports_) port.interfaces |= snapshot.interfaces->notes_on(port.index);
}

Time Transmitter::next_event(Time now) const {
  Time next = kNever;
  for (const Port& port : ports_)
    if (!port.blocked()) next = std::min(next, port.egress->next_event(now));
  return next;
}

bool Transmitter::blocked() const {
  return std::any_of(ports_.begin(), ports_.end(), [](const Port& port) { return port.blocked(); });
}

bool Transmitter::handed_empty(const Port& port) {
  return std::all_of(port.handed.begin(), port.handed.end(), [](const auto* ring) { return ring->empty(); });
}

bool Transmitter::handed_waits() const {
  return std::any_of(ports_.begin(), ports_.end(), [](const Port& port) {
    return !handed_empty(port) || (port.injected != nullptr && !port.injected->empty());
  });
}

bool Transmitter::sent() const {
  return std::all_of(ports_.begin(), ports_.end(), [](const Port& port) {
    return !port.blocked() && port.egress->depth() == 0 && handed_empty(port);
  });
}

Transmitter::Update Transmitter::prepare(const Snapshot& snapshot, const WorkPlan& plan, Time now) const {
  Update update;
  update.egresses.resize(egresses_.size());
  update.fresh.resize(egresses_.size());
  update.devices.resize(egresses_.size());
  for (std::size_t i = 0; i < egresses_.size(); ++i) {
    const auto p = static_cast<PortIndex>(i);
    const WorkPlan::Port &before = context_.plan.ports[p], &next = plan.ports[p];
    if (next.exists()) update.devices[p] = context_.ports[p].get();
    if (before.exists() && before.owner == context_.index)
      update.egresses[p] = Egress::prepare(snapshot, p, now, seed_of(seed_, p));
    if (before.exists() || !next.exists() || next.owner != context_.index) continue;
    update.fresh[p] = std::make_unique<Egress>(snapshot, p, context_.counters[p], context_.disposal, now,
                                               seed_of(seed_, p));
    update.fresh[p]->enable_signals(signals_);
    update.ports.push_back(port_of(p, *update.fresh[p], plan));
  }
  return update;
}

void Transmitter::adopt(Update& update, const Snapshot& snapshot, Time now) {
  const auto over = [&](const Port& port) { return update.egresses[port.index] == nullptr; };
  for (const Port& port : ports_)
    while (over(port) && take_over(port, now) > 0) {
    }
  std::erase_if(ports_, over);
  for (Port& port : ports_) {
    port.egress->adopt(*update.egresses[port.index], now);
    port.device = update.devices[port.index];
    if (!snapshot.config.ports[port.index].exists()) drop_taken(port);
  }
  for (Port& port : update.ports) {
    egresses_[port.index].swap(update.fresh[port.index]);
    ports_.push_back(std::move(port));
  }
  use(snapshot);
}

// Drops what would leave now by a port that has no device: its queues do not fill, and old packets do not
// leave when the device comes back.
std::size_t Transmitter::drop_due(Port& port, Time now) {
  drop_taken(port);
  port.begin = 0;
  port.end = port.egress->transmit(port.mbufs, now);
  const std::size_t dropped = port.end;
  drop_taken(port);
  return dropped;
}

// Drops the packets that the device of a removed port has not accepted.
void Transmitter::drop_taken(Port& port) {
  for (; port.begin != port.end; ++port.begin)
    context_.disposal.drop_owned(port.mbufs[port.begin], port.index, DropReason::port_gone);
  context_.disposal.flush();
}

void Transmitter::fill(Reading& r, const Snapshot& snapshot) const {
  for (const Port& port : ports_) r.ports[port.index].queued = port.egress->depth() + (port.end - port.begin);
  fill_egresses(r, egresses_, snapshot);
}

void Transmitter::discard(Time now) {
  for (Port& port : ports_) {
    rte_pktmbuf_free_bulk(port.mbufs.data() + port.begin, static_cast<unsigned>(port.end - port.begin));
    port.begin = port.end;
    port.egress->discard(now);
  }
}

}  // namespace surety
