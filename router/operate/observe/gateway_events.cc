// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/gateway_events.h"

#include <fmt/format.h>

namespace surety {

void GatewayEvents::look(std::span<const Routes::Resolution> unresolved, Time now) {
  for (auto& [gateway, s] : silent_) s.still = false;
  for (const Routes::Resolution& r : unresolved) {
    const auto gateway = std::pair(r.interface, r.address);
    Silent& s = silent_.try_emplace(gateway, Silent{now}).first->second;
    s.still = true;
    if (s.told || now - s.since < kGrace) continue;
    s.told = true;
    tell(EventLevel::warning, gateway, false);
  }
  std::erase_if(silent_, [&](const auto& entry) {
    const auto& [gateway, s] = entry;
    if (s.still) return false;
    // No event if the address is unknown: no route uses the gateway, or its link is down.
    if (s.told && known_(gateway.first, gateway.second)) tell(EventLevel::notice, gateway, true);
    return true;
  });
}

void GatewayEvents::tell(EventLevel level, const std::pair<InterfaceIndex, IpAddress>& gateway, bool found) {
  const std::string address = to_string(gateway.second), interface = name_of_(gateway.first);
  log_.add(
      {level,
       EventKind::neighbor,
       fmt::format("gateway {} by {} {}", address, interface, found ? "answers again" : "does not answer"),
       {{"address", address}, {"interface", interface}, {"state", found ? "found" : "lost"}}});
}

}  // namespace surety
