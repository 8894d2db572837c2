// SPDX-License-Identifier: BSD-3-Clause
// What the data plane looks at of an interface, half a cache line.
#pragma once

#include <cstdint>

#include "config/config.h"

namespace surety {

// Below the number of ports: the port itself, that is its untagged frames. It means the same in all
// snapshots that have the interface.
using InterfaceIndex = std::uint16_t;
inline constexpr InterfaceIndex kNoInterface = 0xffff;
inline constexpr std::size_t kMostInterfaces = 0xffff;  // ports, templates and their members together
inline constexpr std::uint16_t kNoFilter = 0xffff;

// VLAN tag protocol identifiers, IEEE 802.1Q.
inline constexpr std::uint16_t kCustomerTag = 0x8100, kServiceTag = 0x88a8;

struct InterfaceRecord {
  std::uint64_t tags = 0;      // as they stand in a frame, priority 0
  std::uint8_t tag_bytes = 0;  // of these: 0, 4 or 8
  std::uint8_t port = 0;
  std::uint16_t mtu = 0;         // of the IP packet
  InterfaceIndex link = 0;       // whose addresses and device it has: a member's template, else its own
  std::uint16_t definition = 0;  // index into Config::interfaces; kNoInterface: a port itself
  std::uint16_t filter_in = kNoFilter, filter_out = kNoFilter;
  config::Port::Trust trust = config::Port::Trust::customer;
  config::Port::SourceCheck source_check = config::Port::SourceCheck::strict;
  bool live = false;         // of the configuration; else what is left of one before
  bool is_template = false;  // no frame is of it, but of its members
  bool customer() const { return trust == config::Port::Trust::customer; }
};
static_assert(sizeof(InterfaceRecord) <= 32);

}  // namespace surety
