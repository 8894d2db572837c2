// SPDX-License-Identifier: BSD-3-Clause
// Constructs an Egress from the configuration, changes it at run time, and empties it, with its port or at
// the end.
#include "router/pipeline/egress.h"

namespace surety {

namespace {

std::vector<ClassParams> scheduling(const config::QueueSet& set) {
  std::vector<ClassParams> classes;
  for (const auto& c : set.classes) classes.push_back(c.scheduling);
  return classes;
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
  const ClassMoves& moves = queues.moves;
  const PortShaperParams& shaper = snapshot.config.ports[port].shaper;
  const bool gone = !snapshot.config.ports[port].exists();
  std::optional<PlainQueue> plain;
  if (queues.plain) plain.emplace(gone ? 0 : queues.classes[0].scheduling.queue.limit);
  std::unique_ptr<QueueTree> tree;
  std::optional<QueueTree::Update> tree_update;
  if (queues.tree && (!queues.tree_before || !goes_on || queues.tree->anew))
    tree = std::make_unique<QueueTree>(queues.tree, shaper.overhead, now, seed);
  else if (queues.tree)
    tree_update = QueueTree::prepare(queues.tree, queues.tree_before.get(), shaper.overhead, seed);
  return std::make_unique<EgressUpdate>(
      EgressUpdate{queues.layout, moves, queues.by_dscp,
                   ClassScheduler(scheduling(queues), shaper.overhead, now, seed, moves.gone()),
                   PortShaper(shaper, now), AggregateMarkers::configured(snapshot, port, now, seed),
                   CongestionDomains::configured(snapshot, port, now), contributors(snapshot, port),
                   std::move(plain), gone, std::move(tree), std::move(tree_update)});
}

Egress::Egress(const Snapshot& snapshot, PortIndex port, PortCounters& counters, PacketDisposal& disposal,
               Time now, std::uint64_t seed)
    : Egress(std::move(*prepare(snapshot, port, now, seed, false)), snapshot, port, counters, disposal, now) {
}

Egress::Egress(EgressUpdate&& start, const Snapshot& snapshot, PortIndex port, PortCounters& counters,
               PacketDisposal& disposal, Time now)
    : port_(port),
      layout_(start.layout),
      signal_limit_(snapshot.config.signalling.queue_limit),
      counters_(counters),
      disposal_(disposal),
      shaper_(start.shaper),
      plain_(std::move(start.plain)),
      refusal_(start.gone ? DropReason::port_gone : DropReason::overflow),
      scheduler_(std::move(start.scheduler)),
      tree_(std::move(start.tree)),
      split_(start.by_dscp),
      markers_(std::move(start.aggregates), port, disposal),
      domains_(std::move(start.controllers), snapshot.domain_capacity, port),
      told_(signal_limit_ / 2, signal_limit_ / 16, 1, now) {}  // the other half is for the port's own queues

void Egress::adopt(EgressUpdate& update, Time now) {
  if (tree_) {  // completes the previous reload
    tree_->finish(now);
    take_removed(now);
  }
  layout_ = update.layout;
  split_.adopt(update.by_dscp);
  const bool has_tree = update.tree || update.tree_update;
  const bool other_queues = update.gone || plain_.has_value() != update.plain.has_value() ||
                            (tree_ != nullptr) != has_tree || update.tree;
  if (other_queues) {
    std::swap(scheduler_, update.scheduler);
    plain_.swap(update.plain);
    tree_.swap(update.tree);
    refusal_ = update.gone ? DropReason::port_gone : DropReason::overflow;
  } else if (plain_) {
    plain_->adopt(*update.plain);
  } else if (tree_) {
    tree_->adopt(*update.tree_update, now);
  } else {
    scheduler_.adopt(update.scheduler, update.moves, now);
  }
  growing_ = scheduler_.grow(0);
  shaper_.adopt(update.shaper, now);
  markers_.adopt(update.aggregates, now);
  domains_.adopt(update.controllers);
  if (!update.moves.none()) domains_.move(update.moves, update.contributors);
  if (tree_) take_removed(now);
  if (other_queues) requeue(update, now);
}

// Enqueues the packets of the previous queues again; `enqueued` counts each packet once.
void Egress::requeue(EgressUpdate& before, Time now) {
  std::array<rte_mbuf*, kBurst> burst;
  const auto take = [&]() -> std::size_t {
    if (before.plain) return before.plain->take(burst, now);
    std::size_t n = 0;
    const auto any = [&](Packet& p) {
      return before.tree ? before.tree->hierarchy().take_any(p, now) : before.scheduler.take_any(p, now);
    };
    for (Packet p; n < burst.size() && any(p);) burst[n++] = static_cast<rte_mbuf*>(p.handle);
    return n;
  };
  for (std::size_t n = 0; (n = take()) > 0;) {
    counters_.enqueued -= n;
    enqueue_frames({burst.data(), n}, now);
    disposal_.flush();
  }
}

void Egress::discard(Time now) {
  if (plain_) plain_->discard();
  const auto any = [&](Packet& p) {
    return tree_ ? tree_->hierarchy().take_any(p, now) : scheduler_.take_any(p, now);
  };
  for (Packet p; any(p);) rte_pktmbuf_free(static_cast<rte_mbuf*>(p.handle));
}

}  // namespace surety
