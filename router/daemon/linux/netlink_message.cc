// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/netlink_message.h"

#include <linux/if.h>
#include <linux/neighbour.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace surety {
namespace {

using Span = std::span<const std::uint8_t>;

std::size_t align4(std::size_t n) {
  return (n + 3) & ~std::size_t{3};
}
Span behind(Span bytes, std::size_t n) {
  return bytes.subspan(std::min(bytes.size(), align4(n)));
}

// The bytes' first sizeof(T), which need not be aligned; none if there are fewer.
template <class T>
std::optional<T> read(Span bytes) {
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

// Calls f(type, payload) for each attribute, up to the first that does not fit.
template <class F>
void for_each_attribute(Span bytes, F&& f) {
  while (const auto attribute = read<nlattr>(bytes)) {
    if (attribute->nla_len < sizeof(nlattr) || attribute->nla_len > bytes.size()) return;
    f(attribute->nla_type & NLA_TYPE_MASK,
      bytes.subspan(sizeof(nlattr), attribute->nla_len - sizeof(nlattr)));
    bytes = behind(bytes, attribute->nla_len);
  }
}

bool is_ip(unsigned family) {
  return family == AF_INET || family == AF_INET6;
}

std::optional<IpAddress> read_address(Span bytes, unsigned family) {
  const bool v6 = family == AF_INET6;
  if (!is_ip(family) || bytes.size() != (v6 ? 16U : 4U)) return std::nullopt;
  const IpAddress a = IpAddress::load(bytes.data(), v6);
  if (a.is_v6() != v6) return std::nullopt;
  return a;
}

std::optional<MacAddress> read_mac(Span bytes) {
  MacAddress mac{};
  if (bytes.size() != mac.size()) return std::nullopt;
  std::ranges::copy(bytes, mac.begin());
  return mac;
}

// RTA_GATEWAY, RTA_VIA or RTA_OIF, of a route or of one entry of its RTA_MULTIPATH.
void read_next_hop(int type, Span payload, unsigned family, RouteNextHop& hop) {
  if (type == RTA_OIF) hop.ifindex = read<int>(payload).value_or(0);
  if (type == RTA_GATEWAY) hop.via = read_address(payload, family);
  if (type == RTA_VIA)  // a gateway of the other family (RFC 5549): struct rtvia is a family and its address
    if (const auto via_family = read<__kernel_sa_family_t>(payload))
      hop.via = read_address(payload.subspan(sizeof(*via_family)), *via_family);
}

std::vector<RouteNextHop> read_multipath(Span bytes, unsigned family, bool with_dead) {
  std::vector<RouteNextHop> hops;
  while (const auto entry = read<rtnexthop>(bytes)) {
    if (entry->rtnh_len < sizeof(rtnexthop) || entry->rtnh_len > bytes.size()) break;
    RouteNextHop hop{std::nullopt, entry->rtnh_ifindex};
    hop.weight = static_cast<std::uint16_t>(entry->rtnh_hops + 1);
    for_each_attribute(bytes.subspan(sizeof(rtnexthop), entry->rtnh_len - sizeof(rtnexthop)),
                       [&](int type, Span payload) { read_next_hop(type, payload, family, hop); });
    if (with_dead || (entry->rtnh_flags & RTNH_F_DEAD) == 0) hops.push_back(hop);
    bytes = behind(bytes, entry->rtnh_len);
  }
  return hops;
}

// True for a route that forwards or refuses all packets to its destination.
bool concerns_us(const rtmsg& m) {
  const bool kind = m.rtm_type == RTN_UNICAST || m.rtm_type == RTN_BLACKHOLE ||
                    m.rtm_type == RTN_UNREACHABLE || m.rtm_type == RTN_PROHIBIT;
  const unsigned longest = m.rtm_family == AF_INET6 ? 128 : 32;
  return kind && is_ip(m.rtm_family) && m.rtm_dst_len <= longest && m.rtm_tos == 0 && m.rtm_src_len == 0 &&
         (m.rtm_flags & RTM_F_CLONED) == 0;
}

NetlinkEvent parse_route(EventAction action, Span body) {
  const auto m = read<rtmsg>(body);
  if (!m || !concerns_us(*m)) return {};
  const bool adding = action == EventAction::add;
  RouteEvent event;
  event.action = action;
  event.protocol = m->rtm_protocol;
  event.blackhole = m->rtm_type != RTN_UNICAST;
  if (m->rtm_type == RTN_UNREACHABLE) event.refusal = kNextHopUnreachable;
  if (m->rtm_type == RTN_PROHIBIT) event.refusal = kNextHopProhibited;
  event.to.address = IpAddress::unspecified(m->rtm_family == AF_INET6);
  event.to.length = m->rtm_dst_len;
  std::uint32_t table = m->rtm_table;
  RouteNextHop single;
  bool has_destination = m->rtm_dst_len == 0;
  for_each_attribute(behind(body, sizeof(rtmsg)), [&](int type, Span payload) {
    if (type == RTA_TABLE) table = read<std::uint32_t>(payload).value_or(RT_TABLE_UNSPEC);
    if (type == RTA_PRIORITY) event.metric = read<std::uint32_t>(payload).value_or(0);
    if (type == RTA_NH_ID) event.next_hop_id = read<std::uint32_t>(payload).value_or(0);
    if (type == RTA_MULTIPATH) event.next_hops = read_multipath(payload, m->rtm_family, !adding);
    if (type == RTA_DST)
      if (const auto to = read_address(payload, m->rtm_family)) {
        event.to.address = *to;
        has_destination = true;
      }
    read_next_hop(type, payload, m->rtm_family, single);
  });
  if (table != RT_TABLE_MAIN || !has_destination) return {};
  if (event.to.length > 0 && (is_multicast(event.to.address) || is_link_local_v6(event.to.address)))
    return {};
  if (event.blackhole) {
    event.next_hops.clear();  // IPv6 names the loopback device in one
    return event;
  }
  const bool alive = !adding || (m->rtm_flags & RTNH_F_DEAD) == 0;
  if (event.next_hops.empty() && alive && (single.via || single.ifindex != 0))
    event.next_hops.push_back(single);
  if (adding && event.next_hops.empty() && event.next_hop_id == 0) return {};
  return event;
}

std::vector<NextHopEvent::Member> read_group(Span bytes) {
  // struct nexthop_grp, whose high byte of the weight has a name only since Linux 6.12 and is zero before.
  struct Entry {
    std::uint32_t id;
    std::uint8_t weight, weight_high;
    std::uint16_t reserved;
  };
  static_assert(sizeof(Entry) == sizeof(nexthop_grp));
  std::vector<NextHopEvent::Member> members;
  while (const auto entry = read<Entry>(bytes)) {
    const int weight = (entry->weight_high << 8 | entry->weight) + 1;
    members.push_back({entry->id, static_cast<std::uint16_t>(std::min(weight, 0xffff))});
    bytes = bytes.subspan(sizeof(Entry));
  }
  return members;
}

NetlinkEvent parse_next_hop(EventAction action, Span body) {
  const auto m = read<nhmsg>(body);
  if (!m) return {};
  NextHopEvent event;
  event.action = action;
  bool of_bridge = false;
  for_each_attribute(behind(body, sizeof(nhmsg)), [&](int type, Span payload) {
    if (type == NHA_ID) event.id = read<std::uint32_t>(payload).value_or(0);
    if (type == NHA_GROUP) event.group = read_group(payload);
    if (type == NHA_BLACKHOLE) event.blackhole = true;
    if (type == NHA_OIF) event.hop.ifindex = read<int>(payload).value_or(0);
    if (type == NHA_GATEWAY) event.hop.via = read_address(payload, m->nh_family);
    if (type == NHA_FDB) of_bridge = true;
  });
  const bool leads = event.blackhole || !event.group.empty() || event.hop.via || event.hop.ifindex != 0;
  if (event.id == 0 || of_bridge || (action == EventAction::add && !leads)) return {};
  return event;
}

NetlinkEvent parse_neighbor(bool deleted, Span body) {
  constexpr unsigned kFixed = NUD_PERMANENT | NUD_NOARP, kConfirmed = kFixed | NUD_REACHABLE,
                     kUsable = kConfirmed | NUD_STALE | NUD_DELAY | NUD_PROBE;
  const auto m = read<ndmsg>(body);
  if (!m || (m->ndm_flags & NTF_PROXY) != 0) return {};
  std::optional<IpAddress> address;
  std::optional<MacAddress> mac;
  for_each_attribute(behind(body, sizeof(ndmsg)), [&](int type, Span payload) {
    if (type == NDA_DST) address = read_address(payload, m->ndm_family);
    if (type == NDA_LLADDR) mac = read_mac(payload);
  });
  if (!address || is_multicast(*address)) return {};
  const bool usable = !deleted && (m->ndm_state & kUsable) != 0 && mac;
  return NeighborEvent{
      usable ? EventAction::add : EventAction::remove,
      m->ndm_ifindex,
      *address,
      usable ? *mac : MacAddress{},
      usable ? (m->ndm_state & kFixed) != 0 && (m->ndm_flags & NTF_EXT_LEARNED) == 0 : deleted,
      !usable || (m->ndm_state & kConfirmed) != 0};
}

NetlinkEvent parse_address(EventAction action, Span body) {
  const auto m = read<ifaddrmsg>(body);
  if (!m || m->ifa_prefixlen > (m->ifa_family == AF_INET6 ? 128 : 32)) return {};
  // IFA_ADDRESS is the peer's address on a point-to-point link, and IFA_LOCAL then ours.
  std::optional<IpAddress> address, local;
  std::uint8_t protocol = 0;
  for_each_attribute(behind(body, sizeof(ifaddrmsg)), [&](int type, Span payload) {
    if (type == IFA_ADDRESS) address = read_address(payload, m->ifa_family);
    if (type == IFA_LOCAL) local = read_address(payload, m->ifa_family);
    if (type == IFA_PROTO) protocol = read<std::uint8_t>(payload).value_or(0);
  });
  if (local) address = local;
  if (!address || is_link_local_v6(*address)) return {};
  return AddressEvent{action, static_cast<int>(m->ifa_index), {*address, m->ifa_prefixlen}, protocol};
}

NetlinkEvent parse_link(bool deleted, Span body) {
  const auto m = read<ifinfomsg>(body);
  if (!m || m->ifi_family != AF_UNSPEC)
    return {};  // AF_BRIDGE: a bridge gains or loses a member, which lives on
  LinkEvent event;
  event.ifindex = m->ifi_index;
  event.enabled = !deleted && (m->ifi_flags & IFF_UP) != 0;
  event.up = event.enabled && (m->ifi_flags & IFF_RUNNING) != 0;
  for_each_attribute(behind(body, sizeof(ifinfomsg)), [&](int type, Span payload) {
    if (type == IFLA_MTU) event.mtu = read<std::uint32_t>(payload).value_or(0);
    if (type == IFLA_ADDRESS) event.mac = read_mac(payload).value_or(MacAddress{});
    if (type == IFLA_IFNAME) event.name.assign(payload.begin(), std::ranges::find(payload, 0));
  });
  if (event.name.empty()) return {};
  return event;
}

}  // namespace

NetlinkEvent parse_message(Span message) {
  const auto header = read<nlmsghdr>(message);
  if (!header || header->nlmsg_len < sizeof(nlmsghdr) || header->nlmsg_len > message.size()) return {};
  const Span body = message.subspan(sizeof(nlmsghdr), header->nlmsg_len - sizeof(nlmsghdr));
  switch (header->nlmsg_type) {
    case RTM_NEWROUTE:
      return parse_route(EventAction::add, body);
    case RTM_DELROUTE:
      return parse_route(EventAction::remove, body);
    case RTM_NEWNEXTHOP:
      return parse_next_hop(EventAction::add, body);
    case RTM_DELNEXTHOP:
      return parse_next_hop(EventAction::remove, body);
    case RTM_NEWNEIGH:
      return parse_neighbor(false, body);
    case RTM_DELNEIGH:
      return parse_neighbor(true, body);
    case RTM_NEWADDR:
      return parse_address(EventAction::add, body);
    case RTM_DELADDR:
      return parse_address(EventAction::remove, body);
    case RTM_NEWLINK:
      return parse_link(false, body);
    case RTM_DELLINK:
      return parse_link(true, body);
    default:
      return {};
  }
}

namespace {

bool same(const RouteNextHop& a, const RouteNextHop& b) {
  return a.ifindex == b.ifindex && a.via == b.via;
}

}  // namespace

void Ipv6Siblings::correct(RouteEvent& event) {
  if (!event.to.address.is_v6()) return;
  const Key key{event.to, event.metric};
  if (event.action == EventAction::add) {
    if (event.next_hops.size() > 1) {
      routes_[key] = event.next_hops;
    } else {
      routes_.erase(key);
    }
    return;
  }
  const auto known = routes_.find(key);
  if (known == routes_.end()) return;
  std::vector<RouteNextHop> rest = known->second;
  std::erase_if(rest, [&](const RouteNextHop& hop) {
    return std::ranges::any_of(event.next_hops, [&](const RouteNextHop& gone) { return same(gone, hop); });
  });
  if (rest.size() > 1) {
    known->second = rest;
  } else {
    routes_.erase(known);
  }
  if (rest.empty() || event.next_hops.empty()) return;
  event.action = EventAction::add;
  event.next_hops = std::move(rest);
}

}  // namespace surety
