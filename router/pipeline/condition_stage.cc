// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/condition_stage.h"

#include <cstring>

#include "router/pipeline/egress.h"
#include "router/pipeline/signal_path.h"
#include "router/pipeline/wire/header_fields.h"

namespace surety {

namespace {
// Fine enough that a 1500-byte packet at 100 Mbit/s is held 14 % too long at most; 4096 slots cover 67 ms.
constexpr Duration kSlot{1 << 14};
constexpr std::uint32_t kSlots = 4096;
constexpr std::size_t kWakeAtOnce = 16;

AlphaClocks::Mode mode_of(const Snapshot& snapshot) {
  const bool observe = snapshot.config.signalling.mode == config::Signalling::Mode::observe;
  return observe ? AlphaClocks::Mode::observe : AlphaClocks::Mode::act;
}

Path path_of(const Burst& v, std::size_t i) {
  return path_of(destination_of(v.header[i].key), RouteTarget::decode(v.route[i]).narrowness);
}

// The path of a packet that is or was held, from its mbuf.
Path path_of(rte_mbuf* m) {
  return path_of(destination_of(ip_header(m, noted_l3_offset(m))),
                 RouteTarget::decode(held_route(m)).narrowness);
}

Meter::Level level(const TokenBucket& bucket, const TokenBucketParams& params) {
  constexpr auto byte = static_cast<double>(kCreditPerByte);
  return {static_cast<double>(bucket.credit()) / byte, static_cast<double>(params.depth()) / byte};
}
}  // namespace

ConditionStage::ConditionStage(const Snapshot& snapshot, FlowTable& flows, std::span<PortCounters> ports,
                               std::span<ServiceCounters> services, PacketDisposal& disposal,
                               std::uint64_t seed, Time now, std::size_t worker)
    : snapshot_(&snapshot),
      flows_(flows),
      ports_(ports),
      services_(services),
      disposal_(disposal),
      owner_(PacketOwner::base(worker)),
      pool_(snapshot.config.flow_table.held_packets),
      may_hold_(pool_.capacity()),
      customer_(seed),
      shares_(snapshot.config.ports.size()),
      wheel_(snapshot.config.flow_table.held_packets, kSlot, kSlots, now),
      clocks_(snapshot.domains, now, mode_of(snapshot), AlphaClocks::kMaxPaths, snapshot.domain_capacity),
      alphas_(snapshot.domain_capacity) {}

void ConditionStage::adopt(const Snapshot& snapshot, std::span<ServiceCounters> services, Time now) {
  snapshot_ = &snapshot;
  services_ = services;
  may_hold_ = std::min(snapshot.config.flow_table.held_packets, pool_.capacity());
  clocks_.adopt(snapshot.domains, mode_of(snapshot), now);
}

void ConditionStage::run(Burst& v, PortIndex port, Time now) {
  const std::size_t size = v.size;
  std::size_t kept = 0;
  for (std::size_t begin = 0, end = 0; begin < size; begin = end) {
    while (end < size && v.service[end] == v.service[begin]) ++end;
    const ServiceProgram& service = snapshot_->services[v.service[begin]];
    // The common case has its own loop.
    kept = service.kind == ServiceProgram::Kind::csa ? run_csa(v, begin, end, kept, port, service, now)
                                                     : run_other(v, begin, end, kept, port, service, now);
  }
  v.size = kept;
}

// Conditions consecutive packets of one service; passed packets are counted once for all of them.
[[gnu::noinline]] std::size_t ConditionStage::run_csa(Burst& v, std::size_t begin, std::size_t end,
                                                      std::size_t kept, PortIndex port,
                                                      const ServiceProgram& service, Time now) {
  std::uint64_t in_packets = 0, in_bytes = 0;
  const std::uint16_t* const domains = snapshot_->domains_of(v.service[begin]);
  ServiceCounters& counters = services_[v.service[begin]];
  const bool moves = clocks_.acting();
  // Default the run to IN; csa() overwrites the precedence and mark of packets that go OUT.
  std::fill(&v.precedence[begin], &v.precedence[0] + end, Precedence::in);
  std::fill(&v.mark[begin], &v.mark[0] + end, service.mark_in);
  FlowRecord* const records = &flows_[0];  // in a register: a member would be loaded again after each store
  for (std::size_t i = begin; i < end; ++i) {
    FlowId id = v.flow[i];
    FlowRecord* flow = &records[id];
    if ((flow->flags & FlowRecord::redirect) != 0) {
      v.flow[i] = id = flow->state.shared;
      flow = &records[id];
    }
    const std::uint32_t length = v.header[i].length;
    EnhancedTokenBucketState& s = flow->state.csa;
    AlphaClocks::Index clock = domains[v.egress[i]];
    if (moves) [[unlikely]]
      clock = clocks_.of(clock, path_of(v, i));
    if (s.domain == clock && EnhancedTokenBucket::offer_in(s, service.csa, length, now)) [[likely]] {
      ++in_packets;
      in_bytes += length;
      flows_.count(*flow, id, Precedence::in, length);
    } else if (csa(v, i, port, id, service, now) != Fate::goes) {
      continue;
    }
    v.keep(i, kept++);
  }
  counters.packets[index(Precedence::in)] += in_packets;
  counters.bytes[index(Precedence::in)] += in_bytes;
  return kept;
}

std::size_t ConditionStage::run_other(Burst& v, std::size_t begin, std::size_t end, std::size_t kept,
                                      PortIndex port, const ServiceProgram& service, Time now) {
  for (std::size_t i = begin; i < end; ++i)
    if (condition(v, i, port, service, now) == Fate::goes) v.keep(i, kept++);
  return kept;
}

void ConditionStage::run_unconditioned(Burst& v, std::uint16_t service) {
  std::fill_n(v.mark.begin(), v.size, snapshot_->services[service].mark_in);
  std::fill_n(v.precedence.begin(), v.size, Precedence::in);
  std::fill_n(v.service.begin(), v.size, service);
  std::fill_n(v.flow.begin(), v.size, kNoFlow);
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < v.size; ++i) bytes += v.header[i].length;
  services_[service].packets[index(Precedence::in)] += v.size;
  services_[service].bytes[index(Precedence::in)] += bytes;
}

