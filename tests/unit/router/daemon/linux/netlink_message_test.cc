// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/netlink_message.h"

#include <gtest/gtest.h>
#include <linux/fib_rules.h>
#include <linux/if.h>
#include <linux/neighbour.h>
#include <linux/netconf.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "tests/unit/router/daemon/linux/netlink_text.h"

namespace surety {
namespace {

using Octets = std::vector<std::uint8_t>;

template <class T>
Octets bytes_of(const T& value) {
  Octets out(sizeof(T));
  std::memcpy(out.data(), &value, sizeof(T));
  return out;
}
Octets bytes_of(const IpAddress& a) {
  return {a.data(), a.data() + a.size()};
}
Octets bytes_of(const char* text) {
  return {text, text + std::strlen(text) + 1};
}

void append(Octets& to, const Octets& what) {
  to.insert(to.end(), what.begin(), what.end());
  to.resize((to.size() + 3) & ~std::size_t{3});
}

Octets attribute(unsigned type, const Octets& payload) {
  Octets out =
      bytes_of(nlattr{static_cast<std::uint16_t>(4 + payload.size()), static_cast<std::uint16_t>(type)});
  append(out, payload);
  return out;
}
template <class T>
Octets attribute(unsigned type, const T& value) {
  return attribute(type, bytes_of(value));
}

template <class T>
Octets message(unsigned type, const T& fixed, std::initializer_list<Octets> attributes) {
  Octets out = bytes_of(nlmsghdr{});
  append(out, bytes_of(fixed));
  for (const auto& a : attributes) append(out, a);
  const nlmsghdr header{static_cast<std::uint32_t>(out.size()), static_cast<std::uint16_t>(type), 0, 0, 0};
  std::memcpy(out.data(), &header, sizeof(header));
  return out;
}

Octets hop(int ifindex, unsigned flags, const Octets& attributes) {
  Octets out = bytes_of(rtnexthop{static_cast<std::uint16_t>(sizeof(rtnexthop) + attributes.size()),
                                  static_cast<std::uint8_t>(flags), 0, ifindex});
  append(out, attributes);
  return out;
}
Octets operator+(Octets a, const Octets& b) {
  append(a, b);
  return a;
}

rtmsg ipv4_route(unsigned char length, unsigned char type = RTN_UNICAST) {
  rtmsg m{};
  m.rtm_family = AF_INET;
  m.rtm_dst_len = length;
  m.rtm_table = RT_TABLE_MAIN;
  m.rtm_type = type;
  return m;
}
rtmsg ipv6_route(unsigned char length, unsigned char type = RTN_UNICAST) {
  rtmsg m = ipv4_route(length, type);
  m.rtm_family = AF_INET6;
  return m;
}

std::string parsed(const Octets& bytes) {
  return text_of(parse_message(bytes));
}

const Octets kTen = attribute(RTA_DST, address("10.0.0.0"));
const Octets kVia = attribute(RTA_GATEWAY, address("192.0.2.1"));
const Octets kDev3 = attribute(RTA_OIF, 3);

TEST(NetlinkMessage, RouteThroughAGateway) {
  rtmsg m = ipv4_route(8);
  m.rtm_protocol = RTPROT_STATIC;
  const auto priority = attribute(RTA_PRIORITY, 20U);
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, m, {kTen, kVia, kDev3, priority})),
            "add 10.0.0.0/8 via 192.0.2.1 dev 3 metric 20 proto 4");
  EXPECT_EQ(parsed(message(RTM_DELROUTE, m, {kTen, kVia, kDev3, priority})),
            "remove 10.0.0.0/8 via 192.0.2.1 dev 3 metric 20 proto 4");
}

TEST(NetlinkMessage, ConnectedAndDefaultRoutes) {
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8), {kTen, kDev3})), "add 10.0.0.0/8 dev 3");
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(0), {kVia, kDev3})), "add 0.0.0.0/0 via 192.0.2.1 dev 3");
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv6_route(0), {attribute(RTA_GATEWAY, address("fe80::1")), kDev3})),
            "add ::/0 via fe80::1 dev 3");
}

TEST(NetlinkMessage, Ipv4RouteThroughAnIpv6Gateway) {
  const auto via = attribute(RTA_VIA, bytes_of(std::uint16_t{AF_INET6}));
  Octets payload = bytes_of(std::uint16_t{AF_INET6});
  const Octets gateway = bytes_of(address("2001:db8::1"));
  payload.insert(payload.end(), gateway.begin(), gateway.end());
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8), {kTen, attribute(RTA_VIA, payload), kDev3})),
            "add 10.0.0.0/8 via 2001:db8::1 dev 3");
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8), {kTen, via, kDev3})), "add 10.0.0.0/8 dev 3");
}

