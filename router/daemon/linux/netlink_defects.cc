// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/netlink_defects.h"

#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>

#include "router/daemon/linux/netlink_attributes.h"

namespace surety {
namespace {

using namespace netlink;

// The fixed part of a kind of messages, and the last of the attributes behind it that Linux 6.18 has.
struct Layout {
  std::size_t fixed;
  int last_attribute;
};

constexpr int kAny = UINT16_MAX;
constexpr int kLastOfRoute = 31;    // RTA_FLOWLABEL
constexpr int kLastOfNextHop = 17;  // NHA_HW_STATS_USED
constexpr int kLastOfRule = 30;     // FRA_DSCP_MASK

std::optional<Layout> layout_of(std::uint16_t type) {
  switch (type) {
    case RTM_NEWROUTE:
    case RTM_DELROUTE:
      return Layout{sizeof(rtmsg), kLastOfRoute};
    case RTM_NEWNEXTHOP:
    case RTM_DELNEXTHOP:
      return Layout{sizeof(nhmsg), kLastOfNextHop};
    case RTM_NEWNEIGH:
    case RTM_DELNEIGH:
      return Layout{sizeof(ndmsg), kAny};
    case RTM_NEWADDR:
    case RTM_DELADDR:
      return Layout{sizeof(ifaddrmsg), kAny};
    case RTM_NEWLINK:
    case RTM_DELLINK:
      return Layout{sizeof(ifinfomsg), kAny};
    case RTM_NEWRULE:
    case RTM_DELRULE:
      return Layout{sizeof(fib_rule_hdr), kLastOfRule};
    default:
      return std::nullopt;
  }
}

// Accumulates what attributes, and those of a multipath route's next hops, have of defects.
struct Inspection {
  int last_attribute;
  bool cut = false, unknown = false;

  void attributes(Span bytes, bool with_multipath) {
    cut |= !for_each_attribute(bytes, [&](int type, Span payload) {
      unknown |= type > last_attribute;
      if (with_multipath && type == RTA_MULTIPATH) next_hops(payload);
    });
  }
  void next_hops(Span bytes) {
    while (const auto entry = read<rtnexthop>(bytes)) {
      if (entry->rtnh_len < sizeof(rtnexthop) || entry->rtnh_len > bytes.size()) break;
      attributes(bytes.subspan(sizeof(rtnexthop), entry->rtnh_len - sizeof(rtnexthop)), false);
      bytes = behind(bytes, entry->rtnh_len);
    }
    cut |= !bytes.empty();
  }
};

// RTN_XRESOLVE is the last type of Linux 6.18.
bool is_unknown(const rtmsg& m) {
  return (m.rtm_family == AF_INET || m.rtm_family == AF_INET6) && m.rtm_type > RTN_XRESOLVE;
}

bool is_route(std::uint16_t type) {
  return type == RTM_NEWROUTE || type == RTM_DELROUTE;
}

}  // namespace

std::optional<NetlinkDefect> defect_of(Span message) {
  const auto header = read<nlmsghdr>(message);
  if (!header || header->nlmsg_len < sizeof(nlmsghdr) || header->nlmsg_len > message.size())
    return NetlinkDefect::cut;
  const auto layout = layout_of(header->nlmsg_type);
  if (!layout) return std::nullopt;
  const Span body = message.subspan(sizeof(nlmsghdr), header->nlmsg_len - sizeof(nlmsghdr));
  if (body.size() < layout->fixed) return NetlinkDefect::cut;
  const bool route = is_route(header->nlmsg_type);
  Inspection found{layout->last_attribute};
  found.attributes(behind(body, layout->fixed), route);
  if (found.cut) return NetlinkDefect::cut;
  if (route && is_unknown(*read<rtmsg>(body))) return NetlinkDefect::unknown_type;
  if (found.unknown) return NetlinkDefect::unknown_attribute;
  return std::nullopt;
}

}  // namespace surety