ConditionStage::Fate ConditionStage::condition(Burst& v, std::size_t i, PortIndex port,
                                               const ServiceProgram& service, Time now) {
  FlowId id = v.flow[i];
  if (service.kind == ServiceProgram::Kind::none) {
    v.flow[i] = kNoFlow;  // the packet has no contract
    return go(v, i, service, id, Precedence::in);
  }
  if ((flows_[id].flags & FlowRecord::redirect) != 0) v.flow[i] = id = flows_[id].state.shared;
  const Color color = service.meter->check(flows_[id].state.meter, now, v.header[i].length,
                                           service.color_of(v.header[i].traffic_class));
  if (color == Color::red && service.drop_red) return refuse(v, i, port, id, DropReason::police);
  const Fate fate = go(v, i, service, id, color == Color::green ? Precedence::in : Precedence::out);
  if (color == Color::red) v.mark[i] = service.mark_red;
  return fate;
}

// This function is not inlined: it would take registers from the loop above, whose packets seldom need it.
[[gnu::noinline]] ConditionStage::Fate ConditionStage::csa(Burst& v, std::size_t i, PortIndex port, FlowId id,
                                                           const ServiceProgram& service, Time now) {
  EnhancedTokenBucketState& s = flows_[id].state.csa;
  AlphaClocks::Index clock = snapshot_->domain(v.egress[i], v.service[i]);
  if (clocks_.acting()) clock = clocks_.of(clock, path_of(v, i));
  if (s.domain != clock) [[unlikely]]
    enter_clock(s, service.csa, clock);
  const bool waiting = s.held != 0;
  const Packet packet{v.mbuf[i], id, v.header[i].length, Precedence::out, DropReason::none};
  const DropReason refused = pool_refuses(v.header[i].key, port);
  const bool may_wait = refused == DropReason::none;
  switch (EnhancedTokenBucket::offer(s, service.csa, packet, now, clocks_[clock], pool_, may_wait)) {
    case EtbVerdict::in:
      return go(v, i, service, id, Precedence::in);
    case EtbVerdict::out:
      if (clocks_.has_paths()) [[unlikely]]
        count_out(id, path_of(v, i));
      return go(v, i, service, id, Precedence::out);
    case EtbVerdict::drop_buffer:
      return refuse(v, i, port, id, DropReason::buffer);
    case EtbVerdict::drop_buffer_total:
      return refuse(v, i, port, id, refused);
    case EtbVerdict::hold:
      break;
  }
  const Customer customer = customer_(v.header[i].key, port);
  note_held(v.mbuf[i], v.route[i], v.header[i].l3_offset, customer);
  shares_.add(customer);
  ++ports_[port].held;
  ++services_[v.service[i]].held;
  if (!waiting) flows_[id].flags |= FlowRecord::sticky;
  // A backlog that has become longer may let the head leave OUT.
  if (!waiting || s.out_backlog > EnhancedTokenBucket::kFree) {
    wheel_.insert(s.held, EnhancedTokenBucket::next_release(s, service.csa, now, clocks_[clock], pool_));
  }
  return Fate::held;
}

