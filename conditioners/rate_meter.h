// SPDX-License-Identifier: BSD-3-Clause
// An interval meter: the mean rate over the last whole interval (the ARD paper's input meters over n*tau).
//
// Guarantees: count() is one addition; close() ends the interval and rate() is then exactly the bytes counted
// in it over its length (0 before the first one ended).
#pragma once

#include <cstdint>

#include "conditioners/units.h"

namespace surety {

class RateMeter {
 public:
  void count(std::uint32_t length) { bytes_ += length; }
  std::uint64_t bytes() const { return bytes_; }  // in the running interval

  // The running interval was `interval` long; the next one begins.
  void close(Duration interval) {
    rate_ = static_cast<double>(bytes_) / seconds(interval);
    bytes_ = 0;
  }
  void restart() { bytes_ = 0; }         // restarts the running interval
  double rate() const { return rate_; }  // bytes per second

 private:
  std::uint64_t bytes_ = 0;
  double rate_ = 0;
};

}  // namespace surety
