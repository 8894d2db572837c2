// SPDX-License-Identifier: BSD-3-Clause
// Constructs an Egress from the configuration, changes it at run time, and empties it, with its port or at
// the end.
#include "router/pipeline/egress.h"

namespace surety {

namespace {

// New queues of a port; the queue of a removed one holds nothing.
EgressQueues queues_of(const Snapshot& snapshot, PortIndex port, Time now, std::uint64_t seed) {
  const PortQueues& queues = snapshot.queues[port];
  const config::Port& settings = snapshot.config.ports[port];
  const WireOverhead overhead = settings.shaper.overhead;
  if (queues.plain) return PlainQueue(settings.exists() ? queues.classes[0].scheduling.queue.limit : 0);
  if (queues.tree) return std::make_unique<QueueTree>(queues.tree, overhead, now, seed);
  return ClassScheduler(class_params(queues), overhead, now, seed, queues.moves.gone());
}

// One Contributors table per class; needed only after classes have moved, else the old tables stay.
std::vector<Contributors> contributors(const Snapshot& snapshot, PortIndex port) {
  const PortQueues& queues = snapshot.queues[port];
  if (queues.moves.none()) return {};
  return std::vector<Contributors>(queues.classes.size(),
                                   Contributors(snapshot.config.signalling.queue_limit));
}

}  // namespace

std::unique_ptr<EgressUpdate> Egress::prepare(const Snapshot& snapshot, PortIndex port, Time now,
                                              std::uint64_t seed, bool goes_on) {
  const PortQueues& queues = snapshot.queues[port];
  const PortShaperParams& shaper = snapshot.config.ports[port].shaper;
  std::optional<QueueTree::Update> changes;
  if (queues.tree && queues.tree_before && goes_on && !queues.tree->anew)
    changes = QueueTree::prepare(queues.tree, queues.tree_before.get(), shaper.overhead, seed);
  return std::make_unique<EgressUpdate>(EgressUpdate{
      queues.layout, queues.moves, queues.by_dscp, queues.classes.size(),
      changes ? EgressQueues(std::unique_ptr<QueueTree>()) : queues_of(snapshot, port, now, seed),
      std::move(changes), PortShaper(shaper, now), AggregateMarkers::configured(snapshot, port, now, seed),
      CongestionDomains::configured(snapshot, port, now), contributors(snapshot, port),
      !snapshot.config.ports[port].exists()});
}

Egress::Egress(const Snapshot& snapshot, PortIndex port, PortCounters& counters, PacketDisposal& disposal,
               Time now, std::uint64_t seed)
    : Egress(std::move(*prepare(snapshot, port, now, seed, false)), snapshot, port, counters, disposal, now) {
}

Egress::Egress(EgressUpdate&& start, const Snapshot& snapshot, PortIndex port, PortCounters& counters,
               PacketDisposal& disposal, Time now)
    : port_(port),
      own_dscp_(snapshot.config.router.dscp),
      layout_(start.layout),
      signal_limit_(snapshot.config.signalling.queue_limit),
      report_(snapshot.config.signalling.report),
      counters_(counters),
      disposal_(disposal),
      shaper_(start.shaper),
      queues_(std::move(start.queues)),
      refusal_(start.gone ? DropReason::port_gone : DropReason::overflow),
      classes_(start.classes),
      split_(start.by_dscp),
      markers_(std::move(start.aggregates), port, disposal),
      domains_(std::move(start.controllers), snapshot.domain_capacity, port),
      told_(signal_limit_ / 2, signal_limit_ / 16, 1, now) {}  // the other half is for the port's own queues

void Egress::adopt(EgressUpdate& update, Time now) {
  QueueTree* const tree = tree_of(queues_);
  if (tree != nullptr) {  // completes the previous reload
    tree->finish(now);
    take_removed(*tree, now);
  }
  layout_ = update.layout;
  classes_ = update.classes;
  split_.adopt(update.by_dscp);
  const bool stay = adopt_queues(update, now);
  if (!stay) {
    std::swap(queues_, update.queues);
    refusal_ = update.gone ? DropReason::port_gone : DropReason::overflow;
  }
  auto* const scheduler = std::get_if<ClassScheduler>(&queues_);
  growing_ = scheduler != nullptr && scheduler->grow(0);
  shaper_.adopt(update.shaper, now);
  markers_.adopt(update.aggregates, now);
  domains_.adopt(update.controllers);
  if (!update.moves.none()) domains_.move(update.moves, update.contributors);
  if (stay) {
    if (tree != nullptr) take_removed(*tree, now);
    return;
  }
  std::array<rte_mbuf*, kBurst> burst;
  while (const std::size_t n = take(update.queues, burst, now)) {
    put_frames({burst.data(), n}, now);
    disposal_.flush();
  }
}

// False, and nothing has changed: the port gets queues of another kind, or a new tree, and its packets are to
// be put into those.
bool Egress::adopt_queues(EgressUpdate& update, Time now) {
  if (update.gone || queues_.index() != update.queues.index() || tree_of(update.queues) != nullptr)
    return false;
  if (auto* const plain = std::get_if<PlainQueue>(&queues_))
    plain->adopt(*std::get_if<PlainQueue>(&update.queues));
  else if (auto* const scheduler = std::get_if<ClassScheduler>(&queues_))
    scheduler->adopt(*std::get_if<ClassScheduler>(&update.queues), update.moves, now);
  else
    tree_of(queues_)->adopt(*update.changes, now);
  return true;
}

// Takes out packets whether they may leave or not, each class in its order; 0: there are none.
std::size_t Egress::take(EgressQueues& queues, std::span<rte_mbuf*> room, Time now) {
  return by_kind(queues, [&](auto& q) {
    std::size_t n = 0;
    if constexpr (std::is_same_v<decltype(q), PlainQueue&>) {
      PortShaper unlimited({}, now);
      n = q.dequeue(room, unlimited, now);
    } else {
      for (Packet p; n < room.size() && q.take_any(p, now);) room[n++] = static_cast<rte_mbuf*>(p.handle);
    }
    return n;
  });
}

void Egress::discard(Time now) {
  std::array<rte_mbuf*, kBurst> burst;
  while (const std::size_t n = take(queues_, burst, now))
    rte_pktmbuf_free_bulk(burst.data(), static_cast<unsigned>(n));
}

}  // namespace surety
