// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/netlink_message.h"

#include <gtest/gtest.h>
#include <linux/if.h>
#include <linux/neighbour.h>
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
  for (const unsigned char type : {RTN_LOCAL, RTN_BROADCAST, RTN_ANYCAST, RTN_MULTICAST, RTN_THROW, RTN_NAT})
    EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8, type), {kTen, kDev3})), "nothing") << int{type};
}

TEST(NetlinkMessage, OnlyTheMainTable) {
  rtmsg local = ipv4_route(8);
  local.rtm_table = RT_TABLE_LOCAL;
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
  for (const auto& m : {cloned, tos, source})
    EXPECT_EQ(parsed(message(RTM_NEWROUTE, m, {kTen, kDev3})), "nothing");
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
  EXPECT_EQ(interface_address(RTM_DELADDR, AF_INET, 32, {peer, ours}), "remove 10.1.0.254/32 dev 3");
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

TEST(NetlinkMessage, ImpossiblePrefixesAndUnknownKinds) {
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(33), {kTen, kDev3})), "nothing");
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, ipv4_route(8), {attribute(RTA_DST, address("2001:db8::")), kDev3})),
            "nothing");
  rtmsg mpls = ipv4_route(20);
  mpls.rtm_family = AF_MPLS;
  EXPECT_EQ(parsed(message(RTM_NEWROUTE, mpls, {kTen, kDev3})), "nothing");
  EXPECT_EQ(parsed(message(RTM_NEWRULE, ipv4_route(8), {kTen, kDev3})), "nothing");
  EXPECT_EQ(parsed(message(NLMSG_ERROR, nlmsgerr{}, {})), "nothing");
}

}  // namespace
}  // namespace surety