TEST(NetlinkMessage, MultipathLeavesOutDeadNextHops) {
  const auto hops = attribute(
      RTA_MULTIPATH,
      hop(3, 0, kVia) + hop(4, RTNH_F_DEAD, attribute(RTA_GATEWAY, address("192.0.2.2"))) + hop(5, 0, {}));
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8), {kTen, hops})),
            "add 10.0.0.0/8 via 192.0.2.1 dev 3 dev 5");
  EXPECT_EQ(parsed(message(RTM_DELROUTE, ipv4_route(8), {kTen, hops})),
            "remove 10.0.0.0/8 via 192.0.2.1 dev 3 via 192.0.2.2 dev 4 dev 5");
}

TEST(NetlinkMessage, WeightsAndNextHopObjectsOfRoutes) {
  Octets heavy = hop(3, 0, kVia);
  heavy[offsetof(rtnexthop, rtnh_hops)] = 4;  // the weight less one
  EXPECT_EQ(
      parsed(message(RTM_NEWROUTE, ipv4_route(8), {kTen, attribute(RTA_MULTIPATH, heavy + hop(5, 0, {}))})),
      "add 10.0.0.0/8 via 192.0.2.1 dev 3 weight 5 dev 5");
  const auto id = attribute(RTA_NH_ID, 77U);
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8), {kTen, id})), "add 10.0.0.0/8 nhid 77");
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8), {kTen, id, kVia, kDev3})),
            "add 10.0.0.0/8 via 192.0.2.1 dev 3 nhid 77");
  EXPECT_EQ(parsed(message(RTM_DELROUTE, ipv6_route(0), {id})), "remove ::/0 nhid 77");
}

nhmsg next_hop(unsigned char family) {
  nhmsg m{};
  m.nh_family = family;
  return m;
}
Octets group(
    std::initializer_list<std::array<std::uint8_t, 3>> members) {  // id, weight less one, its high byte
  Octets out;
  for (const auto& [id, weight, high] : members) append(out, {id, 0, 0, 0, weight, high, 0, 0});
  return attribute(NHA_GROUP, out);
}

TEST(NetlinkMessage, NextHopObjects) {
  const auto id = attribute(NHA_ID, 7U), dev = attribute(NHA_OIF, 3);
  const auto v4 = attribute(NHA_GATEWAY, address("192.0.2.1"));
  const auto v6 = attribute(NHA_GATEWAY, address("fe80::1"));
  EXPECT_EQ(parsed(message(RTM_NEWNEXTHOP, next_hop(AF_INET), {id, v4, dev})),
            "add nhid 7 via 192.0.2.1 dev 3");
  EXPECT_EQ(parsed(message(RTM_NEWNEXTHOP, next_hop(AF_INET6), {id, v6, dev})),
            "add nhid 7 via fe80::1 dev 3");
  EXPECT_EQ(parsed(message(RTM_NEWNEXTHOP, next_hop(AF_INET), {id, dev})), "add nhid 7 dev 3");
  EXPECT_EQ(parsed(message(RTM_NEWNEXTHOP, next_hop(AF_INET), {id, attribute(NHA_BLACKHOLE, Octets{})})),
            "add nhid 7 blackhole");
  EXPECT_EQ(parsed(message(RTM_DELNEXTHOP, next_hop(AF_INET), {id})), "remove nhid 7");
  EXPECT_EQ(
      parsed(message(RTM_NEWNEXTHOP, next_hop(AF_UNSPEC), {id, group({{1, 0, 0}, {2, 255, 0}, {3, 0, 1}})})),
      "add nhid 7 1*1 2*256 3*257");
}

TEST(NetlinkMessage, EncapsulationOfANextHopObject) {
  const auto id = attribute(NHA_ID, 7U), dev = attribute(NHA_OIF, 3);
  const auto type = attribute(NHA_ENCAP_TYPE, std::uint16_t{5});
  EXPECT_EQ(parsed(message(RTM_NEWNEXTHOP, next_hop(AF_INET6),
                           {id, dev, type, attribute(NHA_ENCAP, Octets{1, 2, 3, 4})})),
            "add nhid 7 dev 3 unsupported encapsulation");
  EXPECT_EQ(parsed(message(RTM_NEWNEXTHOP, next_hop(AF_INET6), {id, dev, type})),
            "add nhid 7 dev 3 unsupported encapsulation");
}

