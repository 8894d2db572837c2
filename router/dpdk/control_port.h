// SPDX-License-Identifier: BSD-3-Clause
// What stands behind one port at the control thread.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "router/exception_counters.h"
#include "router/linux/responder.h"
#include "router/linux/tap_twin.h"
#include "router/routes/port_addresses.h"

namespace surety {

struct ControlPort {
  // As Routes knows it: of the kernel's own device or of the twin; below 0 where the responder speaks for the
  // port; 0: nobody does.
  int interface = 0;
  std::optional<TapTwin> twin;
  std::unique_ptr<Responder> responder;
  std::optional<PortAddresses> addresses;
  std::optional<bool> link_up;  // none: not looked at yet
  ExceptionCounters counters{};

  bool in_kernel() const { return interface > 0; }
};

}  // namespace surety
