// SPDX-License-Identifier: BSD-3-Clause
// Committed rates, buckets and buffers against capacity.
#include <fmt/format.h>

#include <algorithm>

#include "config/sales.h"
#include "config/sections.h"
#include "config/text/quantity.h"

namespace surety::config {
namespace {

constexpr double kMostAutoMax = 10;  // the limit of any ratio in a file

std::uint16_t largest_customer_mtu(const Config& c) {
  std::uint16_t mtu = 0;
  const auto look = [&](const auto& x) {
    if (x.trust == Port::Trust::customer) mtu = std::max(mtu, x.mtu);
  };
  std::ranges::for_each(c.ports, look);
  std::ranges::for_each(c.interfaces, look);
  return mtu;
}

bool has_auto_max(const Service& service) {
  const auto* csa = std::get_if<Csa>(&service.conditioner);
  return csa && csa->alpha.auto_max;
}

// None where a rule's number of contracts is not known, which is reported.
std::optional<Promised> promised(Draft& draft) {
  Promises sum(draft.config);
  bool known = true;
  for (std::size_t i = 0; i < draft.config.rules.size(); ++i) {
    const auto& rule = draft.config.rules[i];
    const auto& service = draft.config.services[rule.service];
    if (service.committed == Rate{}) continue;
    known = known && rule.contracts;
    if (!rule.contracts)
      draft.problems.error(draft.rule_places[i],
                           "`max: auto` of `alpha` is derived from all committed rates: give the number of "
                           "contracts of this rule as `contracts`");
    sum.add(rule);
  }
  return known ? std::optional(sum.all()) : std::nullopt;
}

// The capacity beyond policed rates, over the other committed rates, less one.
double auto_max(Rate capacity, const Promised& sold) {
  const double left = static_cast<double>(capacity.bits_per_second()) - sold.policed;
  return sold.open > 0 ? left / sold.open - 1 : kMostAutoMax;
}

void settle(CsaParams& alpha, Mark at, std::optional<Rate> capacity, const Promised& sold,
            Problems& problems) {
  if (!capacity) {
    problems.error(at,
                   "`auto` is derived from the capacity towards the core: give each port with `trust: core` "
                   "its `shape`");
    return;
  }
  const double max = auto_max(*capacity, sold);
  if (max <= alpha.min.value()) {
    problems.error(at, "`auto` is {:.3f}, not above `min` {:g}: core ports carry {} and rules commit {}", max,
                   alpha.min.value(), rate_text(*capacity), rate_text(sold.all()));
    return;
  }
  alpha.max = Ratio::of(std::min(max, kMostAutoMax));
}

// Sum of the rates of the class's aggregates, from the first to `last`.
Rate permitted_up_to(const std::vector<Aggregate>& aggregates, std::size_t last) {
  Rate sum;
  for (std::size_t i = 0; i <= last; ++i) {
    if (same_class(aggregates[i], aggregates[last])) sum = sum + aggregates[i].marker.tpr_max;
  }
  return sum;
}

// A bound of a class, and its name in messages.
struct Limit {
  Rate rate;
  const char* name;
};

// The lowest bound of an aggregate's packets on their way out of this router.
std::optional<Limit> narrowest(const Aggregate& a, const Config& c) {
  std::optional<Limit> least;
  const auto look = [&](const std::optional<Rate>& rate, const char* name) {
    if (rate && (!least || *rate < least->rate)) least = {*rate, name};
  };
  const auto& rate = a.interface ? c.rate_of(c.interfaces[*a.interface]) : c.ports[a.port].shaper.rate;
  look(c.queues_before(a)->classes[a.class_index].cap_at(rate), "class may take");
  if (a.interface) {
    const Interface& i = c.interfaces[*a.interface];
    look(i.shaper.rate, "interface is shaped to");
    if (i.group) look(c.groups[*i.group].shaper.rate, "group is shaped to");
  }
  look(c.ports[a.port].shaper.rate, "port is shaped to");
  return least;
}

// TCP sends a window at once; a conditioner of two colours marks the part beyond its bucket OUT, and delays
// the part that it holds.
void warn_about_burst(Draft& draft, std::size_t i) {
  constexpr double kLeast = 0.02, kUsual = 0.1;  // seconds of the rate
  const Service& s = draft.config.services[i];
  const auto& buckets = draft.service_places[i].buckets;
  if (draft.lab || buckets.empty() || std::holds_alternative<Police>(s.conditioner)) return;
  const double rate = static_cast<double>(s.committed.bits_per_second()) / 8;
  const auto depth = static_cast<double>(committed_bucket(s.conditioner).count());
  if (depth >= rate * kLeast) return;
  draft.problems.warning(
      buckets.front().first,
      "the bucket holds {:.1f} ms of {}, less than the bursts of a TCP connection; {:.0f} kB are 100 ms",
      depth / rate * 1000, rate_text(s.committed), rate * kUsual / 1000);
}

// A bucket of many seconds lets a customer send IN for as long; `kbit/s` for `Mbit/s` makes one.
void warn_about_deep_buckets(Draft& draft, std::size_t i) {
  constexpr double kMost = 10;  // seconds of the rate
  const Service& s = draft.config.services[i];
  const double rate = static_cast<double>(s.committed.bits_per_second()) / 8;
  for (const auto& [at, depth] : draft.service_places[i].buckets) {
    const double seconds = static_cast<double>(depth.count()) / std::max(rate, 1.0);
    if (draft.lab || seconds <= kMost) continue;
    draft.problems.warning(
        at, "the bucket holds {:.0f} s of {}: that much can be sent at once; {:.0f} B are 100 ms", seconds,
        rate_text(s.committed), rate / 10);
  }
}

void warn_about_objective(Draft& draft, std::size_t i) {
  const auto& objective = draft.config.services[i].objective;
  if (!objective || *objective >= 0.5) return;
  draft.problems.warning(
      draft.service_places[i].name,
      "`objective` is {:g} % of the seconds: a service that fails in most of them still meets it",
      *objective * 100);
}

// RFC 2698: a green packet needs tokens in both buckets.
void warn_about_peak(Draft& draft, std::size_t i) {
  const auto* t = std::get_if<TrTcm>(&draft.config.services[i].conditioner);
  const auto& buckets = draft.service_places[i].buckets;
  if (!t || t->rfc4115 || t->pbs >= t->cbs || buckets.empty()) return;
  draft.problems.warning(
      buckets.back().first,
      "`peak_burst` is less than `committed_burst`: of a burst of {} B, all beyond {} B is red",
      t->cbs.count(), t->pbs.count());
}

}  // namespace

// The sum of what aggregates may send IN has to fit through the links after them (the ARD paper, section 2.2:
// the sum of the contracts is at most the bottleneck's bandwidth, which is TPR_max).
void validate_aggregates(Draft& draft) {
  const Config& c = draft.config;
  for (std::size_t i = 0; i < c.aggregates.size(); ++i) {
    const Aggregate& a = c.aggregates[i];
    const auto limit = narrowest(a, c);
    const Rate sum = permitted_up_to(c.aggregates, i);
    if (!limit || sum <= limit->rate) continue;
    const auto fits =
        sum == a.marker.tpr_max
            ? std::string("`rate` is ")
            : fmt::format("aggregates of this class up to here have {} in all, ", rate_text(sum));
    draft.problems.error(draft.aggregate_places[i].rate, "{}more than the {} that its {}", fits,
                         rate_text(limit->rate), limit->name);
  }
}

// A marker that permits less than the committed rates remarks IN packets of contracts.
void warn_about_aggregates(Draft& draft) {
  const Config& c = draft.config;
  const auto sold = sales(c);
  for (std::size_t i = 0; i < c.aggregates.size(); ++i) {
    const Aggregate& a = c.aggregates[i];
    const std::string& queue = c.queues_before(a)->classes[a.class_index].scheduling.name;
    const auto of_class = std::ranges::find_if(sold, [&](const Sale& s) {
      return s.of == Sale::Of::queue && s.index == a.port && s.queue == queue;
    });
    if (a.interface || !a.sources.empty() || of_class == sold.end() || of_class->sold <= a.marker.tpr_max)
      continue;
    draft.problems.warning(draft.aggregate_places[i].rate,
                           "`rate` is less than the {} that rules commit in class `{}`: IN packets of "
                           "contracts are remarked as OUT",
                           rate_text(of_class->sold), queue);
  }
}

void settle_auto_max(Draft& draft) {
  auto& services = draft.config.services;
  if (std::ranges::none_of(services, has_auto_max)) return;
  const auto all = promised(draft);
  for (std::size_t i = 0; all && i < services.size(); ++i) {
    if (!has_auto_max(services[i])) continue;
    const auto& place = *draft.service_places[i].auto_max;
    settle(std::get<Csa>(services[i].conditioner).alpha, place.at, way_out(draft.config, place.packet), *all,
           draft.problems);
  }
}

void settle_bursts(Draft& draft) {
  const Bytes mtu(largest_customer_mtu(draft.config));
  const auto settle = [mtu](Bytes& burst) {
    if (burst > Bytes(0)) burst = std::max(burst, mtu);
  };
  for (Service& s : draft.config.services) {
    if (auto* m = std::get_if<SrTcm>(&s.conditioner)) settle(m->cbs), settle(m->ebs);
    if (auto* m = std::get_if<TrTcm>(&s.conditioner)) settle(m->cbs), settle(m->pbs);
  }
}

void warn_about_services(Draft& draft) {
  const auto mtu = largest_customer_mtu(draft.config);
  const auto held = draft.config.flow_table.held_packets;
  const auto& queues = draft.config.queues;
  const bool some_rio = std::any_of(queues.begin(), queues.end(), [](const QueueSet& q) {
    return std::any_of(q.classes.begin(), q.classes.end(),
                       [](const QueueClass& c) { return c.scheduling.queue.rio.has_value(); });
  });
  const bool remote = draft.config.signalling.mode == Signalling::Mode::act;
  for (std::size_t i = 0; i < draft.config.services.size(); ++i) {
    const auto& places = draft.service_places[i];
    const bool settled =
        std::visit([](const auto& c) { return c.kColours > 2; }, draft.config.services[i].conditioner);
    for (const auto& [at, depth] : places.buckets) {
      if (depth.count() >= mtu) continue;
      draft.problems.warning(at, "{} B is less than one packet of {} B: {}", depth.count(), mtu,
                             settled ? "a meter's burst counts as one packet at least (RFC 2697, section 2)"
                                     : "such packets pass only when the bucket is full");
    }
    const Rate committed = draft.config.services[i].committed;
    if (committed > Rate{} && committed.bits_per_second() < 8 * std::uint64_t{mtu})
      draft.problems.warning(places.name, "{} is less than one packet of {} B a second", rate_text(committed),
                             mtu);
    warn_about_burst(draft, i);
    warn_about_deep_buckets(draft, i);
    warn_about_objective(draft, i);
    warn_about_peak(draft, i);
    const auto* csa = std::get_if<Csa>(&draft.config.services[i].conditioner);
    if (csa && csa->bucket.buffer > held && places.buffer) {
      draft.problems.warning(*places.buffer,
                             "`buffer` is more than `held` of `flow_table`, {} packets for all flows", held);
    }
    if (csa && !some_rio && !remote && csa->alpha.min != csa->alpha.max) {
      draft.problems.warning(
          places.name, "no queue has `rio`, so no queue of this router changes `alpha` of this csa service");
    }
  }
}

}  // namespace surety::config
