// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/dispatch.h"

#include "config/vlan_protocol.h"
#include "router/pipeline/wire/bytes.h"

namespace surety {

namespace {

constexpr std::size_t kEthernet = 14, kTag = 4;

struct Network {
  std::size_t l3 = 0;  // 0: not IP
  bool v6 = false;
};

Network find_network(std::span<const std::uint8_t> frame) {
  std::size_t at = kEthernet;
  if (frame.size() < at) return {};
  std::uint16_t type = load_be16(frame.data() + 12);
  for (int tags = 0; tags < 2 && is_vlan_tag(type); ++tags) {
    if (frame.size() < at + kTag) return {};
    type = load_be16(frame.data() + at + 2);
    at += kTag;
  }
  const bool v4 = type == 0x0800, v6 = type == 0x86dd;
  return (v4 && frame.size() >= at + 20) || (v6 && frame.size() >= at + 40) ? Network{at, v6} : Network{};
}

struct Ports {
  std::uint16_t source = 0, destination = 0;
};

bool has_ports(std::uint8_t protocol) {
  return protocol == 6 || protocol == 17 || protocol == 33 || protocol == 132;
}

// Ports of TCP, UDP, DCCP and SCTP; none for fragments and behind IPv6 extension headers.
Ports ports(std::span<const std::uint8_t> packet, bool v6, std::uint8_t protocol) {
  const std::size_t header = v6 ? 40 : (packet[0] & 15u) * std::size_t{4};
  const bool fragment = !v6 && (load_be16(packet.data() + 6) & 0x3fff) != 0;
  if (!has_ports(protocol) || fragment || packet.size() < header + 4) return {};
  return {load<std::uint16_t>(packet.data() + header), load<std::uint16_t>(packet.data() + header + 2)};
}

}  // namespace

struct Dispatch::Ends {
  std::uint64_t source = 0, destination = 0;  // IPv4 addresses below bit 48; IPv6 addresses hashed
};

Dispatch::Ends Dispatch::ends(const std::uint8_t* ip, bool v6) const {
  if (!v6)
    return {std::uint64_t{load<std::uint32_t>(ip + 12)} << 16,
            std::uint64_t{load<std::uint32_t>(ip + 16)} << 16};
  const auto hash = [this](const std::uint8_t* p) {
    return hasher_.v4(load<std::uint64_t>(p), load<std::uint64_t>(p + 8), 0);
  };
  return {hash(ip + 8), hash(ip + 24)};
}

std::size_t Dispatch::operator()(std::span<const std::uint8_t> frame) const {
  const Network n = find_network(frame);
  if (n.l3 == 0 || spread_ == Spread::none) return 0;
  const auto packet = frame.subspan(n.l3);
  const Ends address = ends(packet.data(), n.v6);
  std::uint64_t hash = 0;
  if (spread_ == Spread::flow) {
    const std::uint8_t protocol = packet[n.v6 ? 6 : 9];
    const Ports port = ports(packet, n.v6, protocol);
    hash = hasher_.both_ways(address.source ^ port.source, address.destination ^ port.destination, protocol);
  } else {
    hash = hasher_.v4(spread_ == Spread::source ? address.source : address.destination, 0, 0);
  }
  return static_cast<std::size_t>((hash >> 32) * workers_ >> 32);
}

}  // namespace surety
