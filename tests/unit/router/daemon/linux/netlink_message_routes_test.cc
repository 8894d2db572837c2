// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/netlink_message.h"

#include "tests/unit/router/daemon/linux/netlink_builder.h"

namespace surety {
namespace {

using namespace netlink_builder;

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

// The kernel keeps it, and its removal concerns no other.
TEST(NetlinkMessage, RouteWithoutALivingNextHopIsDead) {
  const auto hops = attribute(RTA_MULTIPATH, hop(3, RTNH_F_DEAD, kVia) + hop(4, RTNH_F_DEAD, kVia));
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8), {kTen, hops})),
            "add 10.0.0.0/8 via 192.0.2.1 dev 3 via 192.0.2.1 dev 4 dead");
  rtmsg dead = ipv4_route(8);
  dead.rtm_flags = RTNH_F_DEAD;
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, dead, {kTen, kVia, kDev3})),
            "add 10.0.0.0/8 via 192.0.2.1 dev 3 dead");
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
  EXPECT_EQ(local(RTN_THROW, RTPROT_BOOT), "add 10.0.0.0/8 throw table local proto 3")
      << "the end of the search, while both tables are one trie";
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
  const auto from_prefix = message(RTM_NEWROUTE, source, {attribute(RTA_SRC, address("2001:db8::")), kDev3});
  EXPECT_EQ(std::get<RouteEvent>(parse_message(from_prefix)).from, prefix("2001:db8::/64"));
  source.rtm_src_len = 0;
  const auto from_all = message(RTM_NEWROUTE, source, {attribute(RTA_SRC, address("2001:db8::")), kDev3});
  EXPECT_EQ(std::get<RouteEvent>(parse_message(from_all)).from, Prefix{});
  const auto from = message(RTM_NEWROUTE, tos, {kTen, kDev3});
  EXPECT_EQ(std::get<RouteEvent>(parse_message(from)).selector, 0x10);
}

// Of a newer kernel: no packet may take another route.
TEST(NetlinkMessage, ARouteOfAnUnknownTypeIsUnsupported) {
  const auto unknown = ipv4_route(8, RTN_XRESOLVE + 1);
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, unknown, {kTen, kVia, kDev3})), "add 10.0.0.0/8 unsupported type");
  EXPECT_EQ(parsed(message(RTM_DELROUTE, unknown, {kTen, kVia, kDev3})),
            "remove 10.0.0.0/8 unsupported type");
}

TEST(NetlinkMessage, UnknownAttributesAreSkipped) {
  const Octets later = attribute(500, Octets{1, 2, 3});
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8), {later, kTen, kVia, later, kDev3})),
            "add 10.0.0.0/8 via 192.0.2.1 dev 3");
  EXPECT_EQ(parsed(message(RTM_NEWNEXTHOP, next_hop(AF_INET),
                           {attribute(NHA_ID, 7U), later, attribute(NHA_OIF, 3)})),
            "add nhid 7 dev 3");
}

TEST(NetlinkMessage, ACutNextHopObjectSaysNothing) {
  const Octets whole = message(RTM_NEWNEXTHOP, next_hop(AF_INET),
                               {attribute(NHA_ID, 7U), attribute(NHA_OIF, 3), group({{1, 0, 0}, {2, 0, 0}})});
  for (std::size_t n = whole.size() - 19; n < whole.size(); ++n) {
    Octets exact(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
    const auto length = static_cast<std::uint32_t>(n);
    std::memcpy(exact.data(), &length, sizeof(length));
    EXPECT_EQ(parsed(exact), "nothing") << n << ": not an object without its group";
  }
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
  EXPECT_EQ(six(metrics(1400, 0)), "add ::/0 dev 3 mtu 1400")
      << "the kernel sends the error when a packet leaves";
  EXPECT_EQ(six(metrics(1000, 0)), "add ::/0 dev 3 mtu 1000") << "also below IPv6's least";
  EXPECT_EQ(six(metrics(1000, 1U << RTAX_MTU)), "add ::/0 dev 3 mtu 1000");
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

}  // namespace
}  // namespace surety
