// SPDX-License-Identifier: BSD-3-Clause
#include "config/reload.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>
#include <vector>

#include "config/text/assembly.h"
#include "config/text/problems.h"

namespace surety::config {
namespace {

class Comparison {
 public:
  Comparison(const Config& running, const Config& next) : running_(running), next_(next) {}

  std::vector<Fixed> run() {
    fixed(running_.router == next_.router, {"router"});
    fixed(running_.workers == next_.workers && running_.idle == next_.idle, {"workers"});
    fixed(running_.dpdk == next_.dpdk, {"dpdk"});
    fixed(running_.kernel == next_.kernel, {"kernel"});
    fixed(running_.metrics.listen == next_.metrics.listen, {"metrics", "listen"});
    fixed(running_.metrics.report == next_.metrics.report, {"metrics", "report"});
    fixed(running_.metrics.report_size == next_.metrics.report_size, {"metrics", "report_size"});
    compare_flow_table();
    compare_rules();
    compare_signalling();
    compare_ports();
    return std::move(all_);
  }

 private:
  using Path = std::vector<std::string>;

  void refuse(Path path, std::string message) { all_.push_back({std::move(path), std::move(message)}); }

  void fixed(bool same, Path path) {
    if (same) return;
    std::string name;
    for (const auto& key : path) name += (name.empty() ? "" : ".") + key;
    refuse(std::move(path), fmt::format("`{}` cannot change while the router runs; restart it", name));
  }

  void compare_flow_table() {
    const FlowTable &a = running_.flow_table, &b = next_.flow_table;
    fixed(a.capacity == b.capacity, {"flow_table", "capacity"});
    fixed(a.idle_timeout == b.idle_timeout, {"flow_table", "idle_timeout"});
    fixed(a.held_packets == b.held_packets, {"flow_table", "held"});
  }

  // A match on DSCP would be part of the flow key, for all existing flows.
  void compare_rules() {
    const auto looks_at_dscp = [](const Rule& r) { return r.match.dscp.has_value(); };
    if (std::ranges::any_of(running_.rules, looks_at_dscp)) return;
    const auto first = std::ranges::find_if(next_.rules, looks_at_dscp);
    if (first != next_.rules.end())
      refuse({"classify", std::to_string(first->number - 1), "match", "dscp"},
             "rules cannot begin to match `dscp` while the router runs; restart it");
  }

  void compare_signalling() {
    const Signalling &a = running_.signalling, &b = next_.signalling;
    constexpr auto off = Signalling::Mode::off;
    fixed((a.mode == off) == (b.mode == off), {"signalling", "mode"});
    if (a.mode == off || b.mode == off) return;
    const auto directory = [](const Signalling& s) {
      return std::filesystem::path(s.key_file).parent_path();
    };
    if (directory(a) != directory(b))
      refuse({"signalling", "key_file"},
             "`signalling.key_file` cannot move to another directory while the router runs; restart it");
    fixed(a.max_age == b.max_age, {"signalling", "max_age"});
    fixed(a.report == b.report, {"signalling", "report"});
    fixed(a.queue_limit == b.queue_limit, {"signalling", "queue_limit"});
    fixed(a.source_limit == b.source_limit, {"signalling", "source_limit"});
    fixed(a.borders == b.borders, {"signalling", "borders"});
  }

  void compare_ports() {
    for (const Port& port : running_.ports)
      if (const Port* now = find(next_, port.name); now == nullptr || !goes_on(port, *now)) closes(port);
    for (const Port& port : next_.ports)
      if (const Port* before = find(running_, port.name); before == nullptr || !goes_on(*before, port))
        opens(port);
  }

  static const Port* find(const Config& config, std::string_view name) {
    const auto at = std::ranges::find(config.ports, name, &Port::name);
    return at == config.ports.end() ? nullptr : &*at;
  }

  // Devices that cannot be opened after start: their probing needs privileges that have been dropped.
  static const char* at_start_only(const Device& device) {
    switch (device.kind) {
      case Device::Kind::pci:
        return "pci";
      case Device::Kind::vhost:
        return "vhost";
      case Device::Kind::virtio_user:
        return "virtio-user";
      default:
        return nullptr;
    }
  }

