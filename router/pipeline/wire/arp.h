// SPDX-License-Identifier: BSD-3-Clause
// ARP for IPv4 over Ethernet (RFC 826, RFC 5227).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "router/pipeline/wire/ethernet.h"
#include "router/pipeline/wire/ip.h"

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
