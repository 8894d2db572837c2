// SPDX-License-Identifier: BSD-3-Clause
// Frames for tests of what answers on a link, from octets: independent of the code that reads and
// writes them in the product.
#pragma once

#include <string>

#include "config/address.h"
#include "router/pipeline/wire/host_messages.h"
#include "tests/unit/router/pipeline/wire/frame_builder.h"

namespace surety::responder_frames {

using frames::be16;
using frames::Octets;
using frames::zeros;
using frames::operator+;

inline constexpr MacAddress kOurs{{2, 0, 0, 0, 0, 1}}, kPeer{{2, 0, 0, 0, 0, 0x99}},
    kOther{{2, 0, 0, 0, 0, 0x77}}, kBroadcast{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}, kNobody{},
    kAllNodesMac{{0x33, 0x33, 0, 0, 0, 1}};

inline IpAddress address(const std::string& text) {
  return parse_address(text).value();
}
inline Prefix prefix(const std::string& text) {
  return parse_prefix(text).value();
}
inline Octets octets(const IpAddress& a) {
  return Octets(a.data(), a.data() + a.size());
}
inline Octets octets(const MacAddress& m) {
  return Octets(m.begin(), m.end());
}
inline Octets ethernet(const MacAddress& to, const MacAddress& from, std::uint16_t type) {
  return octets(to) + octets(from) + be16(type);
}

// RFC 826.
inline Octets arp_frame(arp::Operation operation, const MacAddress& to, const MacAddress& sender_mac,
                        const std::string& sender, const MacAddress& target_mac, const std::string& target) {
  return ethernet(to, sender_mac, 0x0806) + Octets{0, 1, 8, 0, 6, 4} +
         be16(static_cast<std::uint16_t>(operation)) + octets(sender_mac) + octets(address(sender)) +
         octets(target_mac) + octets(address(target));
}

// The checksum of ICMPv6, at offset 2 of `icmp`, by RFC 4443 2.3.
inline Octets with_checksum6(const std::string& source, const std::string& destination, Octets icmp) {
  icmp[2] = icmp[3] = 0;
  Octets sum = octets(address(source)) + octets(address(destination)) + zeros(2) + be16(icmp.size()) +
               Octets{0, 0, 0, 58} + icmp;
  if (sum.size() % 2 != 0) sum.push_back(0);
  const Octets field = be16(frames::checksum(sum.data(), sum.size()));
  icmp[2] = field[0];
  icmp[3] = field[1];
  return icmp;
}
inline Octets ip6(const std::string& source, const std::string& destination, std::uint8_t hop_limit,
                  const Octets& icmp) {
  return Octets{0x60, 0, 0, 0} + be16(icmp.size()) + Octets{58, hop_limit} + octets(address(source)) +
         octets(address(destination)) + with_checksum6(source, destination, icmp);
}

// Whatever its flow label is: RFC 6437 lets the sender choose.
inline Octets without_flow_label(Octets frame) {
  if (frame[12] != 0x86 || frame[13] != 0xdd) return frame;
  frame[15] &= 0xf0;
  frame[16] = frame[17] = 0;
  return frame;
}

// RFC 4861 4.3, 4.4; the link-layer address is the sender's.
inline Octets discovery(std::uint8_t type, const MacAddress& to, const MacAddress& from,
                        const std::string& source, const std::string& destination, std::uint8_t flags,
                        const std::string& target, bool option = true) {
  Octets icmp = Octets{type, 0, 0, 0, flags, 0, 0, 0} + octets(address(target));
  if (option) icmp = icmp + Octets{static_cast<std::uint8_t>(type == 135 ? 1 : 2), 1} + octets(from);
  return ethernet(to, from, 0x86dd) + ip6(source, destination, 255, icmp);
}
inline MacAddress group_mac(const std::string& group) {
  const Octets b = octets(address(group));
  return {0x33, 0x33, b[12], b[13], b[14], b[15]};
}
inline Octets solicitation(const MacAddress& from, const std::string& source, const std::string& group,
                           const std::string& target) {
  return discovery(135, group_mac(group), from, source, group, 0, target);
}
// Duplicate address detection.
inline Octets probe(const MacAddress& from, const std::string& target) {
  const Octets b = octets(address(target));
  IpAddress group = address("ff02::1:ff00:0");
  std::copy(b.begin() + 13, b.end(), group.data() + 13);
  const std::string to = to_string(group);
  return discovery(135, group_mac(to), from, "::", to, 0, target, false);
}
inline Octets advertisement(const MacAddress& to, const std::string& source, const std::string& destination,
                            std::uint8_t flags, const std::string& target, const MacAddress& from) {
  return discovery(136, to, from, source, destination, flags, target);
}

inline std::uint32_t word(const std::string& v4) {
  return address(v4).v4_host_order();
}
inline Octets echo(std::uint8_t type) {
  Octets icmp = Octets{type, 0, 0, 0} + be16(0x1234) + be16(1) + Octets{'s', 'u', 'r', 'e', 't', 'y'};
  const Octets field = be16(frames::checksum(icmp.data(), icmp.size()));
  icmp[2] = field[0];
  icmp[3] = field[1];
  return icmp;
}
inline Octets ping(const MacAddress& from, const std::string& source, const std::string& destination) {
  return ethernet(kOurs, from, 0x0800) +
         frames::ip4(1, echo(8), {.source = word(source), .destination = word(destination)});
}
// As a host of RFC 6864 answers: identification 0, DF.
inline Octets pong(const MacAddress& to, const std::string& source, const std::string& destination) {
  Octets ip = frames::ip4(1, echo(0), {.source = word(source), .destination = word(destination)});
  ip[4] = ip[5] = 0;
  frames::fix_checksum(ip.data());
  return ethernet(to, kOurs, 0x0800) + ip;
}
inline Octets ping6(const MacAddress& from, const std::string& source, const std::string& destination) {
  return ethernet(kOurs, from, 0x86dd) + ip6(source, destination, 64, echo(128));
}
inline Octets pong6(const MacAddress& to, const std::string& source, const std::string& destination) {
  return ethernet(to, kOurs, 0x86dd) + ip6(source, destination, 64, echo(129));
}
inline Octets udp(const MacAddress& from, const std::string& source, const std::string& destination,
                  std::size_t data = 10) {
  const bool group = word(destination) >> 28 == 0xe;
  return ethernet(group ? MacAddress{{1, 0, 0x5e, 0, 0, 5}} : kOurs, from, 0x0800) +
         frames::ip4(17, frames::udp(1000, 2000, data),
                     {.source = word(source), .destination = word(destination)});
}
inline Octets fragment(const MacAddress& from, const std::string& source, const std::string& destination) {
  return ethernet(kOurs, from, 0x0800) +
         frames::ip4(17, frames::udp(1000, 2000, 16),
                     {.source = word(source), .destination = word(destination), .place = 0x2000});
}
// An IPv4 packet behind one more router.
inline Octets one_hop_on(Octets ip) {
  --ip[8];
  frames::fix_checksum(ip.data());
  return ip;
}

}  // namespace surety::responder_frames
