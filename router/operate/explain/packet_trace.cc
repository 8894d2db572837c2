// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/explain/explanation.h"

#include <algorithm>

namespace surety {
namespace {

using Filtered = IngressTrace::Filtered;

void judge(const Snapshot& snapshot, std::uint16_t filter, const FilteredPacket& packet, Filtered& out) {
  out.filter = filter;
  if (filter == kNoFilter) return;
  const Filter& f = snapshot.filters[filter];
  f.match({&packet, 1}, {&out.entry, 1});
  out.permit = f.verdict(out.entry).permit != 0;
}

void find_way(const Ingress& ingress, const FilteredPacket& packet, IngressTrace& t) {
  const Snapshot& snapshot = ingress.snapshot();
  t.target = route_of(ingress.fib(), destination_of(t.header.key));
  t.next_hop = ingress.route().choose(t.target, t.header);
  t.hop = ingress.next_hops().get(t.next_hop);
  const auto state = t.hop.state;
  const bool leaves = state >= NextHopEntry::State::glean;
  if (leaves) judge(snapshot, (*snapshot.interfaces)[t.hop.interface].filter_out, packet, t.filter_out);
}

}  // namespace

void trace(const Ingress& ingress, std::span<std::uint8_t> frame, PortIndex port, Time now, IngressTrace& t) {
  const Snapshot& snapshot = ingress.snapshot();
  const ParseStage& stage = ingress.parse();
  std::ranges::copy(stage.context(port).mac, frame.begin());
  t.parsed = stage.keep_on_link(parse(frame, stage.context(port), t.header), t.header);
  if (t.parsed.drop != DropReason::none) return;
  if (t.header.l3_offset != 14) t.header.interface = stage.finder().find(frame.data(), t.header, port);
  if (t.header.interface == kNoInterface) t.parsed.drop = DropReason::vlan_unknown;
  if (!t.parsed.forwards()) return;
  const FilteredPacket packet{&t.header, frame.data()};
  t.source_accepted = ingress.sources().accepts(t.header);
  judge(snapshot, snapshot.host_filters.filter_in(t.header), packet, t.filter_in);
  const ParsedPacket* const one = &t.header;
  snapshot.classifier.match({&one, 1}, port, {&t.rule, 1});
  find_way(ingress, packet, t);
  t.flow = ingress.classify().forecast(t.header, t.rule, port, now);
  if (t.state_known()) {
    t.counters = ingress.flows().counters(t.flow.id);
    t.idle = ingress.flows().idle(t.flow.id, now);
    t.held = ingress.held(t.flow.id);
  }
  t.conditioned =
      ingress.condition().forecast(t.flow.record, t.flow.service, t.header, port, t.target, t.hop.port, now);
}

bool knows(const Ingress& ingress, const FlowKey& key, Time now) {
  const FlowTable& flows = ingress.flows();
  return flows.find(key, flows.hash(key), now) != kNoFlow;
}

void trace(const Egress& egress, const Snapshot& snapshot, PortIndex port, InterfaceIndex interface,
           std::uint8_t dscp, Time now, QueueTrace& t) {
  const PortQueues& queues = snapshot.queues[port];
  t.known = true;
  t.owner = port;
  t.waiting = egress.depth();
  QueueStatus& status = t;
  if (const PlainQueue* const plain = egress.plain()) {
    status = plain->status();
    t.limit = plain->limit();
    t.refusal = plain->depth() < plain->limit() ? 0 : 1;
    return;
  }
  const QueueTree* const tree = egress.tree();
  t.owner = tree != nullptr ? tree->plan().owner(interface) : port;
  const config::QueueSet& set = tree != nullptr ? tree->plan().set(t.owner) : queues;
  t.class_index = set.by_dscp[dscp].class_index;
  t.precedence = set.by_dscp[dscp].precedence;
  const ClassParams& params =
      tree != nullptr ? tree->plan().classes(t.owner)[t.class_index] : set.classes[t.class_index].scheduling;
  t.limit = QueueMeasure(params.queue).packets(t.precedence);
  t.known = tree == nullptr || (!tree->changing() && tree->hierarchy().has(t.owner));
  if (!t.known) return;
  if (tree != nullptr) {
    status = tree->hierarchy().status(t.owner, t.class_index);
    t.refusal = tree->hierarchy().refusal(t.owner, t.class_index, t.precedence, now);
  } else {
    const ActiveQueue& queue = egress.scheduler()->queue(t.class_index);
    status = queue.status();
    t.refusal = queue.refusal(t.precedence, now);
  }
}

}  // namespace surety
