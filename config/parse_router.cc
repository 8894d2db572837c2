// SPDX-License-Identifier: BSD-3-Clause
// Sections `router` and `workers`.
#include <algorithm>

#include "config/reader.h"
#include "config/sections.h"

namespace surety::config {

void read_router(const Node& node, Draft& draft) {
  auto& router = draft.config.router;
  MapReader map(node, "`router`", draft.problems);
  map.read("name", router.name);
  draft.names_id = map.find("id") != nullptr;
  IpAddress id;
  if (map.read("id", id)) {
    if (id.is_v6()) draft.problems.error(map.at("id"), "a router id is an IPv4 address");
    if (!id.is_v6()) router.id = id.v4_host_order();
    if (!id.is_v6() && router.id == 0) draft.problems.error(map.at("id"), "a router id cannot be 0.0.0.0");
  }
  map.read_word("role", router.role, {{"border", Router::Role::border}, {"core", Router::Role::core}});
  if (const Node* n = map.find("dscp")) read_dscp(*n, router.dscp, draft.problems);
  map.read("new_ports", router.new_ports);
}

namespace {

void read_cores(const Node& node, std::vector<unsigned>& workers, Problems& problems) {
  for (const Node* n : sequence(node, "CPU cores, like `[1, 2]`", problems)) {
    unsigned core = 0;
    if (!read_integer(n, 0, kMaxCore, core, problems)) continue;
    if (std::find(workers.begin(), workers.end(), core) != workers.end()) {
      problems.error(n->mark, "core {} is already a worker", core);
    }
    workers.push_back(core);
    if (workers.size() == kMaxWorkers + 1)
      problems.error(n->mark, "too many workers: at most {}", kMaxWorkers);
  }
  if (node.kind == Node::Kind::sequence && node.items.empty()) {
    problems.error(node.mark,
                   "the list of workers is empty; leave `workers` out to use all cores but the first");
  }
}

}  // namespace

void read_workers(const Node& node, Draft& draft) {
  using Idle = Config::Idle;
  auto& c = draft.config;
  if (node.kind != Node::Kind::map) return read_cores(node, c.workers, draft.problems);
  MapReader map(node, "`workers`", draft.problems);
  if (const Node* cores = map.find("cores")) read_cores(*cores, c.workers, draft.problems);
  map.read_word("idle", c.idle, {{"poll", Idle::poll}, {"adaptive", Idle::adaptive}});
}

}  // namespace surety::config
