// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/explain/packet_trace.h"

#include <algorithm>
#include <cstring>

#include "router/pipeline/signal_path.h"

namespace surety {
namespace {

using Filtered = IngressTrace::Filtered;
using Fate = IngressTrace::Fate;

void judge(const Snapshot& snapshot, std::uint16_t filter, const FilteredPacket& packet, Filtered& out) {
  out.filter = filter;
  if (filter == kNoFilter) return;
  const Filter& f = snapshot.filters[filter];
  f.match({&packet, 1}, {&out.entry, 1});
  out.permit = f.verdict(out.entry).permit != 0;
}

// A new record, as the classify stage would start it.
FlowRecord fresh(const ServiceProgram& program, Time now) {
  FlowRecord r;
  if (program.kind == ServiceProgram::Kind::csa) {
    EnhancedTokenBucket::reset(r.state.csa, program.csa, now, Time{});
    r.state.csa.domain = kNoDomain;
  }
  if (program.kind == ServiceProgram::Kind::meter) program.meter->reset(r.state.meter);
  return r;
}

Meter::Level level(const TokenBucket& bucket, const TokenBucketParams& params) {
  constexpr auto byte = static_cast<double>(kCreditPerByte);
  return {static_cast<double>(bucket.credit()) / byte, static_cast<double>(params.depth()) / byte};
}

// Conditions the packet on a copy of the flow's state.
void condition_csa(const Ingress& ingress, const ServiceProgram& service, EnhancedTokenBucketState s,
                   Time now, IngressTrace& t) {
  const AlphaClocks& clocks = ingress.clocks();
  const std::uint16_t domain = ingress.snapshot().domain(t.hop.port, t.service);
  if (domain == kNoDomain) return;
  const Path path = path_of(destination_of(t.header.key), t.target.narrowness);
  const AlphaClocks::Index clock = clocks.of(domain, path);
  t.domain = domain;
  t.alpha = clocks.alpha(clock);
  if (s.domain == kNoDomain)
    s.out.rebase(clocks.time_of(clock));
  else
    s.out.fill(service.csa.out, clocks.time_of(s.domain));
  s.in.fill(service.csa.in, now);
  t.buckets = {level(s.in, service.csa.in), level(s.out, service.csa.out)};
  if (EnhancedTokenBucket::offer_in(s, service.csa, t.header.length, now))
    t.fate = Fate::in;
  else if (t.held == 0 && (t.alpha == Ratio::unlimited() ||
                           s.out.can_take(service.csa.out, service.csa.out.cost(t.header.length))))
    t.fate = Fate::out;
  else
    t.fate = EnhancedTokenBucket::has_room(service.csa, t.held, t.held_bytes, t.header.length, t.alpha)
                 ? Fate::waits
                 : Fate::dropped;
}

void condition(const Ingress& ingress, const FlowRecord& record, Time now, IngressTrace& t) {
  const ServiceProgram& service = ingress.snapshot().services[t.service];
  if (service.kind == ServiceProgram::Kind::csa) condition_csa(ingress, service, record.state.csa, now, t);
  if (service.kind != ServiceProgram::Kind::meter) return;
  Meter::State state;
  std::memcpy(state, record.state.meter, sizeof state);
  t.buckets = service.meter->levels(state, now);
  const Color color = service.meter->check(state, now, t.header.length);
  t.red = color == Color::red;
  t.fate = t.red && service.drop_red ? Fate::dropped : color == Color::green ? Fate::in : Fate::out;
}

// The contract of a flow that has no record, as ClassifyStage would choose it; kNoFlow: one that begins.
FlowId find_contract(const Ingress& ingress, Time now, IngressTrace& t) {
  const Snapshot& snapshot = ingress.snapshot();
  const FlowTable& flows = ingress.flows();
  const auto find = [&](const FlowKey& key) { return flows.find(key, flows.hash(key), now); };
  FlowId id = kNoFlow;
  if (snapshot.config.rules[t.rule].per != config::Rule::Per::flow)
    id = find(snapshot.classifier.contract_key(t.rule, t.header));
  t.excess = id == kNoFlow && !ingress.has_room(t.rule, t.header.interface);
  return t.excess ? find(snapshot.classifier.excess_key(t.rule, t.header)) : id;
}

// The flow's record, then that of its contract: the state that it would find.
FlowRecord find_state(const Ingress& ingress, Time now, IngressTrace& t) {
  const Snapshot& snapshot = ingress.snapshot();
  const FlowTable& flows = ingress.flows();
  FlowId id = flows.find(t.header.key, flows.hash(t.header.key), now);
  t.flow_known = id != kNoFlow;
  t.service = t.rule == Classifier::kNoRule ? snapshot.unmatched(t.header.interface)
                                            : snapshot.service_of_rule(t.rule);
  if (t.flow_known) {
    t.service = flows[id].service;  // service stored in the record
    if ((flows[id].flags & FlowRecord::redirect) != 0) id = flows[id].state.shared;
    t.excess = Classifier::is_excess(flows.key(id));
  } else if (t.rule != Classifier::kNoRule &&
             snapshot.services[t.service].kind != ServiceProgram::Kind::none) {
    id = find_contract(ingress, now, t);
    if (id != kNoFlow) t.service = flows[id].service;
  }
  const ServiceProgram& program = snapshot.services[t.service];
  t.own_state = program.kind != ServiceProgram::Kind::none;
  t.state_known = id != kNoFlow;
  if (!t.state_known) return fresh(program, now);
  t.counters = flows.counters(id);
  t.idle = flows.idle(id, now);
  t.held = ingress.held(id);
  t.held_bytes = ingress.held_bytes(id);
  return flows[id];
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
  std::ranges::copy(ingress.context(port).mac, frame.begin());
  t.parsed = ingress.keep_on_link(parse(frame, ingress.context(port), t.header), t.header);
  if (t.parsed.drop != DropReason::none) return;
  if (t.header.l3_offset != 14) t.header.interface = ingress.finder().find(frame.data(), t.header, port);
  if (t.header.interface == kNoInterface) t.parsed.drop = DropReason::vlan_unknown;
  if (!t.parsed.forwards()) return;
  const FilteredPacket packet{&t.header, frame.data()};
  t.source_accepted = ingress.sources().accepts(t.header);
  judge(snapshot, (*snapshot.interfaces)[t.header.interface].filter_in, packet, t.filter_in);
  const ParsedPacket* const one = &t.header;
  snapshot.classifier.match({&one, 1}, port, {&t.rule, 1});
  find_way(ingress, packet, t);
  const FlowRecord record = find_state(ingress, now, t);
  condition(ingress, record, now, t);
}

bool knows(const Ingress& ingress, const FlowKey& key, Time now) {
  const FlowTable& flows = ingress.flows();
  return flows.find(key, flows.hash(key), now) != kNoFlow;
}

namespace {

void trace(const ClassScheduler& scheduler, Time now, QueueTrace& t) {
  const ActiveQueue& q = scheduler.queue(t.class_index);
  for (const Precedence p : {Precedence::in, Precedence::out}) t.depth[index(p)] = q.depth(p);
  t.level = q.level();
  t.rio = q.rio() != nullptr;
  if (t.rio) t.average_in = q.rio()->average_in(), t.average_total = q.rio()->average_total();
  t.refusal = q.refusal(t.precedence, now);
}

void trace(const Hierarchy& h, Time now, QueueTrace& t) {
  const PooledQueue& q = h.queue(t.owner, t.class_index);
  for (const Precedence p : {Precedence::in, Precedence::out}) t.depth[index(p)] = q.depth_of(p);
  t.level = q.level(h.params(t.owner).of(t.class_index));
  t.rio = h.params(t.owner).of(t.class_index).rio.has_value();
  if (t.rio) t.average_in = q.rio().in.value, t.average_total = q.rio().total.value;
  t.refusal = h.refusal(t.owner, t.class_index, t.precedence, now);
}

}  // namespace

void trace(const Egress& egress, const Snapshot& snapshot, PortIndex port, InterfaceIndex interface,
           std::uint8_t dscp, Time now, QueueTrace& t) {
  const PortQueues& queues = snapshot.queues[port];
  t.known = true;
  t.owner = port;
  t.waiting = egress.depth();
  if (const PlainQueue* const plain = egress.plain()) {
    t.limit = plain->limit();
    t.depth[index(Precedence::out)] = plain->depth();
    t.level = plain->depth();
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
  if (tree == nullptr) return trace(egress.scheduler(), now, t);
  t.known = !tree->changing() && tree->hierarchy().has(t.owner);
  if (t.known) trace(tree->hierarchy(), now, t);
}

}  // namespace surety
