// SPDX-License-Identifier: BSD-3-Clause
// State and counters of the control thread, for readings.
#pragma once

#include "router/operate/observe/reading.h"

namespace surety {

class Control;

// The control thread fills it from time to time, other threads copy it into readings: the owner locks.
class ControlReading {
 public:
  // Called on the thread of Control::round().
  void take(const Control& control);
  // Copies routes, neighbours, exceptions of the ports, ICMP errors and defects of netlink messages.
  void apply(Reading& reading) const;

 private:
  Reading taken_;  // only the fields of the control thread are set
};

}  // namespace surety
