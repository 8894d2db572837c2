// SPDX-License-Identifier: BSD-3-Clause
// Section `links` of a scenario: what each link is like. What may be linked to what: scenario_ends.cc.
#include <fmt/format.h>

#include <algorithm>

#include "tests/lab/scenario/scenario_ends.h"

namespace surety::lab {
namespace {

using config::MapReader;

constexpr std::uint32_t kMaxQueue = 1'000'000;
constexpr Duration kMaxDelay = std::chrono::hours(1);  // times 10,000 replicas it still fits

// 0 is a delay.
void read_delay(const Node* node, Duration& out, config::Problems& problems) {
  const auto* text = node ? config::text_of(*node, "a delay like `10 ms`", problems) : nullptr;
  if (!text) return;
  const auto parsed = config::parse_duration(*text);
  if (!parsed.value)
    problems.error(node->mark, parsed.error);
  else if (*parsed.value > kMaxDelay)
    problems.error(node->mark, "a delay is at most 1 h");
  else
    out = *parsed.value;
}

void read_direction(MapReader& map, LinkDirection& d, config::Problems& problems) {
  map.read("rate", d.rate);
  read_delay(map.find("delay"), d.delay, problems);
  map.read("loss", d.loss);
  if (const Node* n = map.find("queue")) {
    std::uint32_t packets = 0;
    if (config::read_packets(n, 1, kMaxQueue, packets, problems)) d.queue = packets;
  }
}

void read_override(MapReader& map, std::string_view key, LinkDirection& d, config::Problems& problems) {
  const Node* n = map.find(key);
  if (!n) return;
  MapReader direction(*n, fmt::format("`{}` of a link", key), problems);
  read_direction(direction, d, problems);
}

struct Ends {
  std::optional<LinkEnd> a, b;
  bool known() const { return a && b; }
};

// A template as a whole has an interface for each of the hosts at the other end.
bool fit(const LinkEnd& end, const LinkEnd& peer, config::Problems& problems) {
  if (end.members == 0 || peer.port.router) return true;
  if (!peer.replicas)
    problems.error(end.at, fmt::format("`{0}` is {1} interfaces: link hosts that have `times`, or say "
                                       "which, by its tag, like `{0}.7`",
                                       end.name, end.members));
  else if (peer.count > end.members)
    problems.error(end.at, fmt::format("{} `{}` and {} interfaces `{}`: each host has one of its own",
                                       peer.count, peer.name, end.members, end.name));
  else
    return true;
  return false;
}

Ends read_ends(const Node* node, ScenarioDraft& draft) {
  if (!node) return {};
  if (node->kind != Node::Kind::sequence || node->items.size() != 2) {
    draft.problems.error(node->mark, "a link is between two: `[h1, edge.a]`");
    return {};
  }
  Ends ends{resolve_end(*node->items[0], draft), resolve_end(*node->items[1], draft)};
  if (ends.known() && ends.a->replicas && ends.b->replicas && ends.a->count != ends.b->count) {
    draft.problems.error(node->mark, fmt::format("{} `{}` and {} `{}`: they cannot be linked one to one",
                                                 ends.a->count, ends.a->name, ends.b->count, ends.b->name));
    return {};
  }
  if (ends.known() && !(fit(*ends.a, *ends.b, draft.problems) && fit(*ends.b, *ends.a, draft.problems)))
    return {};
  return ends;
}

void read_link(const Node& node, ScenarioDraft& draft) {
  auto& problems = draft.problems;
  MapReader map(node, "a link", problems);
  const Ends ends = read_ends(map.require("between"), draft);
  Link link;
  read_direction(map, link.forth, problems);
  link.back = link.forth;
  read_override(map, "forth", link.forth, problems);
  read_override(map, "back", link.back, problems);
  Duration step{};
  const Node* delay_step = map.find("delay_step");
  read_delay(delay_step, step, problems);
  if ((link.forth.queue && !link.forth.rate) || (link.back.queue && !link.back.rate))
    problems.warning(node.mark, "`queue` does nothing without `rate`: nothing ever waits");
  if (!ends.known()) return;
  if (delay_step && !ends.a->replicas && !ends.b->replicas)
    problems.error(delay_step->mark, "`delay_step` goes with a host that has `times`");
  for (std::size_t k = 0; k < std::max(ends.a->count, ends.b->count); ++k) {
    const auto a = ends.a->replica(k, draft.scenario), b = ends.b->replica(k, draft.scenario);
    if (!attach(a, b, draft)) return;
    link.name = a.name + " " + b.name;
    link.a = a.port;
    link.b = b.port;
    draft.scenario.links.push_back(link);
    link.forth.delay += step;
    link.back.delay += step;
  }
}

}  // namespace

void read_links(const Node& node, ScenarioDraft& draft) {
  for (const Node* n : config::sequence(
           node, "links, like `- {between: [h1, edge.a], rate: 10 Mbit/s, delay: 5 ms}`", draft.problems)) {
    read_link(*n, draft);
  }
}

}  // namespace surety::lab
