// SPDX-License-Identifier: BSD-3-Clause
// Neighbour solicitations and advertisements as frames (RFC 4861 4.3, 4.4, 7.1).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "router/pipeline/wire/ethernet.h"
#include "router/pipeline/wire/ip.h"

namespace surety::nd {

inline constexpr std::uint8_t kIcmp6Protocol = 58;
inline constexpr std::size_t kFrame = kEthernetHeader + 40 + 24 + 8;
inline constexpr std::uint8_t kRouterFlag = 0x80, kSolicitedFlag = 0x40, kOverrideFlag = 0x20;

struct Message {
  bool solicitation = false;  // false: an advertisement
  std::uint8_t flags = 0;     // set in an advertisement
  IpAddress target;
  std::optional<MacAddress> link_layer;  // source's or target's
};

// Reads one of the two messages if it is valid (7.1.1, 7.1.2; the caller checks the hop limit), with its
// ICMPv6 checksum. nullopt: invalid, or router discovery and redirects.
std::optional<Message> read(const IpPacket& packet);

// A whole frame of kFrame bytes, with the link-layer option and hop limit 255.
void write(std::uint8_t* frame, const MacAddress& to, const MacAddress& from, const IpAddress& source,
           const IpAddress& destination, const Message& m);

IpAddress solicited_node(const IpAddress& a);  // RFC 4291 2.7.1
IpAddress all_nodes();
MacAddress multicast_mac(const IpAddress& a);  // RFC 2464 7
IpAddress link_local(const MacAddress& mac);   // RFC 2464 5

}  // namespace surety::nd
