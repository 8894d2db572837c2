// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/host/station.h"

#include <algorithm>
#include <cstring>

#include "router/pipeline/wire/header_fields.h"
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

// Transmission by a `Station`: first its own messages, then the packets of its flows.

void Station::ask(const NeighborCache::Request& r, Slot& slot) const {
  const IpAddress source = source_towards(r.address);
  if (r.address.is_v6()) {
    const IpAddress to = r.known ? r.address : nd::solicited_node(r.address);
    nd::write(slot.data, r.known ? r.mac : nd::multicast_mac(to), context_.mac, source, to,
              {.solicitation = true, .flags = 0, .target = r.address, .link_layer = context_.mac});
    slot.length = nd::kFrame;
  } else {
    arp::write(slot.data, r.known ? r.mac : kBroadcastMac,
               {arp::Operation::request, context_.mac, {}, source, r.address});
    slot.length = arp::kFrame;
  }
}

const MacAddress* Station::mac_towards(const std::uint8_t* ip, Time now) {
  const IpAddress peer = destination_of(ip);
  const IpAddress* const hop = next_hop(peer);
  if (hop == nullptr) {
    ++counters_.unroutable;
    return nullptr;
  }
  if (*hop == last_hop_ && last_version_ == neighbors_.version()) [[likely]]
    return &last_mac_;
  const MacAddress* const mac = neighbors_.look_up(*hop, now);
  if (mac == nullptr) {
    count(DropReason::neighbor_unresolved);
    return nullptr;
  }
  last_hop_ = *hop;
  last_mac_ = *mac;
  last_version_ = neighbors_.version();
  return &last_mac_;
}

// Completes packets that follow the room for their Ethernet header to frames; closes the gaps that packets
// without a next hop leave.
std::size_t Station::write_frames(std::span<FrameSlot> room, std::span<const Slot> packets, Time now) {
  std::size_t n = 0;
  for (const Slot& packet : packets) {
    const MacAddress* const mac = mac_towards(packet.data, now);
    if (mac == nullptr) continue;
    FrameSlot& slot = room[n++];
    const Ethertype type = packet.data[0] >> 4 == 6 ? kIpv6Type : kIpv4Type;
    std::uint8_t* const ip = write_ethernet(slot.data, *mac, context_.mac, type);
    if (ip != packet.data) [[unlikely]]
      std::memcpy(ip, packet.data, packet.length);
    slot.length = static_cast<std::uint32_t>(kEthernetHeader) + packet.length;
  }
  return n;
}

std::size_t Station::poll(std::span<FrameSlot> room, Time now) {
  std::size_t n = outbox_.write(room);
  for (NeighborCache::Request r; n < room.size() && neighbors_.next_request(now, r); ++n) ask(r, room[n]);
  while (n < room.size()) {
    const std::size_t most = std::min(kAtOnce, room.size() - n);
    for (std::size_t i = 0; i < most; ++i) {
      const FrameSlot& f = room[n + i];
      slots_[i] = {f.data + kEthernetHeader, f.capacity - static_cast<std::uint32_t>(kEthernetHeader), 0};
    }
    const std::size_t got = host_.poll(std::span(slots_).first(most), now);
    n += write_frames(room.subspan(n), std::span(slots_).first(got), now);
    if (got < most) break;
  }
  return n;
}

Time Station::next_wakeup() const {
  if (!outbox_.empty()) return kNow;
  return std::min(host_.next_wakeup(), neighbors_.next_event());
}

}  // namespace surety::endpoints
