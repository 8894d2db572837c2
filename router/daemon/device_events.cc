// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/device_events.h"

#include <fmt/format.h>

namespace surety::device_events {

Event missing(const config::Port& port, std::string_view why, bool may_appear) {
  return {EventLevel::warning,
          EventKind::link,
          fmt::format("{}; the router forwards without it{}", why,
                      may_appear ? ", and opens it when it appears" : " until it is restarted"),
          {{"port", port.name}, {"state", "missing"}}};
}

Event gone(const config::Port& port, bool may_appear) {
  const bool pci = port.device.kind == config::Device::Kind::pci;
  return missing(port,
                 fmt::format("port {}: its {}device {} was {}", port.name, pci ? "PCI " : "",
                             port.device.name, pci ? "removed" : "deleted or renamed"),
                 may_appear);
}

Event mtu(const config::Port& port) {
  const std::string& device = port.device.name;
  if (port.device_mtu == 0)
    return {EventLevel::notice,
            EventKind::link,
            fmt::format("port {}: the MTU of {} is no longer below the configured {}", port.name, device,
                        port.mtu),
            {{"port", port.name}, {"mtu", port.mtu}}};
  return {EventLevel::warning,
          EventKind::link,
          fmt::format("port {}: {} has an MTU of {}, below the configured {}: it is the port's; "
                      "`ip link set {} mtu {}` raises it",
                      port.name, device, port.device_mtu, port.mtu, device, port.mtu),
          {{"port", port.name}, {"mtu", port.device_mtu}}};
}

Event mac(const config::Port& port, const MacAddress& before, const MacAddress& now) {
  return {EventLevel::notice,
          EventKind::link,
          fmt::format("port {}: the MAC address of {} is {} now, and was {}; it is announced to hosts",
                      port.name, port.device.name, to_string(now), to_string(before)),
          {{"port", port.name}, {"mac", to_string(now)}}};
}

}  // namespace surety::device_events
