// SPDX-License-Identifier: BSD-3-Clause
#include "config/reload.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <utility>
#include <vector>

#include "config/document.h"
#include "config/hash.h"
#include "config/problems.h"
#include "config/sections.h"

namespace surety::config {
namespace {

const Node* entry(const Node* map, std::string_view key) {
  if (map == nullptr || map->kind != Node::Kind::map) return nullptr;
  const auto found = std::find_if(map->entries.begin(), map->entries.end(),
                                  [&](const auto& e) { return e.first->text == key; });
  return found == map->entries.end() ? nullptr : found->second;
}

class Comparison {
 public:
  Comparison(const Config& running, const Config& next, const Node& root, Problems& problems)
      : running_(running), next_(next), root_(root), problems_(problems) {}

  void run() {
    fixed(running_.router == next_.router, {"router"});
    fixed(running_.workers == next_.workers && running_.idle == next_.idle, {"workers"});
    fixed(running_.dpdk == next_.dpdk, {"dpdk"});
    fixed(running_.kernel == next_.kernel, {"kernel"});
    fixed(running_.metrics.listen == next_.metrics.listen, {"metrics", "listen"});
    compare_flow_table();
    compare_rules();
    compare_signalling();
    compare_ports();
  }

 private:
  using Path = std::initializer_list<std::string_view>;

  // Where the thing is, or would be if it were there.
  Mark place(Path path) const {
    const Node* here = &root_;
    for (const auto key : path) {
      const Node* next = entry(here, key);
      if (next == nullptr) break;
      here = next;
    }
    return here->mark;
  }

  void fixed(bool same, Path path) {
    if (same) return;
    std::string name;
    for (const auto key : path) name += (name.empty() ? "" : ".") + std::string(key);
    problems_.error(place(path), fmt::format("`{}` cannot change while the router runs; restart it", name));
  }

  void compare_flow_table() {
    const FlowTable &a = running_.flow_table, &b = next_.flow_table;
    fixed(a.capacity == b.capacity, {"flow_table", "capacity"});
    fixed(a.idle_timeout == b.idle_timeout, {"flow_table", "idle_timeout"});
    fixed(a.held_packets == b.held_packets, {"flow_table", "held"});
  }

  // It would be part of what a flow is, for all flows there are.
  void compare_rules() {
    const auto looks_at_dscp = [](const Rule& r) { return r.match.dscp.has_value(); };
    if (std::ranges::any_of(running_.rules, looks_at_dscp)) return;
    if (std::ranges::any_of(next_.rules, looks_at_dscp))
      problems_.error(place({"classify"}),
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
      problems_.error(
          place({"signalling", "key_file"}),
          "`signalling.key_file` cannot move to another directory while the router runs; restart it");
    fixed(a.max_age == b.max_age, {"signalling", "max_age"});
    fixed(a.queue_limit == b.queue_limit, {"signalling", "queue_limit"});
    fixed(a.source_limit == b.source_limit, {"signalling", "source_limit"});
    fixed(a.borders == b.borders, {"signalling", "borders"});
  }

  void compare_ports() {
    const auto same_name = [](const Port& a, const Port& b) { return a.name == b.name; };
    if (!std::ranges::equal(running_.ports, next_.ports, same_name)) {
      problems_.error(place({"ports"}),
                      "ports cannot come, go or change places while the router runs; restart it");
      return;
    }
    for (std::size_t p = 0; p < next_.ports.size(); ++p) compare(running_.ports[p], next_.ports[p]);
  }

  void compare(const Port& a, const Port& b) {
    const std::string_view name = b.name;
    fixed(a.device == b.device, {"ports", name, "device"});
    fixed(a.trust == b.trust, {"ports", name, "trust"});
    fixed(a.mtu == b.mtu, {"ports", name, "mtu"});
    fixed(a.mac == b.mac, {"ports", name, "mac"});
    fixed(a.promiscuous == b.promiscuous, {"ports", name, "promiscuous"});
    fixed(a.owner == b.owner, {"ports", name, "worker"});
    fixed(a.rx_queues == b.rx_queues && a.rx_workers == b.rx_workers && a.dispatch == b.dispatch,
          {"ports", name, "receive"});
    fixed(a.twin == b.twin, {"ports", name, "twin"});
    if (a.queues.has_value() == b.queues.has_value()) return;
    problems_.error(
        place({"ports", name, "queues"}),
        fmt::format("port `{}` cannot get `queues` or lose them while the router runs; restart it", name));
  }

  const Config &running_, &next_;
  const Node& root_;
  Problems& problems_;
};

}  // namespace

ParseResult parse_reload(const Config& running, std::string_view text, const std::string& file_name) {
  const Document document(text);  // most of the time that a reload takes
  ParseResult result = parse_document(document, text, file_name);
  if (!result.ok()) return result;
  Problems problems;
  Comparison(running, *result.config, *document.root(), problems).run();
  if (problems.any_error()) result.config.reset();
  for (auto& d : problems.take(text, file_name)) result.diagnostics.push_back(std::move(d));
  return result;
}

ParseResult parse_reload_file(const Config& running, const std::string& path, std::string& hash) {
  Problems problems;
  const auto text = read_yaml(path, problems);
  if (!text) return {{}, problems.take({}, path)};
  hash = hash_of(*text);
  return parse_reload(running, *text, path);
}

}  // namespace surety::config
