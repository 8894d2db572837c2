// How an Egress is made from the configuration, and emptied at the end.
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
          {i, a.class_index, a.out_dscp, ArdMarker(a.marker, now, seed + (i + 1) * kSeedStride), {}});
  }
  return aggregates;
}
}  // namespace

Egress::Egress(const Snapshot& snapshot, PortIndex port, PortCounters& counters, Exits& exits, Time now,
               std::uint64_t seed)
    : classes_(snapshot.queues[port]),
      port_(port),
      counters_(counters),
      exits_(exits),
      scheduler_(scheduling(classes_), snapshot.config.ports[port].shaper.overhead, now, seed),
      shaper_(snapshot.config.ports[port].shaper, now),
      aggregates_(make_aggregates(snapshot, port, now, seed)) {
  if (!snapshot.config.ports[port].queues) plain_.emplace(ActiveQueueParams{}.limit);
  aggregate_of_.resize(scheduler_.classes());
  for (auto& a : aggregates_) aggregate_of_[a.class_index] = &a;
  for (std::size_t d = snapshot.domains.size(); d-- > 0;)
    if (snapshot.domains[d].port == port) first_domain_ = static_cast<std::uint16_t>(d);
  for (const auto& d : snapshot.domains) {
    if (d.port != port) continue;
    controllers_.emplace_back(d.params, now);
    controller_class_.push_back(d.class_index);
  }
  alphas_ = std::make_unique<std::atomic<Ratio>[]>(controllers_.size());
  for (std::size_t i = 0; i < controllers_.size(); ++i) publish(i);
}

void Egress::discard(Time now) {
  if (plain_) plain_->discard();
  for (std::size_t c = 0; c < scheduler_.classes(); ++c)
    while (!scheduler_.queue(c).empty())
      rte_pktmbuf_free(static_cast<rte_mbuf*>(scheduler_.queue(c).dequeue(now).handle));
}

}  // namespace surety
