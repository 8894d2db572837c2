// SPDX-License-Identifier: BSD-3-Clause
// Best effort for packets between the network and the kernel: with another DSCP a customer could have packets
// of a class sent to any address, or have the kernel answer in that class.
#pragma once

#include <cstdint>
#include <span>

namespace surety {

// True if an untagged frame holds a whole IP header.
bool is_ip(std::span<const std::uint8_t> frame);

// Sets the DSCP of an IP packet to 0, if it has another one. `ip` has a whole header, here and below.
void clear_dscp(std::span<std::uint8_t> ip);

// True if a packet of the kernel answers a received one: an ICMP error, an echo reply, a TCP reset, a packet
// of a DHCP server or relay. Linux copies the DSCP of the received packet, and gives its errors precedence 6.
bool is_answer(std::span<const std::uint8_t> ip);

}  // namespace surety
