// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/host/station.h"

#include <algorithm>

#include "router/pipeline/wire/host_messages.h"

namespace surety::endpoints {

Station::Station(StationParams params, const HostParams& host, Time now)
    : gateways_(std::move(params.gateways)),
      most_(static_cast<std::uint32_t>(kEthernetHeader) + std::max<std::uint32_t>(params.mtu, 1280)),
      host_(host, now),
      outbox_(most_),
      echo_limit_(kEchoesPerSecond, kEchoesAtOnce, now) {
  context_.mac = params.mac;
  bool v6 = false;
  for (const auto& i : params.addresses) {
    subnets_.push_back({i.address, i.mask()});
    v6 |= i.address.is_v6();
  }
  if (v6) {
    const Prefix own{nd::link_local(params.mac), 64};
    subnets_.push_back({own.address, own.mask()});
  }
  for (const IpAddress& g : gateways_) neighbors_.keep(g, now);
  announce();
}

// RFC 5227 3, RFC 4861 7.2.6.
void Station::announce() {
  for (const Subnet& s : subnets_) {
    const Slot slot = outbox_.next();
    if (slot.data == nullptr) return;
    if (s.address.is_v6()) {
      nd::write(slot.data, nd::multicast_mac(nd::all_nodes()), context_.mac, s.address, nd::all_nodes(),
                {.solicitation = false,
                 .flags = nd::kOverrideFlag,
                 .target = s.address,
                 .link_layer = context_.mac});
      outbox_.commit(nd::kFrame);
    } else {
      arp::write(slot.data, kBroadcastMac, {arp::Operation::request, context_.mac, {}, s.address, s.address});
      outbox_.commit(arp::kFrame);
    }
  }
}

bool Station::on_link(const IpAddress& peer) const {
  return std::ranges::any_of(subnets_, [&](const Subnet& s) { return s.contains(peer); });
}

bool Station::ours(const IpAddress& a) const {
  return std::ranges::any_of(subnets_, [&](const Subnet& s) { return s.address == a; });
}

const IpAddress* Station::next_hop(const IpAddress& peer) const {
  for (const Subnet& s : subnets_)
    if (s.contains(peer)) return &peer;
  for (const IpAddress& g : gateways_)
    if (g.is_v6() == peer.is_v6()) return &g;
  return nullptr;
}

bool Station::local_address(const IpAddress& peer, IpAddress& out) const {
  const auto on_link = std::ranges::find_if(subnets_, [&](const Subnet& s) { return s.contains(peer); });
  const auto family =
      std::ranges::find_if(subnets_, [&](const Subnet& s) { return s.address.is_v6() == peer.is_v6(); });
  const auto best = on_link != subnets_.end() ? on_link : family;
  if (best == subnets_.end()) return false;
  out = best->address;
  return true;
}

IpAddress Station::source_towards(const IpAddress& target) const {
  IpAddress a = IpAddress::unspecified(target.is_v6());
  local_address(target, a);
  return a;
}

void Station::resolve(const IpAddress& peer, Time now) {
  if (const IpAddress* const hop = next_hop(peer)) neighbors_.look_up(*hop, now);
}

bool Station::resolved(const IpAddress& peer) const {
  const IpAddress* const hop = next_hop(peer);
  return hop != nullptr && neighbors_.peek(*hop) != nullptr;
}

bool Station::ready() const {
  return std::ranges::all_of(gateways_, [&](const IpAddress& g) { return neighbors_.peek(g) != nullptr; });
}

}  // namespace surety::endpoints
