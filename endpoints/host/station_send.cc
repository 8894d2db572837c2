// SPDX-License-Identifier: BSD-3-Clause
// Transmission by a `Station`: first its own messages, then the packets of its flows.
#include <algorithm>
#include <cstring>

#include "endpoints/host/station.h"
#include "router/pipeline/wire/header_fields.h"
#include "router/pipeline/wire/host_messages.h"

namespace surety::endpoints {

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
