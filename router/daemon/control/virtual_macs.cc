// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/control/virtual_macs.h"

namespace surety {

void VirtualMacs::on(const LinkEvent& event) {
  unseen_.erase(event.ifindex);
  if (event.macvlan_of == 0 || !event.up) {
    changed_ |= devices_.erase(event.ifindex) > 0;
    return;
  }
  const Device now{event.macvlan_of, event.mac};
  changed_ |= std::exchange(devices_[event.ifindex], now) != now;
}

void VirtualMacs::begin_sync() {
  unseen_.clear();
  for (const auto& [ifindex, device] : devices_) unseen_.insert(ifindex);
}

void VirtualMacs::end_sync() {
  for (const int ifindex : std::exchange(unseen_, {})) changed_ |= devices_.erase(ifindex) > 0;
}

std::set<MacAddress> VirtualMacs::of(int ifindex) const {
  std::set<MacAddress> macs;
  for (const auto& [own, device] : devices_)
    if (device.parent == ifindex) macs.insert(device.mac);
  return macs;
}

}  // namespace surety
