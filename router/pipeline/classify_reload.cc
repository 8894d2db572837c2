// SPDX-License-Identifier: BSD-3-Clause
// Moves flows to the services of another configuration.
#include "router/pipeline/classify_stage.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace surety {

void ClassifyStage::adopt(const Snapshot& snapshot, std::span<ServiceCounters> services, Time now) {
  snapshot_ = &snapshot;
  services_ = services;
  const config::FlowTable& table = snapshot.config.flow_table;
  creations_.adjust(creation_rate(table), table.capacity);
  creations_.share_among(std::max<std::size_t>(1, snapshot.config.port_count()));
  limited_ = table.creation_rate != 0u;
  // A port without rules stays classified until its flows hold no packets: unclassified packets would
  // overtake them.
  for (std::size_t p = 0; p < classified_.size(); ++p) {
    const bool now_classified = snapshot.classifier.classifies(static_cast<PortIndex>(p));
    settling_ |= classified_[p] != 0 && !now_classified;
    classified_[p] |= static_cast<std::uint8_t>(now_classified);
  }
  // Drops requests for services of an earlier reload; their flows will be classified again.
  std::erase_if(requests_, [](const Request& r) { return !r.flush; });
  for (Request& r : requests_) r.service = kSameService;
  flows_.begin_marking();
  due_ = now;
  settled_ = now + snapshot.config.flow_table.idle_timeout;
}

void ClassifyStage::settle(bool empty, Time now) {
  if (!settling_ || adopting() || (!empty && now < settled_)) return;
  for (std::size_t p = 0; p < classified_.size(); ++p)
    classified_[p] = snapshot_->classifier.classifies(static_cast<PortIndex>(p));
  settling_ = false;
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
  return r.flush_asked() == 0 || asked(r.state.shared);
}

void ClassifyStage::ask_to_go(FlowRecord& r, FlowId id, Time now) {
  const bool redirect = (r.flags & FlowRecord::redirect) != 0;
  const bool heard = ask(redirect ? r.state.shared : id, kSameService, now);
  if (redirect) r.flush_asked() = heard;
}

bool ClassifyStage::ask(FlowId id, std::uint16_t service, Time now) {
  const auto at = std::ranges::find(requests_, id, &Request::id);
  if (at != requests_.end()) {
    if (service == kSameService)
      at->flush = true;
    else
      at->service = service;
    return true;
  }
  if (requests_.size() == kMostRequests) return false;
  requests_.push_back({id, service, service == kSameService});
  due_ = now;
  return true;
}

bool ClassifyStage::asked(FlowId id) const {
  return std::ranges::find(requests_, id, &Request::id) != requests_.end();
}

void ClassifyStage::restart(const Request& request, Time now) {
  FlowRecord& contract = flows_[request.id];
  if (request.service == kSameService || request.service == contract.service) return;
  --services_[contract.service].contracts;
  ++services_[request.service].contracts;
  contract.service = request.service;
  start(contract, snapshot_->services[request.service], now);
}

bool ClassifyStage::carries_over(const Request& request) const {
  const std::uint16_t now = flows_[request.id].service;
  return request.service != kSameService && request.service != now && is_csa(now) && is_csa(request.service);
}

void ClassifyStage::carry_over(Request& request, std::uint32_t held) {
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
  r.service = std::exchange(request.service, kSameService);
}

// Moves contracts to another process: the content of their buckets is neither lost nor granted twice.

namespace {

// Each process numbers its rules; the key of a contract that flows share has this number here.
void renumber(FlowKey& key, std::uint32_t id) {
  key.rest = (key.rest & ~std::uint64_t{0xffffffff}) | id;
}

}  // namespace

std::vector<ContractState> ClassifyStage::save() const {
  std::vector<ContractState> states;
  std::unordered_map<std::uint32_t, std::uint16_t> rules;
  for (std::size_t r = 0; r < snapshot_->config.rules.size(); ++r)
    rules.emplace(snapshot_->classifier.id(static_cast<std::uint16_t>(r)), static_cast<std::uint16_t>(r));
  for (std::uint32_t place = 0; place < ledger_.places(); ++place) {
    const auto entry = ledger_.at(place);
    if (!entry) continue;
    const auto rule = rules.find(entry->rule);
    if (rule == rules.end()) continue;  // the rule was in a previous configuration
    const FlowRecord& r = flows_[entry->id];
    states.push_back({.key = flows_.key(entry->id),
                      .state = r.state,
                      .rule = rule->second,
                      .service = r.service,
                      .interface = entry->interface,
                      .shared = (r.flags & FlowRecord::is_shared) != 0});
  }
  return states;
}

