// SPDX-License-Identifier: BSD-3-Clause
// The messages by which hosts find each other on a link and answer pings: ARP, neighbour discovery, echo.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "router/pipeline/wire/header_fields.h"
#include "router/pipeline/wire/ip.h"
#include "router/pipeline/wire/outbox.h"

namespace surety {

inline constexpr std::uint8_t kIcmpProtocol = 1, kIcmp6Protocol = 58;

}  // namespace surety

// ARP for IPv4 over Ethernet (RFC 826, RFC 5227).
namespace surety::arp {

inline constexpr std::size_t kLength = 28, kFrame = kEthernetHeader + kLength;

enum class Operation : std::uint16_t { request = 1, reply = 2 };

struct Message {
  Operation operation = Operation::request;
  MacAddress sender_mac{}, target_mac{};
  IpAddress sender, target;
};

// Reads the bytes behind the Ethernet header. nullopt: not Ethernet and IPv4, another operation, or a sender
// that is a group.
std::optional<Message> read(std::span<const std::uint8_t> bytes);

// A whole frame of kFrame bytes, from the message's sender.
void write(std::uint8_t* frame, const MacAddress& to, const Message& m);

}  // namespace surety::arp

// Neighbour solicitations and advertisements as frames (RFC 4861 4.3, 4.4, 7.1).
namespace surety::nd {

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

// Answers to pings: ICMP and ICMPv6 echo (RFC 792, RFC 4443 4.2).
namespace surety::echo {

// True for an echo request to its destination; its checksum is not checked.
bool is_request(const IpPacket& packet);

// Writes the reply as an IP packet: same payload and DSCP, hop limit 64. False: the request's checksum is
// wrong, or the slot too small.
bool reply(const IpPacket& request, Slot& slot);

}  // namespace surety::echo
