// SPDX-License-Identifier: BSD-3-Clause
// Section `ports`.
#include "config/address.h"
#include "config/reader.h"
#include "config/sections.h"

namespace surety::config {
namespace {

constexpr std::uint32_t kEthernetOverhead = 38, kMaxOverhead = 256;
constexpr std::uint64_t kMinMss = 88, kMaxMss = kMaxMtu - 40;  // Linux takes no smaller one

void read_overhead(const Node& node, WireOverhead& overhead, Problems& problems) {
  const auto* text = text_of(node, "`ethernet`, `atm` or a size like `38 B`", problems);
  if (!text) return;
  if (*text == "ethernet" || *text == "atm") {
    overhead.kind = *text == "atm" ? WireOverhead::Kind::atm : WireOverhead::Kind::bytes;
    overhead.per_packet = *text == "atm" ? 0 : kEthernetOverhead;
    return;
  }
  const auto bytes = parse_bytes(*text);
  if (!bytes.value) {
    problems.error(node.mark, "{} is not an overhead; write `ethernet`, `atm` or a size like `38 B`",
                   quote(*text));
  } else if (bytes.value->count() > kMaxOverhead) {
    problems.error(node.mark, "{} is too large; an overhead is at most {} B", quote(*text), kMaxOverhead);
  } else {
    overhead.per_packet = static_cast<std::uint32_t>(bytes.value->count());
  }
}

bool is_of_kernel(const Device& d) {
  return d.kind == Device::Kind::af_xdp || d.kind == Device::Kind::af_packet;
}

void read_port(const Node& node, Port& port, Draft::PortPlaces& places, Draft& draft) {
  MapReader map(node, "a port", draft.problems);
  if (const Node* n = map.find("device")) {
    read_device(*n, port.device, draft);
  } else if (node.kind == Node::Kind::map && !draft.lab) {
    draft.problems.warning(places.name, "port `{}` has no `device`: it can only run in the lab", port.name);
  }
  places.device = map.at("device");
  if (const Node* n = map.find("addresses")) {
    read_interface_addresses(*n, port.addresses, places.addresses, draft.problems);
  }
  read_trust(map, port.trust, port.source_check);
  read_integer(map.find("mtu"), kMinMtu, kMaxMtu, port.mtu, draft.problems);
  places.mtu = map.at("mtu");
  map.read("mac", port.mac);
  read_shaper(map, port.shaper, draft.problems);
  places.shape = map.at("shape");
  if (const Node* n = map.find("queues")) port.queues = draft.queues.resolve(*n, "queue set", draft.problems);
  read_filter_names(map, "`filter` of a port", port.filter_in, port.filter_out, draft);
  map.read("promiscuous", port.promiscuous);
  if (const Node* n = map.find("tcp_mss"))
    read_integer(n, kMinMss, kMaxMss, port.tcp_mss.emplace(), draft.problems);
  read_port_workers(map, port, draft);
  if (const Node* n = map.find("twin")) {
    read_twin(*n, port.twin, draft.problems);
    places.twin = n->mark;
    if (port.twin && is_of_kernel(port.device))
      draft.problems.warning(n->mark, "`{}` is already a device of the kernel: `twin` has no effect",
                             port.device.name);
  }
}

}  // namespace

void read_shaper(MapReader& map, PortShaperParams& shaper, Problems& problems) {
  map.read("shape", shaper.rate);
  if (!map.read("burst", shaper.burst)) {
    // A fast port sends more than two packets in the time that a turn of the worker takes.
    if (shaper.rate) shaper.burst = default_burst(*shaper.rate);
  } else if (!map.find("shape")) {
    problems.warning(map.at("burst"), "`burst` does nothing without `shape`");
  }
  if (shaper.burst > kMaxBucketDepth) problems.error(map.at("burst"), "a burst is at most 1 GB");
  if (const Node* n = map.find("overhead")) read_overhead(*n, shaper.overhead, problems);
}

void read_trust(MapReader& map, Port::Trust& trust, Port::SourceCheck& check) {
  map.read_word("trust", trust, {{"customer", Port::Trust::customer}, {"core", Port::Trust::core}});
  read_source_check(map, trust, check);
}

void read_source_check(MapReader& map, Port::Trust trust, Port::SourceCheck& check) {
  using Check = Port::SourceCheck;
  check = trust == Port::Trust::customer ? Check::strict : Check::off;
  map.read_word("source_check", check,
                {{"strict", Check::strict}, {"loose", Check::loose}, {"off", Check::off}});
}

void read_interface_addresses(const Node& node, std::vector<Prefix>& addresses, std::vector<Mark>& places,
                              Problems& problems) {
  for (const Node* n : list_of(node)) {
    const auto* text = text_of(*n, "an address like `10.1.0.254/24`", problems);
    if (!text) continue;
    const auto prefix = parse_prefix(*text);
    if (!prefix) {
      problems.error(n->mark, "{} is not an interface address; write it like {}", quote(*text),
                     "`10.1.0.254/24` or `2001:db8:1::fe/64`");
    } else if (!is_unicast(prefix->address)) {
      problems.error(n->mark, "{} cannot be the address of a host", quote(*text));
    } else if (const auto reserved = reserved_name(*prefix); !reserved.empty()) {
      problems.error(n->mark, "{} is the {} address of its subnet", quote(*text), reserved);
    } else {
      addresses.push_back(*prefix);
      places.push_back(n->mark);
    }
  }
}

void read_ports(const Node& node, Draft& draft) {
  for_each_named(
      node, "port", draft.problems, [&](const std::string& name, const Node& key, const Node& value) {
        Draft::PortPlaces places{.name = key.mark, .device = key.mark, .mtu = key.mark, .addresses = {}};
        auto& port = draft.config.ports.emplace_back();
        port.name = name;
        if (draft.config.ports.size() == kMaxPorts + 1) {
          draft.problems.error(key.mark, "too many ports: at most {}", kMaxPorts);
        }
        read_port(value, port, places, draft);
        draft.port_places.push_back(std::move(places));
      });
}

}  // namespace surety::config
