// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/contract_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace surety {

namespace {

// A counter that is being carried over to its upper half shows less for an instant: never twice in a row.
FlowCounters counters_of(const FlowTable& flows, FlowId id) {
  const FlowCounters once = flows.counters(id), again = flows.counters(id);
  return {std::max(once.in_bytes, again.in_bytes), std::max(once.out_bytes, again.out_bytes)};
}

std::string covered(const config::Rule& rule, std::uint16_t number, const FlowKey& key,
                    const std::string& interface) {
  if (Classifier::is_excess(key)) return "(excess)";
  using Per = config::Rule::Per;
  switch (rule.per) {
    case Per::interface:
      return interface;
    case Per::source:
      return to_string(source_of(key));
    case Per::destination:
      return to_string(destination_of(key));
    case Per::prefix:
      return to_string(Prefix{source_of(key), key.v6 ? rule.prefix_v6 : rule.prefix_v4});
    case Per::vlan:
      return fmt::format("vlan {}", key.rest >> 44 & 0xfff);
    case Per::flow:
      return fmt::format("flows of rule {}", number + 1);
    case Per::rule:
      break;
  }
  return fmt::format("rule {}", number + 1);
}

// Without a configured customer each member of a template is a customer of its own.
std::string customer_of(const Interfaces& interfaces, InterfaceIndex i) {
  const InterfaceIndex of = interfaces[i].link;
  const std::string& customer = interfaces.customer(i);
  return of != i && interfaces.exists(of) && customer == interfaces.name(of) ? interfaces.name(i) : customer;
}

}  // namespace

ContractWatch::ContractWatch(std::vector<Source> workers, const Snapshot& snapshot)
    : workers_(std::move(workers)) {
  follow(snapshot);
}

void ContractWatch::follow(const Snapshot& snapshot) {
  snapshot_ = &snapshot;
  rules_.clear();
  for (std::uint16_t rule = 0; rule < snapshot.config.rules.size(); ++rule)
    rules_.emplace(snapshot.classifier.id(rule), rule);
  terms_.clear();
  for (const ServiceProgram& s : snapshot.services)
    terms_.push_back({s.name, s.committed, s.bucket, s.objective});
}

const std::vector<ContractSighting>& ContractWatch::look() {
  sightings_.clear();
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    const Ingress& ingress = *workers_[w].ingress;
    const ContractLedger& ledger = ingress.contracts();
    const FlowTable& flows = ingress.flows();
    for (std::uint32_t place = 0; place < ledger.places(); ++place) {
      const auto entry = ledger.at(place);
      if (!entry) continue;
      ContractSighting s{.worker = w,
                         .place = place,
                         .generation = entry->generation,
                         .flow = entry->id,
                         .rule = entry->rule,
                         .interface = entry->interface,
                         .service = __atomic_load_n(&flows[entry->id].service, __ATOMIC_RELAXED),
                         .before = entry->before,
                         .unsure = ledger.overflowed()};
      // Losses are read first: packets passed meanwhile are not lost.
      for (const Source& source : workers_) s.lost += source.losses->of(w, entry->id);
      const FlowCounters counters = counters_of(flows, entry->id);
      s.let_go = {counters.in_bytes, counters.out_bytes};
      s.held = ingress.held(entry->id);
      sightings_.push_back(s);
    }
  }
  return sightings_;
}

ContractName ContractWatch::name(const ContractSighting& s) const {
  const Interfaces& interfaces = *snapshot_->interfaces;
  const bool known = interfaces.exists(s.interface);
  const std::string interface = known ? interfaces.name(s.interface) : "(gone)";
  const auto rule = rules_.find(s.rule);
  const FlowKey key = workers_[s.worker].ingress->flows().key(s.flow);
  ContractName name;
  name.contract = rule == rules_.end()
                      ? "(former rule)"
                      : covered(snapshot_->config.rules[rule->second], rule->second, key, interface);
  using Per = config::Rule::Per;
  const auto* const sold = rule == rules_.end() ? nullptr : &snapshot_->config.rules[rule->second];
  const Per per = sold == nullptr ? Per::rule : sold->per;
  name.certain = sold != nullptr && (per == Per::rule || per == Per::interface || per == Per::flow ||
                                     sold->contracts.has_value());
  name.down = known && !interfaces[s.interface].customer();
  if (known && s.interface >= snapshot_->config.ports.size())
    name.customer = customer_of(interfaces, s.interface);
  else
    name.customer =
        per == Per::rule || per == Per::flow || Classifier::is_excess(key) ? interface : name.contract;
  return name;
}

}  // namespace surety