// Why the pool has no room for one more packet of the flow's customer; none: it has.
DropReason ConditionStage::pool_refuses(const FlowKey& key, PortIndex port) const {
  const std::uint32_t free = may_hold_ - std::min(pool_.held(), may_hold_);
  if (free == 0) return DropReason::buffer_total;
  const bool room = CustomerQuota::above_reserve(free, may_hold_) || shares_.room(customer_(key, port), free);
  return room ? DropReason::none : DropReason::buffer_share;
}

// A flow's out-bucket uses the clock of its egress queue, or of its path while that is held back. When its
// route changes, or when a contract's flows leave by several ports, the tokens gained so far stay.
void ConditionStage::enter_clock(EnhancedTokenBucketState& s, const EnhancedTokenBucketParams& p,
                                 AlphaClocks::Index clock) const {
  if (s.domain != kNoDomain) s.out.fill(p.out, clocks_.now(s.domain));
  s.out.rebase(p.out, clocks_.now(clock));
  s.domain = clock;
}

// Moves a held flow to another clock if needed: the path of its first packet may have been held back or
// released since.
void ConditionStage::follow_path(EnhancedTokenBucketState& s, const EnhancedTokenBucketParams& p) {
  const Path path = path_of(static_cast<rte_mbuf*>(pool_.head(s.held).handle));
  const AlphaClocks::Index clock = clocks_.of(clocks_.domain(s.domain), path);
  if (s.domain != clock) enter_clock(s, p, clock);
}

ConditionStage::Fate ConditionStage::go(Burst& v, std::size_t i, const ServiceProgram& service, FlowId id,
                                        Precedence precedence) {
  const std::uint32_t length = v.header[i].length;
  const bool in = precedence == Precedence::in;
  v.precedence[i] = precedence;
  v.mark[i] = in ? service.mark_in : service.mark_out;
  ServiceCounters& c = services_[v.service[i]];
  ++c.packets[index(precedence)];
  c.bytes[index(precedence)] += length;
  if (id != kNoFlow) flows_.count(id, precedence, length);
  return Fate::goes;
}

ConditionStage::Fate ConditionStage::refuse(Burst& v, std::size_t i, PortIndex port, FlowId id,
                                            DropReason reason) {
  ServiceCounters& c = services_[v.service[i]];
  ++c.dropped;
  c.dropped_bytes += v.header[i].length;
  set_owner(v.mbuf[i], owner_, id, v.service[i], Precedence::out);
  disposal_.drop_owned(v.mbuf[i], port, reason, v.header[i].length);
  return Fate::dropped;
}

