// SPDX-License-Identifier: BSD-3-Clause
// Answers to pings: ICMP and ICMPv6 echo (RFC 792, RFC 4443 4.2).
#pragma once

#include <cstdint>

#include "router/pipeline/wire/ip.h"
#include "router/pipeline/wire/slot.h"

namespace surety::echo {

inline constexpr std::uint8_t kIcmpProtocol = 1, kIcmp6Protocol = 58;

// True for an echo request to its destination; its checksum is not checked.
bool is_request(const IpPacket& packet);

// Writes the reply as an IP packet: same payload and DSCP, hop limit 64. False: the request's checksum is
// wrong, or the slot too small.
bool reply(const IpPacket& request, Slot& slot);

}  // namespace surety::echo
