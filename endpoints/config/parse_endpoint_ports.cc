// SPDX-License-Identifier: BSD-3-Clause
// Section `ports` of an endpoint: a host with addresses and gateways.
#include <algorithm>

#include "config/address.h"
#include "config/reader.h"
#include "config/sections.h"
#include "endpoints/config/endpoint_sections.h"

namespace surety::config {
namespace {

// True if the address is on the port's links, so that its MAC address can be resolved.
bool on_link(const EndpointPort& port, const IpAddress& a) {
  return is_link_local_v6(a) || std::any_of(port.addresses.begin(), port.addresses.end(),
                                            [&](const Prefix& p) { return p.masked().contains(a); });
}

void read_gateway(const Node& node, EndpointPort& port, Problems& problems) {
  IpAddress a;
  if (!read_value(node, a, problems)) return;
  auto& gateway = a.is_v6() ? port.gateway_v6 : port.gateway;
  if (!is_unicast(a)) {
    problems.error(node.mark, "{} cannot be the address of a host", quote(node.text));
  } else if (gateway) {
    problems.error(node.mark, "a port has only one IPv{} gateway, here already {}", a.is_v6() ? 6 : 4,
                   quote(to_string(*gateway)));
  } else if (!on_link(port, a)) {
    problems.error(node.mark, "{} is in none of the port's subnets", quote(node.text));
  } else {
    gateway = a;
  }
}

void read_endpoint_port(const Node& node, Port& base, EndpointPort& port, Draft::PortPlaces& places,
                        EndpointsDraft& draft) {
  auto& problems = draft.problems;
  MapReader map(node, "a port", problems);
  if (const Node* n = map.require("device")) read_device(*n, base.device, draft.base);
  places.device = map.at("device");
  if (const Node* n = map.require("addresses"))
    read_interface_addresses(*n, base.addresses, places.addresses, problems);
  port.addresses = base.addresses;
  if (const Node* n = map.find("gateway")) {
    for (const Node* g : list_of(*n)) read_gateway(*g, port, problems);
  }
  read_integer(map.find("mtu"), kMinMtu, kMaxMtu, base.mtu, problems);
  places.mtu = map.at("mtu");
  map.read("mac", port.mac);
  port.device = base.device;
  port.mtu = base.mtu;
}

}  // namespace

void read_endpoint_ports(const Node& node, EndpointsDraft& draft) {
  auto& problems = draft.problems;
  for_each_named(node, "port", problems, [&](const std::string& name, const Node& key, const Node& value) {
    auto& base = draft.base.config.ports.emplace_back();
    auto& port = draft.config.ports.emplace_back();
    base.name = port.name = name;
    if (draft.config.ports.size() == kMaxPorts + 1)
      problems.error(key.mark, "too many ports: at most {}", kMaxPorts);
    Draft::PortPlaces places{.name = key.mark, .device = key.mark, .mtu = key.mark, .addresses = {}};
    read_endpoint_port(value, base, port, places, draft);
    draft.base.port_places.push_back(std::move(places));
  });
}

}  // namespace surety::config
