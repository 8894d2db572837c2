// SPDX-License-Identifier: BSD-3-Clause
// Sections `groups`, `interfaces`, `plans`, `subscribers` and `pcp`.
#include "config/reader.h"
#include "config/sections.h"

namespace surety::config {
namespace {

using Places = Draft::InterfacePlaces;

constexpr std::uint64_t kMaxShareWeight = 10'000, kMaxHosts = 64;

// Returns true if the port exists.
bool read_port_of(MapReader& map, std::size_t& port, Draft& draft) {
  const Node* n = map.require("port");
  const auto index = n ? draft.ports.resolve(*n, "port", draft.problems) : std::nullopt;
  port = index.value_or(0);
  return index.has_value();
}

// `8` or `1-4000`; whether it is either.
bool read_inner(const Node& node, Interface& i, Problems& problems) {
  const auto* text = text_of(node, "a VLAN id or a range like `1-4000`", problems);
  if (!text) return false;
  const std::string_view s = *text;
  const auto dash = s.find('-');
  const auto first = parse_integer(s.substr(0, dash), 1, kMaxVlan).value;
  const auto last = dash == s.npos ? first : parse_integer(s.substr(dash + 1), 1, kMaxVlan).value;
  if (!first || !last) {
    problems.error(node.mark, "{} is not a VLAN id from 1 to {} or a range like `1-4000`", quote(s),
                   kMaxVlan);
  } else if (*first > *last) {
    problems.error(node.mark, "{} ends before it starts", quote(s));
  } else if (dash != s.npos && *first == *last) {
    problems.error(node.mark, "{} is one tag only; write `{}`", quote(s), *first);
  } else {
    i.first_inner = static_cast<std::uint16_t>(*first);
    i.last_inner = static_cast<std::uint16_t>(*last);
    return true;
  }
  return false;
}

// Returns true if all of the tags are valid.
bool read_tags(MapReader& map, Interface& i, Places& places, Problems& problems) {
  const bool outer = read_integer(map.require("vlan"), 1, kMaxVlan, i.vlan, problems);
  const Node* inner = map.find("inner_vlan");
  const bool known = (!inner || read_inner(*inner, i, problems)) && outer;
  map.read_word<std::uint16_t>(
      "vlan_protocol", i.vlan_protocol,
      {{"802.1q", kCustomerTag}, {"802.1ad", kServiceTag}, {"0x9100", 0x9100}, {"0x9200", 0x9200}});
  places.tags = map.at(inner ? "inner_vlan" : "vlan");
  places.protocol = map.at("vlan_protocol");
  return known;
}

// Reads the keys whose defaults are the port's.
void read_like_port(MapReader& map, Interface& i, const Port* port, Places& places, Draft& draft) {
  if (const Node* n = map.find("addresses"))
    read_interface_addresses(*n, i.addresses, places.addresses, draft.problems);
  if (port) {
    i.mtu = port->mtu;
    i.trust = port->trust;
  }
  places.mtu = map.at("mtu");
  if (read_integer(map.find("mtu"), kMinMtu, kMaxMtu, i.mtu, draft.problems) && port && i.mtu > port->mtu)
    draft.problems.error(places.mtu, "`mtu` is above the {} of port `{}`", port->mtu, port->name);
  if (const Node* n = map.find("twin")) {
    read_twin(*n, i.twin, draft.problems);
    places.twin = n->mark;
  }
}

void read_customer(MapReader& map, Interface& i, Problems& problems) {
  i.customer = i.name;
  if (map.read("customer", i.customer) && !is_name(i.customer))
    problems.error(map.at("customer"),
                   "{} cannot name a customer: up to 63 letters, digits, `-`, `_` and `.`",
                   quote(i.customer));
}

void read_hosts(MapReader& map, Interface& i, bool tags_known, Problems& problems) {
  const Node* n = map.find("hosts");
  read_integer(n, 1, kMaxHosts, i.hosts, problems);
  if (n && tags_known && !i.is_template())
    problems.error(n->mark, "`hosts` needs a range of inner tags: only their addresses are learned");
}

// Reads the scheduling parameters of its packets towards the port.
void read_sharing(MapReader& map, Interface& i, Draft& draft) {
  read_shaper(map, i.shaper, draft.problems);
  read_integer(map.find("weight"), 1, kMaxShareWeight, i.weight, draft.problems);
  if (const Node* n = map.find("queues")) i.queues = draft.queues.resolve(*n, "queue set", draft.problems);
}

void read_filters_of(MapReader& map, Interface& i, Draft& draft) {
  read_filter_names(map, "`filter` of an interface", i.filter_in, i.filter_out, draft);
}

// Reads what identifies the interface, and what follows from its place. Returns its port; null: unknown.
const Port* read_tagged(MapReader& map, Interface& i, Places& places, Draft& draft) {
  const bool port_known = read_port_of(map, i.port, draft);
  const bool tags_known = read_tags(map, i, places, draft.problems);
  places.known = port_known && tags_known;
  const Port* const port = port_known ? &draft.config.ports[i.port] : nullptr;
  read_like_port(map, i, port, places, draft);
  read_hosts(map, i, tags_known, draft.problems);
  if (const Node* n = map.find("group")) {
    i.group = draft.groups.resolve(*n, "group", draft.problems);
    places.group = n->mark;
  }
  return port;
}

void read_interface(const Node& node, Interface& i, Places& places, Draft& draft) {
  MapReader map(node, "an interface", draft.problems);
  const Port* const port = read_tagged(map, i, places, draft);
  read_trust(map, i.trust, i.source_check);
  read_customer(map, i, draft.problems);
  read_filters_of(map, i, draft);
  if (port) i.shaper.overhead = port->shaper.overhead;
  read_sharing(map, i, draft);
  places.shape = map.at("shape");
}

// The filter of suspended subscribers: the one of that name, or one that denies everything.
std::size_t filter_of_suspended(Draft& draft, Mark at) {
  constexpr std::string_view kName = "suspended";
  if (const auto index = draft.filters.find(kName)) return *index;
  auto& filters = draft.config.filters;
  if (filters.empty() || filters.back().name != kName) {
    filters.push_back({std::string(kName), {FilterEntry{.permit = false, .match = {}, .name = "all"}}});
    draft.filter_places.push_back({at, {at}});
  }
  return filters.size() - 1;
}

// Reads where a subscriber is that is known by its prefixes, and those. Returns its port; null: unknown.
const Port* read_addressed(MapReader& map, const Node& prefixes, Interface& i, Places& places, Draft& draft) {
  places.tags = prefixes.mark;
  read_prefixes(&prefixes, "prefixes", i.prefixes, draft.problems);
  for (const char* const key : {"vlan", "inner_vlan", "addresses"})
    if (const Node* n = map.find(key))
      draft.problems.error(
          n->mark, "a subscriber has `prefixes` on another link, or a link of its own: leave `{}` out", key);
  std::optional<std::size_t> port;
  const Node* const at = read_outlet(map, port, i.within, draft);
  if (!at)
    draft.problems.error(prefixes.mark, "`prefixes` needs the `port` or `interface` that they are behind");
  if (i.within && (*i.within >= draft.numbered || draft.config.interfaces[*i.within].is_template())) {
    draft.problems.error(at->mark, "{} must be one of `interfaces`, and no range of inner tags",
                         quote(at->text));
    i.within.reset();
  }
  if (i.within) {
    const Interface& link = draft.config.interfaces[*i.within];
    port = link.port;
    i.vlan = link.vlan;
    i.first_inner = i.last_inner = link.first_inner;
    i.vlan_protocol = link.vlan_protocol;
    i.mtu = link.mtu;
  }
  if (const Node* n = map.find("group")) {
    i.group = draft.groups.resolve(*n, "group", draft.problems);
    places.group = n->mark;
  }
  places.known = port.has_value() && *port < draft.config.ports.size();
  i.port = places.known ? *port : 0;
  if (!places.known) return nullptr;
  if (!i.within) i.mtu = draft.config.ports[i.port].mtu;
  return &draft.config.ports[i.port];
}

// Reads the tag of a template that a subscriber has. Returns its port; null: unknown.
const Port* read_tag_of_template(MapReader& map, const Node& link, Interface& i, Places& places,
                                 Draft& draft) {
  for (const char* const key :
       {"port", "vlan", "vlan_protocol", "addresses", "mtu", "hosts", "twin", "source_check"})
    if (const Node* n = map.find(key))
      draft.problems.error(n->mark, "`{}` is that of interface {}: leave it out", key, quote(link.text));
  const auto index = draft.interfaces.resolve(link, "interface", draft.problems);
  const Node* const inner = map.find("inner_vlan");
  if (!index) return nullptr;
  if (*index >= draft.numbered || !draft.config.interfaces[*index].is_template()) {
    draft.problems.error(
        link.mark, "`interface` needs `prefixes`, or must be one of `interfaces` with a range of inner tags");
    return nullptr;
  }
  Interface& all = draft.config.interfaces[*index];
  if (!inner) {
    draft.problems.error(link.mark, "a subscriber on `{}` has one of its tags: add `inner_vlan`", all.name);
    return nullptr;
  }
  places.tags = inner->mark;
  std::uint16_t tag = 0;
  if (!read_integer(inner, all.first_inner, all.last_inner, tag, draft.problems)) return nullptr;
  ++all.taken;
  i.within = index;
  i.port = all.port;
  i.vlan = all.vlan;
  i.first_inner = i.last_inner = tag;
  i.vlan_protocol = all.vlan_protocol;
  i.mtu = all.mtu;
  i.group = all.group;
  if (const Node* n = map.find("group")) {
    i.group = draft.groups.resolve(*n, "group", draft.problems);
    places.group = n->mark;
  }
  i.trust = all.trust;
  i.source_check = all.source_check;
  if (!i.filter_in) i.filter_in = all.filter_in;
  if (!i.filter_out) i.filter_out = all.filter_out;
  places.known = true;
  return &draft.config.ports[i.port];
}

void read_subscriber(const Node& node, Interface& i, Places& places, Draft& draft) {
  MapReader map(node, "a subscriber", draft.problems);
  const Node* n = map.require("plan");
  const auto index = n ? draft.plans.resolve(*n, "plan", draft.problems) : std::nullopt;
  const Draft::Plan none;
  const Draft::Plan& plan = index ? draft.plan_terms[*index] : none;
  i.shaper = plan.like.shaper;
  i.weight = plan.like.weight;
  i.queues = plan.like.queues;
  i.filter_in = plan.like.filter_in;
  i.filter_out = plan.like.filter_out;
  const Node *const prefixes = map.find("prefixes"), *const link = map.find("interface");
  const Port* const port = prefixes ? read_addressed(map, *prefixes, i, places, draft)
                           : link   ? read_tag_of_template(map, *link, i, places, draft)
                                    : read_tagged(map, i, places, draft);
  if (prefixes || !link) {
    i.trust = Port::Trust::customer;
    i.source_check = Port::SourceCheck::off;
  }
  if (!prefixes && !link) read_source_check(map, i.trust, i.source_check);
  if (port && !plan.has_overhead) i.shaper.overhead = port->shaper.overhead;
  read_filters_of(map, i, draft);
  bool suspended = false;
  if (map.read("suspended", suspended) && suspended)
    i.filter_in = i.filter_out = filter_of_suspended(draft, map.at("suspended"));
  places.shape = map.at("plan");
  if (plan.service)
    draft.subscriber_rules.push_back({draft.config.interfaces.size() - 1, *plan.service, node.mark});
  draft.config.subscribers.push_back({.interface = draft.config.interfaces.size() - 1,
                                      .plan = n ? n->text : "",
                                      .owner = node.mark.file ? owner_of(*node.mark.file) : "",
                                      .suspended = suspended});
}

Places places_at(Mark name) {
  return {.name = name, .tags = {}, .protocol = {}, .mtu = {}, .shape = {}, .addresses = {}};
}

// `taken`: by which priority.
void read_priority(const Node& node, std::uint8_t priority, std::array<std::optional<int>, 64>& taken,
                   Config::Pcp& pcp, Problems& problems) {
  for (const Node* n : list_of(node)) {
    Dscp d = 0;
    if (!read_dscp(*n, d, problems)) continue;
    if (taken[d]) {
      problems.error(n->mark, "{} already belongs to priority {}", quote(n->text), *taken[d]);
      continue;
    }
    taken[d] = priority;
    pcp.of_dscp[d] = priority;
    if (!pcp.to_dscp[priority]) pcp.to_dscp[priority] = d;
  }
}

}  // namespace

void read_groups(const Node& node, Draft& draft) {
  for_each_named(node, "group", draft.problems,
                 [&](const std::string& name, const Node& key, const Node& value) {
                   auto& group = draft.config.groups.emplace_back();
                   group.name = name;
                   MapReader map(value, "a group", draft.problems);
                   const bool known = read_port_of(map, group.port, draft);
                   if (known) group.shaper.overhead = draft.config.ports[group.port].shaper.overhead;
                   read_shaper(map, group.shaper, draft.problems);
                   read_integer(map.find("weight"), 1, kMaxShareWeight, group.weight, draft.problems);
                   draft.group_places.push_back({key.mark, map.at("shape"), known});
                 });
}

void read_interfaces(const Node& node, Draft& draft) {
  for_each_named(node, "interface", draft.problems,
                 [&](const std::string& name, const Node& key, const Node& value) {
                   auto& interface = draft.config.interfaces.emplace_back();
                   interface.name = name;
                   Places places = places_at(key.mark);
                   read_interface(value, interface, places, draft);
                   draft.interface_places.push_back(std::move(places));
                 });
}

void read_plans(const Node& node, Draft& draft) {
  for_each_named(node, "plan", draft.problems, [&](const std::string&, const Node&, const Node& value) {
    Draft::Plan& plan = draft.plan_terms.emplace_back();
    MapReader map(value, "a plan", draft.problems);
    if (const Node* n = map.require("service"))
      plan.service = draft.services.resolve(*n, "service", draft.problems);
    read_filters_of(map, plan.like, draft);
    read_sharing(map, plan.like, draft);
    plan.has_overhead = map.find("overhead") != nullptr;
  });
}

void read_subscribers(const Node& node, Draft& draft) {
  const std::size_t interfaces = draft.numbered = draft.config.interfaces.size();
  for_each_named(node, "subscriber", draft.problems,
                 [&](const std::string& name, const Node& key, const Node& value) {
                   auto& interface = draft.config.interfaces.emplace_back();
                   interface.name = interface.customer = name;
                   Places places = places_at(key.mark);
                   if (draft.interfaces.find(name).value_or(interfaces) < interfaces)
                     draft.problems.error(key.mark, "an interface is already called {}", quote(name));
                   read_subscriber(value, interface, places, draft);
                   draft.interface_places.push_back(std::move(places));
                 });
  std::uint32_t& rows = draft.config.metrics.contracts;
  rows = std::max(rows, static_cast<std::uint32_t>(draft.config.subscribers.size()));
}

void read_pcp(const Node& node, Draft& draft) {
  constexpr std::array<std::string_view, 8> kPriorities{"0", "1", "2", "3", "4", "5", "6", "7"};
  draft.config.pcp =
      Config::Pcp{};  // clang 14 finds no constructor for emplace(), since Config is not whole there
  auto& pcp = *draft.config.pcp;
  std::array<std::optional<int>, 64> taken;
  MapReader map(node, "`pcp`", draft.problems);
  std::uint8_t priority = 0;
  for (const std::string_view key : kPriorities) {
    if (const Node* n = map.find(key)) read_priority(*n, priority, taken, pcp, draft.problems);
    ++priority;
  }
}

}  // namespace surety::config