void ClassifyStage::restore(std::span<const ContractState> states, Time now) {
  for (ContractState s : states) {
    if (s.rule >= snapshot_->config.rules.size() || s.service >= snapshot_->services.size() ||
        !snapshot_->interfaces->exists(s.interface))
      continue;
    const ServiceProgram& program = snapshot_->services[s.service];
    if (program.kind == ServiceProgram::Kind::none || full()) continue;
    const std::uint32_t number = snapshot_->classifier.id(s.rule);
    if (s.shared) renumber(s.key, number);
    const FlowId id =
        flows_.insert(s.key, flows_.hash(s.key), s.shared, now, [this](FlowId gone) { closed(gone); });
    if (id == kNoFlow) continue;
    const auto port = static_cast<std::uint8_t>((*snapshot_->interfaces)[s.interface].port);
    holders_.add(id, customer_(s.key, port));
    FlowRecord& r = flows_[id];
    r.service = s.service;
    const std::uint16_t counted = r.out_bytes();  // this record's own: none
    r.state = s.state;
    r.out_bytes() = counted;
    if (program.kind == ServiceProgram::Kind::csa) {
      r.state.csa.held = 0;
      r.state.csa.domain = kNoDomain;
    }
    if (!s.shared) {
      ++services_[s.service].flows;
      r.flags |= FlowRecord::stale;  // classified again with its next packet
    }
    ++services_[s.service].contracts;
    ledger_.open(id, number, s.interface);
    if (!Classifier::is_excess(s.key)) bounds_.charge(id, number, s.interface);
    flows_.touch(r, now);
  }
}

// Selects the record that is removed for a new flow without room.

// Packets of this burst, and a contract that is about to get a flow, have touched their records in this tick:
// none of these is removed.
bool ClassifyStage::may_go(FlowId id, bool own, bool tagged, Time now) const {
  const FlowRecord& r = flows_[id];
  const Duration idle = flows_.idle(id, now);
  if ((r.flags & FlowRecord::sticky) != 0 || idle <= Duration::zero()) return false;
  if ((r.flags & FlowRecord::is_shared) != 0) return !holders_.referred_to(id) && idle >= kEmbryonic;
  return !has_own_state(r) || idle >= kEmbryonic || (!own && tagged && CustomerHasher::tagged(r.rest));
}

FlowId ClassifyStage::oldest(std::span<const FlowId> ids, bool own, bool tagged, Time now) const {
  for (const FlowId id : ids) __builtin_prefetch(&flows_[id]);
  FlowId oldest = kNoFlow;
  for (const FlowId id : ids)
    if (may_go(id, own, tagged, now) &&
        (oldest == kNoFlow || flows_.idle(id, now) > flows_.idle(oldest, now)))
      oldest = id;
  return oldest;
}

ClassifyStage::Victim ClassifyStage::victim(const FlowHolders::Candidates& found, Opener by, Time now) const {
  FlowId gone = oldest(found.largest.ids(), false, by.tagged, now);
  if (gone == kNoFlow) gone = oldest(found.any.ids(), false, by.tagged, now);
  if (gone != kNoFlow) return {gone, true};
  return {oldest(found.own.ids(), true, by.tagged, now), false};
}

bool ClassifyStage::displace(Opener by, Time now) {
  std::uint32_t& left = holders_.within(by.customer) ? within_left_ : beyond_left_;
  if (left == 0) return false;
  const Victim gone = victim(holders_.candidates(by.customer), by, now);
  if (!gone.fairer) --left;
  if (gone.id == kNoFlow || (limited_ && !creations_.permit(by.customer, now))) return false;
  closed(gone.id);
  flows_.remove(gone.id);
  return true;
}

}  // namespace surety
