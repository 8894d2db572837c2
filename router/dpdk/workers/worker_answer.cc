// SPDX-License-Identifier: BSD-3-Clause
// What a worker tells of itself, to whoever asks from another thread.
#include <chrono>
#include <thread>
#include <utility>

#include "router/dpdk/workers/signalling_reading.h"
#include "router/dpdk/workers/worker.h"
#include "router/dpdk/workers/worker_reading.h"

namespace surety {

void Worker::answer() {
  const std::uint64_t asked = asked_.load(std::memory_order_acquire);
  if (asked == answered_.load(std::memory_order_relaxed)) [[likely]]
    return;
  if (std::exchange(copying_for_, asked) != asked) signalling_->start();
  if (!signalling_->step(clock_.now())) return;
  fill(reading_);
  answered_.store(asked, std::memory_order_release);
}

std::optional<Reading> Worker::read() {
  const std::scoped_lock lock(reading_mutex_);
  const std::uint64_t question = asked_.fetch_add(1, std::memory_order_acq_rel) + 1;
  wake();
  for (int waited_us = 0; running_.load(std::memory_order_acquire); waited_us += 20) {
    if (answered_.load(std::memory_order_acquire) == question) return named();
    if (waited_us > 1'000'000) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return read_here();
}

const Reading& Worker::read_here() {
  signalling_->start();
  while (!signalling_->step(clock_.now())) {
  }
  fill(reading_);
  return named();
}

const Reading& Worker::named() {
  reading_.signalling = read_signalling(signalling_->numbers(), *ingress_, *snapshot_);
  return reading_;
}

void Worker::fill(Reading& r) {
  for (std::size_t p = 0; p < port_counters_.size(); ++p) {
    r.ports[p].counters = port_counters_[p];
    if (!egresses_[p]) continue;
    const std::uint64_t pending = transmit_[p].end - transmit_[p].begin;
    r.ports[p].queued = egresses_[p]->depth() + pending;
  }
  for (std::size_t s = 0; s < service_counters_.size(); ++s) r.services[s].counters = service_counters_[s];
  fill_egresses(r, egresses_, *snapshot_);
  r.flows = ingress_->flows().size();
  r.workers[0].counters = counters_;
  r.workers[0].flows = r.flows;
  r.stages = meter_.counters();
}

}  // namespace surety
