// SPDX-License-Identifier: BSD-3-Clause
// Interfaces among each other and beside ports: names, numbers, tags and groups.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "config/address.h"
#include "config/sections.h"
#include "config/text/quantity.h"

namespace surety::config {
namespace {

// The template that has a member of this name; none: it is no member's.
const Interface* template_of(std::string_view name, const Draft& draft) {
  const auto dot = name.rfind('.');
  if (dot == name.npos) return nullptr;
  const auto tag = parse_integer(name.substr(dot + 1), 1, kMaxVlan).value;
  const auto found = draft.interfaces.find(name.substr(0, dot));
  if (!tag || !found || name[dot + 1] == '0') return nullptr;
  const Interface& i = draft.config.interfaces[*found];
  return i.is_template() && i.first_inner <= *tag && *tag <= i.last_inner ? &i : nullptr;
}

// Metrics, logs and `show` list ports and interfaces together, members of templates too.
void check_names(Draft& draft) {
  const auto& c = draft.config;
  for (std::size_t i = 0; i < c.interfaces.size(); ++i) {
    const auto& name = c.interfaces[i].name;
    if (draft.ports.find(name))
      draft.problems.error(draft.interface_places[i].name,
                           "a port is already called `{}`, and metrics list both", name);
    if (const Interface* t = template_of(name, draft))
      draft.problems.error(draft.interface_places[i].name, "`{}` is already an interface of `{}`", name,
                           t->name);
  }
  for (std::size_t p = 0; p < c.ports.size(); ++p) {
    if (const Interface* t = template_of(c.ports[p].name, draft))
      draft.problems.error(draft.port_places[p].name, "`{}` is already an interface of `{}`", c.ports[p].name,
                           t->name);
  }
}

// At the first that is too many.
void check_numbers(Draft& draft) {
  std::vector<std::size_t> of_port(draft.config.ports.size());
  std::size_t all = 0;
  for (std::size_t i = 0; i < draft.config.interfaces.size(); ++i) {
    const Interface& interface = draft.config.interfaces[i];
    const auto& places = draft.interface_places[i];
    if (!places.known) continue;
    const auto over = [&](std::size_t& n, std::size_t limit) {
      const bool before = n <= limit;
      n += interface.own_count();
      return before && n > limit;
    };
    if (interface.has_link() && over(of_port[interface.port], kMaxInterfacesOfPort))
      draft.problems.error(places.name, "too many interfaces of port `{}`: at most {}",
                           draft.config.ports[interface.port].name, kMaxInterfacesOfPort);
    if (over(all, kMaxInterfaces))
      draft.problems.error(places.name, "too many interfaces: at most {} in all", kMaxInterfaces);
  }
}

// Interfaces on one outer tag of a port, by their first inner tag (0: one tag only).
using Tagged = std::map<std::uint16_t, std::size_t>;

// The interface that has one of the same tags; none: there is no such one.
const Interface* sharer(const Tagged& others, const Interface& i, const Config& c) {
  const auto behind = others.upper_bound(i.last_inner);
  if (behind == others.begin()) return nullptr;
  const Interface& before = c.interfaces[std::prev(behind)->second];
  return before.last_inner >= i.first_inner ? &before : nullptr;
}

std::string tags_of(const Interface& i) {
  if (i.first_inner == 0) return fmt::format("VLAN {}", i.vlan);
  if (!i.is_template()) return fmt::format("VLAN {}.{}", i.vlan, i.first_inner);
  return fmt::format("VLAN {}.{}-{}", i.vlan, i.first_inner, i.last_inner);
}

void check_tags(Draft& draft) {
  const auto& c = draft.config;
  std::map<std::pair<std::size_t, std::uint16_t>, Tagged> tagged;
  for (std::size_t i = 0; i < c.interfaces.size(); ++i) {
    const Interface& interface = c.interfaces[i];
    const auto& places = draft.interface_places[i];
    if (!places.known || !interface.has_link()) continue;
    Tagged& others = tagged[{interface.port, interface.vlan}];
    if (const Interface* other = sharer(others, interface, c)) {
      draft.problems.error(places.tags, "interface `{}` already has {} of this port", other->name,
                           tags_of(*other));
      continue;
    }
    // Ingress matches the outer tag with its protocol before it reads the inner one.
    const auto two = others.upper_bound(0);
    if (interface.first_inner != 0 && two != others.end() &&
        c.interfaces[two->second].vlan_protocol != interface.vlan_protocol)
      draft.problems.error(places.protocol,
                           "interface `{}` has the same outer VLAN {} with another `vlan_protocol`",
                           c.interfaces[two->second].name, interface.vlan);
    others.emplace(interface.first_inner, i);
  }
}

// Subscribers on tags of templates: a tag belongs to one of them.
void check_tags_of_templates(Draft& draft) {
  const auto& interfaces = draft.config.interfaces;
  std::map<std::pair<std::size_t, std::uint16_t>, std::size_t> first;
  for (std::size_t i = 0; i < interfaces.size(); ++i) {
    const Interface& interface = interfaces[i];
    if (!interface.is_tag_of_template()) continue;
    const auto [it, fresh] = first.emplace(std::pair(*interface.within, interface.first_inner), i);
    if (!fresh)
      draft.problems.error(draft.interface_places[i].tags, "subscriber `{}` already has {}",
                           interfaces[it->second].name, tags_of(interface));
  }
}

// Subscribers known by prefixes: an address belongs to one of them.
void check_prefixes(Draft& draft) {
  struct Owned {
    Prefix prefix;
    std::size_t interface;
  };
  std::vector<Owned> all;
  const auto& interfaces = draft.config.interfaces;
  for (std::size_t i = 0; i < interfaces.size(); ++i)
    for (const Prefix& p : interfaces[i].prefixes) all.push_back({p, i});
  std::ranges::stable_sort(all, {}, &Owned::prefix);  // prefixes within another one follow it
  const Owned* around = nullptr;
  for (const Owned& o : all) {
    if (around == nullptr || !around->prefix.contains(o.prefix.address)) {
      around = &o;
      continue;
    }
    const auto& [first, second] = std::minmax(around->interface, o.interface);
    draft.problems.error(draft.interface_places[second].tags, "`{}` is of subscriber `{}`, too",
                         to_string(o.prefix), interfaces[first].name);
  }
}

// A subscriber behind a gateway has a route for each prefix; without room for it the shorter route is used,
// past its shaper.
void warn_about_room(Draft& draft) {
  const auto& c = draft.config;
  std::array<std::size_t, 2> needed{};  // routes of IPv4, and of IPv6
  for (const Route& r : c.routes) ++needed[r.to.address.is_v6()];
  for (std::size_t i = 0; i < c.interfaces.size(); ++i) {
    for (const Prefix& p : c.interfaces[i].prefixes) ++needed[p.address.is_v6()];
    if (c.interfaces[i].has_link() || std::ranges::max(needed) <= c.dpdk.max_routes) continue;
    return draft.problems.warning(
        draft.interface_places[i].name,
        "there may be no room for routes to the subscribers from here on, and then they have no shaper: "
        "increase `dpdk: {{max_routes: {}}}`",
        c.dpdk.max_routes);
  }
}

void check_groups(Draft& draft) {
  const auto& c = draft.config;
  for (std::size_t i = 0; i < c.interfaces.size(); ++i) {
    const Interface& interface = c.interfaces[i];
    const auto& places = draft.interface_places[i];
    if (!places.known || !interface.group || !draft.group_places[*interface.group].known) continue;
    const Group& group = c.groups[*interface.group];
    if (group.port == interface.port) continue;
    draft.problems.error(*places.group, "group `{}` is on port `{}`, this interface on port `{}`", group.name,
                         c.ports[group.port].name, c.ports[interface.port].name);
  }
}

}  // namespace

void validate_interfaces(Draft& draft) {
  check_names(draft);
  check_numbers(draft);
  check_tags(draft);
  check_tags_of_templates(draft);
  check_prefixes(draft);
  check_groups(draft);
}

void warn_about_interfaces(Draft& draft) {
  const auto& c = draft.config;
  std::vector<bool> used(c.groups.size());
  for (std::size_t i = 0; i < c.interfaces.size(); ++i) {
    const Interface& interface = c.interfaces[i];
    if (interface.group) used[*interface.group] = true;
    if (interface.is_template() && interface.addresses.empty())
      draft.problems.warning(draft.interface_places[i].name,
                             "`{}` has no address: the hosts behind it have no gateway and are not found",
                             interface.name);
  }
  for (std::size_t g = 0; g < used.size(); ++g) {
    if (!used[g])
      draft.problems.warning(draft.group_places[g].name, "no interface uses group `{}`", c.groups[g].name);
  }
  warn_about_room(draft);
}

}  // namespace surety::config
