// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/netlink_message.h"

#include <linux/fib_rules.h>
#include <linux/if.h>
#include <linux/neighbour.h>
#include <linux/netconf.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "router/daemon/linux/netlink_attributes.h"
#include "router/daemon/linux/netlink_defects.h"

namespace surety {
namespace {

using namespace netlink;

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

// Attributes of one next hop: of a route, or of one entry of its RTA_MULTIPATH.
void read_next_hop(int type, Span payload, unsigned family, RouteNextHop& hop, Unsupported& unsupported) {
  const bool encapsulated =
      type == RTA_ENCAP || (type == RTA_ENCAP_TYPE && read<std::uint16_t>(payload) != 0);
  const bool of_some = unsupported == Unsupported::tos || unsupported == Unsupported::source;
  if (encapsulated && !of_some) unsupported = Unsupported::encapsulation;
  if (type == RTA_NEWDST && !of_some) unsupported = Unsupported::translation;
  if (type == RTA_OIF) hop.ifindex = read<int>(payload).value_or(0);
  if (type == RTA_GATEWAY) hop.via = read_address(payload, family);
  if (type == RTA_VIA)  // a gateway of the other family (RFC 5549): struct rtvia is a family and its address
    if (const auto via_family = read<__kernel_sa_family_t>(payload))
      hop.via = read_address(payload.subspan(sizeof(*via_family)), *via_family);
}

std::vector<RouteNextHop> read_multipath(Span bytes, unsigned family, bool with_dead,
                                         Unsupported& unsupported) {
  std::vector<RouteNextHop> hops;
  while (const auto entry = read<rtnexthop>(bytes)) {
    if (entry->rtnh_len < sizeof(rtnexthop) || entry->rtnh_len > bytes.size()) break;
    RouteNextHop hop{std::nullopt, entry->rtnh_ifindex};
    hop.weight = static_cast<std::uint16_t>(entry->rtnh_hops + 1);
    for_each_attribute(
        bytes.subspan(sizeof(rtnexthop), entry->rtnh_len - sizeof(rtnexthop)),
        [&](int type, Span payload) { read_next_hop(type, payload, family, hop, unsupported); });
    if (with_dead || (entry->rtnh_flags & RTNH_F_DEAD) == 0) hops.push_back(hop);
    bytes = behind(bytes, entry->rtnh_len);
  }
  return hops;
}

// False for a type of a newer kernel (NetlinkDefect::unknown_type).
bool is_known_type(const rtmsg& m) {
  return m.rtm_type <= RTN_XRESOLVE;
}

// The fixed next hop of a route's type; kNextHopNone: it has next hops of its own; nullopt: of no interest.
std::optional<std::uint32_t> fixed_next_hop(const rtmsg& m) {
  switch (m.rtm_type) {
    case RTN_UNICAST:
      return kNextHopNone;
    case RTN_BLACKHOLE:
    case RTN_BROADCAST:  // directed broadcasts are not forwarded (RFC 2644)
      return kNextHopBlackhole;
    case RTN_UNREACHABLE:
      return kNextHopUnreachable;
    case RTN_PROHIBIT:
      return kNextHopProhibited;
    case RTN_THROW:
      return kNextHopThrown;
    case RTN_LOCAL:
    case RTN_ANYCAST:
      return kNextHopLocalPrefix;
    default:
      return is_known_type(m) ? std::nullopt : std::optional(kNextHopUnsupported);
  }
}

// True for what the kernel adds for an address: AddressEvent says the same.
bool comes_with_address(const rtmsg& m) {
  const bool host = m.rtm_dst_len == (m.rtm_family == AF_INET6 ? 128 : 32);
  const bool type = m.rtm_type == RTN_LOCAL || m.rtm_type == RTN_ANYCAST || m.rtm_type == RTN_BROADCAST;
  return host && type && m.rtm_protocol == RTPROT_KERNEL;
}

bool concerns_us(const rtmsg& m) {
  const unsigned longest = m.rtm_family == AF_INET6 ? 128 : 32;
  return is_ip(m.rtm_family) && m.rtm_dst_len <= longest && m.rtm_src_len <= longest &&
         (m.rtm_flags & RTM_F_CLONED) == 0 && fixed_next_hop(m) && !comes_with_address(m);
}

// IPv6 adds a route behind the others of its metric, whatever the request (fib6_add_rt2node()).
RouteOrder order_of(unsigned flags, bool v6) {
  if ((flags & NLM_F_MULTI) != 0) return RouteOrder::dumped;
  if ((flags & NLM_F_REPLACE) != 0) return RouteOrder::replace;
  if ((flags & NLM_F_CREATE) == 0 || (flags & NLM_F_EXCL) != 0) return RouteOrder::only;
  return v6 || (flags & NLM_F_APPEND) != 0 ? RouteOrder::last : RouteOrder::first;
}

// RTAX_MTU, which forwarding obeys: with IPv6, locked or not, when a packet leaves (ip6_finish_output()), and
// also below IPv6's least MTU of 1280 (RFC 8200 5).
std::uint16_t read_mtu(Span metrics) {
  constexpr std::uint32_t kLeast = 68;  // RFC 791
  std::uint32_t mtu = 0;
  for_each_attribute(metrics, [&](int type, Span payload) {
    if (type == RTAX_MTU) mtu = read<std::uint32_t>(payload).value_or(0);
  });
  if (mtu == 0) return 0;
  return static_cast<std::uint16_t>(std::clamp(mtu, kLeast, std::uint32_t{UINT16_MAX}));
}

// RFC 4191 2.1: medium, high, reserved, low.
std::uint8_t rank_of_preference(std::uint8_t pref) {
  constexpr std::uint8_t kRanks[] = {1, 0, 1, 2};
  return kRanks[pref & 3];
}

// A hash of the properties by which the kernel distinguishes routes, besides those of the event.
class Identity {
 public:
  void add(Span bytes) {
    for (const std::uint8_t b : bytes) value_ = (value_ ^ b) * 0x01000193;
  }
  void add(std::uint8_t byte) { add({&byte, 1}); }
  std::uint16_t value() const { return static_cast<std::uint16_t>(value_ ^ value_ >> 16); }

