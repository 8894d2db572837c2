// SPDX-License-Identifier: BSD-3-Clause
// What the control thread knows and counts, for readings.
#pragma once

#include <vector>

#include "router/dpdk/control.h"
#include "router/observe/reading.h"

namespace surety {

// Taken by the control thread from time to time, put into readings by others: the owner locks.
class ControlReading {
 public:
  // On the thread of Control::round().
  void take(const Control& control);
  // Routes, neighbours, exceptions of the ports, ICMP errors.
  void apply(Reading& reading) const;

 private:
  struct Port {
    ExceptionCounters exceptions{};
    std::uint64_t link_changes = 0;
    std::vector<NamedCount> responder;
    std::vector<KernelCount> kernel;
  };
  std::vector<Port> ports_;
  std::vector<NamedCount> icmp_errors_;
  std::uint64_t routes_ = 0, routes_rejected_ = 0, neighbors_ = 0;
};

}  // namespace surety
