// SPDX-License-Identifier: BSD-3-Clause
// The fields of a frame, valid or not, for captures of frames that were dropped as invalid.
//
// Every length is checked before it is used; missing fields are left out, and the others are parsed all the
// same.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "config/config.h"

namespace surety {

struct FrameFields {
  // Outer tag first; protocol 0: no tag.
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

// A rule's match without its port or interface: fields that are missing match nothing.
bool matches(const config::Match& match, const FrameFields& fields);

}  // namespace surety
