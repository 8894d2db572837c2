// SPDX-License-Identifier: BSD-3-Clause
// The marks of services against the queues towards the core, which are to take IN packets as IN, and others
// not.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "aqm/queue_measure.h"
#include "config/sales.h"
#include "config/sections.h"

namespace surety::config {
namespace {

constexpr Dscp kRouting = 48;  // CS6: what routing daemons send (RFC 4594 section 3.1)

std::string dscp_text(Dscp d) {
  return fmt::format("`{}`", dscp_name(d));
}

// The DSCP to mark IN packets with instead of one that no class takes as IN: of the class that OUT packets go
// to, or else the first one that takes IN and OUT packets.
std::string advice(const Service& s, const QueueSet& set) {
  const auto say = [](const QueueClass& c) {
    return fmt::format(": mark them {}, which class `{}` takes as IN", dscp_text(c.in.front()),
                       c.scheduling.name);
  };
  if (s.mark_out) {
    const QueueClass& c = set.classes[set.by_dscp[*s.mark_out].class_index];
    if (!c.in.empty()) return say(c);
  }
  const auto both = std::ranges::find_if(
      set.classes, [](const QueueClass& c) { return !c.in.empty() && c.scheduling.queue.rio; });
  return both != set.classes.end() ? say(*both) : ": no class with `rio` has an IN DSCP";
}

// Services with a committed rate that customers use, in the order of the file.
std::vector<std::size_t> promising(const Config& c) {
  std::vector<bool> used(c.services.size());
  for (const Rule& r : c.rules)
    if (c.services[r.service].committed > Rate{} && !from_core(r, c)) used[r.service] = true;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i]) all.push_back(i);
  return all;
}

// For each class: true if IN packets of a service with a committed rate are IN there.
std::vector<bool> promised_classes(const QueueSet& set, const Config& c) {
  std::vector<bool> promised(set.classes.size());
  for (const std::size_t s : promising(c)) {
    const auto& mark = c.services[s].mark_in;
    if (mark && set.by_dscp[*mark].precedence == Precedence::in)
      promised[set.by_dscp[*mark].class_index] = true;
  }
  return promised;
}

// The first class with committed traffic that waits while packets of class `q`, which nothing limits, are
// there.
const QueueClass* waits_behind(const QueueSet& set, std::size_t q, const std::vector<bool>& promised) {
  if (!set.classes[q].scheduling.strict || set.classes[q].cap_at(Rate::bits_per_second(1))) return nullptr;
  for (std::size_t k = 0; k < promised.size(); ++k)
    if (promised[k] && (k > q || !set.classes[k].scheduling.strict)) return &set.classes[k];
  return nullptr;
}

