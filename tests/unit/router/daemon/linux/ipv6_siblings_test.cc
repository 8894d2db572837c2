// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/ipv6_siblings.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "tests/unit/router/daemon/linux/netlink_text.h"

namespace surety {
namespace {

RouteEvent route(EventAction action, std::initializer_list<const char*> vias,
                 const char* to = "2001:db8::/32", std::uint32_t metric = 0) {
  RouteEvent r;
  r.action = action;
  r.to = prefix(to);
  r.metric = metric;
  for (const char* via : vias) r.next_hops.push_back({address(via), 3});
  return r;
}
RouteEvent add(std::initializer_list<const char*> vias) {
  return route(EventAction::add, vias);
}
RouteEvent remove(std::initializer_list<const char*> vias) {
  return route(EventAction::remove, vias);
}

class Ipv6SiblingsTest : public ::testing::Test {
 protected:
  std::string corrected(RouteEvent event) {
    siblings_.correct(event);
    return text_of(event);
  }
  Ipv6Siblings siblings_;
};

TEST_F(Ipv6SiblingsTest, NextHopsGoOneByOne) {
  EXPECT_EQ(corrected(add({"fe80::1", "fe80::2", "fe80::3"})),
            "add 2001:db8::/32 via fe80::1 dev 3 via fe80::2 dev 3 via fe80::3 dev 3");
  EXPECT_EQ(corrected(remove({"fe80::2"})), "add 2001:db8::/32 via fe80::1 dev 3 via fe80::3 dev 3");
  EXPECT_EQ(corrected(remove({"fe80::1"})), "add 2001:db8::/32 via fe80::3 dev 3");
  EXPECT_EQ(corrected(remove({"fe80::3"})), "remove 2001:db8::/32 via fe80::3 dev 3");
}

TEST_F(Ipv6SiblingsTest, AllAtOnce) {
  corrected(add({"fe80::1", "fe80::2"}));
  EXPECT_EQ(corrected(remove({"fe80::1", "fe80::2"})),
            "remove 2001:db8::/32 via fe80::1 dev 3 via fe80::2 dev 3");
  EXPECT_EQ(corrected(remove({"fe80::1"})), "remove 2001:db8::/32 via fe80::1 dev 3");
}

TEST_F(Ipv6SiblingsTest, AReplacementForgetsTheOldNextHops) {
  corrected(add({"fe80::1", "fe80::2"}));
  corrected(add({"fe80::3"}));
  EXPECT_EQ(corrected(remove({"fe80::3"})), "remove 2001:db8::/32 via fe80::3 dev 3");
}

TEST_F(Ipv6SiblingsTest, ARemovalWithoutNextHopsRemovesAll) {
  corrected(add({"fe80::1", "fe80::2"}));
  EXPECT_EQ(corrected(remove({})), "remove 2001:db8::/32");
}

TEST_F(Ipv6SiblingsTest, ANextHopIsItsInterfaceToo) {
  corrected(add({"fe80::1", "fe80::2"}));
  RouteEvent elsewhere = remove({"fe80::1"});
  elsewhere.next_hops[0].ifindex = 4;
  EXPECT_EQ(corrected(elsewhere), "add 2001:db8::/32 via fe80::1 dev 3 via fe80::2 dev 3");
}

TEST_F(Ipv6SiblingsTest, PrefixesAndMetricsAreApart) {
  corrected(add({"fe80::1", "fe80::2"}));
  const auto removal = EventAction::remove;
  EXPECT_EQ(corrected(route(removal, {"fe80::1"}, "2001:db8::/33")),
            "remove 2001:db8::/33 via fe80::1 dev 3");
  EXPECT_EQ(corrected(route(removal, {"fe80::1"}, "2001:db8::/32", 7)),
            "remove 2001:db8::/32 via fe80::1 dev 3 metric 7");
}

TEST_F(Ipv6SiblingsTest, Ipv4IsLeftAlone) {
  corrected(route(EventAction::add, {"192.0.2.1", "192.0.2.2"}, "10.0.0.0/8"));
  EXPECT_EQ(corrected(route(EventAction::remove, {"192.0.2.1"}, "10.0.0.0/8")),
            "remove 10.0.0.0/8 via 192.0.2.1 dev 3");
}

// `ip -6 route append` of a route without a gateway: it joins no multipath route.
TEST_F(Ipv6SiblingsTest, ARouteWithoutAGatewayIsBesideTheOthers) {
  corrected(add({"fe80::1", "fe80::2"}));
  RouteEvent device = add({});
  device.next_hops.push_back({{}, 3});
  device.order = RouteOrder::last;
  corrected(device);
  device.action = EventAction::remove;
  EXPECT_EQ(corrected(device), "remove 2001:db8::/32 dev 3");
  EXPECT_EQ(corrected(remove({"fe80::1"})), "add 2001:db8::/32 via fe80::2 dev 3");
}

// `ip -6 route append unreachable`, `ip -6 route change`
TEST_F(Ipv6SiblingsTest, AReplacementMayBeBesideTheOthersOrInTheirPlace) {
  RouteEvent change = add({});
  change.blackhole = true;
  change.order = RouteOrder::replace;
  EXPECT_FALSE(siblings_.is_ambiguous(change));
  corrected(add({"fe80::1", "fe80::2"}));
  EXPECT_TRUE(siblings_.is_ambiguous(change));
  corrected(change);
  EXPECT_EQ(corrected(remove({"fe80::1"})), "add 2001:db8::/32 via fe80::2 dev 3") << "known still";

  corrected(add({"fe80::1", "fe80::2"}));
  RouteEvent device = add({});
  device.next_hops.push_back({{}, 3});
  device.order = RouteOrder::last;
  EXPECT_FALSE(siblings_.is_ambiguous(device));
  device.order = RouteOrder::replace;
  EXPECT_TRUE(siblings_.is_ambiguous(device));
  RouteEvent object = add({"fe80::3"});
  object.next_hop_id = 1;
  object.order = RouteOrder::replace;
  EXPECT_TRUE(siblings_.is_ambiguous(object));
  object.next_hop_id = 0;
  EXPECT_FALSE(siblings_.is_ambiguous(object)) << "replaces the multipath route";
}

// `ip -6 route del default from 2001:db8:a::/48`, beside a multipath default route of the same metric.
TEST_F(Ipv6SiblingsTest, ARouteWithASourcePrefixIsBesideTheOthers) {
  corrected(add({"fe80::1", "fe80::2"}));
  RouteEvent from = add({"fe80::3"});
  from.selector = 1;
  corrected(from);
  from.action = EventAction::remove;
  siblings_.correct(from);
  EXPECT_EQ(from.action, EventAction::remove);
  EXPECT_EQ(corrected(remove({"fe80::1"})), "add 2001:db8::/32 via fe80::2 dev 3") << "known still";
}

TEST_F(Ipv6SiblingsTest, Clear) {
  corrected(add({"fe80::1", "fe80::2"}));
  siblings_.clear();
  EXPECT_EQ(corrected(remove({"fe80::1"})), "remove 2001:db8::/32 via fe80::1 dev 3");
}

}  // namespace
}  // namespace surety