TEST(NetlinkMessage, NextHopObjectsThatSayNothing) {
  const auto id = attribute(NHA_ID, 7U), dev = attribute(NHA_OIF, 3);
  EXPECT_EQ(parsed(message(RTM_NEWNEXTHOP, next_hop(AF_INET), {dev})), "nothing") << "no id";
  EXPECT_EQ(parsed(message(RTM_NEWNEXTHOP, next_hop(AF_INET), {id})), "nothing") << "leads nowhere";
  EXPECT_EQ(parsed(message(RTM_NEWNEXTHOP, next_hop(AF_INET), {id, attribute(NHA_FDB, Octets{}), dev})),
            "nothing");
  EXPECT_EQ(parsed(message(RTM_NEWNEXTHOP, next_hop(AF_UNSPEC), {id, attribute(NHA_GROUP, Octets{1, 0, 0})})),
            "nothing")
      << "a truncated group";
  EXPECT_EQ(parsed(message(RTM_NEWNEXTHOP, std::uint16_t{AF_INET}, {})), "nothing") << "truncated";
}

TEST(NetlinkMessage, RouteWithoutALivingNextHopSaysNothing) {
  const auto hops = attribute(RTA_MULTIPATH, hop(3, RTNH_F_DEAD, kVia));
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8), {kTen, hops})), "nothing");
  rtmsg dead = ipv4_route(8);
  dead.rtm_flags = RTNH_F_DEAD;
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, dead, {kTen, kVia, kDev3})), "nothing");
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8), {kTen})), "nothing");
  EXPECT_EQ(parsed(message(RTM_DELROUTE, ipv4_route(8), {kTen})), "remove 10.0.0.0/8");
}

TEST(NetlinkMessage, RefusingRoutes) {
  for (const auto& [type, words] :
       {std::pair{RTN_BLACKHOLE, "blackhole"}, std::pair{RTN_UNREACHABLE, "unreachable"},
        std::pair{RTN_PROHIBIT, "prohibited"}})
    EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8, static_cast<unsigned char>(type)),
                             {kTen, attribute(RTA_OIF, 1)})),
              std::string("add 10.0.0.0/8 ") + words);
  for (const unsigned char type : {RTN_MULTICAST, RTN_NAT, RTN_XRESOLVE})
    EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8, type), {kTen, kDev3})), "nothing") << int{type};
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8, RTN_THROW), {kTen})), "add 10.0.0.0/8 throw");
}

rtmsg in_local_table(unsigned char length, unsigned char type, unsigned char protocol) {
  rtmsg m = ipv4_route(length, type);
  m.rtm_table = RT_TABLE_LOCAL;
  m.rtm_protocol = protocol;
  return m;
}

// `ip route add local 10.0.0.0/8 dev lo`, and what comes with `ip address add`.
TEST(NetlinkMessage, TheTableLocal) {
  const auto host = attribute(RTA_DST, address("10.0.0.1"));
  const auto local = [&](unsigned char type, unsigned char protocol) {
    return parsed(message(RTM_NEWROUTE, in_local_table(8, type, protocol), {kTen, kDev3}));
  };
  EXPECT_EQ(local(RTN_LOCAL, RTPROT_BOOT), "add 10.0.0.0/8 local table local proto 3");
  EXPECT_EQ(local(RTN_LOCAL, RTPROT_KERNEL), "add 10.0.0.0/8 local table local proto 2") << "a subnet on lo";
  EXPECT_EQ(local(RTN_ANYCAST, RTPROT_BOOT), "add 10.0.0.0/8 local table local proto 3");
  EXPECT_EQ(local(RTN_BROADCAST, RTPROT_BOOT), "add 10.0.0.0/8 blackhole table local proto 3");
  EXPECT_EQ(local(RTN_THROW, RTPROT_BOOT), "nothing") << "the main table is asked next in any case";
  for (const unsigned char type : {RTN_LOCAL, RTN_BROADCAST, RTN_ANYCAST})
    EXPECT_EQ(parsed(message(RTM_NEWROUTE, in_local_table(32, type, RTPROT_KERNEL), {host, kDev3})),
              "nothing");
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, in_local_table(32, RTN_LOCAL, 66), {host, kDev3})),
            "add 10.0.0.1/32 local table local proto 66");
}

