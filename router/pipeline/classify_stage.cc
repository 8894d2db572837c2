// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/classify_stage.h"

#include <bit>
#include <utility>

namespace surety {

namespace {

// Budget of the sweep after a reload, per turn: a stale flow costs one slow-path classification. Eight per
// burst of 64 slow a busy worker by about a quarter while the sweep runs (4 million flows: some seconds).
// Unused places take some microseconds.
constexpr std::uint32_t kMarkPlaces = 1024, kMarkFlows = 8;

}  // namespace

std::uint32_t ClassifyStage::creation_rate(const config::FlowTable& table) {
  return table.creation_rate.value_or(std::max(1u, table.capacity / 4));
}

ClassifyStage::ClassifyStage(const Snapshot& snapshot, std::span<PortCounters> ports,
                             std::span<ServiceCounters> services, const SourceCheck& sources,
                             FilterStage& filters, PacketDisposal& disposal, std::uint64_t seed, Time now)
    : snapshot_(&snapshot),
      ports_(ports),
      services_(services),
      sources_(sources),
      filters_(filters),
      disposal_(disposal),
      flows_(snapshot.config.flow_table.capacity, snapshot.config.flow_table.idle_timeout, seed,
             Displacement::kEmbryonic),
      classified_(snapshot),
      customer_(seed),
      ledger_(flows_.capacity()),
      bounds_(flows_.capacity()),
      holders_(flows_.capacity(), snapshot.config.ports.size(), seed),
      displacement_(flows_, holders_),
      creations_(creation_rate(snapshot.config.flow_table), flows_.capacity(), snapshot.config.ports.size(),
                 now),
      limited_(snapshot.config.flow_table.creation_rate != 0u),
      sweep_(snapshot.config.flow_table.idle_timeout, snapshot.config.flow_table.capacity, now) {
  creations_.share_among(std::max<std::size_t>(1, snapshot.config.port_count()));
}

[[gnu::noinline]] void ClassifyStage::run(Burst& v, PortIndex port, Time now) {
  const auto packets = std::span<const ParsedPacket>(v.header).first(v.size);
  Misses::Hashes hashes;
  flows_.prefetch_buckets(packets, hashes.data());
  flows_.prefetch_records(packets, hashes.data(), v.flow.data());
  const FlowTable::Tick tick = flows_.tick(now);
  const FlowTable::Found found = flows_.look_up(packets, v.flow.data(), v.service.data(), tick);
  Misses misses = look_up_others(v, found, hashes, tick);
  const bool filtered = filters_.asks_in(port);
  if (misses.size == 0 && !filtered) [[likely]]
    return;
  if (sources_.asks(port)) check_sources(v, misses, hashes, port);
  if (filtered) filter(v, misses, hashes, port);
  if (misses.size == 0) return;
  admit(v, misses, hashes, port, now);
}

// Handles packets of shared contracts, second packets of flows, packets of stale flows and of none.
inline Misses ClassifyStage::look_up_others(Burst& v, const FlowTable::Found& found,
                                            const Misses::Hashes& hashes, FlowTable::Tick tick) {
  Misses misses;
  for (std::uint64_t left = found.others | found.redirected; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    if ((found.others >> i & 1) != 0) v.flow[i] = flows_.verify(v.flow[i], v.header[i].key, hashes[i], tick);
    if (v.flow[i] == kNoFlow || !refresh(v, i, tick))
      misses.which[misses.size++] = static_cast<std::uint8_t>(i);
  }
  return misses;
}

void ClassifyStage::check_sources(Burst& v, Misses& misses, Misses::Hashes& hashes, PortIndex port) {
  std::uint64_t refused = 0;
  for (std::size_t s = 0; s < misses.size; ++s) {
    const std::uint8_t i = misses.which[s];
    if (!sources_.accepts(v.header[i])) refused |= std::uint64_t{1} << i;
  }
  misses.remove(v, hashes, refused, [&](std::size_t i) {
    disposal_.drop_and_report(v.mbuf[i], port, DropReason::source_check, Refusal::source, v.header[i]);
  });
}

void ClassifyStage::filter(Burst& v, Misses& misses, Misses::Hashes& hashes, PortIndex port) {
  std::uint64_t asked = filters_.asked_always(v, port);
  for (std::size_t s = 0; s < misses.size; ++s) asked |= std::uint64_t{1} << misses.which[s];
  if (asked == 0) [[likely]]
    return;
  misses.remove(v, hashes, filters_.refused(v, asked), [&](std::size_t i) { filters_.refuse(v, i, port); });
}

// Matches the rules for all packets at once, then admits one packet after the other, since an earlier packet
// may have created the flow.
[[gnu::noinline]] void ClassifyStage::admit(Burst& v, const Misses& misses, const Misses::Hashes& hashes,
                                            PortIndex port, Time now) {
  std::array<const ParsedPacket*, kBurst> packets;
  std::array<std::uint16_t, kBurst> rules;
  for (std::size_t s = 0; s < misses.size; ++s) packets[s] = &v.header[misses.which[s]];
  snapshot_->classifier.match({packets.data(), misses.size}, port, rules);
  displacement_.begin_burst();
  bool created = false;
  for (std::size_t s = 0; s < misses.size; ++s) {
    const std::size_t i = misses.which[s];
    if (created && v.flow[i] == kNoFlow) v.flow[i] = flows_.find(v.header[i].key, hashes[i], now);
    if (v.flow[i] != kNoFlow) {
      if (!refresh(v, i, flows_.tick(now))) reconcile(v, i, rules[s], port, now);
      continue;
    }
    const Opened opened = create(v, i, rules[s], port, hashes[i], now);
    v.flow[i] = opened.id;
    created |= opened.id != kNoFlow;
    if (opened.reason != DegradeReason::none) degrade(v, i, port, opened.reason);
  }
}

void ClassifyStage::degrade(Burst& v, std::size_t i, PortIndex port, DegradeReason reason) {
  v.flow[i] = kNoFlow;
  v.service[i] = snapshot_->best_effort();
  ++ports_[port].degraded[static_cast<std::size_t>(reason)];
}

ClassifyStage::Judgement ClassifyStage::judge(std::uint16_t rule, InterfaceIndex interface) const {
  if (rule == Classifier::kNoRule) return {snapshot_->unmatched(interface), false, false};
  const std::uint16_t service = snapshot_->service_of_rule(rule);
  const bool needs_state = snapshot_->services[service].kind != ServiceProgram::Kind::none;
  return {service, needs_state, needs_state && snapshot_->config.rules[rule].per != config::Rule::Per::flow};
}

// Handles a packet of an unknown flow: its rule decides, and a new record stores the result, if there is
// room.
ClassifyStage::Opened ClassifyStage::create(Burst& v, std::size_t i, std::uint16_t rule, PortIndex port,
                                            std::uint64_t hash, Time now) {
  const ParsedPacket& packet = v.header[i];
  const Judgement j = judge(rule, packet.interface);
  std::uint16_t service = v.service[i] = j.service;
  if (!j.needs_state && !above_reserve(now)) return {};
  const Opener by = opener(packet.key, port);
  const bool shares = j.shares || (j.needs_state && !has_room(rule, packet.interface));
  Opened shared;
  if (shares) {
    shared = contract(rule, service, packet, by, now);
    if (shared.id == kNoFlow) return shared;
    service = v.service[i] = flows_[shared.id].service;  // the former service, until the contract restarts
  }
  const Opened opened = open(packet.key, hash, service, false, by, now);
  if (opened.id == kNoFlow) return j.needs_state && !shares ? opened : shared;
  if (shares) {
    FlowRecord& r = flows_[opened.id];
    r.flags |= FlowRecord::redirect;
    r.state.shared = shared.id;
    holders_.join(shared.id);
    r.flush_asked() = 0;
    if (service != j.service) r.flags |= FlowRecord::stale;
  } else if (j.needs_state) {
    begin_contract(opened.id, rule, packet.interface);
  }
  ++services_[service].flows;
  return opened;
}

// The record that all flows of one contract share: `per: source` and the like, and the excess contract.
// Touched with each of its flows, here and in refresh(): the flows refer to it by number, so it must not be
// removed before them, wherever their packets are.
ClassifyStage::Opened ClassifyStage::contract(std::uint16_t rule, std::uint16_t service,
                                              const ParsedPacket& packet, Opener by, Time now) {
  const FoundContract found = find_contract(rule, packet, now);
  if (found.id != kNoFlow) {
    flows_.touch(flows_[found.id], now);
    if (flows_[found.id].service != service) ask(found.id, service, now);
    return {found.id};
  }
  const Opened opened = open(found.key, found.hash, service, true, by, now);
  if (opened.id != kNoFlow) begin_contract(opened.id, rule, packet.interface);
  return opened;
}

ClassifyStage::FoundContract ClassifyStage::find_contract(std::uint16_t rule, const ParsedPacket& packet,
                                                          Time now) const {
  const auto find = [&](const FlowKey& key) {
    const std::uint64_t hash = flows_.hash(key);
    return FoundContract{key, hash, flows_.find(key, hash, now)};
  };
  const Classifier& classifier = snapshot_->classifier;
  if (snapshot_->config.rules[rule].per != config::Rule::Per::flow) {
    const FoundContract found = find(classifier.contract_key(rule, packet));
    if (found.id != kNoFlow || has_room(rule, packet.interface)) return found;
  }
  return find(classifier.excess_key(rule, packet));  // a `per: flow` rule has it for flows above the limit
}

// True if the rule has room for one more contract by the interface, beside the excess contract, which is the
// last one of the rule's number.
bool ClassifyStage::has_room(std::uint16_t rule, InterfaceIndex interface) const {
  const config::Rule& r = snapshot_->config.rules[rule];
  const bool one = r.per == config::Rule::Per::vlan && interface >= snapshot_->interfaces->ports();
  return !r.most || one || bounds_.room(snapshot_->classifier.id(rule), interface, *r.most - 1);
}

ClassifyStage::Opened ClassifyStage::open(const FlowKey& key, std::uint64_t hash, std::uint16_t service,
                                          bool contract, Opener by, Time now) {
  if (const DegradeReason reason = shortage(by); reason != DegradeReason::none) {
    if (!displace(by, now)) return {kNoFlow, reason};
  } else if (limited_ && !creations_.permit(by.customer, now)) {
    return {kNoFlow, DegradeReason::creation_limited};
  }
  const FlowId id = flows_.insert(key, hash, contract, now, [this](FlowId gone) { closed(gone); });
  if (id == kNoFlow) return {kNoFlow, DegradeReason::flow_table_full};
  holders_.add(id, by.customer);
  flows_[id].service = service;
  start(flows_[id], snapshot_->services[service], now);
  return {id};
}

// Gives why the table has no free record for the customer; none: it has one.
DegradeReason ClassifyStage::shortage(Opener by) const {
  if (full()) return DegradeReason::flow_table_full;
  const bool room = holders_.room(by.customer, flows_.capacity() - flows_.size());
  return room ? DegradeReason::none : DegradeReason::flow_share_full;
}

// Gives why open() would make no record; none: it would make one.
DegradeReason ClassifyStage::would_open(Opener by, Time now) const {
  const DegradeReason reason = shortage(by);
  const bool permitted = !limited_ || creations_.would_permit(by.customer, now);
  if (reason == DegradeReason::none) return permitted ? reason : DegradeReason::creation_limited;
  return permitted && displacement_.would_choose(by, *snapshot_, now) != kNoFlow ? DegradeReason::none
                                                                                 : reason;
}

ClassifyStage::Forecast ClassifyStage::forecast(const ParsedPacket& packet, std::uint16_t rule,
                                                PortIndex port, Time now) const {
  Forecast f;
  f.id = flows_.find(packet.key, flows_.hash(packet.key), now);
  f.flow_known = f.id != kNoFlow;
  const Judgement j = judge(rule, packet.interface);
  f.service = f.flow_known ? flows_[f.id].service : j.service;
  if (f.flow_known) {
    if ((flows_[f.id].flags & FlowRecord::redirect) != 0) {
      f.id = flows_[f.id].state.shared;
      f.service = flows_[f.id].service;  // the contract may have changed service
    }
    f.excess = Classifier::is_excess(flows_.key(f.id));
  } else if (j.needs_state) {
    f.excess = !has_room(rule, packet.interface);
    if (j.shares || f.excess) {
      const FoundContract found = find_contract(rule, packet, now);
      f.id = found.id;
      f.excess = Classifier::is_excess(found.key);
    }
    if (f.id == kNoFlow)
      f.degraded = would_open(opener(packet.key, port), now);
    else
      f.service = flows_[f.id].service;
  }
  if (f.degraded != DegradeReason::none) f.service = snapshot_->best_effort();
  const ServiceProgram& program = snapshot_->services[f.service];
  f.own_state = program.kind != ServiceProgram::Kind::none;
  if (f.id != kNoFlow)
    f.record = flows_[f.id];
  else
    start(f.record, program, now);
  return f;
}

void ClassifyStage::start(FlowRecord& r, const ServiceProgram& program, Time now) const {
  switch (program.kind) {
    case ServiceProgram::Kind::csa:
      EnhancedTokenBucket::reset(r.state.csa, program.csa, now, Time{});
      r.state.csa.domain = kNoDomain;
      break;
    case ServiceProgram::Kind::meter:
      program.meter->reset(r.state.meter);
      break;
    case ServiceProgram::Kind::none:
      break;
  }
}

bool ClassifyStage::above_reserve(Time now) const {
  const std::uint32_t reserve = flows_.capacity() / 4;
  return flows_.size() < flows_.capacity() - reserve && (!limited_ || creations_.above_reserve(reserve, now));
}

void ClassifyStage::closed(FlowId id) {
  holders_.remove(id);
  const FlowRecord& r = flows_[id];
  if ((r.flags & FlowRecord::redirect) != 0) holders_.leave(r.state.shared);
  const bool contract = (r.flags & FlowRecord::is_shared) != 0;
  if (!contract) --services_[r.service].flows;
  if (contract || has_own_state(r)) end_contract(id);
}

void ClassifyStage::begin_contract(FlowId id, std::uint16_t rule, InterfaceIndex interface) {
  ++services_[flows_[id].service].contracts;
  const FlowCounters before = flows_.counters(id);  // counted while the flow had no contract
  ledger_.open(id, snapshot_->classifier.id(rule), interface, {before.in_bytes, before.out_bytes});
  if (!Classifier::is_excess(flows_.key(id))) bounds_.charge(id, snapshot_->classifier.id(rule), interface);
}

void ClassifyStage::end_contract(FlowId id) {
  --services_[flows_[id].service].contracts;
  ledger_.close(id);
  bounds_.release(id);
}

void ClassifyStage::age(Time now) {
  const auto gone = [this](FlowId id) { closed(id); };
  if (const std::uint32_t due = sweep_.due(now); due > 0)
    sweep_.done(flows_.age(now, due, gone), flows_.capacity(), now);
  flows_.age_embryonic(now, gone);
  if (next_event() != kNever) [[unlikely]] {
    due_ = now;
    flows_.mark(kMarkPlaces, kMarkFlows);
  }
}

// Moves flows to the services of another configuration.

void ClassifyStage::adopt(const Snapshot& snapshot, std::span<ServiceCounters> services, Time now) {
  snapshot_ = &snapshot;
  services_ = services;
  const config::FlowTable& table = snapshot.config.flow_table;
  creations_.adjust(creation_rate(table), table.capacity);
  creations_.share_among(std::max<std::size_t>(1, snapshot.config.port_count()));
  limited_ = table.creation_rate != 0u;
  classified_.adopt(snapshot, now + table.idle_timeout);
  requests_.drop_services();
  flows_.begin_marking();
  due_ = now;
}

// Handles a packet of a flow that may have been classified by a former configuration.
void ClassifyStage::reconcile(Burst& v, std::size_t i, std::uint16_t rule, PortIndex port, Time now) {
  const FlowId id = v.flow[i];
  FlowRecord& r = flows_[id];
  const Judgement j = judge(rule, v.header[i].interface);
  const FlowId from = (r.flags & FlowRecord::redirect) != 0 ? r.state.shared : kNoFlow;
  FlowId to = kNoFlow;
  std::uint16_t service = j.service;
  if (j.shares || (j.needs_state && needs_excess(id, rule, v.header[i].interface))) {
    const Opened shared = contract(rule, service, v.header[i], opener(v.header[i].key, port), now);
    to = shared.id;
    if (to == kNoFlow) {  // keeps its service, if possible
      if (from != kNoFlow) r.flush_asked() = 0;
      if (from != kNoFlow && flows_[from].service != r.service) degrade(v, i, port, shared.reason);
      return;
    }
    service = flows_[to].service;  // the former service, until the contract restarts
  }
  const bool same_buffer = from == to && (from != kNoFlow || service == r.service);
  if (!same_buffer && waits(r)) {
    if (from == kNoFlow && to == kNoFlow && is_csa(r.service) && is_csa(service))
      ask(id, service, now);
    else
      ask_to_go(r, id, now);
    return;
  }
  if (from != to || service != r.service) {
    const bool had = has_own_state(r);
    move(id, service, to, now);
    if (!had && has_own_state(r)) begin_contract(id, rule, v.header[i].interface);
  }
  if (has_own_state(r)) {
    ledger_.rename(id, snapshot_->classifier.id(rule));
    bounds_.charge(id, snapshot_->classifier.id(rule), v.header[i].interface);
  }
  if (to != kNoFlow) r.flush_asked() = 0;
  if (service == j.service)
    r.flags &= static_cast<std::uint8_t>(~FlowRecord::stale);
  else
    r.flags |= FlowRecord::stale;
  v.service[i] = service;
}

// True if a flow of a `per: flow` rule has to share the excess contract: the rule has no room for one more
// contract, and the flow has none yet.
bool ClassifyStage::needs_excess(FlowId id, std::uint16_t rule, InterfaceIndex interface) const {
  const bool counted =
      has_own_state(flows_[id]) && bounds_.charged(id, snapshot_->classifier.id(rule), interface);
  return !counted && !has_room(rule, interface);
}

// A new contract is not embryonic if its flow is not: otherwise it would be removed earlier.
void ClassifyStage::move(FlowId id, std::uint16_t service, FlowId contract, Time now) {
  FlowRecord& r = flows_[id];
  const bool had_state = has_own_state(r);
  const bool keeps_state = had_state && contract == kNoFlow && is_csa(r.service) && is_csa(service);
  --services_[r.service].flows;
  if (had_state) --services_[r.service].contracts;
  if ((r.flags & FlowRecord::redirect) != 0) holders_.leave(r.state.shared);
  r.service = service;
  if (contract != kNoFlow) {
    r.flags |= FlowRecord::redirect;
    r.state.shared = contract;
    holders_.join(contract);
    flows_.touch(flows_[contract], now);
  } else {
    r.flags &= static_cast<std::uint8_t>(~FlowRecord::redirect);
    if (!keeps_state) start(r, snapshot_->services[service], now);
  }
  ++services_[service].flows;
  if (!had_state) return;
  if (has_own_state(r)) {
    ++services_[service].contracts;
    return;
  }
  ledger_.close(id);
  bounds_.release(id);
}

// True if packets of the flow may be held in an input buffer. In a contract's buffer it has none if that has
// been emptied since the flow's request: other flows may keep the buffer busy for ever.
bool ClassifyStage::waits(const FlowRecord& r) const {
  if ((r.flags & FlowRecord::redirect) == 0) return (r.flags & FlowRecord::sticky) != 0;
  const FlowRecord& contract = flows_[r.state.shared];
  if ((contract.flags & FlowRecord::sticky) == 0) return false;
  return r.flush_asked() == 0 || requests_.has(r.state.shared);
}

void ClassifyStage::ask_to_go(FlowRecord& r, FlowId id, Time now) {
  const bool redirect = (r.flags & FlowRecord::redirect) != 0;
  const bool heard = ask(redirect ? r.state.shared : id, MoveRequest::kSameService, now);
  if (redirect) r.flush_asked() = heard;
}

bool ClassifyStage::ask(FlowId id, std::uint16_t service, Time now) {
  if (!requests_.has(id)) due_ = now;
  return requests_.add(id, service);
}

void ClassifyStage::restart(const MoveRequest& request, Time now) {
  FlowRecord& contract = flows_[request.id];
  if (request.service == MoveRequest::kSameService || request.service == contract.service) return;
  --services_[contract.service].contracts;
  ++services_[request.service].contracts;
  contract.service = request.service;
  start(contract, snapshot_->services[request.service], now);
}

bool ClassifyStage::carries_over(const MoveRequest& request) const {
  const std::uint16_t now = flows_[request.id].service;
  return request.service != MoveRequest::kSameService && request.service != now && is_csa(now) &&
         is_csa(request.service);
}

void ClassifyStage::carry_over(MoveRequest& request, std::uint32_t held) {
  FlowRecord& r = flows_[request.id];
  ServiceCounters &from = services_[r.service], &to = services_[request.service];
  from.held -= held;
  to.held += held;
  --from.contracts;
  ++to.contracts;
  if ((r.flags & FlowRecord::is_shared) == 0) {
    --from.flows;
    ++to.flows;
  }
  r.service = std::exchange(request.service, MoveRequest::kSameService);
}

void ClassifyStage::restore(std::span<const ContractState> states, Time now) {
  for (const ContractState& saved : states) {
    const auto s = as_numbered_here(saved, *snapshot_);
    if (!s || full()) continue;
    const FlowId id =
        flows_.insert(s->key, flows_.hash(s->key), s->shared, now, [this](FlowId gone) { closed(gone); });
    if (id == kNoFlow) continue;
    const auto port = static_cast<std::uint8_t>((*snapshot_->interfaces)[s->interface].port);
    holders_.add(id, customer_(s->key, port));
    FlowRecord& r = flows_[id];
    r.service = s->service;
    const std::uint16_t counted = r.out_bytes();  // this record's own: none
    r.state = s->state;
    r.out_bytes() = counted;
    if (!s->shared) {
      ++services_[s->service].flows;
      r.flags |= FlowRecord::stale;  // classified again with its next packet
    }
    begin_contract(id, s->rule, s->interface);
    flows_.touch(r, now);
  }
}

// The record of another customer, or of its own, makes room for a new flow.
bool ClassifyStage::displace(Opener by, Time now) {
  const FlowId gone = displacement_.choose(by, *snapshot_, now);
  if (gone == kNoFlow || (limited_ && !creations_.permit(by.customer, now))) return false;
  closed(gone);
  flows_.remove(gone);
  return true;
}

}  // namespace surety
