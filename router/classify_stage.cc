#include "router/classify_stage.h"

namespace surety {

namespace {
// The whole table is swept once per half timeout, in slices short enough not to be felt (a few microseconds).
constexpr std::uint32_t kSlice = 64;
}  // namespace

ClassifyStage::ClassifyStage(const Snapshot& snapshot, std::span<ServiceCounters> services, Exits& exits,
                             std::uint64_t seed, Time now)
    : snapshot_(snapshot),
      services_(services),
      exits_(exits),
      flows_(snapshot.config.flow_table.capacity, snapshot.config.flow_table.idle_timeout, seed),
      slice_interval_(std::max<std::int64_t>(1, snapshot.config.flow_table.idle_timeout.count() / 2 * kSlice /
                                                    snapshot.config.flow_table.capacity)),
      next_slice_(now) {
  for (std::size_t p = 0; p < snapshot.config.ports.size(); ++p)
    classified_.push_back(snapshot.classifier.classifies(static_cast<PortIndex>(p)));
}

void ClassifyStage::run(Vector& v, PortIndex port, Time now) {
  std::array<const FlowKey*, kVector> keys;
  std::array<std::uint64_t, kVector> hashes;
  for (std::size_t i = 0; i < v.size; ++i) {
    keys[i] = &v.header[i].key;
    hashes[i] = flows_.hash(*keys[i]);
  }
  flows_.lookup({keys.data(), v.size}, {hashes.data(), v.size}, {v.flow.data(), v.size}, now);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < v.size; ++i) {
    if (v.flow[i] == kNoFlow) [[unlikely]] {
      v.flow[i] = create(v, i, port, hashes[i], now);
      if (v.flow[i] == kNoFlow && snapshot_.services[v.service[i]].kind != ServiceProgram::Kind::none) {
        exits_.drop(v.mbuf[i], port, DropReason::flow_table_full);
        continue;
      }
    } else {
      FlowRecord& r = flows_[v.flow[i]];
      flows_.touch(r, now);
      if ((r.flags & FlowRecord::redirect) != 0) flows_.touch(flows_[r.state.shared], now);
      v.service[i] = r.service;
    }
    v.keep(i, kept++);
  }
  v.size = kept;
}

// A packet of no known flow: its rule decides; the flow remembers. The packet before it in the same vector
// may have created the flow already.
FlowId ClassifyStage::create(Vector& v, std::size_t i, PortIndex port, std::uint64_t hash, Time now) {
  const ParsedPacket& packet = v.header[i];
  const FlowId known = flows_.find(packet.key, hash, now);
  if (known != kNoFlow) {
    v.service[i] = flows_[known].service;
    return known;
  }
  const auto rule = snapshot_.classifier.match(packet, port);
  v.service[i] =
      rule ? static_cast<std::uint16_t>(snapshot_.config.rules[*rule].service) : snapshot_.unmatched(port);
  const bool needs_state = snapshot_.services[v.service[i]].kind != ServiceProgram::Kind::none;
  const bool shares = needs_state && snapshot_.config.rules[*rule].per != config::Rule::Per::flow;
  FlowId shared = kNoFlow;
  if (shares) {
    shared = contract(*rule, v.service[i], packet, now);
    if (shared == kNoFlow) return kNoFlow;
  }
  const FlowId id = open(packet.key, hash, v.service[i], false, now);
  if (id == kNoFlow) return kNoFlow;
  FlowRecord& r = flows_[id];
  if (shares) {
    r.flags |= FlowRecord::redirect;
    r.state.shared = shared;
  } else if (needs_state) {
    ++services_[v.service[i]].contracts;
  }
  ++services_[v.service[i]].flows;
  return id;
}

// The record that all flows of one contract share (`per: source` and the like). Touched whenever one of them
// is, here and in run(): they refer to it by number, so it must not go before them, wherever their packets
// get to.
FlowId ClassifyStage::contract(std::uint16_t rule, std::uint16_t service, const ParsedPacket& packet,
                               Time now) {
  const FlowKey key = snapshot_.classifier.contract_key(rule, packet);
  const std::uint64_t hash = flows_.hash(key);
  FlowId id = flows_.find(key, hash, now);
  if (id == kNoFlow) {
    id = open(key, hash, service, true, now);
    if (id != kNoFlow) ++services_[service].contracts;
  } else {
    flows_.touch(flows_[id], now);
  }
  return id;
}

FlowId ClassifyStage::open(const FlowKey& key, std::uint64_t hash, std::uint16_t service, bool contract,
                           Time now) {
  const FlowId id = flows_.insert(key, hash, contract, now, [this](FlowId gone) { closed(gone); });
  if (id == kNoFlow) return kNoFlow;
  FlowRecord& r = flows_[id];
  r.service = service;
  const ServiceProgram& program = snapshot_.services[service];
  switch (program.kind) {
    case ServiceProgram::Kind::csa:
      r.state.csa = {};
      EnhancedTokenBucket::reset(r.state.csa, program.csa, now, Time{});
      r.state.csa.domain = kNoDomain;
      break;
    case ServiceProgram::Kind::token_bucket:
    case ServiceProgram::Kind::police:
      r.state.bucket.reset(program.bucket, now);
      break;
    case ServiceProgram::Kind::meter:
      program.meter->reset(r.state.meter);
      break;
    case ServiceProgram::Kind::none:
      break;
  }
  return id;
}

void ClassifyStage::closed(FlowId id) {
  const FlowRecord& r = flows_[id];
  ServiceCounters& s = services_[r.service];
  const bool contract = (r.flags & FlowRecord::is_shared) != 0;
  if (!contract) --s.flows;
  if (contract || ((r.flags & FlowRecord::redirect) == 0 &&
                   snapshot_.services[r.service].kind != ServiceProgram::Kind::none))
    --s.contracts;
}

void ClassifyStage::age(Time now) {
  // A worker that was away does not make up for all it missed at once.
  for (int slices = 0; now >= next_slice_ && slices < 4; ++slices) {
    flows_.age(now, kSlice, [this](FlowId gone) { closed(gone); });
    next_slice_ += slice_interval_;
  }
  if (now >= next_slice_) next_slice_ = now + slice_interval_;
}

}  // namespace surety