TEST(NetlinkMessage, OnlyTheTablesMainAndLocal) {
  rtmsg local = ipv4_route(8);
  local.rtm_table = RT_TABLE_DEFAULT;
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, local, {kTen, kDev3})), "nothing");
  // RTA_TABLE has the number where 8 bits are too few, and wins.
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8), {kTen, kDev3, attribute(RTA_TABLE, 1000U)})),
            "nothing");
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, local, {kTen, kDev3, attribute(RTA_TABLE, 254U)})),
            "add 10.0.0.0/8 dev 3");
}

TEST(NetlinkMessage, RoutesForOnlySomePackets) {
  rtmsg cloned = ipv4_route(8), tos = ipv4_route(8), source = ipv6_route(0);
  cloned.rtm_flags = RTM_F_CLONED;
  tos.rtm_tos = 0x10;
  source.rtm_src_len = 64;
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, cloned, {kTen, kDev3})), "nothing");
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, tos, {kTen, kDev3})), "add 10.0.0.0/8 unsupported tos dev 3");
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, source, {kDev3})), "add ::/0 unsupported source dev 3");
  const auto from = message(RTM_NEWROUTE, tos, {kTen, kDev3});
  EXPECT_EQ(std::get<RouteEvent>(parse_message(from)).selector, 0x10);
}

// Of SRv6, MPLS, IP tunnels: nothing may leave in the clear.
TEST(NetlinkMessage, EncapsulationIsUnsupported) {
  const auto type = attribute(RTA_ENCAP_TYPE, std::uint16_t{5});
  const auto none = attribute(RTA_ENCAP_TYPE, std::uint16_t{0});
  const auto encap = attribute(RTA_ENCAP | NLA_F_NESTED, Octets{1, 2, 3, 4});
  const std::string refused = "add 10.0.0.0/8 unsupported encapsulation via 192.0.2.1 dev 3";
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8), {kTen, kVia, kDev3, type, encap})), refused);
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8), {encap, kTen, kVia, kDev3})), refused);
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8), {kTen, kVia, kDev3, none})),
            "add 10.0.0.0/8 via 192.0.2.1 dev 3");
  const auto hops = attribute(RTA_MULTIPATH, hop(3, 0, kVia) + hop(4, 0, kVia + type + encap));
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8), {kTen, hops})),
            "add 10.0.0.0/8 unsupported encapsulation via 192.0.2.1 dev 3 via 192.0.2.1 dev 4");
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8),
                           {kTen, kVia, kDev3, attribute(RTA_NEWDST, address("192.0.2.9"))})),
            "add 10.0.0.0/8 unsupported translation via 192.0.2.1 dev 3");
}

TEST(NetlinkMessage, MtuOfARoute) {
  const auto metrics = [](std::uint32_t mtu, std::uint32_t lock) {
    return attribute(RTA_METRICS | NLA_F_NESTED, attribute(RTAX_LOCK, lock) + attribute(RTAX_MTU, mtu));
  };
  const auto six = [](const Octets& of) { return parsed(message(RTM_NEWROUTE, ipv6_route(0), {kDev3, of})); };
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8), {kTen, kDev3, metrics(1400, 0)})),
            "add 10.0.0.0/8 dev 3 mtu 1400");
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8), {kTen, kDev3, metrics(1400, 1U << RTAX_MTU)})),
            "add 10.0.0.0/8 dev 3 mtu 1400");
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8), {kTen, kDev3, metrics(1, 0)})),
            "add 10.0.0.0/8 dev 3 mtu 68");
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8), {kTen, kDev3, metrics(70000, 0)})),
            "add 10.0.0.0/8 dev 3 mtu 65535");
  EXPECT_EQ(six(metrics(1400, 0)), "add ::/0 dev 3") << "the kernel's forwarding does not obey it";
  EXPECT_EQ(six(metrics(1400, 1U << RTAX_MTU)), "add ::/0 dev 3 mtu 1400");
  EXPECT_EQ(six(attribute(RTA_METRICS, Octets{3, 0, 2, 0, 9})), "add ::/0 dev 3") << "malformed";
}

RouteOrder order(Octets bytes, unsigned flags) {
  auto header = nlmsghdr{};
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.nlmsg_flags = static_cast<std::uint16_t>(flags);
  std::memcpy(bytes.data(), &header, sizeof(header));
  return std::get<RouteEvent>(parse_message(bytes)).order;
}

