// SPDX-License-Identifier: BSD-3-Clause
// The longest match of a Rib, and what follows from it: neighbours, and routes to hosts with queues.
#include <algorithm>
#include <iterator>
#include <utility>

#include "router/pipeline/routes/rib.h"

namespace surety {
namespace {

constexpr std::size_t kHostsAtOnce = 64;

Prefix shortened(const IpAddress& address, int length) {
  return Prefix{address, static_cast<std::uint8_t>(length)}.masked();
}

}  // namespace

// The longest programmed prefix of at most so many bits that has an address; nullptr: there is none.
const Rib::Table::Entry* Rib::longest(const IpAddress& address, int bits) const {
  for (int length = bits; length >= 0; --length) {
    if (all_[address.is_v6()][static_cast<std::size_t>(length)] == 0) continue;
    const auto* entry = table_.find(shortened(address, length));
    if (entry != nullptr && entry->value.programmed.value != 0) return entry;
  }
  return nullptr;
}

std::optional<Prefix> Rib::longest(const IpAddress& address) const {
  const auto* const entry = longest(address, address.bits());
  return entry == nullptr ? std::nullopt : std::optional(entry->prefix);
}

// --- neighbours ---

HopSets::Id Rib::covering(const IpAddress& address) const {
  if (const auto* host = table_.find(host_prefix(address)))
    if (const auto set = wanted(host->prefix, host->value, false); set != HopSets::kNone) return set;
  const auto* const entry = longest(address, address.bits() - 1);
  return entry == nullptr ? HopSets::kNone : entry->value.programmed.set;
}

std::optional<std::uint16_t> Rib::on_link_mtu(const IpAddress& address, InterfaceIndex interface) const {
  const HopSets::Id set = covering(address);
  if (set == HopSets::kNone || !sets_.has(set, interface)) return {};
  return sets_.key(set).mtu;
}

bool Rib::is_under_subnet(const Prefix& prefix) const {
  for (int length = prefix.length - 1; length >= 0; --length) {
    if (on_link_[prefix.address.is_v6()][static_cast<std::size_t>(length)] == 0) continue;
    const auto* entry = table_.find(shortened(prefix.address, length));
    if (entry != nullptr && entry->value.programmed.on_link) return true;
  }
  return false;
}

// --- hosts with queues of their own ---

void Rib::set_hosts(HostQueues hosts) {
  const HostQueues before = std::exchange(hosts_, std::move(hosts));
  std::vector<HostQueues::Host> changed;
  std::ranges::set_symmetric_difference(before.all(), hosts_.all(), std::back_inserter(changed));
  if (changed.empty()) return;
  for (const auto& [prefix, interface] : changed) {
    if (!std::ranges::binary_search(hosts_.all(), prefix, {}, &HostQueues::Host::first))
      remove(prefix, Source::subscriber, 0);
    program(prefix);
  }
  host_ = 0;
  begin_walk();
}

// Hosts on a link have a route as soon as they are known as neighbours.
void Rib::follow_route_around(const Prefix& host) {
  const auto* const entry = longest(host.address, host.length - 1);
  const HopSets::Id set = entry == nullptr ? HopSets::kNone : entry->value.programmed.set;
  const auto by_gateway = [](const NextHopMember& m) { return m.gateway.has_value(); };
  if (set == HopSets::kNone || std::ranges::none_of(sets_.members(set), by_gateway))
    return remove(host, Source::subscriber, 0);
  RouteCandidate same{.source = Source::subscriber, .to = sets_.key(set)};
  same.to.hosts.reset();
  this->set(host, std::move(same));
}

void Rib::routes_around_changed(const Prefix& prefix) {
  const auto hosts = hosts_.within(prefix);
  if (hosts.size() > kHostsAtOnce && steps_ != SIZE_MAX) {
    host_ = 0;
    return;
  }
  for (const auto& [host, interface] : hosts) follow_route_around(host);
}

}  // namespace surety
