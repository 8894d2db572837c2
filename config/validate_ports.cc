// SPDX-License-Identifier: BSD-3-Clause
// Checks between ports: devices; and with their interfaces: TAP mirrors, addresses and MTUs.
#include <fmt/format.h>

#include <algorithm>
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
      draft.problems.error(draft.port_places[i].device, "port `{}` already has this device", it->second);
    }
  }
}

bool is_of_kernel(const Device& d) {
  using Kind = Device::Kind;
  return d.kind == Kind::af_xdp || d.kind == Kind::af_packet || d.kind == Kind::tap;
}

// The kernel has one name space for devices and TAP mirrors.
void check_twins(Draft& draft) {
  std::map<std::string, std::string> owners;
  for (const auto& port : draft.config.ports)
    if (is_of_kernel(port.device)) owners.emplace(port.device.name, fmt::format("port `{}`", port.name));
  const auto check = [&](const char* noun, const auto& x, const auto& places) {
    if (x.twin.value_or("").empty() || !places.twin) return;
    const auto [it, fresh] = owners.emplace(*x.twin, fmt::format("{} `{}`", noun, x.name));
    if (!fresh) draft.problems.error(*places.twin, "`{}` is already a device of {}", it->first, it->second);
  };
  for (std::size_t i = 0; i < draft.config.ports.size(); ++i)
    check("port", draft.config.ports[i], draft.port_places[i]);
  for (std::size_t i = 0; i < draft.config.interfaces.size(); ++i)
    check("interface", draft.config.interfaces[i], draft.interface_places[i]);
}

// Checks the addresses of a port or an interface.
void check_addresses(const std::string& owner, const std::vector<Prefix>& addresses,
                     const std::vector<Mark>& places, std::map<IpAddress, std::string>& owners,
                     Problems& problems) {
  for (std::size_t j = 0; j < addresses.size(); ++j) {
    const auto& address = addresses[j].address;
    if (is_link_local_v6(address)) continue;  // each link has its own
    const auto [it, fresh] = owners.emplace(address, owner);
    if (!fresh) problems.error(places[j], "`{}` is already an address of {}", to_string(address), it->second);
  }
}

void check_mtu(const std::string& owner, const std::vector<Prefix>& addresses, std::uint16_t mtu, Mark at,
               Problems& problems) {
  const bool v6 = std::ranges::any_of(addresses, [](const Prefix& p) { return p.address.is_v6(); });
  if (v6 && mtu < kMinMtuV6)
    problems.error(at, "IPv6 needs an MTU of at least {}; {} has {}", kMinMtuV6, owner, mtu);
}

void check_addresses(Draft& draft) {
  std::map<IpAddress, std::string> owners;
  const auto check = [&](const std::string& owner, const auto& x, const auto& places) {
    check_addresses(owner, x.addresses, places.addresses, owners, draft.problems);
    check_mtu(owner, x.addresses, x.mtu, places.mtu, draft.problems);
  };
  const auto& c = draft.config;
  for (std::size_t i = 0; i < c.ports.size(); ++i)
    check(fmt::format("port `{}`", c.ports[i].name), c.ports[i], draft.port_places[i]);
  for (std::size_t i = 0; i < c.interfaces.size(); ++i)
    check(fmt::format("interface `{}`", c.interfaces[i].name), c.interfaces[i], draft.interface_places[i]);
}

// Two places whose subnets overlap: a packet to an address of both leaves by one of them only.
struct Subnet {
  Prefix prefix;
  const std::string* owner;
  std::size_t place;
  Mark at;
};

std::vector<Subnet> subnets(const Draft& draft) {
  std::vector<Subnet> all;
  std::size_t place = 0;
  const auto add = [&](const auto& x, const auto& places) {
    for (std::size_t j = 0; j < x.addresses.size(); ++j) {
      const Prefix& p = x.addresses[j];
      if (p.length < p.address.bits() && !is_link_local_v6(p.address))
        all.push_back({p.masked(), &x.name, place, places.addresses[j]});
    }
    ++place;
  };
  const Config& c = draft.config;
  for (std::size_t i = 0; i < c.ports.size(); ++i) add(c.ports[i], draft.port_places[i]);
  for (std::size_t i = 0; i < c.interfaces.size(); ++i) add(c.interfaces[i], draft.interface_places[i]);
  return all;
}

std::string overlap_text(const Subnet& s, const Subnet& around) {
  if (s.prefix == around.prefix)
    return fmt::format("`{}` is also the subnet of `{}`: packets to it leave by one of the two",
                       to_string(s.prefix), *around.owner);
  return fmt::format("`{}` is part of `{}` of `{}`: packets to it leave by `{}` only", to_string(s.prefix),
                     to_string(around.prefix), *around.owner, *s.owner);
}

}  // namespace

void validate_ports(Draft& draft) {
  check_devices(draft);
  check_twins(draft);
  check_addresses(draft);
}

void warn_about_overlaps(Draft& draft) {
  std::vector<Subnet> all = subnets(draft);
  std::ranges::stable_sort(all, {}, &Subnet::prefix);  // prefixes within a subnet follow it
  std::vector<const Subnet*> around;
  for (const Subnet& s : all) {
    while (!around.empty() && !around.back()->prefix.contains(s.prefix.address)) around.pop_back();
    const auto other =
        std::find_if(around.rbegin(), around.rend(), [&](const Subnet* o) { return o->place != s.place; });
    if (other != around.rend()) draft.problems.warning(s.at, overlap_text(s, **other));
    around.push_back(&s);
  }
}

}  // namespace surety::config
