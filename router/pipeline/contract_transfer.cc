// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/contract_transfer.h"

#include <unordered_map>

namespace surety {

std::vector<ContractState> save_contracts(const Snapshot& snapshot, const ContractLedger& ledger,
                                          const FlowTable& flows) {
  std::vector<ContractState> states;
  std::unordered_map<std::uint32_t, std::uint16_t> rules;
  for (std::size_t r = 0; r < snapshot.config.rules.size(); ++r)
    rules.emplace(snapshot.classifier.id(static_cast<std::uint16_t>(r)), static_cast<std::uint16_t>(r));
  for (std::uint32_t place = 0; place < ledger.places(); ++place) {
    const auto entry = ledger.at(place);
    if (!entry) continue;
    const auto rule = rules.find(entry->rule);
    if (rule == rules.end()) continue;  // the rule was in a previous configuration
    const FlowRecord& r = flows[entry->id];
    states.push_back({.key = flows.key(entry->id),
                      .state = r.state,
                      .rule = rule->second,
                      .service = r.service,
                      .interface = entry->interface,
                      .shared = (r.flags & FlowRecord::is_shared) != 0});
  }
  return states;
}

std::optional<ContractState> as_numbered_here(const ContractState& saved, const Snapshot& snapshot) {
  if (saved.rule >= snapshot.config.rules.size() || saved.service >= snapshot.services.size() ||
      !snapshot.interfaces->exists(saved.interface))
    return {};
  const ServiceProgram::Kind kind = snapshot.services[saved.service].kind;
  if (kind == ServiceProgram::Kind::none) return {};
  ContractState s = saved;
  // The key of a contract that flows share has the number of its rule.
  if (s.shared) s.key.rest = (s.key.rest & ~std::uint64_t{0xffffffff}) | snapshot.classifier.id(s.rule);
  if (kind == ServiceProgram::Kind::csa) {
    s.state.csa.held = 0;
    s.state.csa.domain = kNoDomain;
  }
  return s;
}

}  // namespace surety
