// SPDX-License-Identifier: BSD-3-Clause
// Committed and achieved rates of each service over the last seconds.
//
// committed = rate of one contract x live contracts; achieved = bytes delivered / time: passed by the
// conditioner, and not lost behind it. For single contracts: contract_book.h.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "conditioners/units.h"
#include "router/operate/observe/reading.h"

namespace surety {

// The busy fraction of each worker in the last second: an average since the start would hide a peak of load.
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

class ServiceRates {
 public:
  // `committed`: of one contract, indexed by service; zero without a commitment.
  explicit ServiceRates(std::vector<Rate> committed) : committed_(std::move(committed)) {}

  static constexpr std::size_t kWindow = 10;  // samples; one per second gives rates over the last ten seconds

  // Called after a reload: new services may be appended.
  void set_committed(std::vector<Rate> committed) { committed_ = std::move(committed); }
  // Takes a sample of the current counters of `services`.
  void sample(std::span<const ServiceReading> services, Time now);
  // Writes committed, delivered and achieved into `services`: from the oldest sample of the window to the
  // counters in there. Delivered never decreases: later losses of packets that counted as delivered (queued
  // for a port that is removed) are deducted from the next ones.
  void apply(std::span<ServiceReading> services, Time now);

 private:
  using Bytes = std::array<std::uint64_t, kPrecedences>;
  struct Sample {
    Time time;
    std::vector<Bytes> bytes;  // indexed by service
  };
  std::vector<Rate> committed_;
  std::vector<Sample> samples_;  // oldest first
  std::vector<Bytes> most_;      // shown as delivered, indexed by service
};

}  // namespace surety
