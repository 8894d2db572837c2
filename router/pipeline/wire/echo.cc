// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/wire/echo.h"

#include <cstring>

#include "router/pipeline/wire/ip_writer.h"

namespace surety::echo {

namespace {

// RFC 792: no pseudo header; RFC 4443 2.3: with it.
Sum initial_sum(const IpPacket& packet) {
  return packet.protocol == kIcmp6Protocol ? pseudo_header(packet) : Sum{};
}

}  // namespace

bool is_request(const IpPacket& packet) {
  constexpr std::uint8_t kEcho = 8, kEcho6 = 128;
  if (packet.payload.size() < 8 || packet.payload[1] != 0) return false;
  return packet.destination.is_v6() ? packet.protocol == kIcmp6Protocol && packet.payload[0] == kEcho6
                                    : packet.protocol == kIcmpProtocol && packet.payload[0] == kEcho;
}

bool reply(const IpPacket& request, Slot& slot) {
  constexpr std::uint8_t kReply = 0, kReply6 = 129;
  const std::size_t payload = request.payload.size();
  Sum in = initial_sum(request);
  in.add(request.payload);
  const IpWriter ip(Tuple{request.destination, request.source}, request.protocol);
  if (!in.valid() || ip.header_length() + payload > slot.capacity) return false;

  ip.write(slot.data, payload, request.dscp());
  std::uint8_t* const icmp = slot.data + ip.header_length();
  std::memcpy(icmp, request.payload.data(), payload);
  icmp[0] = request.protocol == kIcmp6Protocol ? kReply6 : kReply;
  icmp[2] = icmp[3] = 0;
  Sum out = initial_sum(request);  // the pseudo header is the same for both directions
  out.add({icmp, payload});
  store(icmp + 2, out.checksum_field());
  slot.length = static_cast<std::uint32_t>(ip.header_length() + payload);
  return true;
}

}  // namespace surety::echo
