// SPDX-License-Identifier: BSD-3-Clause
// Guaranteed against achieved: what each service was promised and what it got over the last seconds.
//
// committed = rate of one contract x contracts alive; achieved = bytes delivered / time: let go by the
// conditioner, and not lost behind it. Of the contracts themselves: contract_book.h.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "conditioners/units.h"
#include "router/observe/reading.h"

namespace surety {

class ServiceRates {
 public:
  // `committed`: of one contract, by service; zero where nothing is promised.
  explicit ServiceRates(std::vector<Rate> committed) : committed_(std::move(committed)) {}

  static constexpr std::size_t kWindow = 10;  // samples; one per second gives rates over the last ten seconds

  // After a reload: there may be more services than before, behind those.
  void set_committed(std::vector<Rate> committed) { committed_ = std::move(committed); }
  // Takes a sample; the counters of `services` are those of now.
  void sample(std::span<const ServiceReading> services, Time now);
  // Writes committed, delivered and achieved into `services`: from the oldest sample of the window to the
  // counters in there. Delivered never goes back: what was taken for delivered and is lost later (a port that
  // goes with what waits for it) is made up for by what comes next.
  void apply(std::span<ServiceReading> services, Time now);

 private:
  using Bytes = std::array<std::uint64_t, kPrecedences>;
  struct Sample {
    Time time;
    std::vector<Bytes> bytes;  // by service
  };
  std::vector<Rate> committed_;
  std::vector<Sample> samples_;  // oldest first
  std::vector<Bytes> most_;      // shown as delivered, by service
};

}  // namespace surety