// Warnings about a service that marks; `way` has queues.
void warn_about_marks(Draft& draft, std::size_t service, const Uplink& way) {
  const Service& s = draft.config.services[service];
  const QueueSet& set = *way.queues;
  const Mark at = draft.service_places[service].mark;
  const QueueSet::Entry& in = set.by_dscp[*s.mark_in];
  if (in.precedence != Precedence::in) {
    draft.problems.warning(at, "IN packets leave as {}, which is {} in class `{}` of {}{}",
                           dscp_text(*s.mark_in), in.precedence == Precedence::out ? "OUT" : "red",
                           set.classes[in.class_index].scheduling.name, way.name(), advice(s, set));
    return;
  }
  const auto promised = promised_classes(set, draft.config);
  const auto look = [&](const std::optional<Dscp>& dscp, std::string_view colour) {
    if (!dscp) return;
    const QueueSet::Entry& e = set.by_dscp[*dscp];
    const bool takes_room = promised[e.class_index] || set.classes[e.class_index].scheduling.queue.rio;
    if (e.precedence == Precedence::in && takes_room)
      draft.problems.warning(
          at,
          "{} packets leave as {}, which is IN in class `{}` of {}: they take room from committed traffic",
          colour, dscp_text(*dscp), set.classes[e.class_index].scheduling.name, way.name());
    else if (const QueueClass* behind = waits_behind(set, e.class_index, promised))
      draft.problems.warning(at,
                             "{} packets leave as {}, which goes to class `{}` of {}, strict without `rate`: "
                             "nothing limits them, and "
                             "committed traffic of class `{}` waits",
                             colour, dscp_text(*dscp), set.classes[e.class_index].scheduling.name, way.name(),
                             behind->scheduling.name);
  };
  if (std::holds_alternative<Csa>(s.conditioner) && s.mark_out) {
    const QueueSet::Entry& out = set.by_dscp[*s.mark_out];
    if (out.precedence == Precedence::red)
      draft.problems.error(
          at,
          "OUT packets leave as {}, which is red in class `{}` of {}: `csa` finds congestion by "
          "OUT packets",
          dscp_text(*s.mark_out), set.classes[out.class_index].scheduling.name, way.name());
  }
  look(s.mark_out, "OUT");
  look(s.mark_red, "red");
  if (s.mark_out && s.mark_red && set.by_dscp[*s.mark_out].precedence == Precedence::red &&
      set.by_dscp[*s.mark_red].precedence != Precedence::red)
    draft.problems.warning(
        at,
        "OUT packets leave as {}, which is red in class `{}` of {}, and red packets as {}, "
        "which is not: red packets are dropped later than OUT ones; exchange `out` and `red`",
        dscp_text(*s.mark_out), set.classes[set.by_dscp[*s.mark_out].class_index].scheduling.name, way.name(),
        dscp_text(*s.mark_red));
}

// OUT packets in a class that finds no congestion; `way` has queues.
void warn_about_alpha(Draft& draft, std::size_t service, const Uplink& way) {
  const Service& s = draft.config.services[service];
  const auto* csa = std::get_if<Csa>(&s.conditioner);
  const auto finds = [](const QueueClass& c) { return c.scheduling.queue.rio.has_value(); };
  if (!csa || csa->alpha.min == csa->alpha.max || !s.mark_out ||
      std::ranges::none_of(way.queues->classes, finds))
    return;
  const QueueSet::Entry& out = way.queues->by_dscp[*s.mark_out];
  if (finds(way.queues->classes[out.class_index])) return;
  const bool apart = s.mark_in && way.queues->by_dscp[*s.mark_in].class_index != out.class_index;
  draft.problems.warning(
      draft.service_places[service].mark,
      "OUT packets leave as {}, which goes to class `{}` of {}, without `rio`: `alpha` stays at "
      "its maximum there{}",
      dscp_text(*s.mark_out), way.queues->classes[out.class_index].scheduling.name, way.name(),
      apart ? ", and OUT packets overtake IN ones of the same flow" : "");
}

// A policed service may be best effort, or less (RFC 8622, RFC 3662).
bool is_best_effort(Dscp d) {
  return d <= 1 || d == 8;
}

bool separates(const Service& s) {
  return std::visit([](const auto& c) { return c.kColours > 1; }, s.conditioner);
}

// Without a mark packets keep the DSCP that their sender chose.
void warn_about_no_mark(Draft& draft, std::size_t service, const Uplink& way) {
  const Service& s = draft.config.services[service];
  const auto shares = [](const QueueClass& c) { return !c.in.empty() && c.scheduling.queue.rio; };
  if (!s.mark_in)
    draft.problems.warning(draft.service_places[service].name,
                           "without `mark: {{in: ...}}` its IN packets keep their DSCP, and the queues of {} "
                           "cannot distinguish them from others",
                           way.name());
  else if (!s.mark_out && way.queues->by_dscp[*s.mark_in].precedence == Precedence::in &&
           std::ranges::any_of(way.queues->classes, shares))
    draft.problems.warning(draft.service_places[service].mark,
                           "without `out` its OUT packets keep their DSCP: all packets that a customer sends "
                           "with {} are IN at {}",
                           dscp_text(*s.mark_in), way.name());
}