TEST(NetlinkMessage, PlaceAmongRoutesOfOneMetric) {
  const Octets four = message(RTM_NEWROUTE, ipv4_route(8), {kTen, kDev3});
  const Octets six = message(RTM_NEWROUTE, ipv6_route(0), {kDev3});
  EXPECT_EQ(order(four, NLM_F_EXCL | NLM_F_CREATE), RouteOrder::only);
  EXPECT_EQ(order(four, NLM_F_CREATE), RouteOrder::first);
  EXPECT_EQ(order(four, NLM_F_CREATE | NLM_F_APPEND), RouteOrder::last);
  EXPECT_EQ(order(four, NLM_F_REPLACE), RouteOrder::replace);
  EXPECT_EQ(order(four, NLM_F_MULTI), RouteOrder::dumped);
  EXPECT_EQ(order(six, NLM_F_CREATE), RouteOrder::last);
  EXPECT_EQ(order(six, NLM_F_REPLACE), RouteOrder::replace);
}

// It may take the place of a living one.
TEST(NetlinkMessage, ADeadRouteWithAPlaceIsOne) {
  rtmsg dead = ipv4_route(8);
  dead.rtm_flags = RTNH_F_DEAD;
  Octets bytes = message(RTM_NEWROUTE, dead, {kTen, kVia, kDev3});
  EXPECT_EQ(order(bytes, NLM_F_REPLACE), RouteOrder::replace);
}

TEST(NetlinkMessage, RoutesThatDifferInLittleAreToldApart) {
  const auto identity = [](unsigned char protocol, const Octets& more) {
    rtmsg m = ipv4_route(8);
    m.rtm_protocol = protocol;
    return std::get<RouteEvent>(parse_message(message(RTM_NEWROUTE, m, {kTen, kDev3, more}))).identity;
  };
  const auto source = attribute(RTA_PREFSRC, address("192.0.2.7"));
  EXPECT_EQ(identity(3, {}), identity(3, {}));
  EXPECT_NE(identity(3, {}), identity(4, {}));
  EXPECT_NE(identity(3, {}), identity(3, source));
}

TEST(NetlinkMessage, MulticastAndLinkLocalDestinations) {
  const auto to = [](const char* text) { return attribute(RTA_DST, address(text)); };
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv6_route(8), {to("ff00::"), kDev3})), "nothing");
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv6_route(64), {to("fe80::"), kDev3})), "nothing");
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(4), {to("224.0.0.0"), kDev3})), "nothing");
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv6_route(10), {to("fec0::"), kDev3})), "add fec0::/10 dev 3");
}

ndmsg neighbor_in(int state) {
  ndmsg m{};
  m.ndm_family = AF_INET;
  m.ndm_ifindex = 3;
  m.ndm_state = static_cast<std::uint16_t>(state);
  return m;
}
std::string neighbor(unsigned type, int state, std::initializer_list<Octets> attributes, unsigned flags = 0) {
  ndmsg m = neighbor_in(state);
  m.ndm_flags = static_cast<std::uint8_t>(flags);
  return parsed(message(type, m, attributes));
}
const Octets kNeighbor = attribute(NDA_DST, address("192.0.2.1"));
const Octets kMac = attribute(NDA_LLADDR, MacAddress{{2, 0, 0, 0, 0, 0x1f}});

TEST(NetlinkMessage, NeighborIsThereInTheStatesInWhichItsMacIsUsed) {
  for (const int state : {NUD_REACHABLE, NUD_STALE, NUD_DELAY, NUD_PROBE})
    EXPECT_EQ(neighbor(RTM_NEWNEIGH, state, {kNeighbor, kMac}),
              "add 192.0.2.1 dev 3 lladdr 02:00:00:00:00:1f");
  for (const int state : {NUD_PERMANENT, NUD_NOARP})
    EXPECT_EQ(neighbor(RTM_NEWNEIGH, state, {kNeighbor, kMac}),
              "add 192.0.2.1 dev 3 lladdr 02:00:00:00:00:1f fixed");
  EXPECT_EQ(neighbor(RTM_NEWNEIGH, NUD_PERMANENT, {kNeighbor, kMac}, NTF_EXT_LEARNED),
            "add 192.0.2.1 dev 3 lladdr 02:00:00:00:00:1f");
  for (const int state : {NUD_FAILED, NUD_INCOMPLETE, NUD_NONE})
    EXPECT_EQ(neighbor(RTM_NEWNEIGH, state, {kNeighbor, kMac}), "remove 192.0.2.1 dev 3");
  EXPECT_EQ(neighbor(RTM_DELNEIGH, NUD_REACHABLE, {kNeighbor, kMac}), "remove 192.0.2.1 dev 3 fixed");
}

