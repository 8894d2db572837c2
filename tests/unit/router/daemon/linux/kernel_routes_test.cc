// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/kernel_routes.h"

#include <gmock/gmock.h>

#include <optional>

#include "router/daemon/linux/netlink.h"
#include "tests/unit/router/daemon/linux/netlink_text.h"
#include "tests/unit/router/daemon/linux/network_namespace.h"

namespace surety {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// a0 has 10.9.1.254/24 and 2001:db8:1::fe/64.
class KernelRoutesTest : public InNetworkNamespace, public NetlinkMonitor::Handler {
 protected:
  void SetUp() override {
    InNetworkNamespace::SetUp();
    if (IsSkipped()) return;
    make_wire();
    commands_.emplace();
    monitor_.emplace();
    begin();
    a0_ = commands_->link_by_name("a0").value_or(LinkEvent{}).ifindex;
  }
  void begin() {
    routes_.emplace(*commands_, [this](const std::string& text) { refused_.push_back(text); });
  }
  // Until the kernel has nothing more to say, nor we.
  void follow() {
    for (int i = 0; i < 4; ++i) {
      monitor_->poll(*this, now_ += std::chrono::minutes(1));
      while (routes_->work()) {
      }
    }
  }
  static std::string shown(const std::string& arguments) {
    std::string out;
    FILE* const pipe = ::popen(("ip " + arguments + " | sed 's/ *$//'").c_str(), "r");
    for (int c; pipe != nullptr && (c = std::fgetc(pipe)) != EOF;) out += static_cast<char>(c);
    ::pclose(pipe);
    return out;
  }
  static std::string four() { return shown("route show proto 83"); }
  static std::string six() { return shown("-6 route show proto 83"); }

  void on(const RouteEvent& e) override { routes_->on(e); }
  void on(const NextHopEvent&) override {}
  void on(const NeighborEvent&) override {}
  void on(const AddressEvent&) override {}
  void on(const LinkEvent&) override {}
  void on_resync_begin() override { routes_->begin_sync(); }
  void on_resync_end() override { routes_->end_sync(); }

  static RouteEvent via(const char* to, const char* gateway) {
    return {.to = prefix(to), .next_hops = {{.via = address(gateway)}}, .metric = 1};
  }
  const RouteEvent kFour = via("198.51.100.0/24", "10.9.1.1"), kSix = via("2001:db8:f::/48", "2001:db8:1::1");
  const std::string kShownFour = "198.51.100.0/24 via 10.9.1.1 dev a0 metric 1\n";
  const std::string kShownSix = "2001:db8:f::/48 via 2001:db8:1::1 dev a0 metric 1 pref medium\n";