// The queues of `way` are to take IN packets of the service as IN, and others not.
void check_promise(Draft& draft, std::size_t service, const Uplink& way) {
  const Service& s = draft.config.services[service];
  if (way.queues && s.mark_in && (separates(s) || !is_best_effort(*s.mark_in)))
    warn_about_marks(draft, service, way);
  if (!separates(s)) return;
  if (way.queues) {
    warn_about_no_mark(draft, service, way);
    if (draft.config.signalling.mode == Signalling::Mode::off) warn_about_alpha(draft, service, way);
  } else if (way.rate) {
    draft.problems.warning(draft.service_places[service].name,
                           "its IN packets share one queue with all others at {}, which has no `queues`",
                           way.name());
  }
}

// True if a burst takes long to leave. An uplink that sends it at once is as fast as the links that bring it.
bool leaves_slowly(std::uint64_t bytes, const std::optional<Rate>& rate) {
  constexpr double kAtOnce = 0.02;  // seconds
  return rate && 8.0 * static_cast<double>(bytes) > kAtOnce * static_cast<double>(rate->bits_per_second());
}

// A burst that the contract allows, in the class that its IN packets go to.
void warn_about_room(Draft& draft, std::size_t service, const Uplink& way, std::vector<bool>& noted) {
  constexpr std::uint64_t kSmall = 200;  // bytes, as of voice
  const Service& s = draft.config.services[service];
  const auto& buckets = draft.service_places[service].buckets;
  if (!way.queues || !s.mark_in || buckets.empty()) return;
  const std::size_t k = way.queues->by_dscp[*s.mark_in].class_index;
  const ClassParams c = at_rate(way.queues, way.rate).classes[k].scheduling;
  const QueueMeasure measure(c.queue);
  const auto depth = static_cast<std::uint64_t>(committed_bucket(s.conditioner).count());
  if (depth > std::uint64_t{c.queue.limit} * QueueMeasure::kFullPacket) {
    draft.problems.warning(buckets.front().first,
                           "a burst of {} B, which the contract allows, has no room in class `{}` of {}: its "
                           "limit is {} packets",
                           depth, c.name, way.name(), c.queue.limit);
  } else if (depth / kSmall > measure.places_of_one() && !noted[k] && leaves_slowly(depth, way.rate)) {
    noted[k] = true;
    draft.problems.note(buckets.front().first,
                        "a burst of {} B packets can be {} packets, but class `{}` of {} has room for {} of "
                        "one customer: IN packets beyond that are dropped",
                        kSmall, depth / kSmall, c.name, way.name(), measure.places_of_one());
  }
}

// Services without a conditioner, of customers: nothing limits what they send.
void warn_about_unlimited(Draft& draft, const Uplink& way, std::vector<bool>& told) {
  const Config& c = draft.config;
  if (!way.queues) return;
  const auto promised = promised_classes(*way.queues, c);
  const auto first = std::ranges::find(promised, true);
  if (first == promised.end()) return;
  std::vector<bool> used(c.services.size());
  for (const Rule& r : c.rules)
    if (std::holds_alternative<None>(c.services[r.service].conditioner) && !from_core(r, c))
      used[r.service] = true;
  for (std::size_t s = 0; s < used.size(); ++s) {
    if (!used[s] || told[s]) continue;
    told[s] = true;
    const auto& mark = c.services[s].mark_in;
    const QueueClass& taken = way.queues->classes[mark ? way.queues->by_dscp[*mark].class_index
                                                       : static_cast<std::size_t>(first - promised.begin())];
    if (!mark)
      draft.problems.warning(draft.service_places[s].name,
                             "without `mark: {{in: BE}}` its packets keep their DSCP: with {} they take room "
                             "in class `{}` of {} from committed traffic",
                             dscp_text(taken.in.front()), taken.scheduling.name, way.name());
    else if (way.queues->by_dscp[*mark].precedence == Precedence::in &&
             promised[way.queues->by_dscp[*mark].class_index])
      draft.problems.warning(draft.service_places[s].mark,
                             "nothing limits its packets, and with {} they take room in class `{}` of {} "
                             "from committed traffic; mark them `BE`",
                             dscp_text(*mark), taken.scheduling.name, way.name());
    else if (const QueueClass* behind =
                 waits_behind(*way.queues, way.queues->by_dscp[*mark].class_index, promised))
      draft.problems.warning(
          draft.service_places[s].mark,
          "nothing limits its packets, and with {} they go to class `{}` of {}, strict without "
          "`rate`: committed traffic of class `{}` waits; mark them `BE`",
          dscp_text(*mark), taken.scheduling.name, way.name(), behind->scheduling.name);
  }
}

