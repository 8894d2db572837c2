// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/port_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "aqm/hierarchy/hierarchy.h"

namespace surety {
namespace {

constexpr HierarchyRoom kRoom;

// True for each interface with queues of its own. An aggregate before its queues requires them, too.
std::vector<bool> with_queues(const config::Config& config) {
  std::vector<bool> all;
  for (const config::Interface& i : config.interfaces)
    all.push_back(i.group || i.queues || i.shaper.rate || i.weight != 1 || i.is_tag_of_template());
  for (const config::Aggregate& a : config.aggregates)
    if (a.interface) all[*a.interface] = true;
  return all;
}

std::vector<ClassParams> scheduling(const config::QueueSet* set, const std::optional<Rate>& rate) {
  return class_params(config::at_rate(set, rate));
}

// Demand of the queues of a port: their number, and the packets they may hold.
struct Demand {
  std::uint64_t queues = 0, packets = 0;
  bool tree = false;
  void add(const config::QueueSet* set, const std::optional<Rate>& rate, std::uint64_t count) {
    for (const ClassParams& c : scheduling(set, rate)) {
      queues += count;
      packets += count * c.queue.limit;
    }
  }
};

Demand demand(const config::Config& config, std::size_t port) {
  Demand d;
  const auto has_queues = with_queues(config);
  d.add(config.set_of(config.ports[port].queues), config.ports[port].shaper.rate, 1);
  for (std::size_t n = 0; n < config.interfaces.size(); ++n) {
    const config::Interface& i = config.interfaces[n];
    if (i.port != port || !has_queues[n]) continue;
    d.tree = true;
    d.add(config.queues_of(i), config.rate_of(i), i.own_count());
  }
  return d;
}

std::uint32_t pool_of(const config::Config& config, const Demand& d) {
  const std::uint64_t parts = 2 * Chunk::kPackets * d.queues, most = PortTree::kParts / config.port_count();
  const std::uint64_t pool = std::max<std::uint64_t>(
      {PortTree::kPool, config.dpdk.mbufs / config.port_count(), std::min(parts, most)});
  return static_cast<std::uint32_t>(std::min({d.packets + kMostBeyond, pool, std::uint64_t{kRoom.packets}}));
}

// Packets reserved for each queue: at most half of the pool. A power of two, so that one more interface
// rarely changes it for all.
std::uint32_t part_of(const Demand& d, std::uint32_t pool) {
  std::uint32_t chunks = 16;
  while (chunks > 0 && 2 * d.queues * chunks * Chunk::kPackets > pool) chunks /= 2;
  return chunks * Chunk::kPackets;
}

bool same_entries(const config::QueueSet& a, const config::QueueSet& b) {
  return std::ranges::equal(a.by_dscp, b.by_dscp, [](const auto& x, const auto& y) {
    return x.class_index == y.class_index && x.precedence == y.precedence;
  });
}

}  // namespace

std::vector<ClassParams> class_params(const config::QueueSet& set) {
  std::vector<ClassParams> classes;
  for (const auto& c : set.classes) classes.push_back(c.scheduling);
  return classes;
}

bool same_classes(const config::QueueSet& a, const config::QueueSet& b) {
  return std::ranges::equal(a.classes, b.classes, [](const auto& x, const auto& y) {
    return x.scheduling.name == y.scheduling.name && x.scheduling.strict == y.scheduling.strict;
  });
}

bool PortTree::Node::same_params(const Node& other) const {
  return weight == other.weight && part == other.part && shaper == other.shaper && classes == other.classes;
}

std::uint32_t PortTree::packets(const config::Config& config, std::size_t port) {
  const Demand d = demand(config, port);
  return d.tree ? pool_of(config, d) : 0;
}

std::shared_ptr<const PortTree> PortTree::build(const config::Config& config, const Interfaces& interfaces,
                                                std::size_t port, const config::QueueSet& own,
                                                const PortTree* before) {
  const Demand d = demand(config, port);
  if (!d.tree) return nullptr;
  if (d.queues > kRoom.queues)
    throw std::runtime_error(
        fmt::format("port {} has {} queues with those of its interfaces; at most {} are possible",
                    config.ports[port].name, d.queues, kRoom.queues));
  auto tree = std::make_shared<PortTree>();
  tree->port = static_cast<InterfaceIndex>(port);
  tree->pool = pool_of(config, d);
  tree->sets.push_back(own);
  tree->place_groups(config, before);
  Node& root = tree->nodes.emplace_back();
  root.first = tree->port;
  root.part = part_of(d, tree->pool);
  root.classes = scheduling(&own, config.ports[port].shaper.rate);
  root.shaper.overhead = config.ports[port].shaper.overhead;
  tree->place_nodes(config, interfaces, before);
  tree->count_slots(config, interfaces);
  tree->count_lines(before);
  return tree;
}

void PortTree::place_groups(const config::Config& config, const PortTree* before) {
  for (std::size_t g = 0; g < config.groups.size(); ++g) {
    const config::Group& group = config.groups[g];
    const bool used = std::ranges::any_of(config.interfaces, [&](const auto& i) { return i.group == g; });
    if (group.port != port || !used) continue;
    groups.push_back({group.name, kNoGroup, group.shaper, group.weight, nullptr});
    const Group* const old = before != nullptr ? before->find_group(group.name) : nullptr;
    Group& now = groups.back();
    if (old != nullptr) now.number = old->number;
    const bool same = old != nullptr && old->shaper == now.shaper && old->weight == now.weight;
    now.params = same ? old->params : std::make_shared<const GroupParams>(now.shaper, now.weight);
  }
  const auto taken = [&](GroupNumber number) {
    const auto has = [&](const auto& all) {
      return std::ranges::find(all, number, &Group::number) != all.end();
    };
    return has(groups) || (before != nullptr && has(before->groups));
  };
  GroupNumber next = 0;
  for (Group& g : groups) {
    if (g.number != kNoGroup) continue;
    while (taken(next)) ++next;
    if (next >= kRoom.groups)
      throw std::runtime_error(
          fmt::format("port {} has more than {} groups", config.ports[port].name, kRoom.groups));
    g.number = next;
  }
}

void PortTree::place_nodes(const config::Config& config, const Interfaces& interfaces,
                           const PortTree* before) {
  set_of.assign(interfaces.size(), kNobody);
  node_of.assign(interfaces.size(), 0);
  for (std::size_t i = 0; i < interfaces.size(); ++i)
    if (interfaces.exists(static_cast<InterfaceIndex>(i))) set_of[i] = kPortsOwn;
  const auto has_queues = with_queues(config);
  for (std::size_t d = 0; d < config.interfaces.size(); ++d) {
    const config::Interface& i = config.interfaces[d];
    if (i.port != port || !has_queues[d]) continue;
    Node& n = nodes.emplace_back();
    n.definition = static_cast<std::uint16_t>(d);
    n.first = static_cast<InterfaceIndex>(interfaces.of_definition(d) + (i.is_template() ? 1 : 0));
    n.count = static_cast<std::uint32_t>(i.count());
    n.set = i.queues ? place_set(config.queues[*i.queues]) : std::uint8_t{0};
    n.shaper = i.shaper;
    n.weight = i.weight;
    n.part = nodes[0].part;
    if (i.group) n.parent = find_group(config.groups[*i.group].name)->number;
    n.classes = scheduling(config.queues_of(i), config.rate_of(i));
    std::fill_n(set_of.begin() + n.first, n.count, n.set);
    std::fill_n(node_of.begin() + n.first, n.count, static_cast<std::uint16_t>(nodes.size() - 1));
  }
  for (Node& n : nodes) {
    const auto same = [&](const Node& old) { return old.params && n.same_params(old); };
    if (before != nullptr)
      if (const auto old = std::ranges::find_if(before->nodes, same); old != before->nodes.end())
        n.params = old->params;
    if (const auto twin = std::ranges::find_if(nodes, same); !n.params && twin != nodes.end())
      n.params = twin->params;
    if (!n.params) n.params = std::make_shared<const InterfaceParams>(n.shaper, n.weight, n.classes, n.part);
  }
}

std::uint8_t PortTree::place_set(const config::QueueSet& set) {
  for (std::size_t s = 1; s < sets.size(); ++s)
    if (sets[s].name == set.name) return static_cast<std::uint8_t>(s);
  if (sets.size() >= kNobody)
    throw std::runtime_error(
        fmt::format("interfaces of a port have more than {} different queue sets", kNobody - 1));
  sets.push_back(set);
  return static_cast<std::uint8_t>(sets.size() - 1);
}

void PortTree::count_slots(const config::Config& config, const Interfaces& interfaces) {
  slots_ = sets[0].classes.size();
  std::set<InterfaceIndex> marked;
  for (const config::Aggregate& a : config.aggregates)
    if (a.port == port && a.interface) marked.insert(interfaces.of_definition(*a.interface));
  for (const InterfaceIndex i : marked) {
    marked_.emplace_back(i, slots_);
    slots_ += set(i).classes.size();
  }
}

void PortTree::count_lines(const PortTree* before) {
  // Keys are owners: interfaces, then groups.
  const auto blocks = [](const PortTree* tree) {
    std::map<std::uint64_t, std::uint32_t> all;
    if (tree == nullptr) return all;
    for (const Node& n : tree->nodes)
      for (std::uint32_t i = 0; i < n.count; ++i) all[n.first + i] = InterfaceNode::block_lines(*n.params);
    for (const Group& g : tree->groups) all[kMostInterfaces + 1 + g.number] = GroupNode::block_lines();
    return all;
  };
  const auto was = blocks(before), is = blocks(this);
  const auto count = [&](const auto& all, const auto& others, auto&& f) {
    for (const auto& [seat, lines] : all)
      if (const auto at = others.find(seat); at == others.end() || at->second != lines) f(lines);
  };
  if (before != nullptr) {
    used_lines_ = before->used_lines_;
    spare_blocks_ = before->spare_blocks_;
  }
  count(is, was, [&](std::uint32_t lines) {
    std::uint32_t& spare = spare_blocks_[lines];
    if (spare > 0)
      --spare;
    else
      used_lines_ += lines;
  });
  count(was, is, [&](std::uint32_t lines) { ++spare_blocks_[lines]; });
  if (used_lines_ <= Hierarchy::lines(kRoom)) return;
  anew = true;
  used_lines_ = 0;
  spare_blocks_.clear();
  for (const auto& [seat, lines] : is) used_lines_ += lines;
}

const PortTree::Group* PortTree::find_group(const std::string& name) const {
  const auto at = std::ranges::find(groups, name, &Group::name);
  return at == groups.end() ? nullptr : &*at;
}

std::optional<std::size_t> PortTree::slot(InterfaceIndex owner, std::size_t class_index) const {
  if (owner == port) return class_index;
  const auto at = std::ranges::lower_bound(marked_, owner, {}, [](const auto& m) { return m.first; });
  if (at == marked_.end() || at->first != owner) return {};
  return at->second + class_index;
}

bool PortTree::same_layout(const PortTree& other) const {
  return set_of == other.set_of && std::ranges::equal(sets, other.sets, [](const auto& a, const auto& b) {
           return same_classes(a, b) && same_entries(a, b);
         });
}

}  // namespace surety