 private:
  std::uint32_t value_ = 0x811c9dc5;  // FNV-1a
};

// Everything but the next hops of one route.
RouteEvent begin_route(EventAction action, unsigned flags, const rtmsg& m) {
  const bool v6 = m.rtm_family == AF_INET6;
  RouteEvent event;
  event.action = action;
  event.protocol = m.rtm_protocol;
  event.order = order_of(flags, v6);
  event.blackhole = m.rtm_type != RTN_UNICAST;
  if (event.blackhole) event.refusal = *fixed_next_hop(m);
  event.to.address = IpAddress::unspecified(v6);
  event.to.length = m.rtm_dst_len;
  event.selector = m.rtm_src_len != 0 ? std::uint8_t{1} : v6 ? std::uint8_t{0} : m.rtm_tos;
  if (event.selector != 0) event.unsupported = m.rtm_src_len != 0 ? Unsupported::source : Unsupported::tos;
  if (m.rtm_src_len != 0) event.from = {event.to.address, m.rtm_src_len};
  event.preference = v6 ? rank_of_preference(0) : std::uint8_t{0};
  return event;
}

NetlinkEvent parse_route(EventAction action, unsigned flags, Span body) {
  const auto m = read<rtmsg>(body);
  if (!m || !concerns_us(*m)) return {};
  const bool adding = action == EventAction::add;
  RouteEvent event = begin_route(action, flags, *m);
  std::uint32_t table = m->rtm_table;
  RouteNextHop single;
  Identity identity;
  identity.add(m->rtm_protocol);
  identity.add(m->rtm_scope);
  bool has_destination = m->rtm_dst_len == 0;
  for_each_attribute(behind(body, sizeof(rtmsg)), [&](int type, Span payload) {
    if (type == RTA_TABLE) table = read<std::uint32_t>(payload).value_or(RT_TABLE_UNSPEC);
    if (type == RTA_PRIORITY) event.metric = read<std::uint32_t>(payload).value_or(0);
    if (type == RTA_NH_ID) event.next_hop_id = read<std::uint32_t>(payload).value_or(0);
    if (type == RTA_PREF) event.preference = rank_of_preference(read<std::uint8_t>(payload).value_or(0));
    if (type == RTA_METRICS) event.mtu = read_mtu(payload);
    if (type == RTA_METRICS || type == RTA_PREFSRC || type == RTA_SRC) identity.add(payload);
    if (type == RTA_MULTIPATH) {
      event.next_hops = read_multipath(payload, m->rtm_family, !adding, event.unsupported);
      event.dead = event.next_hops.empty();
      if (event.dead) event.next_hops = read_multipath(payload, m->rtm_family, true, event.unsupported);
    }
    if (type == RTA_DST)
      if (const auto to = read_address(payload, m->rtm_family)) {
        event.to.address = *to;
        has_destination = true;
      }
    if (type == RTA_SRC && m->rtm_src_len != 0)
      event.from.address = read_address(payload, m->rtm_family).value_or(event.from.address);
    read_next_hop(type, payload, m->rtm_family, single, event.unsupported);
  });
  if (!is_known_type(*m)) event.unsupported = Unsupported::type;
  event.identity = identity.value();
  event.local_table = table == RT_TABLE_LOCAL;
  if ((table != RT_TABLE_MAIN && !event.local_table) || !has_destination) return {};
  if (event.to.length > 0 && (is_multicast(event.to.address) || is_link_local_v6(event.to.address)))
    return {};
  if (event.blackhole) {
    event.next_hops.clear();  // IPv6 names the loopback device in one
    return event;
  }
  event.dead |= adding && (m->rtm_flags & RTNH_F_DEAD) != 0;
  if (event.next_hops.empty() && (single.via || single.ifindex != 0)) event.next_hops.push_back(single);
  event.connected =
      m->rtm_protocol == RTPROT_KERNEL && event.next_hops.size() == 1 && !event.next_hops[0].via;
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
    const bool encapsulated =
        type == NHA_ENCAP || (type == NHA_ENCAP_TYPE && read<std::uint16_t>(payload) != 0);
    if (encapsulated) event.unsupported = Unsupported::encapsulation;
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
  std::optional<IpAddress> address, local, broadcast;
  std::uint8_t protocol = 0;
  std::uint32_t flags = m->ifa_flags;
  for_each_attribute(behind(body, sizeof(ifaddrmsg)), [&](int type, Span payload) {
    if (type == IFA_ADDRESS) address = read_address(payload, m->ifa_family);
    if (type == IFA_LOCAL) local = read_address(payload, m->ifa_family);
    if (type == IFA_BROADCAST) broadcast = read_address(payload, m->ifa_family);
    if (type == IFA_FLAGS) flags = read<std::uint32_t>(payload).value_or(flags);
    if (type == IFA_PROTO) protocol = read<std::uint8_t>(payload).value_or(0);
  });
  std::optional<Prefix> peer;
  if (local && address && *address != *local) peer = Prefix{*address, m->ifa_prefixlen};
  if (local) address = local;
  if (!address || is_link_local_v6(*address)) return {};
  return AddressEvent{action,
                      static_cast<int>(m->ifa_index),
                      {*address, m->ifa_prefixlen},
                      protocol,
                      peer,
                      (flags & IFA_F_NOPREFIXROUTE) != 0,
                      broadcast};
}

// True for the IFLA_LINKINFO of a macvlan device.
bool is_macvlan(Span link_info) {
  bool macvlan = false;
  for_each_attribute(link_info, [&](int type, Span payload) {
    constexpr std::string_view kKind = "macvlan";
    if (type != IFLA_INFO_KIND) return;
    const auto end = std::ranges::find(payload, 0);
    macvlan = std::ranges::equal(std::span(payload.begin(), end), kKind,
                                 [](std::uint8_t a, char b) { return static_cast<char>(a) == b; });
  });
  return macvlan;
}

NetlinkEvent parse_link(bool deleted, Span body) {
  const auto m = read<ifinfomsg>(body);
  if (!m || m->ifi_family != AF_UNSPEC)
    return {};  // AF_BRIDGE: a bridge gains or loses a member, which lives on
  LinkEvent event;
  event.ifindex = m->ifi_index;
  event.enabled = !deleted && (m->ifi_flags & IFF_UP) != 0;
  event.up = event.enabled && (m->ifi_flags & IFF_RUNNING) != 0;
  int below = 0;
  bool macvlan = false, elsewhere = false;  // elsewhere: `below` is a device of another namespace
  for_each_attribute(behind(body, sizeof(ifinfomsg)), [&](int type, Span payload) {
    if (type == IFLA_MTU) event.mtu = read<std::uint32_t>(payload).value_or(0);
    if (type == IFLA_ADDRESS) event.mac = read_mac(payload).value_or(MacAddress{});
    if (type == IFLA_LINK) below = read<int>(payload).value_or(0);
    if (type == IFLA_LINK_NETNSID) elsewhere = true;
    if (type == IFLA_LINKINFO) macvlan = is_macvlan(payload);
    if (type == IFLA_IFNAME) event.name.assign(payload.begin(), std::ranges::find(payload, 0));
  });
  if (event.name.empty()) return {};
  if (macvlan && !elsewhere) event.macvlan_of = below;
  return event;
}

// A rule's conditions, from its attributes.
struct RuleConditions {
  std::uint32_t mark = 0;
  bool own_packets = false;  // only packets that the machine itself sends, or that come from a local socket
  bool others = false;
};

// Attributes that are no condition, or that read_conditions() reads. Those of a newer kernel may be
// conditions.
constexpr int kNoConditions[] = {FRA_DST,     FRA_SRC,  FRA_GOTO,      FRA_PRIORITY,
                                 FRA_FWMARK,  FRA_FLOW, FRA_TABLE,     FRA_FWMASK,
                                 FRA_OIFNAME, FRA_PAD,  FRA_UID_RANGE, FRA_PROTOCOL};

RuleConditions read_conditions(const fib_rule_hdr& m, Span attributes) {
  RuleConditions c;
  c.others = m.dst_len != 0 || m.src_len != 0 || m.tos != 0 || (m.flags & FIB_RULE_INVERT) != 0;
  for_each_attribute(attributes, [&](int type, Span payload) {
    const std::string_view text(reinterpret_cast<const char*>(payload.data()), payload.size());
    if (type == FRA_FWMARK) c.mark = read<std::uint32_t>(payload).value_or(0);
    if (type == FRA_OIFNAME || type == FRA_UID_RANGE) c.own_packets = true;
    if (type == FRA_IIFNAME && text.starts_with(std::string_view("lo\0", 3))) c.own_packets = true;
    const bool every_length =
        type == FRA_SUPPRESS_PREFIXLEN && read<std::uint32_t>(payload) == std::uint32_t{UINT32_MAX};
    c.others |= !every_length && std::ranges::find(kNoConditions, type) == std::end(kNoConditions);
  });
  return c;
}

// The kernel's own rules: the tables local, main and default, in this order.
bool is_default(const RuleEvent& rule) {
  return (rule.priority == 0 && rule.table == RT_TABLE_LOCAL) ||
         (rule.priority == 32766 && rule.table == RT_TABLE_MAIN) ||
         (rule.priority == 32767 && rule.table == RT_TABLE_DEFAULT);
}

NetlinkEvent parse_rule(EventAction action, Span body) {
  const auto m = read<fib_rule_hdr>(body);
  if (!m || !is_ip(m->family)) return {};
  RuleEvent rule{.action = action, .v6 = m->family == AF_INET6, .table = m->table};
  const Span attributes = behind(body, sizeof(fib_rule_hdr));
  std::string from, to;
  for_each_attribute(attributes, [&](int type, Span payload) {
    if (type == FRA_PRIORITY) rule.priority = read<std::uint32_t>(payload).value_or(0);
    if (type == FRA_TABLE) rule.table = read<std::uint32_t>(payload).value_or(m->table);
    if (type != FRA_SRC && type != FRA_DST) return;
    if (const auto a = read_address(payload, m->family))
      (type == FRA_SRC ? from : to) =
          to_string(*a) + "/" + std::to_string(type == FRA_SRC ? m->src_len : m->dst_len);
  });
  const RuleConditions c = read_conditions(*m, attributes);
  const bool inverted = (m->flags & FIB_RULE_INVERT) != 0;
  // The data plane's packets have no mark, and come from no local socket.
  const bool never = !inverted && (c.own_packets || c.mark != 0);
  rule.preset = !c.others && !c.own_packets && c.mark == 0 && m->action == FR_ACT_TO_TBL && is_default(rule);
  // The data plane uses the tables local and main, whatever the rules are, and the table default never.
  const bool kept = action == EventAction::add || rule.table == RT_TABLE_DEFAULT;
  rule.followed = never || (rule.preset && kept) || m->action == FR_ACT_NOP;
  rule.text = std::to_string(rule.priority) + ": " + (inverted ? "not " : "") + "from " +
              (from.empty() ? "all" : from) + (to.empty() ? "" : " to " + to) +
              (m->action == FR_ACT_TO_TBL ? " lookup " + std::to_string(rule.table)
                                          : " action " + std::to_string(m->action));
  return rule;
}

}  // namespace

bool changes_dead_routes(Span message) {
  const auto header = read<nlmsghdr>(message);
  if (!header || header->nlmsg_type != RTM_NEWNETCONF || header->nlmsg_len > message.size()) return false;
  bool linkdown = false, others = false;
  for_each_attribute(behind(message.first(header->nlmsg_len), sizeof(nlmsghdr) + sizeof(netconfmsg)),
                     [&](int type, Span) {
                       linkdown |= type == NETCONFA_IGNORE_ROUTES_WITH_LINKDOWN;
                       others |= type == NETCONFA_FORWARDING;
                     });
  return linkdown && !others;  // all settings: of a new device
}

NetlinkEvent parse_message(Span message) {
  if (defect_of(message) == NetlinkDefect::cut) return {};
  const auto header = read<nlmsghdr>(message);
  const Span body = message.subspan(sizeof(nlmsghdr), header->nlmsg_len - sizeof(nlmsghdr));
  switch (header->nlmsg_type) {
    case RTM_NEWROUTE:
      return parse_route(EventAction::add, header->nlmsg_flags, body);
    case RTM_DELROUTE:
      return parse_route(EventAction::remove, 0, body);
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
    case RTM_NEWRULE:
      return parse_rule(EventAction::add, body);
    case RTM_DELRULE:
      return parse_rule(EventAction::remove, body);
    default:
      return {};
  }
}

}  // namespace surety
