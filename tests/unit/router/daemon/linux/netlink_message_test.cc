// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/netlink_message.h"

#include "tests/unit/router/daemon/linux/netlink_builder.h"

namespace surety {
namespace {

using namespace netlink_builder;

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

// Without its gateway, a route would be another one.
TEST(NetlinkMessage, TruncationThatTheHeaderAdmitsSaysNothingWithinAnAttribute) {
  const Octets whole = message(RTM_NEWROUTE, ipv4_route(8), {kTen, kDev3, kVia});
  const std::size_t usable = sizeof(nlmsghdr) + sizeof(rtmsg) + kTen.size() + kDev3.size();
  for (std::size_t n = 0; n < whole.size(); ++n) {
    Octets exact(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
    const auto length = static_cast<std::uint32_t>(n);
    if (n >= sizeof(length)) std::memcpy(exact.data(), &length, sizeof(length));
    EXPECT_EQ(parsed(exact), n == usable ? "add 10.0.0.0/8 dev 3" : "nothing") << n;
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

TEST(NetlinkMessage, TheKernelsOwnRulesAreNotFollowedWhereTheyAreRemoved) {
  const auto removed = [](std::uint8_t table, std::uint32_t priority, const Octets& more = {}) {
    const auto event =
        parse_message(message(RTM_DELRULE, rule_to(table), {attribute(FRA_PRIORITY, priority), more}));
    const auto& rule = std::get<RuleEvent>(event);
    return std::string(rule.preset ? "preset" : "other") + (rule.followed ? " followed" : "");
  };
  EXPECT_EQ(removed(RT_TABLE_LOCAL, 0), "preset");
  EXPECT_EQ(removed(RT_TABLE_MAIN, 32766), "preset");
  EXPECT_EQ(removed(RT_TABLE_DEFAULT, 32767), "preset followed") << "the data plane has no such table";
  EXPECT_EQ(removed(RT_TABLE_MAIN, 7), "other");
  EXPECT_EQ(removed(RT_TABLE_MAIN, 32766, attribute(FRA_OIFNAME, "eth0")), "other followed");
}

TEST(NetlinkMessage, ARuleWithAConditionIsNoDefault) {
  const auto with = [](const Octets& more) {
    const auto event =
        parse_message(message(RTM_NEWRULE, rule_to(RT_TABLE_MAIN), {attribute(FRA_PRIORITY, 32766U), more}));
    return std::get<RuleEvent>(event).preset;
  };
  EXPECT_TRUE(with({}));
  EXPECT_TRUE(with(attribute(FRA_SUPPRESS_PREFIXLEN, std::uint32_t{UINT32_MAX}))) << "none, as ip(8) sets it";
  EXPECT_FALSE(with(attribute(FRA_SUPPRESS_PREFIXLEN, 0U)));
  EXPECT_TRUE(with(attribute(FRA_PROTOCOL, std::uint8_t{2})));
  EXPECT_FALSE(with(attribute(25, std::uint8_t{10}))) << "FRA_DSCP of Linux 6.13";
  EXPECT_FALSE(with(attribute(500, std::uint8_t{10}))) << "a newer kernel's";
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
