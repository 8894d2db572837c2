// Sections `router` and `workers`.
#include <fmt/format.h>

#include <algorithm>

#include "config/reader.h"
#include "config/sections.h"

namespace surety::config {
namespace {
constexpr std::uint64_t kMaxCore = 1023;
}

void read_router(const Node& node, Draft& draft) {
  auto& router = draft.config.router;
  MapReader map(node, "`router`", draft.problems);
  map.read("name", router.name);
  Address id;
  if (map.read("id", id)) {
    const auto& b = id.bytes;
    if (id.v6) draft.problems.error(map.at("id"), "a router id is an IPv4 address");
    if (!id.v6)
      router.id = std::uint32_t{b[0]} << 24 | std::uint32_t{b[1]} << 16 | std::uint32_t{b[2]} << 8 | b[3];
    if (!id.v6 && router.id == 0) draft.problems.error(map.at("id"), "a router id cannot be 0.0.0.0");
  }
  map.read_word("role", router.role, {{"border", Router::Role::border}, {"core", Router::Role::core}});
}

void read_workers(const Node& node, Draft& draft) {
  auto& workers = draft.config.workers;
  for (const Node* n : sequence(node, "CPU cores, like `[1, 2]`", draft.problems)) {
    unsigned core = 0;
    if (!read_integer(n, 0, kMaxCore, core, draft.problems)) continue;
    if (std::find(workers.begin(), workers.end(), core) != workers.end()) {
      draft.problems.error(n->mark, fmt::format("core {} is already a worker", core));
    }
    workers.push_back(core);
  }
  if (node.kind == Node::Kind::sequence && node.items.empty()) {
    draft.problems.error(node.mark, "no worker at all; leave `workers` out to use all cores but the first");
  }
}

}  // namespace surety::config
