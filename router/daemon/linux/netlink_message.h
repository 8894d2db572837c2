// SPDX-License-Identifier: BSD-3-Clause
// Parses one rtnetlink message into the event that matters for forwarding (RFC 3549; rtnetlink(7)), and
// corrects the events of IPv6 multipath routes.
//
// parse_message() is a pure function over bytes. Safe for truncated and hostile input: it reads nothing
// outside the given bytes, at any alignment, and returns no event for an invalid message. A message that is
// cut is one as a whole (defect_of() in netlink_defects.h): what is left of it could be another route.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "router/pipeline/routes/route_events.h"

namespace surety {

// monostate: not a message of these kinds, not of interest, or malformed.
using NetlinkEvent =
    std::variant<std::monostate, RouteEvent, NextHopEvent, NeighborEvent, AddressEvent, LinkEvent, RuleEvent>;

// `message` starts with a struct nlmsghdr; bytes behind its nlmsg_len are ignored.
//
// Routes: tables main and local, of each type but multicast; a type of a newer kernel is refused. Left out:
// cloned routes, those to multicast or IPv6 link-local destinations (the data plane punts these), host routes
// of the table local that come with an address, and in an addition dead next hops; an addition without a
// living next hop is an event only if it refers to a next hop object, or if the kernel says its place among
// others (it may replace one). Routes that the data plane cannot do say so (RouteEvent::unsupported). Next
// hop objects: those of bridges are left out; a resilient group is taken as any group. Neighbours: a state in
// which the kernel itself would send to the MAC is an addition, fixed where it does not depend on answers and
// has no NTF_EXT_LEARNED (pin_neighbor()); any other is a removal. Addresses: IPv6 link-local ones are left
// out. A removed link is reported as down. Rules: one with an attribute of a newer kernel is no default, for
// the attribute may be a condition.
NetlinkEvent parse_message(std::span<const std::uint8_t> message);

// True for a message by which routes over links without carrier die or live again, without further events
// (`ignore_routes_with_linkdown`).
bool changes_dead_routes(std::span<const std::uint8_t> message);

}  // namespace surety
