// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/busy_ratios.h"

#include <algorithm>

namespace surety {

void BusyRatios::sample(std::span<const WorkerReading> workers) {
  const std::size_t known = samples_.size();
  samples_.resize(std::max(known, workers.size()));
  for (std::size_t w = 0; w < workers.size(); ++w) {
    const WorkerCounters &now = workers[w].counters, &before = samples_[w].counters;
    const auto busy = static_cast<double>(now.busy_cycles - before.busy_cycles);
    const auto idle = static_cast<double>(now.idle_cycles - before.idle_cycles);
    if (w < known && busy + idle > 0) samples_[w].ratio = busy / (busy + idle);
    samples_[w].counters = now;
  }
}

void BusyRatios::apply(std::span<WorkerReading> workers) const {
  for (std::size_t w = 0; w < std::min(workers.size(), samples_.size()); ++w)
    workers[w].busy_ratio = samples_[w].ratio;
}

}  // namespace surety
