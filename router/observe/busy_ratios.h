// SPDX-License-Identifier: BSD-3-Clause
// Which part of the last second each worker has worked: of all time since the start, nobody sees an evening's
// rush.
#pragma once

#include <span>
#include <vector>

#include "router/observe/reading.h"

namespace surety {

class BusyRatios {
 public:
  // Once a second; the counters of `workers` are those of now.
  void sample(std::span<const WorkerReading> workers);
  // Between the last two samples; none before there are two.
  void apply(std::span<WorkerReading> workers) const;

 private:
  struct Sample {
    WorkerCounters counters;
    std::optional<double> ratio;
  };
  std::vector<Sample> samples_;  // by worker
};

}  // namespace surety