  void closes(const Port& port) {
    if (const char* kind = at_start_only(port.device))
      refuse(
          {"ports", port.name, "device"},
          fmt::format(
              "port `{}` cannot be removed or change its device, a {} one, while the router runs; restart it",
              port.name, kind));
  }

  void opens(const Port& port) {
    const char* kind = at_start_only(port.device);
    if (!port.device.tx_file.empty()) kind = "writing pcap";
    if (kind != nullptr)
      refuse(
          {"ports", port.name, "device"},
          fmt::format("port `{}` cannot get a {} device while the router runs; restart it", port.name, kind));
    else if (!running_.router.new_ports)
      refuse({"ports", port.name}, fmt::format("port `{}` needs a device that is not open, and `router: "
                                               "{{new_ports: off}}` forbids opening one; restart the router",
                                               port.name));
  }

  const Config &running_, &next_;
  std::vector<Fixed> all_;
};

}  // namespace

std::vector<Fixed> fixed(const Config& running, const Config& next) {
  return Comparison(running, next).run();
}

std::vector<Diagnostic> port_error(const Tree& tree, std::string_view port, std::string_view message) {
  Problems problems, known;
  TreeSources sources(tree);
  const Assembly assembly(tree, sources, known);
  const Node* at = assembly.root();
  for (const std::string_view key : {std::string_view("ports"), port, std::string_view("device")})
    if (at != nullptr) at = at->entry(key);
  problems.error(at != nullptr ? at->mark : Mark{}, std::string(message));
  return problems.take(assembly.text(), tree.path_of(tree.file));
}

namespace {

// A placeholder without customers and routes.
Port nobody() {
  Port port;
  port.trust = Port::Trust::core;
  port.source_check = Port::SourceCheck::off;
  return port;
}

void renumber(Config& c, const std::vector<std::size_t>& to) {
  const auto follow = [&](auto& all) {
    for (auto& x : all) x.port = to[x.port];
  };
  const auto follow_if_named = [&](std::optional<std::size_t>& port) {
    if (port) port = to[*port];
  };
  follow(c.groups);
  follow(c.interfaces);
  follow(c.neighbors);
  follow(c.aggregates);
  for (Route& route : c.routes)
    for (NextHop& hop : route.next_hops) follow_if_named(hop.port);
  for (Rule& rule : c.rules) follow_if_named(rule.match.port);
}

}  // namespace

bool goes_on(const Port& a, const Port& b) {
  return a.name == b.name && a.device == b.device && a.mac == b.mac && a.twin == b.twin &&
         a.owner == b.owner && a.rx_queues == b.rx_queues && a.rx_workers == b.rx_workers &&
         a.dispatch == b.dispatch;
}

std::size_t PortPlaces::find_room(const Places& before, const Places& next, const Port& port) {
  for (std::size_t p = 0; p < next.size(); ++p)
    if (!before[p].port && !before[p].resting && !next[p].port) return p;
  throw std::runtime_error(
      "there is no room for port " + port.name + ": a router has " + std::to_string(kMaxPorts) +
      " places, and the place of a removed or reopened port is free after one more reload");
}

Config PortPlaces::place(Config next) {
  Places places;
  std::vector<std::size_t> to(next.ports.size(), kMaxPorts);
  for (std::size_t i = 0; i < next.ports.size(); ++i) {
    const auto at = std::ranges::find_if(
        places_, [&](const Place& p) { return p.port && goes_on(*p.port, next.ports[i]); });
    if (at == places_.end()) continue;
    to[i] = static_cast<std::size_t>(at - places_.begin());
    places[to[i]].port = next.ports[i];
  }
  for (std::size_t i = 0; i < next.ports.size(); ++i) {
    if (to[i] != kMaxPorts) continue;
    to[i] = find_room(places_, places, next.ports[i]);
    places[to[i]].port = next.ports[i];
  }
  for (std::size_t p = 0; p < places.size(); ++p)
    places[p].resting = places_[p].port && (!places[p].port || !goes_on(*places_[p].port, *places[p].port));
  renumber(next, to);
  next.ports.clear();
  for (const Place& p : places) next.ports.push_back(p.port.value_or(nobody()));
  places_ = std::move(places);
  return next;
}

}  // namespace surety::config
