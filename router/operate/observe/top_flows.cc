// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/top_flows.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace surety {

namespace {

std::string protocol_name(const FlowKey& key) {
  switch (static_cast<FlowKey::Class>(key.rest >> 61)) {
    case FlowKey::Class::tcp:
      return "tcp";
    case FlowKey::Class::udp:
      return "udp";
    case FlowKey::Class::dccp:
      return "dccp";
    case FlowKey::Class::sctp:
      return "sctp";
    case FlowKey::Class::shared:
      return "contract";
    case FlowKey::Class::fragment:
      return fmt::format("{} fragments", key.rest & 0xff);
    case FlowKey::Class::other:
      break;
  }
  return std::to_string(key.rest & 0xff);
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
