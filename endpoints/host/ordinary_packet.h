// SPDX-License-Identifier: BSD-3-Clause
// Fast path for the most frequent packets, from a frame directly to the host: parse() also makes a router's
// flow key, which a `Station` does not need.
#pragma once

#include "endpoints/engine/demux.h"
#include "router/pipeline/wire/ip.h"
#include "router/pipeline/wire/parse_ipv4.h"

namespace surety::endpoints {

// Reader for one `Station`.
class OrdinaryPackets {
 public:
  explicit OrdinaryPackets(const ParseContext& context) : station_(detail::own_mac(context) << 16) {}

  // IPv4 without tag, options or fragmentation, to the own MAC address, with TCP, UDP or DCCP, between usual
  // addresses: true, and `out` is ip_packet() of what parse() makes of it, which forwards. false: use
  // parse(); `out` is as it was.
  [[gnu::always_inline]] bool read(std::span<const std::uint8_t> frame, IpPacket& out) const {
    constexpr std::size_t kHeaders = detail::kEthernetHeader + 20;
    const std::uint8_t* const bytes = frame.data();
    const bool ipv4_to_us = frame.size() >= kHeaders && load<std::uint64_t>(bytes) << 16 == station_ &&
                            load<std::uint16_t>(bytes + 12) == swap16(detail::kIpv4);
    if (!ipv4_to_us) [[unlikely]]
      return false;
    const std::uint8_t* const ip = bytes + detail::kEthernetHeader;
    const auto first = load<std::uint64_t>(ip), second = load<std::uint64_t>(ip + 8);
    const auto addresses = load<std::uint64_t>(ip + 12);
    const std::size_t length = load_be16(ip + 2);
    const auto protocol = static_cast<std::uint8_t>(second >> 8);
    if (!ordinary(first, second, addresses) || length < 20 ||
        length > frame.size() - detail::kEthernetHeader || !transport_fits(protocol, ip + 20, length - 20))
        [[unlikely]]
      return false;
    // Field by field: a copy would wait for the stores of its parts.
    out.source.high = out.destination.high = 0;
    out.source.low = IpAddress::v4(static_cast<std::uint32_t>(addresses)).low;
    out.destination.low = IpAddress::v4(static_cast<std::uint32_t>(addresses >> 32)).low;
    out.payload = {ip + 20, length - 20};
    out.length = static_cast<std::uint16_t>(length);
    out.protocol = protocol;
    out.traffic_class = static_cast<std::uint8_t>(first >> 8);
    out.l4_verified = false;
    out.udp_source = out.udp_destination = 0;
    return true;
  }

 private:
  // The words of a header, and its addresses, as detail::ordinary_ipv4() wants them.
  static bool ordinary(std::uint64_t first, std::uint64_t second, std::uint64_t addresses) {
    constexpr std::uint64_t kShape = 0xff3f'0000'0000'00ff;  // version and IHL, MF and fragment offset
    return (first & kShape) == 0x45 &&
           detail::ipv4_checksum_valid(first, second, static_cast<std::uint32_t>(addresses >> 32)) &&
           (ipv4::kOrdinary[addresses & 0xff] & ipv4::kOrdinary[addresses >> 32 & 0xff]) != 0 &&
           static_cast<std::uint32_t>(addresses) != addresses >> 32;
  }
  // detail::transport_fits() of TCP, UDP and DCCP; false of all others.
  static bool transport_fits(std::uint8_t protocol, const std::uint8_t* l4, std::size_t payload) {
    if (protocol == kDccpProtocol) {
      if (payload < 12) return false;
      const std::size_t stated = l4[4] * std::size_t{4};
      return stated >= ((l4[8] & 1) != 0 ? 16 : 12) && stated <= payload;
    }
    const bool tcp = protocol == kTcpProtocol;
    return (tcp || protocol == kUdpProtocol) && detail::tcp_or_udp_fits(tcp, l4, payload);
  }

  std::uint64_t station_;
};

}  // namespace surety::endpoints
