// SPDX-License-Identifier: BSD-3-Clause
// Reception of frames by a `Station`.
#include <algorithm>

#include "endpoints/engine/demux.h"
#include "endpoints/host/ordinary_packet.h"
#include "endpoints/host/station.h"
#include "router/pipeline/wire/host_messages.h"

namespace surety::endpoints {

namespace {
constexpr std::size_t kFramesAhead = 8;  // frames that are being fetched while another is read
}

void Station::receive(std::span<const std::span<const std::uint8_t>> frames, Time now) {
  const OrdinaryPackets ordinary(context_);
  counters_.frames += frames.size();
  for (; !frames.empty(); frames = frames.subspan(std::min(kBurst, frames.size()))) {
    std::size_t n = 0;
    const auto burst = frames.first(std::min(kBurst, frames.size()));
    for (std::size_t i = 0; i < burst.size(); ++i) {
      if (i + kFramesAhead < burst.size()) __builtin_prefetch(burst[i + kFramesAhead].data());
      const auto& frame = burst[i];
      const bool plain = ordinary.read(frame, packets_[n]) && ours(packets_[n].destination);
      n += plain || classify(frame, packets_[n], now);
    }
    counters_.to_host += n;
    host_.receive(std::span(packets_).first(n), now);
  }
}

namespace {

// ip_packet() in place: a copy would wait for the stores of its parts.
void view(std::span<const std::uint8_t> frame, const ParsedPacket& p, IpPacket& out) {
  const std::uint8_t* const ip = frame.data() + p.l3_offset;
  if (p.v6) {
    out.source.high = load<std::uint64_t>(ip + 8);
    out.source.low = load<std::uint64_t>(ip + 16);
    out.destination.high = load<std::uint64_t>(ip + 24);
    out.destination.low = load<std::uint64_t>(ip + 32);
  } else {
    const IpAddress source = IpAddress::v4(load<std::uint32_t>(ip + 12));
    const IpAddress destination = IpAddress::v4(load<std::uint32_t>(ip + 16));
    out.source.high = source.high;
    out.source.low = source.low;
    out.destination.high = destination.high;
    out.destination.low = destination.low;
  }
  out.payload = {frame.data() + p.l4_offset, static_cast<std::size_t>(p.l3_offset + p.length - p.l4_offset)};
  out.length = p.length;
  out.protocol = p.protocol;
  out.traffic_class = p.traffic_class;
  out.l4_verified = false;
  out.udp_source = out.udp_destination = 0;
}

}  // namespace

bool Station::classify(std::span<const std::uint8_t> frame, IpPacket& out, Time now) {
  ParsedPacket p;
  const ParseOutcome outcome = parse(frame, context_, p);
  if (outcome.forwards() && is_transport(p.protocol) && !p.fragment && p.vlan == 0) [[likely]] {
    view(frame, p, out);
    if (ours(out.destination)) [[likely]]
      return true;
    count(DropReason::no_route);
    return false;
  }
  const Fate fate = outcome.drop != DropReason::none ? Fate{.drop = outcome.drop}
                                                     : take_exception(frame, p, outcome.punt, out, now);
  if (fate.drop != DropReason::none) count(fate.drop);
  return fate.to_host;
}

Station::Fate Station::take_exception(std::span<const std::uint8_t> frame, const ParsedPacket& p,
                                      PuntReason punt, IpPacket& out, Time now) {
  if (p.vlan != 0) return {.drop = DropReason::ethertype};
  if (punt == PuntReason::arp) {
    on_arp(frame.subspan(p.l3_offset), now);
    return {};
  }
  if (punt == PuntReason::control || punt == PuntReason::multicast || punt == PuntReason::dhcp)
    return {.drop = DropReason::no_kernel_peer};
  if (p.fragment) return {.drop = DropReason::fragment};
  view(frame, p, out);
  if (punt == PuntReason::neighbor_discovery) {
    on_neighbor_discovery(frame, out, now);
    return {};
  }
  if (!ours(out.destination)) return {.drop = DropReason::no_route};
  if (is_transport(p.protocol)) return {.to_host = true};
  if (p.protocol != (p.v6 ? kIcmp6Protocol : kIcmpProtocol)) return {.drop = DropReason::no_kernel_peer};
  on_icmp(frame, out, now);
  return {};
}

void Station::on_arp(std::span<const std::uint8_t> bytes, Time now) {
  ++counters_.arp;
  const std::optional<arp::Message> m = arp::read(bytes);
  if (!m || ours(m->sender)) return;
  const bool asks_us = ours(m->target);
  if (asks_us && on_link(m->sender))
    neighbors_.meet(m->sender, m->sender_mac, now);
  else
    neighbors_.learn(m->sender, m->sender_mac, true, asks_us, now);
  if (m->operation != arp::Operation::request || !asks_us) return;
  const Slot slot = outbox_.next();
  if (slot.data == nullptr) return;
  arp::write(slot.data, m->sender_mac,
             {arp::Operation::reply, context_.mac, m->sender_mac, m->target, m->sender});
  outbox_.commit(arp::kFrame);
}

void Station::on_neighbor_discovery(std::span<const std::uint8_t> frame, const IpPacket& packet, Time now) {
  ++counters_.neighbor_discovery;
  const std::optional<nd::Message> m = nd::read(packet);
  if (!m || ours(packet.source)) return;
  if (!m->solicitation) {
    const MacAddress* const known = neighbors_.peek(m->target);
    if (!m->link_layer && known == nullptr) return;
    neighbors_.learn(m->target, m->link_layer ? *m->link_layer : MacAddress(*known),
                     (m->flags & nd::kOverrideFlag) != 0, (m->flags & nd::kSolicitedFlag) != 0, now);
    return;
  }
  if (m->link_layer && ours(m->target) && on_link(packet.source))
    neighbors_.meet(packet.source, *m->link_layer, now);
  else if (m->link_layer)
    neighbors_.learn(packet.source, *m->link_layer, true, false, now);
  const Slot slot = outbox_.next();
  if (!ours(m->target) || slot.data == nullptr) return;
  const bool probe = packet.source == IpAddress::unspecified(true);  // duplicate address detection: multicast
  const IpAddress to = probe ? nd::all_nodes() : packet.source;
  const MacAddress mac = probe ? nd::multicast_mac(to) : m->link_layer.value_or(read_mac(&frame[6]));
  const auto flags = static_cast<std::uint8_t>(nd::kOverrideFlag | (probe ? 0 : nd::kSolicitedFlag));
  nd::write(slot.data, mac, context_.mac, m->target, to,
            {.solicitation = false, .flags = flags, .target = m->target, .link_layer = context_.mac});
  outbox_.commit(nd::kFrame);
}

// The answer goes back to the frame's source, so that no state about the peer is needed.
void Station::on_icmp(std::span<const std::uint8_t> frame, const IpPacket& packet, Time now) {
  if (!echo::is_request(packet)) {
    ++counters_.icmp;
    return;
  }
  ++counters_.echoes;
  const bool from_group = (frame[6] & 1) != 0;
  const Slot slot = outbox_.next();
  if (from_group || slot.data == nullptr || !echo_limit_.permit(now)) return;
  Slot inner{slot.data + kEthernetHeader, slot.capacity - static_cast<std::uint32_t>(kEthernetHeader), 0};
  if (!echo::reply(packet, inner)) return;
  write_ethernet(slot.data, read_mac(&frame[6]), context_.mac, packet.source.is_v6() ? kIpv6Type : kIpv4Type);
  outbox_.commit(static_cast<std::uint32_t>(kEthernetHeader) + inner.length);
  ++counters_.echo_replies;
}

}  // namespace surety::endpoints