// Who asks us something is in the kernel's table without having answered anything.
TEST(NetlinkMessage, NeighborThatHasAnsweredIsConfirmed) {
  const auto confirmed = [](int state) {
    const Octets m = message(RTM_NEWNEIGH, neighbor_in(state), {kNeighbor, kMac});
    return std::get<NeighborEvent>(parse_message(m)).confirmed;
  };
  for (const int state : {NUD_REACHABLE, NUD_PERMANENT, NUD_NOARP}) EXPECT_TRUE(confirmed(state)) << state;
  for (const int state : {NUD_STALE, NUD_DELAY, NUD_PROBE}) EXPECT_FALSE(confirmed(state)) << state;
}

TEST(NetlinkMessage, NeighborWithoutAUsableMac) {
  EXPECT_EQ(neighbor(RTM_NEWNEIGH, NUD_NOARP, {kNeighbor}), "remove 192.0.2.1 dev 3");
  EXPECT_EQ(neighbor(RTM_NEWNEIGH, NUD_REACHABLE, {kNeighbor, attribute(NDA_LLADDR, 1U)}),
            "remove 192.0.2.1 dev 3");
  EXPECT_EQ(neighbor(RTM_NEWNEIGH, NUD_REACHABLE, {kMac}), "nothing");
  EXPECT_EQ(neighbor(RTM_NEWNEIGH, NUD_PERMANENT, {kNeighbor, kMac}, NTF_PROXY), "nothing");
  EXPECT_EQ(neighbor(RTM_NEWNEIGH, NUD_NOARP, {attribute(NDA_DST, address("224.0.0.5")), kMac}), "nothing");
}

std::string interface_address(unsigned type, unsigned char family, unsigned char length,
                              std::initializer_list<Octets> attributes) {
  ifaddrmsg m{};
  m.ifa_family = family;
  m.ifa_prefixlen = length;
  m.ifa_index = 3;
  return parsed(message(type, m, attributes));
}

TEST(NetlinkMessage, Addresses) {
  const auto ours = attribute(IFA_LOCAL, address("10.1.0.254"));
  const auto peer = attribute(IFA_ADDRESS, address("10.1.0.1"));
  EXPECT_EQ(interface_address(RTM_NEWADDR, AF_INET, 24, {ours, ours}), "add 10.1.0.254/24 dev 3");
  EXPECT_EQ(interface_address(RTM_DELADDR, AF_INET, 32, {peer, ours}),
            "remove 10.1.0.254/32 dev 3 peer 10.1.0.1/32");
  EXPECT_EQ(interface_address(RTM_NEWADDR, AF_INET, 24,
                              {ours, attribute(IFA_FLAGS, std::uint32_t{IFA_F_NOPREFIXROUTE})}),
            "add 10.1.0.254/24 dev 3 noprefixroute");
  EXPECT_EQ(interface_address(RTM_NEWADDR, AF_INET, 33, {ours}), "nothing");
  const auto global = attribute(IFA_ADDRESS, address("2001:db8::fe"));
  EXPECT_EQ(interface_address(RTM_NEWADDR, AF_INET6, 64, {global}), "add 2001:db8::fe/64 dev 3");
  EXPECT_EQ(interface_address(RTM_NEWADDR, AF_INET6, 64, {attribute(IFA_ADDRESS, address("fe80::1"))}),
            "nothing");
  EXPECT_EQ(interface_address(RTM_NEWADDR, AF_INET, 24, {global}), "nothing");
}

// Packets with such addresses are dropped, so that nothing is to be known of them.
TEST(NetlinkMessage, Ipv4MappedAddressesOfIpv6) {
  const IpAddress mapped = IpAddress::v4(0, 0, 0, 0);
  Octets bytes(16);
  std::memcpy(bytes.data(), &mapped, 16);
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv6_route(96), {attribute(RTA_DST, bytes), kDev3})), "nothing");
  EXPECT_EQ(interface_address(RTM_NEWADDR, AF_INET6, 96, {attribute(IFA_ADDRESS, bytes)}), "nothing");
}