// Colours that customers set themselves. They lower the precedence of their own packets only (RFC 2697: a
// meter gives no packet a better colour than it has).
void note_colours(Draft& draft) {
  const Config& c = draft.config;
  std::vector<bool> noted(c.services.size());
  for (const Rule& r : c.rules) {
    if (!c.services[r.service].color_aware || noted[r.service] || from_core(r, c)) continue;
    noted[r.service] = true;
    draft.problems.note(draft.service_places[r.service].name,
                        "`color_aware` reads the DSCPs that its customers set: by these a customer can lower "
                        "the precedence of its own packets, and never raise it");
  }
}

void warn_about_control(Draft& draft, const Uplink& way) {
  if (!way.queues || way.queues->classes.size() < 2) return;
  const QueueSet::Entry& rest = way.queues->by_dscp[0];
  const auto is_rest = [&](Dscp d) {
    const QueueSet::Entry& e = way.queues->by_dscp[d];
    return d == 0 || (e.class_index == rest.class_index && e.precedence == Precedence::out);
  };
  const auto set = static_cast<std::size_t>(way.queues - draft.config.queues.data());
  const Dscp own = draft.config.router.dscp;
  if (own != kRouting && is_rest(own))
    draft.problems.warning(
        draft.queue_places[set],
        "the router's own packets (`router: {{dscp: {0}}}`) share class `{1}` with best "
        "effort, ARP too: give them a class, like `{{name: control, dscp: [{0}], priority: "
        "strict, rate: ...}}`",
        dscp_name(own), way.queues->classes[rest.class_index].scheduling.name);
  if (!is_rest(kRouting)) return;
  draft.problems.warning(
      draft.queue_places[set],
      "routing protocols ({}) share class `{}` with best effort, and lose their sessions when it is "
      "congested: give them a class, like `{{name: control, dscp: [CS6, CS7], priority: strict, rate: ...}}`",
      dscp_text(kRouting), way.queues->classes[rest.class_index].scheduling.name);
}

}  // namespace

void warn_about_marks(Draft& draft) {
  if (draft.lab) return;  // a scenario may want to see what a wrong mark does
  const Config& c = draft.config;
  const auto ways = uplinks(c);
  const auto services = promising(c);
  note_colours(draft);
  const auto first = std::ranges::find_if(services, [&](std::size_t i) { return separates(c.services[i]); });
  if (ways.empty() && first != services.end() && c.port_count() > 1)
    draft.problems.warning(
        draft.service_places[*first].name,
        "services have committed rates, but no port or interface has `trust: core`: the way to the core "
        "cannot be checked, and packets from there are treated as a customer's");
  for (const std::size_t s : services)
    for (const Uplink& way : ways) check_promise(draft, s, way);
  std::vector<bool> told(c.services.size());
  for (const Uplink& way : ways) {
    std::vector<bool> noted(way.queues ? way.queues->classes.size() : 0);
    for (const std::size_t s : services) warn_about_room(draft, s, way, noted);
    warn_about_unlimited(draft, way, told);
    warn_about_control(draft, way);
  }
  if (ways.empty() || c.signalling.mode != Signalling::Mode::off) return;  // other routers' queues signal
  for (const std::size_t s : services) {
    const auto* csa = std::get_if<Csa>(&c.services[s].conditioner);
    if (!csa || csa->alpha.min == csa->alpha.max) continue;
    if (std::ranges::none_of(ways, [&](const Uplink& w) { return w.rate.has_value(); }))
      draft.problems.warning(draft.service_places[s].name,
                             "`alpha` follows the queues of {}, which has no `shape`: they fill only if the "
                             "device itself is the bottleneck",
                             ways.front().name());
  }
}

}  // namespace surety::config
