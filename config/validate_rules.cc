// SPDX-License-Identifier: BSD-3-Clause
// Rules that an earlier rule covers can never match: first match wins.
#include <fmt/format.h>

#include <algorithm>

#include "config/sections.h"

namespace surety::config {
namespace {

constexpr std::size_t kMaxCompared = 4096;  // pairs of rules are compared; beyond it that takes too long

template <class T>
bool covers(const std::optional<T>& a, const std::optional<T>& b) {
  return !a || a == b;
}
bool covers(const std::optional<Prefix>& a, const std::optional<Prefix>& b) {
  return !a || (b && a->length <= b->length && a->contains(b->address));
}
bool covers(const PortRange& a, const PortRange& b) {
  return a.from <= b.from && a.to >= b.to;
}

// Everything that `b` matches, `a` matches. One that names no place is for customers (classifier.h), so it is
// not known to cover one that names `trusted`'s.
bool covers(const Match& a, const Match& b, bool trusted) {
  if (trusted && !a.port && !a.interface) return false;
  return covers(a.port, b.port) && covers(a.interface, b.interface) && covers(a.vlan, b.vlan) &&
         covers(a.inner_vlan, b.inner_vlan) && covers(a.source, b.source) &&
         covers(a.destination, b.destination) && covers(a.protocol, b.protocol) &&
         covers(a.source_port, b.source_port) && covers(a.destination_port, b.destination_port) &&
         covers(a.dscp, b.dscp) && (a.family == Match::Family::any || a.family == b.family);
}

// With what the interface says, since rules of a port, or of tags there, are for its interfaces too.
Match spelt_out(const Match& rule, const std::vector<Interface>& interfaces) {
  Match m = rule;
  if (!m.interface) return m;
  const Interface& i = interfaces[*m.interface];
  m.port = i.port;
  m.vlan = i.vlan;
  if (i.first_inner != 0 && !i.is_template()) m.inner_vlan = i.first_inner;
  return m;
}

// It names a place some of whose packets are not a customer's.
bool of_core(const Match& m, const Config& config) {
  constexpr auto core = Port::Trust::core;
  if (m.interface) return config.interfaces[*m.interface].trust == core;
  if (!m.port) return false;
  return config.ports[*m.port].trust == core ||
         std::ranges::any_of(config.interfaces,
                             [&](const Interface& i) { return i.port == *m.port && i.trust == core; });
}

}  // namespace

void warn_about_covered_rules(Draft& draft) {
  const auto& rules = draft.config.rules;
  if (rules.size() > kMaxCompared) return;
  for (std::size_t later = 1; later < rules.size(); ++later) {
    const Match match = spelt_out(rules[later].match, draft.config.interfaces);
    const bool trusted = of_core(rules[later].match, draft.config);
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      if (!covers(rules[earlier].match, match, trusted)) continue;
      draft.problems.warning(draft.rule_places[later],
                             fmt::format("this rule never matches: the rule at {} takes all of its packets",
                                         line_name(draft.rule_places[earlier])));
      break;
    }
  }
}

}  // namespace surety::config
