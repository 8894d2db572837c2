// SPDX-License-Identifier: BSD-3-Clause
// What a worker does when there is nothing to do: leaves the core to others, without losing the first
// packet's latency.
#include <algorithm>

#include "router/dpdk/workers/worker.h"

namespace surety {

void Worker::stop() {
  stop_.store(true, std::memory_order_relaxed);
  wake();
}

// Rings of other workers wake their reader; so do devices that have a descriptor.
void Worker::watch_sources() {
  bool all_wake = true;
  for (const Source& s : sources_) {
    if (s.dispatched != nullptr) continue;
    const auto fds = environment_.ports[s.port]->wake_fds(s.queue);
    all_wake = all_wake && !fds.empty();
    for (const int fd : fds) sleeper_.watch(fd);
  }
  idle_ = IdlePolicy(IdleParams{}, all_wake);
}

void Worker::rest(Time now) {
  Time next = ingress_->next_event();
  bool blocked = false;
  for (const PortIndex p : owned_) {
    const bool waits = transmit_[p].begin != transmit_[p].end;
    blocked |= waits;  // for as long as the link is down, perhaps; its queues' events mean nothing meanwhile
    if (!waits) next = std::min(next, egresses_[p]->next_event(now));
  }
  const Duration duration = idle_.sleep(now, next, blocked);
  if (duration.count() == 0) return;
  sleeper_.prepare();
  arm(true);
  if (work_waits()) {
    sleeper_.cancel();
  } else {
    // Who changes routes does not wait for a sleeper.
    if (rcu_ != nullptr) rte_rcu_qsbr_thread_offline(rcu_, static_cast<unsigned>(index_));
    sleeper_.sleep(duration);
    if (rcu_ != nullptr) rte_rcu_qsbr_thread_online(rcu_, static_cast<unsigned>(index_));
  }
  arm(false);
}

void Worker::arm(bool on) {
  for (const Source& s : sources_) {
    if (s.dispatched != nullptr) continue;
    DpdkPort& port = *environment_.ports[s.port];
    on ? port.arm(s.queue) : port.disarm(s.queue);
  }
}

// Of what others give: the descriptors tell of devices.
bool Worker::work_waits() const {
  if (stop_.load(std::memory_order_relaxed) || !updated() ||
      asked_.load(std::memory_order_acquire) != answered_.load(std::memory_order_relaxed))
    return true;
  for (const Source& s : sources_)
    if (s.dispatched != nullptr && !s.dispatched->empty()) return true;
  for (const PortIndex p : owned_) {
    if (fabric_ != nullptr && !fabric_->injected(p)->empty()) return true;
    for (const Peer& peer : peers_)
      if (!fabric_->to_owner(peer.worker->index_, p)->empty()) return true;
  }
  return std::any_of(peers_.begin(), peers_.end(), [](const Peer& peer) { return !peer.from->empty(); });
}

}  // namespace surety
