// SPDX-License-Identifier: BSD-3-Clause
// Addresses, prefixes and MACs from text (RFC 4291, 2.2 and 2.3 for IPv6); to_string() of config.h is the way
// back.
#pragma once

#include <optional>
#include <string_view>

#include "config/config.h"

namespace surety::config {

std::optional<Address> parse_address(std::string_view text);
std::optional<Prefix> parse_prefix(std::string_view text);  // host bits kept; without `/length`: none
std::optional<Mac> parse_mac(std::string_view text);        // 02:00:00:00:00:01

// A host's own address: not unspecified, loopback, multicast or IPv4 class E.
bool is_unicast(const Address& a);
// "network" or "broadcast" where an IPv4 interface address is one of these; else empty.
std::string_view reserved_name(const Prefix& p);
bool is_link_local_v6(const Address& a);
inline int address_bits(const Address& a) {
  return a.v6 ? 128 : 32;
}

}  // namespace surety::config
