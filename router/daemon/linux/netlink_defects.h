// SPDX-License-Identifier: BSD-3-Clause
// Defects of rtnetlink messages that the router cannot read, by name: they are cut, or of a newer kernel.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "conditioners/counter_table.h"

namespace surety {

// clang-format off
#define SURETY_NETLINK_DEFECTS(X)                                                                     \
  X(cut,               "shorter than its header or one of its attributes says: the message is skipped") \
  X(unknown_type,      "a route of a type that this version does not know: its packets are dropped")    \
  X(unknown_attribute, "an attribute that this version does not know: only the attribute is skipped")
// clang-format on
SURETY_RESULTS(NetlinkDefect, SURETY_NETLINK_DEFECTS)

using NetlinkDefects = std::array<std::uint64_t, kNetlinkDefects>;  // counts, indexed by NetlinkDefect

// The first defect of a message of the kinds that parse_message() reads; of others only a wrong length. A
// pure function, safe for any bytes. Attributes of links, addresses and neighbours are of no interest beyond
// those that are read, and never unknown.
std::optional<NetlinkDefect> defect_of(std::span<const std::uint8_t> message);

}  // namespace surety