void ConditionStage::count_out(FlowId id, const Path& path) {
  clocks_.sent(clocks_.domain(flows_[id].state.csa.domain), path);
}

void ConditionStage::revive(Burst& v, const Packet& p, std::uint16_t service) {
  auto* m = static_cast<rte_mbuf*>(p.handle);
  const std::size_t i = v.size++;
  v.mbuf[i] = m;
  v.flow[i] = p.flow;
  v.service[i] = service;
  v.route[i] = held_route(m);
  v.header[i].length = p.length;
  v.header[i].l3_offset = noted_l3_offset(m);
  const std::uint8_t* const ip = ip_header(m, v.header[i].l3_offset);
  v.header[i].v6 = is_v6(ip);
  v.header[i].traffic_class = traffic_class(ip);
  shares_.remove(noted_customer(m));
  --ports_[m->port].held;
  --services_[service].held;
  if (p.precedence == Precedence::out && clocks_.has_paths()) [[unlikely]]
    count_out(p.flow, path_of(m));
  go(v, i, snapshot_->services[service], p.flow, p.precedence);
}

bool ConditionStage::release(Burst& v, Time now) {
  std::array<std::uint32_t, kWakeAtOnce> due;
  std::array<Packet, kBurst> packets;
  const std::size_t n = wheel_.expire(now, due);
  for (std::size_t k = 0; k < n; ++k) {
    const FlowId id = pool_.flow(due[k]);
    FlowRecord& flow = flows_[id];
    EnhancedTokenBucketState& s = flow.state.csa;
    const ServiceProgram& service = snapshot_->services[flow.service];
    if (clocks_.moves(s.domain)) [[unlikely]]
      follow_path(s, service.csa);
    const AlphaClock& alpha = clocks_[s.domain];
    const std::size_t freed =
        EnhancedTokenBucket::release(s, service.csa, now, alpha, pool_, {packets.data(), kBurst - v.size});
    for (std::size_t i = 0; i < freed; ++i) revive(v, packets[i], flow.service);
    flows_.touch(flow, now);
    if (s.held == 0)
      flow.flags &= static_cast<std::uint8_t>(~FlowRecord::sticky);
    else  // no room left in `v`, or no tokens: try again
      wheel_.insert(s.held,
                    v.full() ? now : EnhancedTokenBucket::next_release(s, service.csa, now, alpha, pool_));
  }
  return n == kWakeAtOnce || v.full();
}

bool ConditionStage::flush(Burst& v, FlowId id, Time now) {
  FlowRecord& flow = flows_[id];
  if ((flow.flags & FlowRecord::sticky) == 0) return true;
  EnhancedTokenBucketState& s = flow.state.csa;
  const HoldingPool::Queue queue = s.held;
  std::array<Packet, kBurst> packets;
  const std::size_t freed = EnhancedTokenBucket::flush(s, snapshot_->services[flow.service].csa, pool_,
                                                       {packets.data(), kBurst - v.size});
  for (std::size_t i = 0; i < freed; ++i) revive(v, packets[i], flow.service);
  flows_.touch(flow, now);
  if (s.held != 0) return false;
  wheel_.remove(queue);
  flow.flags &= static_cast<std::uint8_t>(~FlowRecord::sticky);
  return true;
}

HoldingPool::Queue ConditionStage::queue_of(FlowId id) const {
  const FlowRecord& flow = flows_[id];
  const bool buffers = (flow.flags & (FlowRecord::sticky | FlowRecord::redirect)) == FlowRecord::sticky;
  return buffers ? flow.state.csa.held : 0;
}

std::uint32_t ConditionStage::held(FlowId id) const {
  return pool_.size(queue_of(id));
}

