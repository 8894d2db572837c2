// SPDX-License-Identifier: BSD-3-Clause
// Rules that match nothing: first match wins, and packets from sources to which no route leads back are
// dropped; and contracts that no rule can have.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "config/sections.h"

namespace surety::config {
namespace {

constexpr std::size_t kMaxCompared = 4096;  // pairs of rules are compared; beyond it that takes too long

template <class T>
bool covers(const std::optional<T>& a, const std::optional<T>& b) {
  return !a || a == b;
}
// Lists as in a Match, where only the last prefix not behind another one can contain it.
bool covers(const std::vector<Prefix>& a, const std::vector<Prefix>& b) {
  return a.empty() || (!b.empty() && std::ranges::all_of(b, [&](const Prefix& p) {
           const auto next = std::ranges::upper_bound(a, p);
           return next != a.begin() && std::prev(next)->length <= p.length &&
                  std::prev(next)->contains(p.address);
         }));
}
bool covers(const PortRange& a, const PortRange& b) {
  return a.from <= b.from && a.to >= b.to;
}

// True if `a` matches everything that `b` matches. A match without a place is for customers (classifier.h),
// so it may not cover one that names a place of `trusted`.
bool covers(const Match& a, const Match& b, bool trusted) {
  if (trusted && !a.port && !a.interface) return false;
  return covers(a.port, b.port) && covers(a.interface, b.interface) && covers(a.vlan, b.vlan) &&
         covers(a.inner_vlan, b.inner_vlan) && covers(a.source, b.source) &&
         covers(a.destination, b.destination) && covers(a.protocol, b.protocol) &&
         covers(a.source_port, b.source_port) && covers(a.destination_port, b.destination_port) &&
         covers(a.dscp, b.dscp) && (a.family == Match::Family::any || a.family == b.family);
}

// The match with the interface's port and tags, since rules of a port, or of tags there, match its
// interfaces, too.
Match spelt_out(const Match& rule, const std::vector<Interface>& interfaces) {
  Match m = rule;
  if (!m.interface) return m;
  const Interface& i = interfaces[*m.interface];
  m.port = i.port;
  m.vlan = i.vlan;
  if (i.first_inner != 0 && !i.is_template()) m.inner_vlan = i.first_inner;
  return m;
}

// True if the match includes packets that are not a customer's.
bool of_core(const Match& m, const Config& config) {
  constexpr auto core = Port::Trust::core;
  if (m.interface) return config.interfaces[*m.interface].trust == core;
  if (!m.port) return false;
  return config.ports[*m.port].trust == core ||
         std::ranges::any_of(config.interfaces,
                             [&](const Interface& i) { return i.port == *m.port && i.trust == core; });
}

// Prefixes behind ports and interfaces, as far as the file has them: subnets, and static routes.
class Behind {
 public:
  explicit Behind(const Config& c) : ports_(c.ports.size()), interfaces_(c.interfaces.size()) {
    for (std::size_t p = 0; p < ports_.size(); ++p) add(c.ports[p].addresses, ports_[p]);
    for (std::size_t i = 0; i < interfaces_.size(); ++i) add(c.interfaces[i].addresses, interfaces_[i]);
    for (const Route& route : c.routes)
      for (const NextHop& hop : route.next_hops)
        if (auto* const place = place_of(hop)) place->push_back(route.to);
  }
  const std::vector<Prefix>& port(std::size_t p) const { return ports_[p]; }
  const std::vector<Prefix>& interface(std::size_t i) const { return interfaces_[i]; }

 private:
  void add(const std::vector<Prefix>& addresses, std::vector<Prefix>& place) {
    for (const Prefix& p : addresses) {
      place.push_back(p.masked());
      subnets_.emplace(p.masked(), &place);
      lengths_.insert(p.length);
    }
  }
  // null: the file does not say.
  std::vector<Prefix>* place_of(const NextHop& hop) {
    if (hop.interface) return &interfaces_[*hop.interface];
    if (hop.port) return &ports_[*hop.port];
    for (const std::uint8_t length : lengths_)
      if (hop.via && length <= hop.via->bits())
        if (const auto found = subnets_.find(Prefix{*hop.via, length}.masked()); found != subnets_.end())
          return found->second;
    return nullptr;
  }

