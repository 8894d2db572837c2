// SPDX-License-Identifier: BSD-3-Clause
// What a frame says of itself, whether the router would take it or not: for who looks at frames that were
// dropped for what is wrong with them.
//
// Every length is checked before it is used; what is not there is left out, and the rest is what it would be.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "config/config.h"

namespace surety {

struct FrameFields {
  // Outer tag first; protocol 0: there is none.
  std::uint16_t tag_protocol = 0, vlan = 0, inner_vlan = 0;
  struct Ip {
    IpAddress source, destination;
    std::uint8_t protocol = 0, dscp = 0;
    bool ports = false;  // a first fragment has them, too
    std::uint16_t source_port = 0, destination_port = 0;
  };
  std::optional<Ip> ip{};
};
FrameFields fields_of(std::span<const std::uint8_t> frame);

// A rule's way to match, but for the place: fields that are not there match nothing.
bool matches(const config::Match& match, const FrameFields& fields);

}  // namespace surety
