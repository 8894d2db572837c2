// SPDX-License-Identifier: BSD-3-Clause
// How an Egress is made from the configuration, changed at run time, and emptied at the end.
#include "router/egress.h"

namespace surety {

namespace {

// Random streams of different owners must not be the same: classes take seed, seed + 1, ...
constexpr std::uint64_t kSeedStride = 1 << 20;

std::vector<ClassParams> scheduling(const config::QueueSet& set) {
  std::vector<ClassParams> classes;
  for (const auto& c : set.classes) classes.push_back(c.scheduling);
  return classes;
}

std::vector<Egress::Aggregate> make_aggregates(const Snapshot& snapshot, PortIndex port, Time now,
                                               std::uint64_t seed) {
  std::vector<Egress::Aggregate> aggregates;
  for (std::size_t i = 0; i < snapshot.config.aggregates.size(); ++i) {
    const config::Aggregate& a = snapshot.config.aggregates[i];
    if (a.port == port)
      aggregates.push_back(
          {i, a.class_index, a.out_dscp, ArdMarker(a.marker, now, seed + (i + 1) * kSeedStride), {}, a.name});
  }
  return aggregates;
}

std::vector<Egress::Controller> make_controllers(const Snapshot& snapshot, PortIndex port, Time now) {
  std::vector<Egress::Controller> controllers;
  for (std::size_t d = 0; d < snapshot.domains.size(); ++d) {
    const CsaDomain& domain = snapshot.domains[d];
    if (domain.port == port)
      controllers.push_back(
          {static_cast<std::uint16_t>(d), domain.class_index, CsaController(domain.params, now)});
  }
  return controllers;
}

}  // namespace

std::unique_ptr<EgressUpdate> Egress::prepare(const Snapshot& snapshot, PortIndex port, Time now,
                                              std::uint64_t seed) {
  const config::QueueSet& classes = snapshot.queues[port];
  const PortShaperParams& shaper = snapshot.config.ports[port].shaper;
  return std::make_unique<EgressUpdate>(
      EgressUpdate{classes.by_dscp, ClassScheduler(scheduling(classes), shaper.overhead, now, seed),
                   PortShaper(shaper, now), make_aggregates(snapshot, port, now, seed),
                   make_controllers(snapshot, port, now)});
}

Egress::Egress(const Snapshot& snapshot, PortIndex port, PortCounters& counters, Exits& exits, Time now,
               std::uint64_t seed)
    : Egress(std::move(*prepare(snapshot, port, now, seed)), snapshot, port, counters, exits) {}

Egress::Egress(EgressUpdate&& start, const Snapshot& snapshot, PortIndex port, PortCounters& counters,
               Exits& exits)
    : by_dscp_(start.by_dscp),
      port_(port),
      counters_(counters),
      exits_(exits),
      scheduler_(std::move(start.scheduler)),
      shaper_(start.shaper),
      aggregates_(std::move(start.aggregates)),
      aggregate_of_(scheduler_.classes()),
      controllers_(std::move(start.controllers)),
      alphas_(std::make_unique<std::atomic<Ratio>[]>(snapshot.domain_capacity)) {
  if (!snapshot.config.ports[port].queues) plain_.emplace(ActiveQueueParams{}.limit);
  find_aggregates();
  for (std::size_t d = 0; d < snapshot.domain_capacity; ++d)
    alphas_[d].store(Ratio::of(1), std::memory_order_relaxed);
  for (const Controller& c : controllers_) publish(c);
}

void Egress::adopt(EgressUpdate& update, Time now) {
  by_dscp_ = update.by_dscp;
  scheduler_.adopt(update.scheduler, now);
  growing_ = scheduler_.grow(0);
  shaper_.adopt(update.shaper, now);
  adopt_aggregates(update.aggregates, now);
  adopt_controllers(update.controllers);
}

void Egress::adopt_aggregates(std::vector<Aggregate>& fresh, Time now) {
  for (Aggregate& a : fresh) {
    const auto same = [&](const Aggregate& old) { return old.name == a.name; };
    const auto old = std::find_if(aggregates_.begin(), aggregates_.end(), same);
    if (old == aggregates_.end()) continue;
    old->marker.adopt(a.marker, now);
    a.marker = old->marker;
    a.counters = old->counters;
  }
  aggregates_.swap(fresh);
  find_aggregates();
}

void Egress::find_aggregates() {
  std::fill(aggregate_of_.begin(), aggregate_of_.end(), nullptr);
  for (Aggregate& a : aggregates_) aggregate_of_[a.class_index] = &a;
}

void Egress::adopt_controllers(std::vector<Controller>& fresh) {
  auto old = controllers_.begin();  // both by domain
  for (Controller& c : fresh) {
    while (old != controllers_.end() && old->domain < c.domain) ++old;
    if (old != controllers_.end() && old->domain == c.domain) c.csa = old->csa;
    publish(c);
  }
  controllers_.swap(fresh);
}

void Egress::discard(Time now) {
  if (plain_) plain_->discard();
  for (std::size_t c = 0; c < scheduler_.classes(); ++c)
    while (!scheduler_.queue(c).empty())
      rte_pktmbuf_free(static_cast<rte_mbuf*>(scheduler_.queue(c).dequeue(now).handle));
}

}  // namespace surety
