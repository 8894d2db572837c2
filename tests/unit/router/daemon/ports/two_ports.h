// SPDX-License-Identifier: BSD-3-Clause
// The smallest router: what it takes is planned.
#pragma once

#include "config/config.h"

namespace surety {

inline config::Config two_ports(config::Device::Kind kind) {
  config::Config c;
  c.ports.resize(2);
  for (auto& p : c.ports) {
    p.name = "port";
    p.device.kind = kind;
  }
  return c;
}

}  // namespace surety