std::string link(unsigned type, unsigned flags, unsigned char family = AF_UNSPEC) {
  ifinfomsg m{};
  m.ifi_family = family;
  m.ifi_index = 3;
  m.ifi_flags = flags;
  return parsed(message(type, m,
                        {attribute(IFLA_IFNAME, bytes_of("wan0")), attribute(IFLA_MTU, 1500U),
                         attribute(IFLA_ADDRESS, MacAddress{{2, 0, 0, 0, 0, 1}})}));
}

TEST(NetlinkMessage, LinkIsUpWhenItIsSetUpAndHasACarrier) {
  EXPECT_EQ(link(RTM_NEWLINK, IFF_UP | IFF_RUNNING), "3: wan0 up mtu 1500 02:00:00:00:00:01");
  EXPECT_EQ(link(RTM_NEWLINK, IFF_UP), "3: wan0 down mtu 1500 02:00:00:00:00:01");
  EXPECT_EQ(link(RTM_NEWLINK, IFF_RUNNING), "3: wan0 down mtu 1500 02:00:00:00:00:01");
  EXPECT_EQ(link(RTM_DELLINK, IFF_UP | IFF_RUNNING), "3: wan0 down mtu 1500 02:00:00:00:00:01");
}

TEST(NetlinkMessage, AMacvlanDeviceNamesTheDeviceBelowIt) {
  const auto below = [](const char* kind, unsigned kind_type = IFLA_INFO_KIND, unsigned more = IFLA_MTU) {
    ifinfomsg m{};
    m.ifi_index = 9;
    m.ifi_flags = IFF_UP | IFF_RUNNING;
    const auto event = parse_message(message(
        RTM_NEWLINK, m,
        {attribute(IFLA_IFNAME, bytes_of("vrrp4-10")), attribute(IFLA_LINK, 3), attribute(more, 1400U),
         attribute(IFLA_LINKINFO | NLA_F_NESTED, attribute(kind_type, bytes_of(kind)))}));
    return std::get<LinkEvent>(event).macvlan_of;
  };
  EXPECT_EQ(below("macvlan"), 3);
  EXPECT_EQ(below("vlan"), 0);
  EXPECT_EQ(below("macvlanx"), 0);
  EXPECT_EQ(below(""), 0);
  EXPECT_EQ(below("macvlan", IFLA_INFO_SLAVE_KIND), 0);
  EXPECT_EQ(below("macvlan", IFLA_INFO_KIND, IFLA_LINK_NETNSID), 0) << "a container's, of another namespace";
}

TEST(NetlinkMessage, LeavingABridgeIsNotTheLinksEnd) {
  EXPECT_EQ(link(RTM_DELLINK, IFF_UP | IFF_RUNNING, AF_BRIDGE), "nothing");
}

TEST(NetlinkMessage, EveryTruncationOfTheBufferSaysNothing) {
  const Octets whole = message(RTM_NEWROUTE, ipv4_route(8), {kTen, kVia, kDev3});
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const Octets exact(whole.begin(),
                       whole.begin() + static_cast<std::ptrdiff_t>(n));  // ASan watches its end
    EXPECT_EQ(parsed(exact), "nothing") << n;
  }
}

TEST(NetlinkMessage, TruncationThatTheHeaderAdmitsKeepsWhatIsWhole) {
  const Octets whole = message(RTM_NEWROUTE, ipv4_route(8), {kTen, kDev3, kVia});
  const std::size_t usable = sizeof(nlmsghdr) + sizeof(rtmsg) + kTen.size() + kDev3.size();
  for (std::size_t n = 0; n < whole.size(); ++n) {
    Octets exact(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
    const auto length = static_cast<std::uint32_t>(n);
    if (n >= sizeof(length)) std::memcpy(exact.data(), &length, sizeof(length));
    EXPECT_EQ(parsed(exact), n < usable ? "nothing" : "add 10.0.0.0/8 dev 3") << n;
  }
}

TEST(NetlinkMessage, LyingLengths) {
  for (const auto lie : std::initializer_list<std::uint16_t>{0, 1, 3, 9, 0xffff}) {
    Octets bytes = message(RTM_NEWROUTE, ipv4_route(8), {kTen, kDev3});
    std::memcpy(bytes.data() + sizeof(nlmsghdr) + sizeof(rtmsg), &lie, sizeof(lie));  // of RTA_DST
    EXPECT_EQ(parsed(bytes), "nothing") << lie;
    Octets hops = hop(3, 0, kVia);
    std::memcpy(hops.data(), &lie, sizeof(lie));
    if (lie == 9) continue;  // a next hop without attributes and a byte of padding
    EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8), {kTen, attribute(RTA_MULTIPATH, hops)})), "nothing")
        << lie;
  }
}