  std::vector<std::string> refused_;
  std::optional<NetlinkCommands> commands_;
  std::optional<NetlinkMonitor> monitor_;
  std::optional<KernelRoutes> routes_;
  int a0_ = 0;
  Time now_{};
};

// `ip address flush` takes the routes along, and the kernel does not say so; the address comes back later.
TEST_F(KernelRoutesTest, ComeBackWithTheAddressOfTheirGateway) {
  routes_->want({kFour});
  follow();
  EXPECT_EQ(four(), kShownFour);
  run("ip -4 address flush dev a0");
  follow();
  EXPECT_EQ(four(), "");
  EXPECT_THAT(refused_, ElementsAre(HasSubstr("198.51.100.0/24")));
  run("ip address add 10.9.1.254/24 dev a0");
  routes_->try_again();
  follow();
  EXPECT_EQ(four(), kShownFour);
}

TEST_F(KernelRoutesTest, AreThereAndGoInTheEnd) {
  routes_->want({kFour,
                 kSix,
                 {.to = prefix("192.0.2.0/24"), .metric = 1, .blackhole = true},
                 via("0.0.0.0/0", "10.9.1.2")});
  follow();
  EXPECT_EQ(four(), "default via 10.9.1.2 dev a0 metric 1\nblackhole 192.0.2.0/24 metric 1\n" + kShownFour);
  EXPECT_EQ(six(), kShownSix);
  routes_.reset();
  EXPECT_EQ(four() + six(), "");
}

TEST_F(KernelRoutesTest, FollowTheConfiguration) {
  routes_->want({kFour, kSix});
  follow();
  routes_->want({via("198.51.100.0/24", "10.9.1.3")});
  follow();
  EXPECT_EQ(four(), "198.51.100.0/24 via 10.9.1.3 dev a0 metric 1\n");
  EXPECT_EQ(six(), "");
}

TEST_F(KernelRoutesTest, GoSeveralWays) {
  RouteEvent both = kFour, both6 = kSix;
  both.next_hops.push_back({.via = address("10.9.1.2")});
  both6.next_hops.push_back({.via = address("2001:db8:1::2"), .ifindex = a0_});
  routes_->want(
      {both, both6, {.to = prefix("203.0.113.0/24"), .next_hops = {{.ifindex = a0_}}, .metric = 1}});
  follow();
  EXPECT_EQ(four(),
            "198.51.100.0/24 metric 1\n\tnexthop via 10.9.1.1 dev a0 weight 1\n\tnexthop via 10.9.1.2 dev a0 "
            "weight 1\n"
            "203.0.113.0/24 dev a0 scope link metric 1\n");
  EXPECT_THAT(six(), HasSubstr("nexthop via 2001:db8:1::2 dev a0 weight 1"));
  follow();
  EXPECT_THAT(refused_, IsEmpty());
}

TEST_F(KernelRoutesTest, OfOnePrefixAreOneForEachMetric) {
  RouteEvent backup = via("198.51.100.0/24", "10.9.1.2"), backup6 = via("2001:db8:f::/48", "2001:db8:1::2");
  backup.metric = backup6.metric = 250;
  const std::string second = "198.51.100.0/24 via 10.9.1.2 dev a0 metric 250\n";
  routes_->want({kFour, backup, kSix, backup6});
  follow();
  EXPECT_EQ(four(), kShownFour + second);
  EXPECT_EQ(six(), kShownSix + "2001:db8:f::/48 via 2001:db8:1::2 dev a0 metric 250 pref medium\n");
  routes_->want({backup});
  follow();
  EXPECT_EQ(four() + six(), second);
  routes_->want({kFour, backup});
  follow();
  run("ip route del 198.51.100.0/24 metric 250 && "
      "ip route replace 198.51.100.0/24 via 10.9.1.9 metric 1 proto static");
  follow();
  EXPECT_EQ(four(), second) << "the other's is his";
  EXPECT_THAT(refused_, ElementsAre(HasSubstr("with metric 1, which stays")));
  routes_.reset();
  EXPECT_EQ(four(), "");
}

// RFC 8950; the same gateway on another device is another route.
TEST_F(KernelRoutesTest, OfIpv4GoByGatewaysOfIpv6) {
  run("ip link add c0 type veth peer name d0 && ip link set c0 up && ip link set d0 up");
  const int c0 = commands_->link_by_name("c0").value_or(LinkEvent{}).ifindex;
  RouteEvent route = via("198.51.100.0/24", "fe80::1"), both = via("203.0.113.0/24", "fe80::1");
  route.next_hops[0].ifindex = both.next_hops[0].ifindex = a0_;
  both.next_hops.push_back({.via = address("10.9.1.2"), .ifindex = a0_});
  routes_->want({route, both, via("192.0.2.0/24", "2001:db8:1::1")});
  follow();
  EXPECT_EQ(
      four(),
      "192.0.2.0/24 via inet6 2001:db8:1::1 dev a0 metric 1\n"
      "198.51.100.0/24 via inet6 fe80::1 dev a0 metric 1\n"
      "203.0.113.0/24 metric 1\n\tnexthop via inet6 fe80::1 dev a0 weight 1\n\tnexthop via 10.9.1.2 dev a0 "
      "weight 1\n");
  route.next_hops[0].ifindex = c0;
  routes_->want({route});
  follow();
  EXPECT_EQ(four(), "198.51.100.0/24 via inet6 fe80::1 dev c0 metric 1\n");
  follow();
  EXPECT_THAT(refused_, IsEmpty());
}

TEST_F(KernelRoutesTest, SayNothingOfRoutesThatWentWithTheirDevice) {
  routes_->want({kFour});
  follow();
  run("ip link set a0 down");
  routes_->want({});
  follow();
  EXPECT_THAT(refused_, IsEmpty());
}

TEST_F(KernelRoutesTest, LeaveTheRoutesOfOthers) {
  run("ip route add 198.51.100.0/24 via 10.9.1.9 metric 20 proto zebra");
  routes_->want({kFour});
  follow();
  routes_.reset();
  EXPECT_EQ(shown("route show 198.51.100.0/24"),
            "198.51.100.0/24 via 10.9.1.9 dev a0 proto zebra metric 20\n");
}

// With the metric of ours: it was there first, or he has put it in the place of ours.
TEST_F(KernelRoutesTest, LeaveAnOperatorsRouteOfTheirMetric) {
  run("ip route add 198.51.100.0/24 via 10.9.1.9 metric 1 proto static && "
      "ip route add 2001:db8:f::/48 via 2001:db8:1::9 metric 1 proto static");
  follow();
  routes_->want({kFour, kSix, via("203.0.113.0/24", "10.9.1.1")});
  follow();
  routes_->want({via("198.51.100.0/24", "10.9.1.3"), kSix, via("203.0.113.0/24", "10.9.1.1")});
  follow();
  run("ip route replace 203.0.113.0/24 via 10.9.1.9 metric 1 proto static");
  follow();
  routes_->want({via("198.51.100.0/24", "10.9.1.3"), kSix, via("203.0.113.0/24", "10.9.1.3")});
  follow();
  EXPECT_EQ(four() + six(), "");
  const auto is_his = HasSubstr(": another program has set a route with metric 1, which stays");
  EXPECT_THAT(refused_, ::testing::Each(is_his));
  EXPECT_THAT(refused_, ::testing::Contains(::testing::StartsWith("203.0.113.0/24")).Times(2))
      << "once of each configuration";
  run("ip route del 198.51.100.0/24 metric 1");
  follow();
  EXPECT_EQ(four(), "198.51.100.0/24 via 10.9.1.3 dev a0 metric 1\n") << "now there is room for ours";
  routes_.reset();
  EXPECT_EQ(shown("route show 203.0.113.0/24"), "203.0.113.0/24 via 10.9.1.9 dev a0 proto static metric 1\n");
}

TEST_F(KernelRoutesTest, TakeAwayWhatAnEarlierRunHasLeft) {
  run("ip route add 203.0.113.0/24 via 10.9.1.1 metric 1 proto 83 && "
      "ip route add 198.51.100.0/24 via 10.9.1.1 metric 1 proto 83");
  routes_->want({kFour});
  follow();
  EXPECT_EQ(four(), kShownFour);
  routes_.reset();
  EXPECT_EQ(four(), "") << "what it has found is its own";
}

TEST_F(KernelRoutesTest, ComeBackWithTheirDevice) {
  routes_->want({kFour, kSix});
  follow();
  for (int i = 0; i < 3; ++i) {
    run("ip link set a0 down");
    follow();
    EXPECT_EQ(four(), "");
    run("ip link set a0 up && ip addr replace 2001:db8:1::fe/64 dev a0 nodad");
    run("timeout 5 sh -c 'until ip link show a0 | grep -q \"state UP\"; do :; done'");
    follow();
    EXPECT_EQ(four(), kShownFour);
    EXPECT_EQ(six(), kShownSix);
  }
  run("ip route del 198.51.100.0/24 proto 83");
  follow();
  EXPECT_EQ(four(), kShownFour);
}

TEST_F(KernelRoutesTest, SayOnceWhatTheKernelRefuses) {
  routes_->want({via("198.51.100.0/24", "172.16.0.1")});
  follow();
  run("ip link set a0 down && ip link set a0 up");
  follow();
  EXPECT_THAT(refused_, ElementsAre(HasSubstr("198.51.100.0/24: the kernel refuses the route: ")));
  run("ip addr add 172.16.0.2/30 dev a0 && ip link set a0 down && ip link set a0 up");
  follow();
  EXPECT_EQ(four(), "198.51.100.0/24 via 172.16.0.1 dev a0 metric 1\n");
}

}  // namespace
}  // namespace surety
