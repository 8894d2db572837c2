// SPDX-License-Identifier: BSD-3-Clause
#include "config/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <vector>

#include "config/changes.h"
#include "config/parse.h"
#include "config/sales.h"
#include "config/sections.h"
#include "config/text/quantity.h"

namespace surety::config {
namespace {

std::string counted(std::size_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::string contents(const Config& c) {
  std::vector<std::string> parts{counted(c.ports.size(), "port")};
  const auto add = [&](std::size_t n, std::string_view noun) {
    if (n > 0) parts.push_back(counted(n, noun));
  };
  std::size_t interfaces = 0;
  for (const Interface& i : c.interfaces) interfaces += i.own_count();
  add(interfaces, "interface");
  add(c.groups.size(), "group");
  add(c.filters.size(), "filter");
  add(c.routes.size(), "route");
  add(c.queues.size(), "queue set");
  add(c.services.size(), "service");
  add(c.rules.size(), "rule");
  add(c.aggregates.size(), "aggregate");
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

Report check(const std::string& path) {
  auto result = parse_file(path);
  Report report;
  const auto count_of = [&](Diagnostic::Severity severity) {
    return static_cast<std::size_t>(std::ranges::count(result.diagnostics, severity, &Diagnostic::severity));
  };
  const auto errors = count_of(Diagnostic::Severity::error),
             warnings = count_of(Diagnostic::Severity::warning);
  for (const auto& d : result.diagnostics) report.text += d.format();
  const auto warned = warnings > 0 ? ", " + counted(warnings, "warning") : std::string();
  if (result.ok()) {
    const std::string customers = sold(*result.config), all = sold_in_all(*result.config);
    report.text += customers + (customers.empty() || all.empty() ? "" : "\n") + all;
    report.sum = fmt::format("{}: ok: {}{}\n", path, contents(*result.config), warned);
  } else {
    report.sum = fmt::format("{}: {}{}\n", path, counted(errors, "error"), warned);
  }
  report.config = std::move(result.config);
  return report;
}

int diff(const std::string& before, const std::string& after, std::string& report) {
  const auto a = parse_file(before), b = parse_file(after);
  report.clear();
  for (const auto* result : {&a, &b})
    for (const auto& d : result->diagnostics)
      if (d.severity == Diagnostic::Severity::error) report += d.format();
  if (!a.ok() || !b.ok()) return 2;
  report = to_text(changes(*a.config, *b.config));
  return report.empty() ? 0 : 1;
}

namespace {

// ` (assured of up0, up1)`: the queues of packets with this DSCP; no value: packets keep their DSCP.
std::string queue_text(std::optional<Dscp> dscp, const std::vector<Uplink>& uplinks) {
  if (uplinks.empty()) return "";
  if (!dscp) return " (by DSCP)";
  std::vector<std::string> queues;
  std::map<std::string, std::vector<std::string_view>> of_queue;
  for (const Uplink& u : uplinks) {
    std::string queue = "the queue";
    if (u.queues) {
      const auto& entry = u.queues->by_dscp[*dscp];
      queue = u.queues->classes[entry.class_index].scheduling.name;
      if (entry.precedence != Precedence::in)
        queue.insert(0, entry.precedence == Precedence::out ? "OUT in " : "red in ");
    }
    if (of_queue[queue].empty()) queues.push_back(queue);
    of_queue[queue].push_back(u.word);
  }
  for (std::string& queue : queues) queue += fmt::format(" of {}", fmt::join(of_queue[queue], ", "));
  return fmt::format(" ({})", fmt::join(queues, "; "));
}

// Suffix that names the scope of a contract, where it is not simply the interface.
const char* per_text(const Rule& rule, const Interface& i) {
  switch (rule.per) {
    case Rule::Per::interface:
      return "";
    case Rule::Per::rule:
      return rule.match.interface && !i.is_template() ? "" : " shared";
    case Rule::Per::flow:
      return " per flow";
    case Rule::Per::source:
      return " per source";
    case Rule::Per::destination:
      return " per destination";
    case Rule::Per::prefix:
      return " per prefix";
    case Rule::Per::vlan:
      return " per vlan";
  }
  return "";
}

// `20 x ` where the file says how many of them this interface has.
std::string number_text(const Rule& rule) {
  const bool several = rule.match.interface && rule.contracts && rule.per != Rule::Per::interface;
  return several && *rule.contracts > 1 ? fmt::format("{} x ", *rule.contracts) : "";
}

// Rules grouped by interface: with 65,000 interfaces of one rule each, each visit is short.
class RulesOf {
 public:
  explicit RulesOf(const Config& c) : of_interface_(c.interfaces.size()) {
    std::unordered_map<std::string_view, std::size_t> hosts;  // interfaces known by addresses
    for (std::size_t i = 0; i < c.interfaces.size(); ++i)
      if (!c.interfaces[i].has_link()) hosts.emplace(c.interfaces[i].name, i);
    for (const Rule& r : c.rules)
      if (!r.customer.empty())
        of_interface_[hosts.at(r.customer)].push_back(&r);
      else
        (r.match.interface ? of_interface_[*r.match.interface] : anybodys_).push_back(&r);
  }
  // Visits the rules that may match packets from the interface, in order, while `more` returns true.
  template <class F>
  void visit(std::size_t interface, F&& more) const {
    auto own = of_interface_[interface].begin(), any = anybodys_.begin();
    const auto last_own = of_interface_[interface].end(), last_any = anybodys_.end();
    while (own != last_own || any != last_any) {
      const bool is_own = any == last_any || (own != last_own && *own < *any);
      if (!more(is_own ? **own++ : **any++)) return;
    }
  }

 private:
  std::vector<std::vector<const Rule*>> of_interface_;
  std::vector<const Rule*> anybodys_;
};

std::string upstream(const Interface& i, const RulesOf& rules, const std::vector<Uplink>& uplinks,
                     const Config& c) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> parts;
  rules.visit(static_cast<std::size_t>(&i - c.interfaces.data()), [&](const Rule& rule) {
    const bool own = !rule.customer.empty();
    const std::size_t n = own ? 1 : matched(rule.match, i, c);
    const Service& s = c.services[rule.service];
    if (n > 0 && s.committed > Rate{}) {
      parts.push_back(parts.size() == kMost
                          ? "more"
                          : fmt::format("{}{} {}{}{}", number_text(rule), rate_text(s.committed), s.name,
                                        own ? "" : per_text(rule, i), queue_text(s.mark_in, uplinks)));
    }
    return parts.size() <= kMost && !own &&
           !is_for_all_of(rule.match, i, c);  // the first that matches decides
  });
  return parts.empty() ? "best effort" : fmt::format("{}", fmt::join(parts, ", "));
}

// The rate of its own shaper; without one, that of its group or port.
std::string downstream(const Interface& i, const Config& c) {
  if (i.shaper.rate) return rate_text(*i.shaper.rate);
  const std::optional<Rate> none;
  const auto& group = i.group ? c.groups[*i.group].shaper.rate : none;
  const auto& port = c.ports[i.port].shaper.rate;
  if (group && (!port || *group <= *port)) return fmt::format("up to {}", rate_text(*group));
  return port ? fmt::format("up to {}", rate_text(*port)) : "the link";
}

// The weights of all that shares a port or a group; a group without interfaces never does.
struct Weights {
  std::vector<std::uint64_t> ports, groups;
  explicit Weights(const Config& c) : ports(c.ports.size()), groups(c.groups.size()) {
    for (const Interface& i : c.interfaces)
      (i.group ? groups[*i.group] : ports[i.port]) += std::uint64_t{i.weight} * i.own_count();
    for (std::size_t g = 0; g < groups.size(); ++g)
      if (groups[g] > 0) ports[c.groups[g].port] += c.groups[g].weight;
  }
};

// `4/7 of access0 (1 Gbit/s)`.
template <class Parent>
std::string part_text(std::uint64_t weight, std::uint64_t all, const Parent& parent) {
  const auto& rate = parent.shaper.rate;
  return fmt::format("{}/{} of {}{}", weight, all, parent.name,
                     rate ? fmt::format(" ({})", rate_text(*rate)) : "");
}

std::string share(const Interface& i, const Weights& weights, const Config& c) {
  const Port& port = c.ports[i.port];
  if (!i.group) return part_text(i.weight, weights.ports[i.port], port);
  const Group& group = c.groups[*i.group];
  return part_text(i.weight, weights.groups[*i.group], group) + ", " +
         part_text(group.weight, weights.ports[i.port], port);
}

// `voice strict 5 Mbit/s, data`; weights where several weighted classes share.
std::string classes(const QueueSet* set, const std::optional<Rate>& rate) {
  if (!set) return "one";
  std::uint64_t weights = 0;
  std::vector<std::string> parts;
  for (const auto& q : set->classes) weights += q.scheduling.strict ? 0 : q.scheduling.weight;
  for (const auto& q : set->classes) {
    const ClassParams& s = q.scheduling;
    const auto cap = q.cap_at(rate);
    const std::string most = cap ? " " + rate_text(*cap) : "";
    if (s.strict)
      parts.push_back(s.name + " strict" + most);
    else
      parts.push_back((s.weight == weights ? s.name : fmt::format("{} {}/{}", s.name, s.weight, weights)) +
                      (cap ? " at most" : "") + most);
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string name_of(const Interface& i) {
  if (!i.is_template()) return i.name;
  return fmt::format("{}.{}-{} (each of {})", i.name, i.first_inner, i.last_inner, i.count());
}

template <std::size_t n>
std::string table(const std::vector<std::array<std::string, n>>& rows) {
  std::array<std::size_t, n> widths{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < n; ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < n; ++i) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

std::string name_of(const Sale& s) {
  if (s.of == Sale::Of::queue)
    return fmt::format("queue {} of {}", s.queue, s.interface.empty() ? "port " + s.port : s.interface);
  return s.of == Sale::Of::group ? "group " + s.group : "port " + s.port;
}

}  // namespace

std::string sold(const Config& config) {
  std::vector<std::array<std::string, 6>> rows{{"customer", "interface", "up", "down", "share", "queues"}};
  const auto ways_out = uplinks(config);
  const RulesOf rules(config);
  const Weights weights(config);
  for (const Interface& i : config.interfaces) {
    if (i.trust != Port::Trust::customer) continue;
    rows.push_back({i.customer, name_of(i), upstream(i, rules, ways_out, config), downstream(i, config),
                    share(i, weights, config), classes(config.queues_of(i), config.rate_of(i))});
  }
  return rows.size() > 1 ? table(rows) : "";
}

std::string sold_in_all(const Config& config) {
  std::vector<std::array<std::string, 5>> rows{{"of", "direction", "committed", "capacity", ""}};
  for (const Sale& s : sales(config)) {
    if (s.of == Sale::Of::interface) continue;
    rows.push_back({name_of(s), s.way == Sale::Way::up ? "up" : "down", rate_text(s.sold),
                    s.capacity ? rate_text(*s.capacity) : "-", s.oversold() ? "oversubscribed" : ""});
  }
  return rows.size() > 1 ? table(rows) : "";
}

}  // namespace surety::config