fib_rule_hdr rule_to(std::uint8_t table) {
  fib_rule_hdr m{};
  m.family = AF_INET;
  m.table = table;
  m.action = FR_ACT_TO_TBL;
  return m;
}

TEST(NetlinkMessage, Rules) {
  const auto priority = [](std::uint32_t p) { return attribute(FRA_PRIORITY, p); };
  EXPECT_EQ(parsed(message(RTM_NEWRULE, rule_to(RT_TABLE_LOCAL), {})),
            "add rule 0: from all lookup 255 followed");
  EXPECT_EQ(parsed(message(RTM_NEWRULE, rule_to(RT_TABLE_MAIN), {priority(32766)})),
            "add rule 32766: from all lookup 254 followed");
  EXPECT_EQ(parsed(message(RTM_NEWRULE, rule_to(RT_TABLE_MAIN), {priority(7)})),
            "add rule 7: from all lookup 254");
  fib_rule_hdr from = rule_to(0);
  from.src_len = 8;
  EXPECT_EQ(
      parsed(message(RTM_NEWRULE, from,
                     {priority(7), attribute(FRA_TABLE, 1000U), attribute(FRA_SRC, address("10.0.0.0"))})),
      "add rule 7: from 10.0.0.0/8 lookup 1000");
  EXPECT_EQ(parsed(message(RTM_DELRULE, rule_to(100), {priority(7)})), "remove rule 7: from all lookup 100");
  // No packet of the data plane meets these.
  for (const auto& condition :
       {attribute(FRA_FWMARK, 5U), attribute(FRA_IIFNAME, "lo"), attribute(FRA_OIFNAME, "eth0")})
    EXPECT_EQ(parsed(message(RTM_NEWRULE, rule_to(100), {priority(7), condition})),
              "add rule 7: from all lookup 100 followed");
  fib_rule_hdr inverted = rule_to(100);
  inverted.flags = FIB_RULE_INVERT;
  EXPECT_EQ(parsed(message(RTM_NEWRULE, inverted, {priority(7), attribute(FRA_FWMARK, 5U)})),
            "add rule 7: not from all lookup 100");
  EXPECT_EQ(parsed(message(RTM_NEWRULE, rule_to(100), {priority(7), attribute(FRA_IIFNAME, "lo0")})),
            "add rule 7: from all lookup 100");
  EXPECT_EQ(parsed(message(RTM_NEWRULE, std::uint16_t{AF_INET}, {})), "nothing") << "truncated";
}

TEST(NetlinkMessage, ASettingThatMakesRoutesDead) {
  const auto ignore = attribute(NETCONFA_IGNORE_ROUTES_WITH_LINKDOWN, 1);
  const auto forwarding = attribute(NETCONFA_FORWARDING, 1);
  const netconfmsg four{AF_INET};
  EXPECT_TRUE(changes_dead_routes(message(RTM_NEWNETCONF, four, {ignore})));
  EXPECT_FALSE(changes_dead_routes(message(RTM_NEWNETCONF, four, {forwarding})));
  EXPECT_FALSE(changes_dead_routes(message(RTM_NEWNETCONF, four, {ignore, forwarding})));
  EXPECT_FALSE(changes_dead_routes(message(RTM_NEWNETCONF, four, {})));
  EXPECT_FALSE(changes_dead_routes(message(RTM_NEWLINK, four, {ignore})));
}

TEST(NetlinkMessage, ImpossiblePrefixesAndUnknownKinds) {
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(33), {kTen, kDev3})), "nothing");
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8), {attribute(RTA_DST, address("2001:db8::")), kDev3})),
            "nothing");
  rtmsg mpls = ipv4_route(20);
  mpls.rtm_family = AF_MPLS;
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, mpls, {kTen, kDev3})), "nothing");
  rtmsg bridge = ipv4_route(8);
  bridge.rtm_family = AF_BRIDGE;
  EXPECT_EQ(parsed(message(RTM_NEWRULE, bridge, {kTen, kDev3})), "nothing");
  EXPECT_EQ(parsed(message(NLMSG_ERROR, nlmsgerr{}, {})), "nothing");
}

}  // namespace
}  // namespace surety
