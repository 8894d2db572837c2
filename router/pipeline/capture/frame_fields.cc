// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/capture/frame_fields.h"

#include "config/names.h"
#include "router/pipeline/interfaces/interface_record.h"
#include "router/pipeline/wire/ethernet.h"

namespace surety {
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

bool contains(const std::optional<Prefix>& prefix, const IpAddress& address) {
  return !prefix || (prefix->address.is_v6() == address.is_v6() && prefix->contains(address));
}

}  // namespace

FrameFields fields_of(Octets frame) {
  FrameFields f;
  if (frame.size() < kEthernetHeader) return f;
  std::uint16_t type = load_be16(&frame[12]);
  Octets rest = frame.subspan(kEthernetHeader);
  for (int tags = 0; tags < 2 && (type == kCustomerTag || type == kServiceTag) && rest.size() >= 4; ++tags) {
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
