// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/flow_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace surety {

namespace {

// A counter that is being carried over to its upper half shows less for an instant: never twice in a row.
FlowCounters counters_of(const FlowTable& flows, FlowId id) {
  const FlowCounters once = flows.counters(id), again = flows.counters(id);
  return {std::max(once.in_bytes, again.in_bytes), std::max(once.out_bytes, again.out_bytes)};
}

std::string covered(const config::Rule& rule, const FlowKey& key, const std::string& interface) {
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
      return fmt::format("flows of rule {}", rule.number);
    case Per::rule:
      break;
  }
  return fmt::format("rule {}", rule.number);
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
  for (std::size_t rule = 0; rule < snapshot.config.rules.size(); ++rule)
    rules_.emplace(snapshot.classifier.id(static_cast<std::uint16_t>(rule)), rule);
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
  name.contract =
      rule == rules_.end() ? "(former rule)" : covered(snapshot_->config.rules[rule->second], key, interface);
  using Per = config::Rule::Per;
  const auto* const sold = rule == rules_.end() ? nullptr : &snapshot_->config.rules[rule->second];
  const Per per = sold == nullptr ? Per::rule : sold->per;
  name.certain = sold != nullptr && (per == Per::rule || per == Per::interface || per == Per::flow ||
                                     sold->contracts.has_value());
  name.down = known && !interfaces[s.interface].customer();
  if (sold != nullptr && !sold->customer.empty())
    name.customer = name.contract = sold->customer;
  else if (known && s.interface >= snapshot_->config.ports.size())
    name.customer = customer_of(interfaces, s.interface);
  else
    name.customer =
        per == Per::rule || per == Per::flow || Classifier::is_excess(key) ? interface : name.contract;
  return name;
}

namespace {

std::string protocol_name(const FlowKey& key) {
  // Names of FlowKey::Class; "": the protocol has a number.
  constexpr std::array<const char*, 8> kNames{"", "tcp", "udp", "dccp", "sctp", "", "contract", ""};
  std::string name = kNames[key.rest >> 61];
  if (!name.empty()) return name;
  const bool fragment = static_cast<FlowKey::Class>(key.rest >> 61) == FlowKey::Class::fragment;
  return std::to_string(key.rest & 0xff) + (fragment ? " fragments" : "");
}

IpAddress address_of(const FlowKey& key, bool destination) {
  const auto* addresses = reinterpret_cast<const std::uint8_t*>(key.address.data());
  return IpAddress::load(addresses + (destination ? address_bytes(key.v6) : 0), key.v6);
}

std::string endpoint(const FlowKey& key, bool destination) {
  const auto cls = static_cast<FlowKey::Class>(key.rest >> 61);
  std::string address = to_string(address_of(key, destination));
  if (cls == FlowKey::Class::other || cls == FlowKey::Class::fragment) return address;
  // Ports are in the low 32 bits as loaded: network order.
  const auto ports = static_cast<std::uint32_t>(key.rest);
  const std::uint32_t raw = destination ? ports >> 16 : ports & 0xffff;
  const std::uint32_t port = (raw & 0xff) << 8 | raw >> 8;
  return key.v6 ? fmt::format("[{}]:{}", address, port) : fmt::format("{}:{}", address, port);
}

// The key of a contract, by its rule: one address, a prefix, or anything.
std::string covered(const FlowKey& key, bool destination, const Snapshot& snapshot) {
  using Per = config::Rule::Per;
  const auto& rules = snapshot.config.rules;
  std::uint16_t rule = 0;
  while (rule < rules.size() && snapshot.classifier.id(rule) != static_cast<std::uint32_t>(key.rest)) ++rule;
  if (rule == rules.size()) return "any";  // rule of an earlier configuration, or changed meanwhile
  const config::Rule& r = rules[rule];
  const IpAddress address = address_of(key, destination);
  if (r.per == (destination ? Per::destination : Per::source)) return to_string(address);
  if (r.per == Per::prefix && !destination)
    return to_string(Prefix{address, key.v6 ? r.prefix_v6 : r.prefix_v4});
  return "any";
}

FlowReading describe(const FlowTable& flows, FlowId id, const Snapshot& snapshot, Time now) {
  const FlowKey key = flows.key(id);
  FlowReading r;
  const bool contract = static_cast<FlowKey::Class>(key.rest >> 61) == FlowKey::Class::shared;
  r.source = contract ? covered(key, false, snapshot) : endpoint(key, false);
  r.destination = contract ? covered(key, true, snapshot) : endpoint(key, true);
  r.protocol = protocol_name(key);
  r.service = snapshot.services[flows[id].service].name;
  r.vlan = static_cast<std::uint16_t>(key.rest >> 44 & 0xfff);
  const FlowCounters counters = flows.counters(id);
  r.in_bytes = counters.in_bytes;
  r.out_bytes = counters.out_bytes;
  r.idle_seconds = seconds(flows.idle(id, now));
  return r;
}

bool is_shown(const FlowRecord& record) {
  const std::uint8_t flags = __atomic_load_n(&record.flags, __ATOMIC_RELAXED);
  return (flags & FlowRecord::live) != 0 && (flags & FlowRecord::redirect) == 0;
}

}  // namespace

void TopFlows::follow(const Snapshot& snapshot, std::size_t count) {
  snapshot_ = &snapshot;
  count_ = count;
  heap_.clear();
  next_ = 0;
  if (count == 0) largest_.clear();
}

void TopFlows::look(std::size_t places, Time now) {
  const FlowTable& flows = ingress_.flows();
  for (; places > 0 && count_ > 0; --places) {
    if (next_ == flows.capacity()) return finish(now);
    const FlowId id = next_++;
    if (is_shown(flows[id])) consider(id);
  }
}

// A heap of the largest, the smallest of them on top.
void TopFlows::consider(FlowId id) {
  const FlowCounters counters = ingress_.flows().counters(id);
  const std::uint64_t bytes = counters.in_bytes + counters.out_bytes;
  if (heap_.size() == count_) {
    if (bytes <= heap_.front().first) return;
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
  }
  heap_.emplace_back(bytes, id);
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

void TopFlows::finish(Time now) {
  std::sort_heap(heap_.begin(), heap_.end(), std::greater<>());
  largest_.clear();
  for (const auto& [bytes, id] : heap_) {
    if (!is_shown(ingress_.flows()[id])) continue;  // removed since
    largest_.push_back(describe(ingress_.flows(), id, *snapshot_, now));
    largest_.back().held = ingress_.held(id);
  }
  heap_.clear();
  next_ = 0;
}

std::vector<FlowReading> top_flows(const Ingress& ingress, const Snapshot& snapshot, std::size_t count,
                                   Time now) {
  TopFlows flows(ingress, snapshot, count);
  flows.look(ingress.flows().capacity() + std::size_t{1}, now);
  return flows.largest();
}

}  // namespace surety
