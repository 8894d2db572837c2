// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/netlink_defects.h"

#include "tests/unit/router/daemon/linux/netlink_builder.h"

namespace surety {
namespace {

using namespace netlink_builder;

std::string defect(const Octets& bytes) {
  const auto found = defect_of(bytes);
  return found ? std::string(kNetlinkDefectInfo[static_cast<std::size_t>(*found)].name) : "none";
}
// The first `n` bytes, whose header says so.
Octets cut_to(const Octets& whole, std::size_t n) {
  Octets exact(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));  // ASan watches its end
  const auto length = static_cast<std::uint32_t>(n);
  if (n >= sizeof(length)) std::memcpy(exact.data(), &length, sizeof(length));
  return exact;
}
nhmsg object_header() {
  nhmsg m{};
  m.nh_family = AF_INET;
  return m;
}
fib_rule_hdr rule_header() {
  fib_rule_hdr m{};
  m.family = AF_INET;
  return m;
}

TEST(NetlinkDefects, WholeMessagesHaveNone) {
  const auto hops = attribute(RTA_MULTIPATH, hop(3, 0, kVia) + hop(4, 0, {}));
  EXPECT_EQ(defect(message(RTM_NEWROUTE, ipv4_route(8), {kTen, hops})), "none");
  EXPECT_EQ(defect(message(RTM_NEWROUTE, ipv4_route(0), {})), "none");
  EXPECT_EQ(defect(message(RTM_NEWNEXTHOP, object_header(), {attribute(NHA_ID, 7U)})), "none");
  EXPECT_EQ(defect(message(RTM_NEWLINK, ifinfomsg{}, {attribute(IFLA_IFNAME, bytes_of("wan0"))})), "none");
}

TEST(NetlinkDefects, EveryCutIsOne) {
  const Octets hops = attribute(RTA_MULTIPATH, hop(3, 0, kVia) + hop(4, 0, kVia));
  const Octets whole = message(RTM_NEWROUTE, ipv4_route(8), {kTen, hops});
  const std::size_t fixed = sizeof(nlmsghdr) + sizeof(rtmsg);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const bool between = n == fixed || n == fixed + kTen.size();  // of a message without the rest
    EXPECT_EQ(defect(cut_to(whole, n)), between ? "none" : "cut") << n;
    EXPECT_EQ(defect(Octets(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n))), "cut") << n;
  }
}

TEST(NetlinkDefects, ACutWithinAMultipathRoute) {
  for (const std::size_t less : {1U, 4U, 5U, 9U}) {
    Octets hops = hop(3, 0, kVia) + hop(4, 0, kVia);
    hops.resize(hops.size() - less);
    EXPECT_EQ(defect(message(RTM_NEWROUTE, ipv4_route(8), {kTen, attribute(RTA_MULTIPATH, hops)})), "cut")
        << less;
  }
  Octets inner = hop(3, 0, kVia);
  inner[sizeof(rtnexthop)] = 200;  // the length of the gateway's attribute
  EXPECT_EQ(defect(message(RTM_NEWROUTE, ipv4_route(8), {kTen, attribute(RTA_MULTIPATH, inner)})), "cut");
}

TEST(NetlinkDefects, OfEachKind) {
  const auto half = std::uint16_t{AF_INET};
  for (const unsigned type :
       {RTM_NEWROUTE, RTM_DELROUTE, RTM_NEWNEXTHOP, RTM_DELNEXTHOP, RTM_NEWNEIGH, RTM_DELNEIGH, RTM_NEWADDR,
        RTM_DELADDR, RTM_NEWLINK, RTM_DELLINK, RTM_NEWRULE, RTM_DELRULE})
    EXPECT_EQ(defect(message(type, half, {})), "cut") << type;
  EXPECT_EQ(defect(message(RTM_NEWNETCONF, half, {})), "none") << "another parser's";
}

TEST(NetlinkDefects, OfANewerKernel) {
  const auto later = attribute(500, 1U);
  EXPECT_EQ(defect(message(RTM_NEWROUTE, ipv4_route(8), {kTen, later})), "unknown_attribute");
  const auto hops = attribute(RTA_MULTIPATH, hop(3, 0, later));
  EXPECT_EQ(defect(message(RTM_NEWROUTE, ipv4_route(8), {kTen, hops})), "unknown_attribute");
  EXPECT_EQ(defect(message(RTM_NEWNEXTHOP, object_header(), {later})), "unknown_attribute");
  EXPECT_EQ(defect(message(RTM_NEWRULE, rule_header(), {later})), "unknown_attribute");
  EXPECT_EQ(defect(message(RTM_NEWLINK, ifinfomsg{}, {later})), "none");
  EXPECT_EQ(defect(message(RTM_NEWROUTE, ipv4_route(8, RTN_XRESOLVE + 1), {kTen, later})), "unknown_type");
  EXPECT_EQ(defect(message(RTM_NEWROUTE, ipv4_route(8, RTN_XRESOLVE), {kTen})), "none");
}

}  // namespace
}  // namespace surety
