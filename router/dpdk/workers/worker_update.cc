// SPDX-License-Identifier: BSD-3-Clause
// How a worker goes on by another snapshot.
#include "router/dpdk/workers/worker_update.h"

#include <algorithm>

#include "router/dpdk/workers/worker.h"
#include "router/dpdk/workers/worker_reading.h"

namespace surety {

std::unique_ptr<WorkerUpdate> Worker::prepare(const Snapshot& snapshot) const {
  auto update =
      std::make_unique<WorkerUpdate>(WorkerUpdate{.snapshot = snapshot,
                                                  .services = {},
                                                  .egresses = {},
                                                  .reading = blank_reading(snapshot, options_.core)});
  update->services.resize(snapshot.services.size());
  update->egresses.resize(plan_.ports.size());
  for (const PortIndex p : owned_)
    update->egresses[p] =
        Egress::prepare(snapshot, p, clock_.now(), options_.seed + (std::uint64_t{p} << 32));
  return update;
}

void Worker::update(WorkerUpdate& update) {
  update_.store(&update, std::memory_order_release);
  wake();
}

void Worker::adopt(Time now) {
  WorkerUpdate& update = *update_.load(std::memory_order_acquire);
  const std::uint64_t began = rte_rdtsc();
  std::copy(service_counters_.begin(), service_counters_.end(), update.services.begin());
  service_counters_.swap(update.services);
  for (const PortIndex p : owned_) egresses_[p]->adopt(*update.egresses[p], now);
  ingress_->adopt(update.snapshot, service_counters_, now);
  snapshot_ = &update.snapshot;
  std::swap(reading_, update.reading);
  update.cycles = rte_rdtsc() - began;
  update_.store(nullptr, std::memory_order_release);
}

}  // namespace surety
