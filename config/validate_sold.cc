// SPDX-License-Identifier: BSD-3-Clause
// `admission`: committed rates against capacity.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "config/sales.h"
#include "config/sections.h"
#include "config/text/quantity.h"

namespace surety::config {
namespace {

bool sells(const Rule& rule, const Config& c) {
  return c.services[rule.service].committed > Rate{};
}

// Rules without a number of contracts cannot be admitted.
void require_numbers(Draft& draft) {
  const Config& c = draft.config;
  for (std::size_t r = 0; r < c.rules.size(); ++r)
    if (sells(c.rules[r], c) && !c.rules[r].contracts)
      draft.problems.error(draft.rule_places[r],
                           "`admission: refuse` adds up all committed rates: give the number of contracts of "
                           "this rule as `contracts`");
  if (std::ranges::none_of(c.rules, [&](const Rule& r) { return sells(r, c); })) return;
  for (const UplinkShare& u : uplink_shares(c))
    if (!u.uplink.rate)
      draft.problems.error(draft.port_places[u.uplink.port].name,
                           "`admission: refuse` needs the capacity towards the core: give {} its `shape`",
                           u.uplink.name());
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

// True if senders decide the number of contracts of the rule.
bool open_ended(const Rule& rule, const Config& c) {
  return sells(rule, c) && !rule.contracts && !chosen_by_senders(rule.per).empty();
}

// True if IN packets with both DSCPs go to the same queue of each uplink.
bool share_queues(Dscp a, Dscp b, const Config& c) {
  return a == b || std::ranges::all_of(uplinks(c), [&](const Uplink& u) {
           return u.queues == nullptr || u.queues->by_dscp[a].class_index == u.queues->by_dscp[b].class_index;
         });
}

// Capacity for open-ended rules, and the part of it for one rule on one interface.
struct Room {
  Rate all, part;
  std::string_view of = "core ports";
};

// Equal parts of the capacity left by the rules with a number of contracts, of those that `counts` selects.
template <class Counts>
Room room_of(Rate capacity, const Config& c, Counts counts) {
  Promises told(c);
  std::uint64_t parts = 0;
  for (const Rule& rule : c.rules) {
    if (!counts(rule)) continue;
    if (!open_ended(rule, c))
      told.add(rule);
    else if (!from_core(rule, c))
      parts += std::max<std::size_t>(1, places_of(rule.match, c));
  }
  const std::uint64_t all = capacity.bits_per_second(), sold = told.so_far().bits_per_second();
  return {capacity, Rate::bits_per_second(parts == 0 || sold >= all ? 0 : (all - sold) / parts)};
}

// For open-ended rules of a service that marks so: the way out, or the queues there that it leads to,
// whichever leaves each of them less. Only where the way out is known.
Room room_for(std::optional<Dscp> mark, const Config& c) {
  const Room way = room_of(*way_out(c), c, [](const Rule&) { return true; });
  if (!mark) return way;
  Room queues = room_of(*sure_of(c, *mark), c, [&](const Rule& rule) {
    const auto other = c.services[rule.service].mark_in;
    return other && share_queues(*mark, *other, c);
  });
  queues.of = "its queue at core ports";
  return queues.part < way.part ? queues : way;
}

// Bounds the contracts of these rules to the rest of the way out, and of the queues there that they lead to,
// but for one contract each. Rules of core ports are per destination, which a customer cannot multiply. The
// lab is exempt: its scenario lists all senders.
void bound_open_ended_rules(Draft& draft) {
  Config& c = draft.config;
  const bool known = way_out(c).has_value();
  std::map<std::optional<Dscp>, Room> rooms;
  for (std::size_t r = 0; r < c.rules.size(); ++r) {
    Rule& rule = c.rules[r];
    if (!open_ended(rule, c)) continue;
    const Rate each = c.services[rule.service].committed;
    const bool bounded = known && !from_core(rule, c);
    const auto mark = c.services[rule.service].mark_in;
    if (bounded && !rooms.contains(mark)) rooms[mark] = room_for(mark, c);
    const Room room = bounded ? rooms[mark] : Room{};
    if (bounded)
      rule.most = static_cast<std::uint32_t>(
          std::clamp<std::uint64_t>(room.part.bits_per_second() / each.bits_per_second(), 1,
                                    std::numeric_limits<std::uint32_t>::max()));
    if (c.admission != Config::Admission::warn) continue;
    const std::string bound = rule.most ? fmt::format(
                                              "up to {} on each interface and one more for all others, "
                                              "derived from the {} of {}: give their number as",
                                              *rule.most - 1, rate_text(room.all), room.of)
                                        : std::string("without a bound: limit their number by");
    draft.problems.warning(
        draft.rule_places[r],
        "each {} gets a contract of {}, {} `contracts`, or use `per: interface` or `per: rule`",
        chosen_by_senders(rule.per), rate_text(each), bound);
  }
}

// Rounded up, so that a factor just above 1 is 1.01.
std::string factor_text(const Sale& s) {
  const double factor =
      static_cast<double>(s.sold.bits_per_second()) / static_cast<double>(s.capacity->bits_per_second());
  if (factor >= 100) return fmt::format("{:.0f}", factor);
  return fmt::format("{:g}", std::ceil(factor * 100 - 1e-6) / 100);
}

std::string too_much(const Sale& s, std::string_view what, const std::string& of) {
  return fmt::format("oversubscribed by a factor of {}: {} {} in all, more than its {}", factor_text(s),
                     fmt::format(fmt::runtime(what), of), rate_text(s.sold), rate_text(*s.capacity));
}

// All ports towards the core together, once.
void report_way_out(Draft& draft, std::size_t rule) {
  Promises promises(draft.config);
  for (std::size_t r = 0; r <= rule; ++r) promises.add(draft.config.rules[r]);
  draft.oversold(draft.rule_places[rule],
                 fmt::format("rules up to here commit {} in all, more than the {} that core ports carry",
                             rate_text(promises.so_far()), rate_text(*way_out(draft.config))));
}

void report(Draft& draft, const Sale& s) {
  if (s.of == Sale::Of::queue) {
    draft.oversold(
        draft.rule_places[*s.rule],
        fmt::format("rules up to here commit {} in queue `{}` of {} `{}`, more than its guaranteed {}",
                    rate_text(s.sold), s.queue, s.interface.empty() ? "port" : "interface",
                    s.interface.empty() ? s.port : s.interface, rate_text(*s.capacity)));
    return;
  }
  const bool group = s.of == Sale::Of::group;
  const std::string name = group ? fmt::format("group `{}`", s.group) : fmt::format("port `{}`", s.port);
  const Mark at = group ? draft.group_places[s.index].shape : draft.port_places[s.index].shape;
  if (s.way == Sale::Way::down)
    draft.oversold(at, too_much(s, "shapers on {} allow", name));
  else
    draft.oversold(at, too_much(s, "contracts on {} commit", name));
}

}  // namespace

void check_admission(Draft& draft) {
  if (draft.config.admission == Config::Admission::refuse) require_numbers(draft);
  if (!draft.lab) bound_open_ended_rules(draft);
  bool way_out_told = false;
  for (const Sale& s : sales(draft.config)) {
    // An interface, or a single child that exceeds its parent, has its own message (validate_shares.cc).
    if (!s.oversold() || s.of == Sale::Of::interface || (s.way == Sale::Way::down && s.sellers < 2)) continue;
    if (s.of != Sale::Of::port || s.way == Sale::Way::down)
      report(draft, s);
    else if (!std::exchange(way_out_told, true))
      report_way_out(draft, *s.rule);
  }
}

}  // namespace surety::config
