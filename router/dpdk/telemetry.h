// SPDX-License-Identifier: BSD-3-Clause
// The reading's tables as commands of DPDK's telemetry: /surety/ports, /surety/queues, ... for `surety show`,
// for dpdk-telemetry.py and for whoever speaks that protocol. The wire form is
// router/observe/telemetry_wire.h's.
//
// "/surety/drops" or "/surety/drops,0" takes a new reading; "/surety/drops,40" goes on with the last one, so
// that the pages of a table belong together (unless another client began a table in between).
#pragma once

#include <functional>

#include "router/observe/reading.h"

namespace surety {

// From construction to destruction the commands answer; before and after they answer null. `read`
// is called on threads of DPDK's telemetry, never twice at the same time. One instance at a time;
// the EAL must be initialised.
class Telemetry {
 public:
  explicit Telemetry(std::function<Reading()> read);
  ~Telemetry();
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;

  bool ok() const { return ok_; }  // false: DPDK takes no more commands

 private:
  bool ok_ = false;
};

}  // namespace surety
