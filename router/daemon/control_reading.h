// SPDX-License-Identifier: BSD-3-Clause
// State and counters of the control thread, for readings.
#pragma once

#include <vector>

#include "router/operate/observe/reading.h"
#include "router/pipeline/exception_counters.h"

namespace surety {

class Control;

// The control thread fills it from time to time, other threads copy it into readings: the owner locks.
class ControlReading {
 public:
  // Called on the thread of Control::round().
  void take(const Control& control);
  // Copies routes, neighbours, exceptions of the ports and ICMP errors.
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
