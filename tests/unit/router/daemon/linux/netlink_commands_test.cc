// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/netlink_commands.h"

#include <gmock/gmock.h>

#include <stdexcept>

#include "tests/unit/router/daemon/linux/netlink_text.h"
#include "tests/unit/router/daemon/linux/network_namespace.h"

namespace surety {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class NetlinkCommandsTest : public InNetworkNamespace {
 protected:
  void SetUp() override {
    InNetworkNamespace::SetUp();
    if (IsSkipped()) return;
    make_wire();
    commands_.emplace();
    a0_ = commands_->link_by_name("a0").value_or(LinkEvent{}).ifindex;
  }
  // Whether `ip <arguments>` prints the text.
  static bool shows(const std::string& arguments, const std::string& text) {
    return std::system(("ip " + arguments + " | grep -q '" + text + "'").c_str()) ==
           0;  // NOLINT(cert-env33-c)
  }
  std::optional<NetlinkCommands> commands_;
  int a0_ = 0;
};

TEST_F(NetlinkCommandsTest, LinkByName) {
  const auto link = commands_->link_by_name("a0");
  ASSERT_TRUE(link);
  EXPECT_EQ(text_of(*link), std::to_string(link->ifindex) + ": a0 up mtu 1500 02:00:00:00:00:0a");
  EXPECT_FALSE(commands_->link_by_name("nosuch"));
  EXPECT_FALSE(commands_->link_by_name(""));
  EXPECT_FALSE(commands_->link_by_name("a-name-of-16-char"));
}

TEST_F(NetlinkCommandsTest, ALinkWithoutACarrierIsStillEnabled) {
  const auto is = [&](bool enabled, bool up) {
    const auto link = commands_->link_by_name("a0");
    ASSERT_TRUE(link);
    EXPECT_EQ(link->enabled, enabled);
    EXPECT_EQ(link->up, up);
  };
  is(true, true);
  run("ip link set b0 down");
  is(true, false);
  run("ip link set a0 down");
  is(false, false);
}

TEST_F(NetlinkCommandsTest, ARouteIsAddedWhereThereIsNone) {
  const RouteEvent first{.to = prefix("10.77.0.0/16"), .next_hops = {{.via = address("10.9.1.1")}}};
  RouteEvent second = first;
  second.next_hops[0].via = address("10.9.1.2");
  EXPECT_EQ(commands_->add_route(first.to, 1, first), Added::now);
  EXPECT_EQ(commands_->add_route(first.to, 1, second), Added::already_there);
  EXPECT_TRUE(shows("route show 10.77.0.0/16", "via 10.9.1.1 "));
  commands_->replace_route(first.to, 1, second);
  EXPECT_TRUE(shows("route show 10.77.0.0/16", "via 10.9.1.2 "));
}

// An uplink of a hosting provider: an address of /32, and a gateway that no subnet contains.
TEST_F(NetlinkCommandsTest, AGatewayOutsideOfAllSubnetsIsOnLink) {
  for (const char* to : {"10.77.0.0/16", "0.0.0.0/0"}) {
    const RouteEvent route{.to = prefix(to), .next_hops = {{address("172.31.1.1"), a0_}}};
    EXPECT_EQ(commands_->add_route(route.to, 1, route), Added::now);
    EXPECT_EQ(commands_->add_route(route.to, 1, route), Added::already_there);
  }
  EXPECT_TRUE(shows("route show 10.77.0.0/16", "via 172.31.1.1 dev a0 .*metric 1 onlink"));
  const RouteEvent six{.to = prefix("::/0"), .next_hops = {{address("2001:db8:ffff::1"), a0_}}};
  commands_->replace_route(six.to, 1, six);
  EXPECT_TRUE(shows("-6 route show default", "via 2001:db8:ffff::1 dev a0 .*onlink"));
  const RouteEvent both{.to = prefix("10.78.0.0/16"),
                        .next_hops = {{address("172.31.1.1"), a0_}, {address("10.9.1.1"), a0_}}};
  EXPECT_EQ(commands_->add_route(both.to, 1, both), Added::now);
  EXPECT_TRUE(shows("route show 10.78.0.0/16", "nexthop via 172.31.1.1 dev a0 weight 1 onlink"));
  const RouteEvent nowhere{.to = prefix("10.79.0.0/16"), .next_hops = {{address("172.31.1.1"), 0}}};
  EXPECT_THROW(commands_->add_route(nowhere.to, 1, nowhere), std::runtime_error) << "no device";
}

TEST_F(NetlinkCommandsTest, SeesFilters) {
  run("tc qdisc add dev a0 clsact");
  EXPECT_FALSE(commands_->has_filters(a0_));
  for (const std::string way : {"ingress", "egress"}) {
    run("tc filter add dev a0 " + way + " prio 7 bpf bytecode '1,6 0 0 0,' flowid 1:1");
    EXPECT_TRUE(commands_->has_filters(a0_)) << way;
    run("tc filter del dev a0 " + way);
    EXPECT_FALSE(commands_->has_filters(a0_)) << way;
  }
}

TEST_F(NetlinkCommandsTest, AddressesComeAndGo) {
  for (const char* text : {"10.5.0.1/24", "2001:db8:5::1/64"}) {
    EXPECT_EQ(commands_->add_address(a0_, prefix(text)), Added::now);
    EXPECT_TRUE(shows("addr show a0", text));
    EXPECT_EQ(commands_->add_address(a0_, prefix(text)), Added::already_there);
    commands_->remove_address(a0_, prefix(text));
    EXPECT_FALSE(shows("addr show a0", text));
  }
}

TEST_F(NetlinkCommandsTest, ErrorsAreTheKernelsWords) {
  EXPECT_THAT([&] { commands_->remove_address(a0_, prefix("10.6.0.1/24")); },
              ThrowsMessage<std::runtime_error>(
                  HasSubstr("cannot remove an address: Cannot assign requested address")));
  EXPECT_THAT([&] { commands_->add_address(9999, prefix("10.6.0.1/24")); },
              ThrowsMessage<std::runtime_error>(HasSubstr("No such device")));
}

TEST_F(NetlinkCommandsTest, ErrorsCarryTheKernelsExplanation) {
  EXPECT_THAT(
      [&] {
        commands_->add_address(a0_, {address("10.6.0.1"), 33});
      },
      ThrowsMessage<std::runtime_error>(
          "cannot add an address: Invalid argument (ipv4: Invalid prefix length)"));
}

TEST_F(NetlinkCommandsTest, NeighboursAreKeptUntilTheyAreRemoved) {
  constexpr MacAddress kMac{2, 0, 0, 0, 0, 0x77}, kMoved{2, 0, 0, 0, 0, 0x78};
  for (const char* text : {"10.9.1.77", "2001:db8:1::77"}) {
    commands_->keep_neighbor(a0_, address(text), kMac);
    commands_->keep_neighbor(a0_, address(text), kMoved);
    EXPECT_TRUE(shows("neigh show dev a0 nud reachable",
                      text + std::string(" lladdr 02:00:00:00:00:78 extern_learn")));
    commands_->pin_neighbor(a0_, address(text), kMac);
    EXPECT_TRUE(shows("neigh show dev a0 nud permanent",
                      text + std::string(" lladdr 02:00:00:00:00:77 extern_learn")));
    commands_->keep_neighbor(a0_, address(text), kMoved);
    EXPECT_TRUE(shows("neigh show dev a0 nud reachable",
                      text + std::string(" lladdr 02:00:00:00:00:78 extern_learn")));
    commands_->pin_neighbor(a0_, address(text), kMac);
    commands_->remove_neighbor(a0_, address(text));
    EXPECT_FALSE(shows("neigh show dev a0", text));
  }
  EXPECT_THROW(commands_->keep_neighbor(9999, address("10.9.1.77"), kMac), std::runtime_error);
  EXPECT_THROW(commands_->remove_neighbor(a0_, address("10.9.1.77")), std::runtime_error);
}

TEST_F(NetlinkCommandsTest, SetUp) {
  run("ip link set a0 down");
  EXPECT_FALSE(shows("link show up", " a0@"));
  commands_->set_up(a0_);
  EXPECT_TRUE(shows("link show up", " a0@"));
  EXPECT_THROW(commands_->set_up(9999), std::runtime_error);
}

}  // namespace
}  // namespace surety
