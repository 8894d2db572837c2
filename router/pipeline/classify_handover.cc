// SPDX-License-Identifier: BSD-3-Clause
// Moves contracts to another process: the content of their buckets is neither lost nor granted twice.
#include <unordered_map>

#include "router/pipeline/classify_stage.h"

namespace surety {

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

}  // namespace surety
