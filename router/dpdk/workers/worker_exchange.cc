// SPDX-License-Identifier: BSD-3-Clause
// What passes between workers, from the control thread, and to other routers: packets and signals.
#include <rte_ether.h>
#include <rte_prefetch.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "router/dpdk/workers/worker.h"

namespace surety {

// Hands packets on to the workers that have their flows; how many stay, in front and in order.
std::size_t Worker::dispatch(std::span<rte_mbuf*> burst, PortIndex port) {
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
  for (std::size_t w = 0; w < plan_.cores.size(); ++w) {
    if (w == index_ || count[w] == 0) continue;
    const std::size_t given = fabric_->dispatched(port, w)->give({to[w].data(), count[w]});
    for (Peer& peer : peers_) peer.has_work |= peer.worker->index_ == w;
    for (std::size_t i = given; i < count[w]; ++i) {
      ++port_counters_[port].rx_packets;
      port_counters_[port].rx_bytes += to[w][i]->pkt_len;
      exits_.drop(to[w][i], port, DropReason::dispatch_full);
    }
  }
  exits_.flush();
  std::copy_n(to[index_].begin(), count[index_], burst.begin());
  return count[index_];
}

// What other workers, and the router's own kernel, hand over to the ports of this one.
std::size_t Worker::take_over(Time now) {
  if (fabric_ == nullptr) return 0;
  std::size_t total = 0;
  std::array<HandedPacket, kVector> handed;
  for (const PortIndex p : owned_) {
    for (const Peer& peer : peers_) {
      const std::size_t n = fabric_->to_owner(peer.worker->index_, p)->take(handed);
      if (n == 0) continue;
      port_counters_[p].taken += n;
      // The first to touch them will be the transmission.
      for (const HandedPacket& h : std::span(handed).first(n)) rte_prefetch0(h.mbuf());
      egresses_[p]->enqueue_handed({handed.data(), n}, now);
      total += n;
    }
    if (Handover* kernel = fabric_->injected(p); !kernel->empty()) {
      std::array<rte_mbuf*, kVector> burst;
      const std::size_t n = kernel->take(burst);
      port_counters_[p].originated += n;
      egresses_[p]->enqueue_own({burst.data(), n}, now);
      total += n;
    }
    exits_.flush();
  }
  return total;
}

void Worker::take_keys(const SignalKeys& keys) {
  ingress_->use_keys(keys);
  if (signal_sender_) signal_sender_->set_keys(keys);
}

void Worker::exchange_signals(Time now) {
  if (signal_sender_)
    for (const PortIndex p : owned_)
      if (!egresses_[p]->signals().empty()) send_signals(*egresses_[p], now);
  if (peers_.empty()) return;
  std::array<CongestionSignal, 16> signals;
  while (const std::size_t n = ingress_->take_shared(signals))
    for (Peer& peer : peers_) {
      for (const auto& s : std::span(signals).first(n)) peer.to->give({&s, 1});
      peer.has_work = true;
    }
  for (const Peer& peer : peers_)
    for (const auto& s : std::span(signals).first(peer.from->take(signals))) ingress_->on_shared(s, now);
  wake_peers();
}

void Worker::wake_peers() {
  if (!options_.sleep) return;  // nobody does
  for (std::uint32_t handed = ingress_->take_handed(); handed != 0; handed &= handed - 1) {
    const std::size_t owner = plan_.ports[static_cast<std::size_t>(std::countr_zero(handed))].owner;
    for (Peer& peer : peers_) peer.has_work |= peer.worker->index_ == owner;
  }
  for (Peer& peer : peers_)
    if (std::exchange(peer.has_work, false)) peer.worker->wake();
}

void Worker::send_signals(Egress& egress, Time now) {
  std::array<CongestionSignal, 16> signals;
  while (const std::size_t n = egress.take_signals(signals))
    for (const auto& s : std::span(signals).first(n)) send_signal(s, now);
}

void Worker::send_signal(const CongestionSignal& signal, Time now) {
  std::array<std::uint8_t, kMaxSignalBytes> packet;
  const std::size_t length = signal_sender_->write(signal, now, environment_.wall_clock->at(now), packet);
  const bool act = snapshot_->config.signalling.mode == config::Signalling::Mode::act;
  if (length == 0 || !act) return;
  rte_mbuf* m = environment_.pool != nullptr ? rte_pktmbuf_alloc(environment_.pool) : nullptr;
  if (m != nullptr) {
    auto* frame = rte_pktmbuf_append(m, static_cast<std::uint16_t>(RTE_ETHER_HDR_LEN + length));
    std::memcpy(frame + RTE_ETHER_HDR_LEN, packet.data(), length);
    if (ingress_->originate(m, now)) return;
  }
  signal_sender_->lost(signal);
}

}  // namespace surety
