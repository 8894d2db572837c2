// SPDX-License-Identifier: BSD-3-Clause
// Shapers and caps of classes against the ports and groups that they are below. validate_sold.cc checks the
// shapers' sums.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "aqm/queue_measure.h"
#include "config/sections.h"
#include "config/text/quantity.h"

namespace surety::config {
namespace {

Rate times(std::size_t n, Rate r) {
  return Rate::bits_per_second(n * r.bits_per_second());  // 65,536 times 1 Tbit/s fits
}

double bits_of(Rate r) {
  return static_cast<double>(r.bits_per_second());
}

// Caps of the strict classes, where the set is served at `rate`.
Rate strict_caps(const QueueSet& set, const std::optional<Rate>& rate) {
  Rate sum;
  for (const auto& c : set.classes)
    if (c.scheduling.strict) sum = sum + c.cap_at(rate).value_or(Rate{});
  return sum;
}

// Warns about the strict classes of a port or an interface.
void warn_about_strict_classes(Draft& draft, const char* noun, const PortShaperParams& shaper,
                               std::optional<std::size_t> queues, Mark at) {
  if (!queues || !shaper.rate) return;
  const auto& set = draft.config.queues[*queues];
  const Rate caps = strict_caps(set, shaper.rate);
  if (caps <= *shaper.rate) return;
  draft.problems.warning(
      at, "strict classes of `{}` may take {} in all, more than the {} that this {} is shaped to", set.name,
      rate_text(caps), rate_text(*shaper.rate), noun);
}

// Compares the shaper of a group or an interface with the one below which it is.
void check_shape(Draft& draft, const PortShaperParams& shaper, const PortShaperParams& below,
                 const std::string& on, Mark at) {
  if (!shaper.rate || !below.rate || *shaper.rate <= *below.rate) return;
  draft.oversold(at, fmt::format("{} is more than the {} that {} is shaped to", rate_text(*shaper.rate),
                                 rate_text(*below.rate), on));
}

void warn_about_slow_shaper(Draft& draft, const PortShaperParams& shaper, std::uint16_t mtu, Mark at) {
  if (!shaper.rate) return;
  const double burst = 8.0 * static_cast<double>(shaper.burst.count()) / std::max(1.0, bits_of(*shaper.rate));
  if (burst > 1 && shaper.burst > PortShaperParams{}.burst)
    draft.problems.warning(at, "`burst` is {:.0f} s of {}: that much passes unshaped after a pause", burst,
                           rate_text(*shaper.rate));
  if (*shaper.rate >= Rate::bytes_per_second(mtu)) return;
  draft.problems.warning(at, "{} is less than one packet of {} B a second", rate_text(*shaper.rate), mtu);
}

const QueueClass* uncapped_class(const QueueSet& set) {
  const auto uncapped = [](const QueueClass& q) { return q.scheduling.strict && !q.capped(); };
  const auto found = std::ranges::find_if(set.classes, uncapped);
  return found != set.classes.end() ? &*found : nullptr;
}

// Rate that strict classes of an interface may take; 0 where nothing bounds them, which has its own warning.
Rate strict_part(const QueueSet* set, const std::optional<Rate>& shape, const std::optional<Rate>& rate) {
  if (!set) return {};
  if (uncapped_class(*set)) return shape.value_or(Rate{});
  return std::min(strict_caps(*set, rate), shape.value_or(kMaxRate));
}

// Rate that strict classes below a group or a port may take of it. A class without a limit of its own counts
// as 0: it takes what is left.
struct Load {
  std::size_t children = 0, strict_children = 0;
  Rate strict;
  void add(Rate strict_rate, std::size_t count = 1) {
    children += count;
    strict_children += strict_rate > Rate{} ? count : 0;
    strict = strict + times(count, strict_rate);
  }
  void add(const Load& unshaped) {
    children += unshaped.children;
    strict_children += unshaped.strict_children;
    strict = strict + unshaped.strict;
  }
};

// A single child that exceeds its parent has its own warning.
void warn_about_load(Draft& draft, const Load& load, const std::optional<Rate>& there,
                     const std::string& parent, Mark at) {
  if (!there || load.strict_children < 2 || load.strict <= *there) return;
  draft.problems.warning(
      at, "strict classes on {} may take {} in all, more than its {}: if they do, no other class is served",
      parent, rate_text(load.strict), rate_text(*there));
}

void warn_about_loads(Draft& draft) {
  const Config& c = draft.config;
  std::vector<Load> groups(c.groups.size()), ports(c.ports.size());
  for (const Interface& i : c.interfaces)
    (i.group ? groups[*i.group] : ports[i.port])
        .add(strict_part(c.queues_of(i), i.shaper.rate, c.rate_of(i)), i.own_count());
  for (std::size_t g = 0; g < c.groups.size(); ++g) {
    const auto& rate = c.groups[g].shaper.rate;
    const Load& load = groups[g];
    warn_about_load(draft, load, rate, fmt::format("group `{}`", c.groups[g].name),
                    draft.group_places[g].shape);
    Load& port = ports[c.groups[g].port];
    if (!rate) {
      port.add(load);
    } else if (load.children > 0) {
      port.add(std::min(load.strict, *rate));
    }
  }
  for (std::size_t p = 0; p < c.ports.size(); ++p)
    warn_about_load(draft, ports[p], c.ports[p].shaper.rate, fmt::format("port `{}`", c.ports[p].name),
                    draft.port_places[p].shape);
}

// Strict packets of all interfaces of a port leave before all data.
void warn_about_uncapped_classes(Draft& draft) {
  const Config& c = draft.config;
  std::vector<std::size_t> of_group(c.groups.size()), of_port(c.ports.size());
  for (const Interface& i : c.interfaces) {
    of_port[i.port] += i.own_count();
    if (i.group) of_group[*i.group] += i.own_count();
  }
  for (std::size_t n = 0; n < c.interfaces.size(); ++n) {
    const Interface& i = c.interfaces[n];
    const QueueSet* set = c.queues_of(i);
    const bool bounded = i.group && c.groups[*i.group].shaper.rate;
    const std::size_t sharers = bounded ? of_group[*i.group] : of_port[i.port];
    if (!set || i.shaper.rate || sharers < 2) continue;
    const QueueClass* found = uncapped_class(*set);
    if (!found) continue;
    draft.problems.warning(draft.interface_places[n].name,
                           "strict class `{}` of `{}` has no `rate`, and this interface has no `shape`: the "
                           "class may leave nothing for other interfaces",
                           found->scheduling.name, set->name);
  }
}

void warn_about_ports(Draft& draft) {
  const Config& c = draft.config;
  for (std::size_t p = 0; p < c.ports.size(); ++p) {
    const Port& port = c.ports[p];
    const auto& places = draft.port_places[p];
    warn_about_strict_classes(draft, "port", port.shaper, port.queues, places.name);
    warn_about_slow_shaper(draft, port.shaper, port.mtu, places.shape);
  }
}

void warn_about_groups(Draft& draft) {
  const Config& c = draft.config;
  for (std::size_t g = 0; g < c.groups.size(); ++g) {
    const Group& group = c.groups[g];
    const Port& port = c.ports[group.port];
    const Mark at = draft.group_places[g].shape;
    check_shape(draft, group.shaper, port.shaper, fmt::format("port `{}`", port.name), at);
    warn_about_slow_shaper(draft, group.shaper, port.mtu, at);
  }
}

void warn_about_interface_shapers(Draft& draft) {
  const Config& c = draft.config;
  for (std::size_t i = 0; i < c.interfaces.size(); ++i) {
    const Interface& x = c.interfaces[i];
    const auto& places = draft.interface_places[i];
    const Group* group = x.group ? &c.groups[*x.group] : nullptr;
    if (group && group->shaper.rate) {
      check_shape(draft, x.shaper, group->shaper, fmt::format("group `{}`", group->name), places.shape);
    } else {
      const Port& port = c.ports[x.port];
      check_shape(draft, x.shaper, port.shaper, fmt::format("port `{}`", port.name), places.shape);
    }
    warn_about_slow_shaper(draft, x.shaper, x.mtu, places.shape);
    warn_about_strict_classes(draft, "interface", x.shaper, x.queues, places.name);
  }
}

// The rates at which ports and interfaces serve a queue set.
struct Served {
  std::optional<Rate> slowest, fastest;
  const std::string* unshaped = nullptr;  // name of one that has no rate; null: all have
};

std::vector<Served> served(const Config& c) {
  std::vector<Served> sets(c.queues.size());
  const auto look = [&](std::optional<std::size_t> set, const std::optional<Rate>& rate,
                        const std::string& name) {
    if (!set) return;
    Served& s = sets[*set];
    if (!rate) {
      s.unshaped = &name;
      return;
    }
    s.slowest = std::min(*rate, s.slowest.value_or(*rate));
    s.fastest = std::max(*rate, s.fastest.value_or(*rate));
  };
  for (const Port& p : c.ports) look(p.queues, p.shaper.rate, p.name);
  for (const Interface& i : c.interfaces)
    look(i.queues ? i.queues : c.ports[i.port].queues, c.rate_of(i), i.name);
  return sets;
}

// A weighted class that may take more than all there is, or hardly a packet. Strict classes have a sum
// (warn_about_strict_classes()).
void warn_about_caps(Draft& draft) {
  const Config& c = draft.config;
  const auto sets = served(c);
  for (std::size_t s = 0; s < sets.size(); ++s)
    for (std::size_t k = 0; k < c.queues[s].classes.size(); ++k) {
      const QueueClass& q = c.queues[s].classes[k];
      const auto cap = q.cap_at(sets[s].slowest);
      const auto& at = draft.class_places[s][k].rate;
      if (!at || !cap) continue;
      if (*cap < Rate::bytes_per_second(QueueMeasure::kFullPacket))
        draft.problems.warning(*at, "{} is less than one packet of {} B a second", rate_text(*cap),
                               QueueMeasure::kFullPacket);
      if (!q.scheduling.strict && !sets[s].unshaped && sets[s].fastest && *cap > *sets[s].fastest)
        draft.problems.warning(*at,
                               "{} has no effect: no port or interface with these queues is shaped to more "
                               "than {}",
                               rate_text(*cap), rate_text(*sets[s].fastest));
    }
}

// Packets wait in a full class for as long as it takes to send them.
void warn_about_limits(Draft& draft) {
  constexpr double kMost = 5;  // seconds
  const Config& c = draft.config;
  const auto sets = served(c);
  for (std::size_t s = 0; s < c.queues.size(); ++s)
    for (std::size_t k = 0; k < c.queues[s].classes.size(); ++k) {
      const auto& at = draft.class_places[s][k].limit;
      if (at && c.queues[s].classes[k].limit && sets[s].unshaped)
        draft.problems.warning(
            *at, "`{}` has no `shape` to convert this time into packets: up to {} packets wait there",
            *sets[s].unshaped, ActiveQueueParams{}.limit);
      const auto& slowest = sets[s].slowest;
      if (!at || c.queues[s].classes[k].limit || !slowest) continue;
      const ClassParams& params = c.queues[s].classes[k].scheduling;
      const Rate rate = std::min(*slowest, c.queues[s].classes[k].cap_at(slowest).value_or(*slowest));
      const double seconds =
          8.0 * QueueMeasure::kFullPacket * params.queue.limit / std::max(1.0, bits_of(rate));
      if (seconds <= kMost) continue;
      draft.problems.warning(*at,
                             "packets wait up to {:.0f} s in a full class: its limit is {} packets of 1500 B "
                             "at {}; {:.0f} packets are 100 ms",
                             seconds, params.queue.limit, rate_text(rate),
                             std::max(1.0, std::ceil(params.queue.limit / seconds / 10)));
    }
}

// Best effort in a strict class is served before all classes after it.
void warn_about_strict_best_effort(Draft& draft) {
  for (std::size_t s = 0; s < draft.config.queues.size(); ++s) {
    const QueueSet& set = draft.config.queues[s];
    const std::size_t k = set.by_dscp[0].class_index;
    const ClassParams& c = set.classes[k].scheduling;
    if (!c.strict || set.classes[k].capped() || k + 1 == set.classes.size()) continue;
    draft.problems.warning(
        draft.queue_places[s],
        "best effort is in strict class `{}`, which has no `rate`: the classes after it get only what it "
        "leaves; give it a `rate`, or a `weight` without `priority: strict`",
        c.name);
  }
}

}  // namespace

void validate_parts(Draft& draft) {
  const Config& c = draft.config;
  const auto sets = served(c);
  for (std::size_t s = 0; s < sets.size(); ++s)
    for (std::size_t k = 0; sets[s].unshaped && k < c.queues[s].classes.size(); ++k)
      if (c.queues[s].classes[k].part)
        draft.problems.error(*draft.class_places[s][k].rate,
                             "`{}` has no `shape` of which this is a part; give it one, or write the rate "
                             "like `10 Mbit/s`",
                             *sets[s].unshaped);
}

void warn_about_shares(Draft& draft) {
  warn_about_caps(draft);
  warn_about_limits(draft);
  warn_about_strict_best_effort(draft);
  warn_about_ports(draft);
  warn_about_groups(draft);
  warn_about_interface_shapers(draft);
  warn_about_loads(draft);
  warn_about_uncapped_classes(draft);
}

}  // namespace surety::config
