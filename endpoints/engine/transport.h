// SPDX-License-Identifier: BSD-3-Clause
// The transport protocols of the endpoints.
#pragma once

#include <cstddef>
#include <cstdint>

namespace surety::endpoints {

// Encapsulation of a flow's packets. `dccp_udp` is DCCP in UDP (RFC 6773).
enum class Transport : std::uint8_t { tcp, udp, dccp, dccp_udp };
inline constexpr std::size_t kTransports = 4;
constexpr const char* name(Transport t) {
  constexpr const char* kNames[] = {"tcp", "udp", "dccp", "dccp-udp"};
  return kNames[static_cast<std::size_t>(t)];
}

}  // namespace surety::endpoints
