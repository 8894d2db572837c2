// SPDX-License-Identifier: BSD-3-Clause
// `admission`: what is sold against what is there.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "config/promises.h"
#include "config/sales.h"
#include "config/sections.h"
#include "config/text/quantity.h"

namespace surety::config {
namespace {

bool sells(const Rule& rule, const Config& c) {
  return c.services[rule.service].committed > Rate{};
}

// What cannot be counted cannot be refused.
void require_numbers(Draft& draft) {
  const Config& c = draft.config;
  for (std::size_t r = 0; r < c.rules.size(); ++r)
    if (sells(c.rules[r], c) && !c.rules[r].contracts)
      draft.problems.error(
          draft.rule_places[r],
          "`admission: refuse` counts what is sold: say how many contracts this rule sells by `contracts`");
  if (std::ranges::none_of(c.rules, [&](const Rule& r) { return sells(r, c); })) return;
  const auto core = towards(Port::Trust::core, c);
  for (std::size_t p = 0; p < core.size(); ++p)
    if (core[p] && !c.ports[p].shaper.rate)
      draft.problems.error(
          draft.port_places[p].name,
          fmt::format("`admission: refuse` needs to know the way out: give port `{}` its `shape`",
                      c.ports[p].name));
}

// `per:` of rules whose customers decide how many contracts they are; an interface or a VLAN tag they cannot
// choose.
std::string_view chosen_by_senders(Rule::Per per) {
  switch (per) {
    case Rule::Per::flow:
      return "flow";
    case Rule::Per::source:
      return "source address";
    case Rule::Per::destination:
      return "destination address";
    case Rule::Per::prefix:
      return "source prefix";
    case Rule::Per::rule:
    case Rule::Per::vlan:
    case Rule::Per::interface:
      break;
  }
  return {};
}

// The lab is exempt: its scenario lists all senders.
void warn_about_unbounded_rules(Draft& draft) {
  const Config& c = draft.config;
  for (std::size_t r = 0; r < c.rules.size(); ++r) {
    const Rule& rule = c.rules[r];
    const std::string_view each = chosen_by_senders(rule.per);
    if (each.empty() || rule.contracts || !sells(rule, c)) continue;
    draft.problems.warning(
        draft.rule_places[r],
        fmt::format("each {} gets {} of its own, without a bound: limit them by `contracts`, or sell `per: "
                    "interface` or `per: rule`",
                    each, rate_text(c.services[rule.service].committed)));
  }
}

// 1.01 for whatever is a little more than 1.
std::string factor_text(const Sale& s) {
  const double factor =
      static_cast<double>(s.sold.bits_per_second()) / static_cast<double>(s.capacity->bits_per_second());
  if (factor >= 100) return fmt::format("{:.0f}", factor);
  return fmt::format("{:g}", std::ceil(factor * 100 - 1e-6) / 100);
}

std::string too_much(const Sale& s, std::string_view what, const std::string& of) {
  return fmt::format("sold {} times: {} {} in all, more than its {}", factor_text(s),
                     fmt::format(fmt::runtime(what), of), rate_text(s.sold), rate_text(*s.capacity));
}

// All ports towards the core together, once.
void report_way_out(Draft& draft, std::size_t rule) {
  Promises promises(draft.config);
  for (std::size_t r = 0; r <= rule; ++r) promises.add(draft.config.rules[r]);
  draft.oversold(
      draft.rule_places[rule],
      fmt::format("up to here rules promise {} in all, more than the {} that core ports are shaped to",
                  rate_text(promises.so_far()), rate_text(*way_out(draft.config))));
}

void report(Draft& draft, const Sale& s) {
  if (s.of == Sale::Of::queue) {
    draft.oversold(
        draft.rule_places[*s.rule],
        fmt::format("with this, rules promise {} of queue `{}` of port `{}`, more than the {} that it is "
                    "sure of",
                    rate_text(s.sold), s.queue, s.port, rate_text(*s.capacity)));
    return;
  }
  const bool group = s.of == Sale::Of::group;
  const std::string name = group ? fmt::format("group `{}`", s.group) : fmt::format("port `{}`", s.port);
  const Mark at = group ? draft.group_places[s.index].shape : draft.port_places[s.index].shape;
  if (s.way == Sale::Way::down)
    draft.oversold(at, too_much(s, "shapers on {} let through", name));
  else
    draft.oversold(at, too_much(s, "contracts on {} come to", name));
}

}  // namespace

void check_admission(Draft& draft) {
  if (draft.config.admission == Config::Admission::refuse) require_numbers(draft);
  if (draft.config.admission == Config::Admission::warn && !draft.lab) warn_about_unbounded_rules(draft);
  bool way_out_told = false;
  for (const Sale& s : sales(draft.config)) {
    // An interface, or one alone that has more than its parent, is told so by itself (validate_shares.cc).
    if (!s.oversold() || s.of == Sale::Of::interface || (s.way == Sale::Way::down && s.sellers < 2)) continue;
    if (s.of != Sale::Of::port || s.way == Sale::Way::down)
      report(draft, s);
    else if (!std::exchange(way_out_told, true))
      report_way_out(draft, *s.rule);
  }
}

}  // namespace surety::config
