// SPDX-License-Identifier: BSD-3-Clause
// The registries that people call by name: DSCPs (RFC 2474, 2597, 3246, 5865, 8622) and IP protocols (IANA).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "config/config.h"

namespace surety::config {

// A name or a number 0..63. dscp_name() of config.h is the way back.
std::optional<Dscp> parse_dscp(std::string_view text);
std::span<const std::string_view> dscp_names();

// A name or a number 0..255.
std::optional<std::uint8_t> parse_protocol(std::string_view text);
std::span<const std::string_view> protocol_names();
bool has_ports(std::uint8_t protocol);

inline constexpr std::uint8_t kIcmp = 1, kIcmpV6 = 58;

}  // namespace surety::config
