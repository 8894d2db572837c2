// SPDX-License-Identifier: BSD-3-Clause
// State of a control thread for the one of a new process. The kernel keeps the addresses, routes and
// neighbours that the old one has set; the new process removes them at its end.
#pragma once

#include <vector>

#include "config/address.h"
#include "router/pipeline/interfaces/interface_record.h"

namespace surety {

struct ControlState {
  struct Address {
    int device;  // the kernel's index
    Prefix address;
  };
  struct Neighbor {
    InterfaceIndex interface;
    IpAddress address;
    MacAddress mac;
  };
  std::vector<Address> addresses;
  std::vector<Neighbor> neighbors;  // on interfaces with the same numbers
};

}  // namespace surety
