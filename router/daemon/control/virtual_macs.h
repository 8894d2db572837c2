// SPDX-License-Identifier: BSD-3-Clause
// Virtual MAC addresses of ports: those of the macvlan devices above a port's device or TAP mirror that are
// up. keepalived (use_vmac) and FRR's vrrpd have such a device for each virtual router (RFC 5798 7.3).
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "config/address.h"
#include "router/pipeline/routes/route_events.h"

namespace surety {

class VirtualMacs {
 public:
  // Follows the kernel's links. begin_sync() and end_sync(): all links are reported in between.
  void on(const LinkEvent& event);
  void begin_sync();
  void end_sync();

  // True if of() may have changed for a device since the last call; initially true.
  bool take_changed() { return std::exchange(changed_, false); }
  // The addresses above a device of the kernel.
  std::set<MacAddress> of(int ifindex) const;

 private:
  struct Device {
    int parent = 0;
    MacAddress mac{};
    friend bool operator==(const Device&, const Device&) = default;
  };
  std::map<int, Device> devices_;  // macvlan devices that are up, by their own index
  std::set<int> unseen_;
  bool changed_ = true;
};

}  // namespace surety
