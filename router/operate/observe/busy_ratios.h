// SPDX-License-Identifier: BSD-3-Clause
// The busy fraction of each worker in the last second: an average since the start would hide a peak of load.
#pragma once

#include <span>
#include <vector>

#include "router/operate/observe/reading.h"

namespace surety {

class BusyRatios {
 public:
  // Called once a second, with the current counters of `workers`.
  void sample(std::span<const WorkerReading> workers);
  // The ratio between the last two samples; none before there are two.
  void apply(std::span<WorkerReading> workers) const;

 private:
  struct Sample {
    WorkerCounters counters;
    std::optional<double> ratio;
  };
  std::vector<Sample> samples_;  // indexed by worker
};

}  // namespace surety
