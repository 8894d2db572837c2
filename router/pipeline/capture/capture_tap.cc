// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/capture/capture_tap.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "config/names.h"
#include "router/pipeline/interfaces/interface_record.h"
#include "router/pipeline/wire/header_fields.h"

namespace surety {
namespace {

// Ring of a worker: packets of a tenth of a second at the usual rate, and at most this memory.
constexpr std::uint32_t kMostPackets = 4096, kMostBytes = 8 << 20;

std::uint32_t packets_of(std::uint32_t snap) {
  return std::bit_floor(std::clamp(kMostBytes / (snap + 32), 64u, kMostPackets));
}

// A token is a packet.
TokenBucketParams rate_of(std::uint32_t packets_per_second) {
  return {Rate::bytes_per_second(packets_per_second), Depth::bytes(packets_per_second / 20 + 1)};
}

std::span<const std::uint8_t> frame_of(const rte_mbuf* m) {
  return {rte_pktmbuf_mtod(m, const std::uint8_t*), m->data_len};
}

// Without prefixes: any address.
bool contains(const std::vector<Prefix>& prefixes, const IpAddress& address) {
  return prefixes.empty() ||
         std::ranges::any_of(prefixes, [&](const Prefix& p) { return p.contains(address); });
}

}  // namespace

CaptureTap::CaptureTap(std::shared_ptr<const CaptureWish> wish, Time now)
    : wish_(std::move(wish)),
      rate_(rate_of(wish_->rate)),
      ring_(packets_of(wish_->snap), wish_->snap),
      now_(now) {
  allowed_.reset(rate_, now);
}

void CaptureTap::frames(std::span<rte_mbuf* const> burst, std::uint8_t port, pcapng::Direction direction) {
  if (wish_->drops) return;
  for (const rte_mbuf* m : burst)
    if (is_wanted(frame_of(m), port)) copy(m, port, direction, DropReason::none);
}

void CaptureTap::dropped(const rte_mbuf* m, std::uint8_t port, DropReason reason) {
  if (!wish_->drops || !wish_->reasons[static_cast<std::size_t>(reason)]) return;
  if (wish_->matches_all || matches(wish_->match, fields_of(frame_of(m))))
    copy(m, port, pcapng::Direction::unknown, reason);
}

bool CaptureTap::is_wanted(std::span<const std::uint8_t> frame, std::uint8_t port) const {
  const bool all = (wish_->ports >> port & 1) != 0;
  if (all && wish_->matches_all) return true;
  if (!all && wish_->interfaces.empty() && wish_->hosts.empty()) return false;
  const FrameFields f = fields_of(frame);
  return (all || is_of_interface(f, port)) && (wish_->matches_all || matches(wish_->match, f));
}

bool CaptureTap::is_of_interface(const FrameFields& f, std::uint8_t port) const {
  const Interfaces& known = *wish_->known;
  InterfaceIndex i = port;
  if (f.vlan != 0) i = known.find(port, f.tag_protocol, f.vlan, f.inner_vlan);
  if (i == kNoInterface && f.tag_protocol == kCustomerTag)  // some devices forget which it was
    i = known.find(port, kServiceTag, f.vlan, f.inner_vlan);
  if (i < wish_->interfaces.size() && wish_->interfaces[i] != 0) return true;
  return f.ip && std::ranges::any_of(wish_->hosts, [&](InterfaceIndex host) {
           return known[host].within == i && (contains(known.prefixes(host), f.ip->source) ||
                                              contains(known.prefixes(host), f.ip->destination));
         });
}

void CaptureTap::copy(const rte_mbuf* m, std::uint8_t port, pcapng::Direction direction, DropReason reason) {
  allowed_.fill(rate_, now_);
  if (!allowed_.take(rate_, rate_.cost(1))) return add(beyond_rate_);
  CapturedPacket* const to = ring_.claim();
  if (to == nullptr) return add(no_room_);
  const std::uint32_t captured = std::min<std::uint32_t>(m->data_len, ring_.snap());
  *to = {now_.time_since_epoch().count(),  m->pkt_len, captured, port, direction,
         static_cast<std::uint8_t>(reason)};
  std::memcpy(PacketRing::bytes(to), rte_pktmbuf_mtod(m, const void*), captured);
  ring_.commit();
}

namespace {

using Octets = std::span<const std::uint8_t>;

constexpr std::uint8_t kHopByHop = 0, kRouting = 43, kFragment = 44, kDestinationOptions = 60;

void read_ports(FrameFields::Ip& ip, Octets l4) {
  if (!config::has_ports(ip.protocol) || l4.size() < 4) return;
  ip.ports = true;
  ip.source_port = load_be16(l4.data());
  ip.destination_port = load_be16(l4.data() + 2);
}

std::optional<FrameFields::Ip> read_v4(Octets b) {
  if (b.size() < 20) return {};
  FrameFields::Ip ip{IpAddress::load(&b[12], false), IpAddress::load(&b[16], false), b[9],
                     static_cast<std::uint8_t>(b[1] >> 2)};
  const std::size_t header = (b[0] & 0xfu) * std::size_t{4};
  const bool first = (load_be16(&b[6]) & 0x1fff) == 0;
  if (first && header >= 20 && header <= b.size()) read_ports(ip, b.subspan(header));
  return ip;
}

std::optional<FrameFields::Ip> read_v6(Octets b) {
  constexpr int kMostHeaders = 8;
  if (b.size() < 40) return {};
  FrameFields::Ip ip{IpAddress::load(&b[8], true), IpAddress::load(&b[24], true), b[6],
                     static_cast<std::uint8_t>((b[0] & 0xf) << 2 | b[1] >> 6)};
  Octets rest = b.subspan(40);
  for (int i = 0; i < kMostHeaders && rest.size() >= 8; ++i) {
    const std::uint8_t kind = ip.protocol;
    if (kind != kHopByHop && kind != kRouting && kind != kFragment && kind != kDestinationOptions) break;
    const std::size_t length = kind == kFragment ? 8 : (rest[1] + std::size_t{1}) * 8;
    ip.protocol = rest[0];
    if (kind == kFragment && (load_be16(&rest[2]) & 0xfff8) != 0) return ip;
    if (length > rest.size()) return ip;
    rest = rest.subspan(length);
  }
  read_ports(ip, rest);
  return ip;
}

bool within(const config::PortRange& range, bool known, std::uint16_t port) {
  if (range == config::PortRange{}) return true;
  return known && range.from <= port && port <= range.to;
}

}  // namespace

FrameFields fields_of(Octets frame) {
  FrameFields f;
  if (frame.size() < kEthernetHeader) return f;
  std::uint16_t type = load_be16(&frame[12]);
  Octets rest = frame.subspan(kEthernetHeader);
  for (int tags = 0; tags < 2 && is_vlan_tag(type) && rest.size() >= 4; ++tags) {
    const std::uint16_t id = load_be16(rest.data()) & 0xfff;
    if (f.vlan == 0)  // a priority tag is none
      f.tag_protocol = type, f.vlan = id;
    else
      f.inner_vlan = id;
    type = load_be16(&rest[2]);
    rest = rest.subspan(4);
  }
  if (type == kIpv4Type) f.ip = read_v4(rest);
  if (type == kIpv6Type) f.ip = read_v6(rest);
  return f;
}

bool matches(const config::Match& m, const FrameFields& fields) {
  using Family = config::Match::Family;
  if (!fields.ip) return m == config::Match{};
  const FrameFields::Ip& ip = *fields.ip;
  if (m.family != Family::any && (m.family == Family::ipv6) != ip.source.is_v6()) return false;
  return contains(m.source, ip.source) && contains(m.destination, ip.destination) &&
         (!m.protocol || *m.protocol == ip.protocol) && (!m.dscp || *m.dscp == ip.dscp) &&
         within(m.source_port, ip.ports, ip.source_port) &&
         within(m.destination_port, ip.ports, ip.destination_port);
}

}  // namespace surety
