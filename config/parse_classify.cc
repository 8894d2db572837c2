// SPDX-License-Identifier: BSD-3-Clause
// Section `classify`: ordered rules, and those of subscribers behind them.
#include <algorithm>
#include <map>

#include "config/reader.h"
#include "config/sections.h"

namespace surety::config {
namespace {

constexpr std::size_t kMaxRules = 65535;            // the pairs of their sources and destinations counted
constexpr std::uint64_t kMaxContracts = 1'000'000;  // per rule

void read_per(MapReader& map, Rule& rule, Problems& problems) {
  using Per = Rule::Per;
  map.read_word("per", rule.per,
                {{"rule", Per::rule},
                 {"flow", Per::flow},
                 {"source", Per::source},
                 {"destination", Per::destination},
                 {"prefix", Per::prefix},
                 {"vlan", Per::vlan},
                 {"interface", Per::interface}});
  const Node* n = map.find("prefix");
  if (!n) return;
  if (rule.per != Per::prefix) problems.error(n->mark, "`prefix` needs `per: prefix`");
  MapReader lengths(*n, "`prefix`", problems);
  read_integer(lengths.find("ipv4"), 1, 32, rule.prefix_v4, problems);
  read_integer(lengths.find("ipv6"), 1, 128, rule.prefix_v6, problems);
}

// Number of ports whose untagged packets the rule matches.
std::size_t matched(const Match& m, const std::vector<Port>& ports) {
  if (m.interface || m.vlan.value_or(0) != 0) return 0;
  if (m.port) return 1;
  return static_cast<std::size_t>(
      std::ranges::count_if(ports, [](const Port& p) { return p.trust == Port::Trust::customer; }));
}

// `per: interface`: one contract for each interface.
std::uint32_t interfaces_of(const Match& m, const Config& c) {
  std::size_t n = matched(m, c.ports);
  for (const Interface& i : c.interfaces) n += matched(m, i, c);
  return static_cast<std::uint32_t>(n);
}

// Rounded up, so that customers on all of the interfaces get their number of contracts.
std::uint32_t most_of(std::uint32_t contracts, const Match& m, const Config& c) {
  const auto places = static_cast<std::uint32_t>(std::max<std::size_t>(1, places_of(m, c)));
  return contracts / places + (contracts % places != 0);
}

void read_contracts(MapReader& map, Rule& rule, Draft& draft) {
  auto& problems = draft.problems;
  std::uint32_t n = 1;
  const Node* node = map.find("contracts");
  const bool given = read_integer(node, 1, kMaxContracts, n, problems);
  if (rule.per == Rule::Per::interface && !node) {
    rule.contracts = interfaces_of(rule.match, draft.config);
    return;
  }
  const bool one = rule.per == Rule::Per::rule;
  if (node && one)
    problems.error(node->mark, "with `per: rule` a rule is one contract; leave `contracts` out");
  if (given || one) rule.contracts = n;
  if (given && !one && rule.per != Rule::Per::interface) rule.most = most_of(n, rule.match, draft.config);
}

Rule rule_at(Mark mark) {
  Rule rule;
  rule.line = std::max(0, mark.line);
  if (mark.file != nullptr) rule.file = mark.file->name;
  return rule;
}

// Untagged packets of the port, or those of the link that the hosts are on.
void match_hosts_of(const Interface& i, Match& m) {
  m.interface = i.within;
  if (!i.within) m.port = i.port, m.vlan = 0;
  if (i.is_tag_of_template()) {
    m.inner_vlan = i.first_inner;
    return;
  }
  m.source = i.prefixes;
  const bool v6 = m.source.empty() || m.source.back().address.is_v6();
  if (!m.source.empty() && m.source.front().address.is_v6() == v6)
    m.family = v6 ? Match::Family::ipv6 : Match::Family::ipv4;
}

void report_too_many(Mark at, Problems& problems) {
  problems.error(at, "too many rules: at most {}, where each pair of a source and a destination counts",
                 kMaxRules);
}

}  // namespace

bool matches_all_fields(const Match& rule) {
  Match m = rule;
  m.port = m.interface = {};
  m.vlan = m.inner_vlan = {};
  return matches_all(m);
}

std::size_t matched(const Match& m, const Interface& i, const Config& c) {
  if (!i.has_link()) return 0;
  // Rules of tags are before one for all packets, and behind others.
  const std::size_t all = matches_all_fields(m) ? i.own_count() : i.count();
  if (m.interface) return &c.interfaces[*m.interface] == &i ? all : 0;
  if (m.port ? *m.port != i.port : i.trust != Port::Trust::customer) return 0;
  if (m.vlan && *m.vlan != i.vlan) return 0;
  if (!m.inner_vlan) return all;
  return i.first_inner <= *m.inner_vlan && *m.inner_vlan <= i.last_inner ? 1 : 0;
}

bool is_for_all_of(const Match& m, const Interface& i, const Config& c) {
  const Port::Trust link = i.prefixes.empty() ? i.trust
                           : i.within         ? c.interfaces[*i.within].trust
                                              : c.ports[i.port].trust;
  const bool here = m.interface ? &c.interfaces[*m.interface] == &i
                    : m.port    ? *m.port == i.port
                                : link == Port::Trust::customer;
  const bool one_tag = m.inner_vlan && i.is_template();
  return here && !one_tag && (!m.vlan || *m.vlan == i.vlan) &&
         (!m.inner_vlan || *m.inner_vlan == i.first_inner) && matches_all_fields(m);
}

std::size_t places_of(const Match& m, const Config& c) {
  if (m.interface) return matched(m, c.interfaces[*m.interface], c);
  std::vector<std::size_t> on_port(c.ports.size());
  std::size_t n = 0;
  for (const Interface& i : c.interfaces) {
    const std::size_t here = matched(m, i, c);
    if (here != 0) on_port[i.port] = here;
    n += here;
  }
  for (std::size_t p = 0; p < c.ports.size(); ++p) {
    const bool applies = m.port ? *m.port == p : c.ports[p].trust == Port::Trust::customer;
    if (applies && (m.vlan.value_or(0) == 0 || on_port[p] == 0)) ++n;
  }
  return n;
}

void read_classify(const Node& node, Draft& draft) {
  auto& problems = draft.problems;
  std::size_t pairs = 0;
  for (const Node* n : sequence(node, "rules, like `- {match: {port: lan0}, service: silver}`", problems)) {
    Rule rule = rule_at(n->mark);
    rule.number = draft.config.rules.size() + 1;
    MapReader map(*n, "a rule", problems);
    if (const Node* match = map.require("match")) read_rule_match(*match, rule.match, draft);
    if (const Node* s = map.require("service")) {
      rule.service = draft.services.resolve(*s, "service", problems).value_or(0);
    }
    read_per(map, rule, problems);
    read_contracts(map, rule, draft);
    draft.config.rules.push_back(rule);
    draft.rule_places.push_back(n->mark);
    pairs += pairs_of(draft.config.rules.back().match);
    if (pairs > kMaxRules) return report_too_many(n->mark, problems);
  }
}

// The first rule of the file that has all packets of the template; the number of rules: none has.
std::size_t first_of_all(std::size_t interface, const Config& c) {
  const Interface& i = c.interfaces[interface];
  const auto has_all = [&](const Rule& r) { return is_for_all_of(r.match, i, c); };
  return static_cast<std::size_t>(std::ranges::find_if(c.rules, has_all) - c.rules.begin());
}

void add_rules_of_subscribers(Draft& draft) {
  auto& rules = draft.config.rules;
  std::size_t pairs = 0;
  for (const Rule& rule : rules) pairs += pairs_of(rule.match);
  std::map<std::size_t, std::size_t> fronts;  // place of the rules for tags of a template
  struct Placed {
    std::size_t at;
    Rule rule;
    Mark mark;
  };
  std::vector<Placed> placed;
  for (const Draft::SubscriberRule& s : draft.subscriber_rules) {
    Rule rule = rule_at(s.at);
    const Interface& interface = draft.config.interfaces[s.interface];
    std::size_t at = rules.size();
    rule.service = s.service;
    rule.subscriber = s.interface;
    if (interface.has_link()) {
      rule.match.interface = s.interface;
      rule.per = Rule::Per::interface;
    } else {
      match_hosts_of(interface, rule.match);
      rule.customer = interface.name;
    }
    if (interface.is_tag_of_template()) {
      const auto [front, fresh] = fronts.try_emplace(*interface.within);
      if (fresh) front->second = first_of_all(*interface.within, draft.config);
      at = front->second;
    }
    if (!interface.prefixes.empty()) ++at;  // the data plane finds them by the source (classifier.h)
    rule.contracts = static_cast<std::uint32_t>(interface.count());
    pairs += pairs_of(rule.match);
    placed.push_back({at, std::move(rule), s.at});
    if (pairs > kMaxRules) {
      report_too_many(s.at, draft.problems);
      break;
    }
  }
  std::ranges::stable_sort(placed, {}, &Placed::at);
  std::vector<Rule> all;
  std::vector<Mark> places;
  auto next = placed.begin();
  for (std::size_t at = 0; at <= rules.size(); ++at) {
    for (; next != placed.end() && next->at == at; ++next) {
      all.push_back(std::move(next->rule));
      places.push_back(next->mark);
    }
    if (at == rules.size()) break;
    all.push_back(std::move(rules[at]));
    places.push_back(draft.rule_places[at]);
  }
  for (; next != placed.end(); ++next) {
    all.push_back(std::move(next->rule));
    places.push_back(next->mark);
  }
  rules = std::move(all);
  draft.rule_places = std::move(places);
}

}  // namespace surety::config
