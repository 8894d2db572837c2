// SPDX-License-Identifier: BSD-3-Clause
// Packet fields as people write them, and the registries that people call by name: DSCPs (RFC 2474, 2597,
// 3246, 5865, 8622) and IP protocols (IANA).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

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

// A field of a packet as given on a command line: `source=10.1.0.1`, `protocol=udp`. Words and messages are
// those of a filter's `match`.
using Field = std::pair<std::string, std::string>;

// `name=value` apart; without a `=` the value is empty.
Field field_of(const std::string& text);

struct MatchText {
  Match match;
  std::string error;  // one sentence; empty: no error
};
MatchText parse_fields(std::span<const Field> fields);

}  // namespace surety::config
