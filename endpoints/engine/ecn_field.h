// SPDX-License-Identifier: BSD-3-Clause
// The two bits of congestion notification in an IP header (RFC 3168 5), whatever protocol is in it.
#pragma once

#include "endpoints/engine/engine.h"
#include "router/pipeline/wire/bytes.h"
#include "router/pipeline/wire/ip.h"

namespace surety::endpoints {

// Sets ECT(0) in a packet that IpWriter wrote: both ends understand congestion marks.
inline void set_ect(Slot& slot) {
  std::uint8_t* const ip = slot.data;
  if (ip[0] >> 4 == 6) {
    ip[1] |= 0x20;
    return;
  }
  ip[1] |= 0x02;
  const std::uint32_t sum = load_be16(ip + 10) + 0xffffu - 0x02;  // RFC 1624: the complement of a sum
  store(ip + 10, __builtin_bswap16(static_cast<std::uint16_t>((sum & 0xffff) + (sum >> 16))));
}
// True if a router has marked the received packet CE.
inline bool marked(const IpPacket& packet) {
  return (packet.traffic_class & 3) == 3;
}

}  // namespace surety::endpoints
