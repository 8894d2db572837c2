// SPDX-License-Identifier: BSD-3-Clause
// Parses one rtnetlink message into the event that matters for forwarding (RFC 3549; rtnetlink(7)).
//
// A pure function over bytes. Safe for truncated and hostile input: it reads nothing outside the given bytes,
// at any alignment, and returns no event for an invalid message.
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "router/pipeline/routes/route_events.h"

namespace surety {

// monostate: not a message of these kinds, not of interest, or malformed.
using NetlinkEvent =
    std::variant<std::monostate, RouteEvent, NextHopEvent, NeighborEvent, AddressEvent, LinkEvent>;

// `message` starts with a struct nlmsghdr; bytes behind its nlmsg_len are ignored.
//
// Routes: main table, unicast or blackhole, unreachable, prohibit. Left out: cloned routes, those for a TOS
// or a source prefix only, those to multicast or IPv6 link-local destinations (the data plane punts these),
// and in an addition dead next hops; an addition without a living next hop is no event, unless it refers to a
// next hop object. Next hop objects: those of bridges are left out; a resilient group is taken as any group.
// Neighbours: a state in which the kernel itself would send to the MAC is an addition, fixed where it does
// not depend on answers and has no NTF_EXT_LEARNED (pin_neighbor()); any other is a removal. Addresses: IPv6
// link-local ones are left out. A removed link is reported as down.
NetlinkEvent parse_message(std::span<const std::uint8_t> message);

}  // namespace surety
