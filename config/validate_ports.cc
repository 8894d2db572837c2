// SPDX-License-Identifier: BSD-3-Clause
// Ports among each other: devices, twins, addresses and MTUs.
#include <fmt/format.h>

#include <map>
#include <tuple>

#include "config/address.h"
#include "config/sections.h"

namespace surety::config {
namespace {

constexpr std::uint16_t kMinMtuV6 = 1280;  // RFC 8200, section 5

// Two ports may share what has no name (null, pcap); a memif socket has two ends.
bool is_exclusive(const Device& d) {
  return !d.name.empty();
}

void check_devices(Draft& draft) {
  std::map<std::tuple<Device::Kind, std::string, bool>, std::string> owners;
  for (std::size_t i = 0; i < draft.config.ports.size(); ++i) {
    const auto& port = draft.config.ports[i];
    if (!is_exclusive(port.device)) continue;
    const auto [it, fresh] =
        owners.emplace(std::tuple(port.device.kind, port.device.name, port.device.server), port.name);
    if (!fresh) {
      draft.problems.error(draft.port_places[i].device,
                           fmt::format("this device is already port `{}`", it->second));
    }
  }
}

bool is_interface(const Device& d) {
  using Kind = Device::Kind;
  return d.kind == Kind::af_xdp || d.kind == Kind::af_packet || d.kind == Kind::tap;
}

// The kernel has one name space for devices and twins.
void check_twins(Draft& draft) {
  std::map<std::string, std::string> owners;
  for (const auto& port : draft.config.ports)
    if (is_interface(port.device)) owners.emplace(port.device.name, port.name);
  for (std::size_t i = 0; i < draft.config.ports.size(); ++i) {
    const auto& port = draft.config.ports[i];
    if (port.twin.value_or("").empty() || !draft.port_places[i].twin) continue;
    const auto [it, fresh] = owners.emplace(*port.twin, port.name);
    if (!fresh)
      draft.problems.error(*draft.port_places[i].twin,
                           fmt::format("`{}` is already a device of port `{}`", it->first, it->second));
  }
}

void check_addresses(Draft& draft) {
  std::map<std::string, std::string> owners;
  for (std::size_t i = 0; i < draft.config.ports.size(); ++i) {
    const auto& port = draft.config.ports[i];
    const auto& places = draft.port_places[i];
    bool v6 = false;
    for (std::size_t j = 0; j < port.addresses.size(); ++j) {
      const auto& address = port.addresses[j].address;
      v6 |= address.is_v6();
      if (is_link_local_v6(address)) continue;  // each link has its own
      const auto [it, fresh] = owners.emplace(to_string(address), port.name);
      if (!fresh) {
        draft.problems.error(places.addresses[j],
                             fmt::format("`{}` is already an address of port `{}`", it->first, it->second));
      }
    }
    if (v6 && port.mtu < kMinMtuV6) {
      draft.problems.error(places.mtu, fmt::format("IPv6 needs an MTU of at least {}; port `{}` has {}",
                                                   kMinMtuV6, port.name, port.mtu));
    }
  }
}

}  // namespace

void validate_ports(Draft& draft) {
  check_devices(draft);
  check_twins(draft);
  check_addresses(draft);
}

}  // namespace surety::config
