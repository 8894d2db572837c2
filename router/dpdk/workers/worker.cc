// SPDX-License-Identifier: BSD-3-Clause
#include "router/dpdk/workers/worker.h"

#include <rte_prefetch.h>

#include <algorithm>

namespace surety {

namespace {

constexpr int kBurstsPerTurn = 4;  // to one port: more may come in than one burst takes away

}  // namespace

void Worker::run(Duration drain) {
  const auto thread = static_cast<unsigned>(index_);
  if (rcu_ != nullptr) rte_rcu_qsbr_thread_online(rcu_, thread);
  {
    const std::scoped_lock lock(reading_mutex_);  // of a worker that does not run, who asks copies himself
    running_.store(true, std::memory_order_release);
  }
  if (options_.sleep) Sleeper::tighten_timer();
  while (!stop_.load(std::memory_order_relaxed)) {
    turn();
    answer();
  }
  stop_receiving();
  const Time until = clock_.now() + drain;
  do {
    turn();
    answer();
  } while (!drained() && clock_.now() < until);
  if (rcu_ != nullptr) rte_rcu_qsbr_thread_offline(rcu_, thread);
  running_.store(false, std::memory_order_release);
}

std::size_t Worker::turn() {
  const std::uint64_t tsc = rte_rdtsc();
  return turn(clock_.at(tsc), tsc);
}

std::size_t Worker::turn(Time now, std::uint64_t tsc) {
  meter_.start();
  if (keys_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
    take_keys(*keys_.exchange(nullptr, std::memory_order_acquire));
  if (update_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
    adopt(now);
  ingress_->release(now);
  for (const PortIndex p : owned_) egresses_[p]->advance(now);
  meter_.lap(Stage::other, 0);
  const std::size_t received = receive(now) + take_over(now);
  exchange_signals(now);
  const std::size_t sent = transmit(now);
  if (rcu_ != nullptr) rte_rcu_qsbr_quiescent(rcu_, static_cast<unsigned>(index_));
  ++counters_.turns;
  // The time since the last turn began belongs to what that turn turned out to be.
  (worked_ ? counters_.busy_cycles : counters_.idle_cycles) += tsc - last_tsc_;
  last_tsc_ = tsc;
  worked_ = received + sent > 0;
  if (options_.sleep) {
    idle_.turn(worked_, now);
    if (!worked_) rest(now);
  }
  return sent;
}

Time Worker::next_event(Time now) const {
  Time next = ingress_->next_event();
  for (const PortIndex p : owned_) next = std::min(next, egresses_[p]->next_event(now));
  return next;
}

std::size_t Worker::receive(Time now) {
  std::size_t total = 0;
  std::array<rte_mbuf*, kVector> burst;
  for (const Source& source : sources_) {
    std::size_t n = receive(source, burst);
    if (n == 0) continue;
    total += n;
    meter_.lap(Stage::rx, n);
    if (source.dispatch) n = dispatch({burst.data(), n}, source.port);
    ingress_->receive({burst.data(), n}, source.port, now);
  }
  return total;
}

std::size_t Worker::receive(const Source& source, std::span<rte_mbuf*> room) const {
  if (source.dispatched != nullptr) {
    const std::size_t n = source.dispatched->take(room);
    for (std::size_t i = 0; i < n; ++i) rte_prefetch0(room[i]);
    return n;
  }
  return receiving_ ? environment_.ports[source.port]->receive(source.queue, room) : 0;
}

std::size_t Worker::transmit(Time now) {
  std::size_t total = 0;
  for (const PortIndex p : owned_)
    for (int bursts = 0; bursts < kBurstsPerTurn; ++bursts) {
      const std::size_t n = transmit(p, now);
      total += n;
      if (n < kVector) break;
    }
  return total;
}

std::size_t Worker::transmit(std::size_t p, Time now) {
  Transmit& t = transmit_[p];
  if (t.begin == t.end) {
    t.begin = 0;
    t.end = egresses_[p]->transmit(t.mbufs, now);
    if (t.end == 0) return 0;
    meter_.lap(Stage::dequeue, t.end);
  }
  std::uint64_t bytes = 0;
  for (std::size_t i = t.begin; i < t.end; ++i) bytes += t.mbufs[i]->pkt_len;
  const std::size_t sent = environment_.ports[p]->transmit({t.mbufs.data() + t.begin, t.end - t.begin});
  PortCounters& c = port_counters_[p];
  c.tx_packets += sent;
  t.begin += sent;
  for (std::size_t i = t.begin; i < t.end; ++i)
    bytes -= t.mbufs[i]->pkt_len;  // what was not sent is still ours
  c.tx_bytes += bytes;
  meter_.lap(Stage::tx, sent);
  return sent;
}

std::uint64_t Worker::drops(DropReason reason) const {
  std::uint64_t n = 0;
  for (const auto& p : port_counters_) n += p.drops[static_cast<std::size_t>(reason)];
  return n;
}

}  // namespace surety