  std::vector<std::vector<Prefix>> ports_, interfaces_;
  std::map<Prefix, std::vector<Prefix>*> subnets_;
  std::set<std::uint8_t, std::greater<>> lengths_;
};

bool overlap(const Prefix& a, const Prefix& b) {
  return a.length <= b.length ? a.contains(b.address) : b.contains(a.address);
}

bool any_overlaps(const std::vector<Prefix>& prefixes, const Prefix& with) {
  return std::ranges::any_of(prefixes, [&](const Prefix& p) { return overlap(p, with); });
}

// True if packets from `source` may come by the place: a route leads back, or the file does not say.
template <class Place>
bool may_come(const Place& place, const std::vector<Prefix>& behind, const Prefix& source) {
  return place.source_check != Port::SourceCheck::strict || behind.empty() || any_overlaps(behind, source);
}

// The place that a match names, where packets from `source` cannot come by it; empty: they may.
std::string barred_place(const Match& m, const Prefix& source, const Behind& behind, const Config& c) {
  if (m.interface) {
    const Interface& i = c.interfaces[*m.interface];
    return may_come(i, behind.interface(*m.interface), source) ? "" : fmt::format("interface `{}`", i.name);
  }
  if (!m.port) return {};
  for (std::size_t i = 0; i < c.interfaces.size(); ++i)
    if (c.interfaces[i].port == *m.port && may_come(c.interfaces[i], behind.interface(i), source)) return {};
  const Port& p = c.ports[*m.port];
  return may_come(p, behind.port(*m.port), source) ? "" : fmt::format("port `{}`", p.name);
}

bool lies_in(const Prefix& a, const std::vector<Prefix>& prefixes) {
  return std::ranges::any_of(prefixes,
                             [&](const Prefix& p) { return p.length <= a.length && p.contains(a.address); });
}

// True if a filter permits something, but no packets of the prefixes behind its interface: their source when
// they come, or their destination when they leave.
bool permits_others_only(const Filter& filter, bool in, const std::vector<Prefix>& behind) {
  const auto is_far = [&](const Prefix& p) { return !any_overlaps(behind, p); };
  const auto is_near = [&](const Prefix& p) { return lies_in(p, behind); };
  const auto is_other = [&](const FilterEntry& e) {
    const auto &near = in ? e.match.source : e.match.destination,
               &far = in ? e.match.destination : e.match.source;
    if (!e.permit || !near.empty()) return !e.permit || std::ranges::all_of(near, is_far);
    return !far.empty() && std::ranges::all_of(far, is_near);
  };
  return std::ranges::any_of(filter.entries, &FilterEntry::permit) &&
         std::ranges::all_of(filter.entries, is_other);
}

// The number of prefixes of these lengths that a list has addresses of; none: not bounded in practice.
std::optional<std::uint64_t> prefixes_in(const std::vector<Prefix>& list, std::uint8_t v4, std::uint8_t v6) {
  if (list.empty()) return {};
  std::uint64_t n = 0;
  std::optional<Prefix> last;  // several of the list may lie in one prefix
  for (const Prefix& p : list) {
    const std::uint8_t length = p.address.is_v6() ? v6 : v4;
    const Prefix around = Prefix{p.address, std::min(length, p.length)}.masked();
    if (length > p.length + 32) return {};
    if (around != last) n += std::uint64_t{1} << (length - around.length);
    last = around;
  }
  return n;
}

// Upper bound of the contracts that the match allows; none: not bounded in practice.
std::optional<std::uint64_t> most_contracts(const Rule& rule) {
  switch (rule.per) {
    case Rule::Per::source:
      return prefixes_in(rule.match.source, 32, 128);
    case Rule::Per::destination:
      return prefixes_in(rule.match.destination, 32, 128);
    case Rule::Per::prefix:
      return prefixes_in(rule.match.source, rule.prefix_v4, rule.prefix_v6);
    default:
      return {};
  }
}

// Warns of sources of a rule from which no packet comes.
void warn_about_sources(Draft& draft, std::size_t rule, const Behind& behind) {
  const Match& m = draft.config.rules[rule].match;
  for (const Prefix& source : m.source) {
    if (is_multicast(source.address))
      draft.problems.warning(draft.rule_places[rule], "{}no packet comes from `{}`",
                             m.source.size() == 1 ? "this rule never matches: " : "", to_string(source));
    else if (const std::string place = barred_place(m, source, behind, draft.config); !place.empty())
      draft.problems.warning(draft.rule_places[rule],
                             "`{}` is not behind {}: its packets are dropped there (`source_check`) unless "
                             "the kernel has a route back",
                             to_string(source), place);
  }
}

// Warns of a filter that permits packets, but none of the networks behind `name`.
void warn_about_filter(Draft& draft, const std::optional<std::size_t>& filter, bool in, Mark at,
                       std::string_view name, const std::vector<Prefix>& there) {
  if (!filter || there.empty()) return;
  const Filter& f = draft.config.filters[*filter];
  if (permits_others_only(f, in, there))
    draft.problems.warning(
        at, "filter `{}` lets nothing {} `{}`: no `permit` matches packets {} the networks behind it", f.name,
        in ? "in from" : "out to", name, in ? "from" : "to");
}

}  // namespace

void warn_about_sources(Draft& draft) {
  const Config& c = draft.config;
  if (draft.lab) return;
  const Behind behind(c);
  for (std::size_t r = 0; r < c.rules.size(); ++r) warn_about_sources(draft, r, behind);
  const auto look = [&](const auto& at, Mark mark, const std::vector<Prefix>& there) {
    warn_about_filter(draft, at.filter_in, true, mark, at.name, there);
    warn_about_filter(draft, at.filter_out, false, mark, at.name, there);
  };
  for (std::size_t p = 0; p < c.ports.size(); ++p)
    if (c.ports[p].trust == Port::Trust::customer)  // routing protocols decide what is behind the others
      look(c.ports[p], draft.port_places[p].name, behind.port(p));
  for (std::size_t i = 0; i < c.interfaces.size(); ++i)
    look(c.interfaces[i], draft.interface_places[i].name, behind.interface(i));
}

void warn_about_contracts(Draft& draft) {
  const Config& c = draft.config;
  std::uint64_t all = 0;
  for (std::size_t r = 0; r < c.rules.size(); ++r) {
    const Rule& rule = c.rules[r];
    const std::uint64_t sells = rule.contracts.value_or(0);
    if (const auto most = most_contracts(rule); most && sells > *most)
      draft.problems.warning(
          draft.rule_places[r],
          "`contracts` is {}, but there can be only {}: correct `contracts`, `per` or the prefix", sells,
          *most);
    if (std::holds_alternative<None>(c.services[rule.service].conditioner)) continue;
    const std::uint64_t before = std::exchange(all, all + sells), room = c.flow_table.capacity;
    if (before <= room && all > room)
      draft.problems.warning(draft.rule_places[r],
                             "rules up to here have {} contracts, but the flow table has room for {}: set "
                             "`flow_table: {{capacity: {}}}`",
                             all, room, 2 * all);
  }
}

void warn_about_covered_rules(Draft& draft) {
  const auto& rules = draft.config.rules;
  if (rules.size() > kMaxCompared) return;
  for (std::size_t later = 1; later < rules.size(); ++later) {
    const Match match = spelt_out(rules[later].match, draft.config.interfaces);
    const bool trusted = of_core(rules[later].match, draft.config);
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      if (!covers(rules[earlier].match, match, trusted)) continue;
      draft.problems.warning(draft.rule_places[later], "{}: the rule at {} takes all of its packets",
                             rules[later].number > 0 ? "this rule never matches"
                                                     : "the plan's service never applies to this subscriber",
                             line_name(draft.rule_places[earlier]));
      break;
    }
  }
}

}  // namespace surety::config