ConditionStage::Forecast ConditionStage::forecast(const FlowRecord& record, std::uint16_t service,
                                                  const ParsedPacket& packet, PortIndex port,
                                                  const RouteTarget& target, PortIndex egress,
                                                  Time now) const {
  using Fate = Forecast::Fate;
  const ServiceProgram& program = snapshot_->services[service];
  if (program.kind == ServiceProgram::Kind::csa)
    return forecast_csa(record.state.csa, service, packet, port,
                        path_of(destination_of(packet.key), target.narrowness), egress, now);
  Forecast f;
  if (program.kind == ServiceProgram::Kind::none) return f;
  Meter::State state;
  std::memcpy(state, record.state.meter, sizeof state);
  f.buckets = program.meter->levels(state, now);
  const Color color = program.meter->check(state, now, packet.length, program.color_of(packet.traffic_class));
  f.red = color == Color::red;
  f.fate = color == Color::green ? Fate::in : Fate::out;
  if (f.red && program.drop_red) f.fate = Fate::dropped, f.reason = DropReason::police;
  return f;
}

ConditionStage::Forecast ConditionStage::forecast_csa(EnhancedTokenBucketState s, std::uint16_t service,
                                                      const ParsedPacket& packet, PortIndex port,
                                                      const Path& path, PortIndex egress, Time now) const {
  using Fate = Forecast::Fate;
  const EnhancedTokenBucketParams& params = snapshot_->services[service].csa;
  Forecast f;
  f.domain = snapshot_->domain(egress, service);
  if (f.domain == kNoDomain) return f;
  const AlphaClocks::Index index = clocks_.of(f.domain, path);
  if (s.domain != index) enter_clock(s, params, index);
  const AlphaClock clock = clocks_.at(index);
  f.alpha = clock.alpha();
  s.in.fill(params.in, now);
  s.out.fill(params.out, clock.now());
  f.buckets = {level(s.in, params.in), level(s.out, params.out)};
  const DropReason refused = pool_refuses(packet.key, port);
  const bool may_wait = refused == DropReason::none;
  switch (EnhancedTokenBucket::decide(s, params, packet.length, now, clock, pool_, may_wait)) {
    case EtbVerdict::in:
      break;
    case EtbVerdict::out:
      f.fate = Fate::out;
      break;
    case EtbVerdict::hold:
      f.fate = Fate::waits;
      break;
    case EtbVerdict::drop_buffer:
      f.fate = Fate::dropped, f.reason = DropReason::buffer;
      break;
    case EtbVerdict::drop_buffer_total:
      f.fate = Fate::dropped, f.reason = refused;
      break;
  }
  return f;
}

void ConditionStage::discard() {
  std::array<std::uint32_t, kWakeAtOnce> queues;
  while (const std::size_t n = wheel_.expire(kNever, queues))
    for (std::size_t k = 0; k < n; ++k)
      while (pool_.size(queues[k]) > 0) rte_pktmbuf_free(static_cast<rte_mbuf*>(pool_.pop(queues[k]).handle));
}

void ConditionStage::advance(std::span<const PortEgress> port_egresses, Time now) {
  for (std::size_t d = 0; d < snapshot_->domains.size(); ++d)
    alphas_[d] = port_egresses[snapshot_->domains[d].port].egress->alpha(static_cast<std::uint16_t>(d));
  clocks_.advance(alphas_, now);
}

SignalResult ConditionStage::on_signal(const SignalPath& path, std::span<const PortEgress> port_egresses,
                                       Time now) {
  advance(port_egresses, now);
  const bool observe = snapshot_->config.signalling.mode == config::Signalling::Mode::observe;
  for (std::size_t d = 0; d < snapshot_->domains.size(); ++d) {
    const CsaDomain& domain = snapshot_->domains[d];
    if ((path.ports >> domain.port & 1) == 0 || !concerns(*snapshot_, domain, path.dscp)) continue;
    clocks_.signal(path.path, static_cast<std::uint16_t>(d), path.kind, now);
  }
  return observe ? SignalResult::observed : SignalResult::applied;
}

}  // namespace surety
