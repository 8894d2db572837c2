// SPDX-License-Identifier: BSD-3-Clause
// How an Egress is made from the configuration, changed at run time, and emptied at the end.
#include "router/egress.h"

namespace surety {

namespace {

std::vector<ClassParams> scheduling(const config::QueueSet& set) {
  std::vector<ClassParams> classes;
  for (const auto& c : set.classes) classes.push_back(c.scheduling);
  return classes;
}

}  // namespace

std::unique_ptr<EgressUpdate> Egress::prepare(const Snapshot& snapshot, PortIndex port, Time now,
                                              std::uint64_t seed) {
  const config::QueueSet& classes = snapshot.queues[port];
  const PortShaperParams& shaper = snapshot.config.ports[port].shaper;
  return std::make_unique<EgressUpdate>(
      EgressUpdate{classes.by_dscp, ClassScheduler(scheduling(classes), shaper.overhead, now, seed),
                   PortShaper(shaper, now), AggregateMarkers::configured(snapshot, port, now, seed),
                   CongestionDomains::configured(snapshot, port, now)});
}

Egress::Egress(const Snapshot& snapshot, PortIndex port, PortCounters& counters, PacketDisposal& disposal,
               Time now, std::uint64_t seed)
    : Egress(std::move(*prepare(snapshot, port, now, seed)), snapshot, port, counters, disposal) {}

Egress::Egress(EgressUpdate&& start, const Snapshot& snapshot, PortIndex port, PortCounters& counters,
               PacketDisposal& disposal)
    : port_(port),
      signal_limit_(snapshot.config.signalling.queue_limit),
      counters_(counters),
      disposal_(disposal),
      shaper_(start.shaper),
      scheduler_(std::move(start.scheduler)),
      split_(start.by_dscp),
      markers_(std::move(start.aggregates), port, disposal),
      domains_(std::move(start.controllers), snapshot.domain_capacity, port) {
  if (!snapshot.config.ports[port].queues) plain_.emplace(ActiveQueueParams{}.limit);
}

void Egress::adopt(EgressUpdate& update, Time now) {
  split_.adopt(update.by_dscp);
  scheduler_.adopt(update.scheduler, now);
  growing_ = scheduler_.grow(0);
  shaper_.adopt(update.shaper, now);
  markers_.adopt(update.aggregates, now);
  domains_.adopt(update.controllers);
}

void Egress::discard(Time now) {
  if (plain_) plain_->discard();
  for (std::size_t c = 0; c < scheduler_.classes(); ++c)
    while (!scheduler_.queue(c).empty())
      rte_pktmbuf_free(static_cast<rte_mbuf*>(scheduler_.queue(c).dequeue(now).handle));
}

}  // namespace surety
