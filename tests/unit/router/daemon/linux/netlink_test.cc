// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/netlink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/router/daemon/linux/netlink_text.h"
#include "tests/unit/router/daemon/linux/network_namespace.h"

namespace surety {
namespace {

using namespace std::chrono_literals;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

// What a consumer believes to exist: text of the addition, by what identifies the thing.
// Follows the Handler's contract.
class Mirror : public NetlinkMonitor::Handler {
 public:
  void on(const RouteEvent& e) override {
    note("route " + to_string(e.to) + " metric " + std::to_string(e.metric), e.action, text_of(e));
  }
  void on(const NextHopEvent& e) override { note("nhid " + std::to_string(e.id), e.action, text_of(e)); }
  void on(const NeighborEvent& e) override {
    note("neighbor " + to_string(e.address) + " dev " + std::to_string(e.ifindex), e.action, text_of(e));
  }
  void on(const AddressEvent& e) override {
    note("address " + to_string(e.address) + " dev " + std::to_string(e.ifindex), e.action, text_of(e));
  }
  void on(const LinkEvent& e) override { note("link " + e.name, EventAction::add, text_of(e)); }
  void on(const RuleEvent& e) override {
    if (!e.v6) note("rule " + e.text, e.action, text_of(e));
    if (e.action == EventAction::remove) gone.push_back(text_of(e));
  }
  void on_resync_begin() override {
    synchronized = false;
    seen_.clear();
  }
  void on_resync_end() override {
    synchronized = true;
    ++resyncs;
    std::erase_if(now, [this](const auto& entry) { return !seen_.contains(entry.first); });
  }

  std::map<std::string, std::string> now;
  std::vector<std::string> gone;  // rules
  std::size_t told = 0;
  bool synchronized = false;
  int resyncs = 0;

 private:
  void note(const std::string& key, EventAction action, const std::string& text) {
    ++told;
    if (action == EventAction::add) {
      now[key] = text;
      seen_[key] = true;
    } else {
      now.erase(key);
    }
  }
  std::map<std::string, bool> seen_;
};

class NetlinkMonitorTest : public InNetworkNamespace {
 protected:
  void SetUp() override {
    InNetworkNamespace::SetUp();
    if (IsSkipped()) return;
    make_wire();
    monitor_.emplace();
    follow();
  }
  // Polls until the kernel has told everything, long after what came before.
  void follow(Duration after = 1min) {
    now_ += after;
    do {
      monitor_->poll(mirror_, now_);
    } while (!mirror_.synchronized || readable());
  }
  bool readable() const {
    pollfd fd{monitor_->fd(), POLLIN, 0};
    return ::poll(&fd, 1, 0) > 0;
  }
  std::string ifindex(const std::string& name) const {
    const auto found = mirror_.now.find("link " + name);
    return found == mirror_.now.end() ? "none" : found->second.substr(0, found->second.find(':'));
  }
  void expect_route(const std::string& to, const std::string& text) const {
    EXPECT_THAT(mirror_.now, Contains(Pair("route " + to, StartsWith(text))));
  }
  void expect_no_route(const std::string& to) const {
    EXPECT_THAT(mirror_.now, Not(Contains(Pair("route " + to, ::testing::_))));
  }

  std::optional<NetlinkMonitor> monitor_;
  Mirror mirror_;
  Time now_{};
};

TEST_F(NetlinkMonitorTest, TellsFirstWhatIsThere) {
  const std::string a0 = ifindex("a0");
  EXPECT_THAT(mirror_.now, Contains(Pair("link a0", a0 + ": a0 up mtu 1500 02:00:00:00:00:0a")));
  EXPECT_THAT(mirror_.now, Contains(Pair("address 10.9.1.254/24 dev " + a0, "add 10.9.1.254/24 dev " + a0)));
  EXPECT_THAT(mirror_.now, Contains(Pair("address 2001:db8:1::fe/64 dev " + a0, ::testing::_)));
  expect_route("10.9.1.0/24 metric 0", "add 10.9.1.0/24 dev " + a0);
  expect_route("2001:db8:1::/64 metric 256", "add 2001:db8:1::/64 dev " + a0);
  for (const auto& [key, text] : mirror_.now)  // neither local nor broadcast nor link-local routes
    EXPECT_THAT(key, Not(AnyOf(StartsWith("route ff"), StartsWith("route fe80"),
                               StartsWith("route 10.9.1.255"), StartsWith("route 10.9.1.254"))));
}

TEST_F(NetlinkMonitorTest, FollowsRoutes) {
  const std::string dev = " dev " + ifindex("a0");
  run("ip route add 10.77.0.0/16 via 10.9.1.1 metric 5");
  run("ip route add blackhole 10.78.0.0/16 && ip route add unreachable 10.79.0.0/16");
  run("ip route add 10.80.0.0/16 nexthop via 10.9.1.1 nexthop via 10.9.1.2");
  run("ip route add 10.81.0.0/16 via inet6 2001:db8:1::1 dev a0");
  follow();
  expect_route("10.77.0.0/16 metric 5", "add 10.77.0.0/16 via 10.9.1.1" + dev + " metric 5");
  expect_route("10.78.0.0/16 metric 0", "add 10.78.0.0/16 blackhole");
  expect_route("10.79.0.0/16 metric 0", "add 10.79.0.0/16 unreachable");
  expect_route("10.80.0.0/16 metric 0", "add 10.80.0.0/16 via 10.9.1.1" + dev + " via 10.9.1.2" + dev);
  expect_route("10.81.0.0/16 metric 0", "add 10.81.0.0/16 via 2001:db8:1::1" + dev);
  run("ip route replace 10.77.0.0/16 via 10.9.1.9 metric 5 && ip route del 10.80.0.0/16");
  follow();
  expect_route("10.77.0.0/16 metric 5", "add 10.77.0.0/16 via 10.9.1.9" + dev + " metric 5");
  expect_no_route("10.80.0.0/16 metric 0");
}

TEST_F(NetlinkMonitorTest, OtherTablesAreNotOurs) {
  run("ip rule add from 10.5.0.0/16 lookup 100 priority 7");
  run("ip route add 10.77.0.0/16 via 10.9.1.1 table 100");
  run("ip route add 10.78.0.0/16 via 10.9.1.1 table 1000");
  follow();
  expect_no_route("10.77.0.0/16 metric 0");
  expect_no_route("10.78.0.0/16 metric 0");
  EXPECT_THAT(mirror_.now, Contains(Pair("rule 7: from 10.5.0.0/16 lookup 100", ::testing::_)));
  EXPECT_THAT(mirror_.now, Contains(Pair("rule 0: from all lookup 255", ::testing::EndsWith("followed"))));
  run("ip rule del priority 7");
  follow();
  EXPECT_THAT(mirror_.now, Not(Contains(Pair("rule 7: from 10.5.0.0/16 lookup 100", ::testing::_))));
}

TEST_F(NetlinkMonitorTest, TheRemovalOfTheKernelsOwnRules) {
  EXPECT_THAT(mirror_.gone, ElementsAre());
  run("ip rule del priority 32766 && ip rule del priority 32767");
  follow();
  EXPECT_THAT(mirror_.gone, ElementsAre("remove rule 32766: from all lookup 254",
                                        "remove rule 32767: from all lookup 253 followed"));
  NetlinkMonitor later;
  Mirror fresh;
  do later.poll(fresh, now_);
  while (!fresh.synchronized);
  EXPECT_THAT(fresh.gone, ElementsAre("remove rule 32766: from all lookup 254"));
}

// All attributes of this kernel are known, and its messages whole.
TEST_F(NetlinkMonitorTest, TheKernelsMessagesHaveNoDefects) {
  run("ip route add 10.80.0.0/16 nexthop via 10.9.1.1 nexthop via 10.9.1.2 && ip nexthop add id 7 blackhole");
  run("ip nexthop add id 8 via 10.9.1.1 dev a0 && ip nexthop add id 9 group 8 && ip route add 10.81.0.0/16 "
      "nhid 9");
  run("ip -6 route add 2001:db8:9::/48 via 2001:db8:1::1 mtu lock 1000 && ip rule add from 10.5.0.0/16 "
      "lookup 100");
  run("ip route add 10.82.0.0/16 via 10.9.1.1 congctl reno && ip link add c0 type veth peer name c1");
  follow();
  EXPECT_EQ(monitor_->defects(), NetlinkDefects{});
}

// A link without carrier, and the other route at once when the setting is made, which has no event of its
// own.
TEST_F(NetlinkMonitorTest, ASettingOfTheKernelMakesARouteDead) {
  run("ip route add 10.77.0.0/16 via 10.9.1.1 && ip link set b0 down");
  follow();
  expect_route("10.77.0.0/16 metric 0", "add 10.77.0.0/16");
  run("sysctl -q net.ipv4.conf.a0.ignore_routes_with_linkdown=1");
  follow();
  const std::string dev = " dev " + ifindex("a0");
  expect_route("10.77.0.0/16 metric 0", "add 10.77.0.0/16 via 10.9.1.1" + dev + " dead");
  expect_route("10.9.1.0/24 metric 0", "add 10.9.1.0/24" + dev + " dead");
  run("sysctl -q net.ipv4.conf.a0.ignore_routes_with_linkdown=0");
  follow();
  expect_route("10.77.0.0/16 metric 0", "add 10.77.0.0/16 via 10.9.1.1" + dev + " proto");
}

TEST_F(NetlinkMonitorTest, OneOfSeveralIpv6NextHopsGoes) {
  const std::string dev = " dev " + ifindex("a0");
  run("ip route add 2001:db8:9::/48 nexthop via 2001:db8:1::1 nexthop via 2001:db8:1::2");
  follow();
  run("ip route del 2001:db8:9::/48 via 2001:db8:1::1");
  follow();
  expect_route("2001:db8:9::/48 metric 1024", "add 2001:db8:9::/48 via 2001:db8:1::2" + dev + " metric");
  run("ip route del 2001:db8:9::/48 via 2001:db8:1::2");
  follow();
  expect_no_route("2001:db8:9::/48 metric 1024");
}

// The kernel's report of all routes leaves out those between the next hops of a multipath route.
TEST_F(NetlinkMonitorTest, ARouteBetweenIpv6NextHopsIsKnownAMinuteAfterTheirEnd) {
  run("ip -6 route add 2001:db8:a::/64 via 2001:db8:1::1 dev a0");
  run("ip -6 route append unreachable 2001:db8:a::/64");
  run("ip -6 route append 2001:db8:a::/64 via 2001:db8:1::2 dev a0");
  monitor_->tell_again();
  follow();
  run("ip -6 route del 2001:db8:a::/64 via 2001:db8:1::1 dev a0");
  run("ip -6 route del 2001:db8:a::/64 via 2001:db8:1::2 dev a0");
  const int resyncs = mirror_.resyncs;
  follow(59s);
  EXPECT_EQ(mirror_.resyncs, resyncs) << "a large table is not read all the time";
  expect_no_route("2001:db8:a::/64 metric 1024");
  follow(1s);
  expect_route("2001:db8:a::/64 metric 1024", "add 2001:db8:a::/64 unreachable");
}

TEST_F(NetlinkMonitorTest, FollowsNeighborsAndAddresses) {
  const std::string dev = " dev " + ifindex("a0");
  run("ip neigh add 10.9.1.1 lladdr 02:00:00:00:00:77 nud permanent dev a0 && ip addr add 10.5.0.1/24 dev "
      "a0");
  follow();
  EXPECT_THAT(mirror_.now, Contains(Pair("neighbor 10.9.1.1" + dev,
                                         "add 10.9.1.1" + dev + " lladdr 02:00:00:00:00:77 fixed")));
  EXPECT_THAT(mirror_.now, Contains(Pair("address 10.5.0.1/24" + dev, ::testing::_)));
  run("ip neigh del 10.9.1.1 dev a0 && ip addr del 10.5.0.1/24 dev a0");
  follow();
  EXPECT_THAT(mirror_.now, Not(Contains(Pair("neighbor 10.9.1.1" + dev, ::testing::_))));
  EXPECT_THAT(mirror_.now, Not(Contains(Pair("address 10.5.0.1/24" + dev, ::testing::_))));
}

// Whether or not the kernel repeats an object's next hops in the routes that name it.
TEST_F(NetlinkMonitorTest, FollowsNextHopObjects) {
  const std::string dev = " dev " + ifindex("a0");
  for (const std::string repeats : {"1", "0"}) {
    run("sysctl -q net.ipv4.nexthop_compat_mode=" + repeats);
    run("ip nexthop add id 7 via 10.9.1.1 dev a0 && ip nexthop add id 8 via 10.9.1.2 dev a0");
    run("ip nexthop add id 9 group 7,3/8 && ip nexthop add id 6 blackhole");
    run("ip -6 nexthop add id 10 via 2001:db8:1::1 dev a0");
    run("ip route add 10.77.0.0/16 nhid 9 && ip -6 route add 2001:db8:9::/48 nhid 10");
    follow();
    EXPECT_EQ(mirror_.now["nhid 7"], "add nhid 7 via 10.9.1.1" + dev);
    EXPECT_EQ(mirror_.now["nhid 9"], "add nhid 9 7*3 8*1");
    EXPECT_EQ(mirror_.now["nhid 6"], "add nhid 6 blackhole");
    EXPECT_EQ(mirror_.now["nhid 10"], "add nhid 10 via 2001:db8:1::1" + dev);
    const std::string hops = " via 10.9.1.1" + dev + " weight 3 via 10.9.1.2" + dev;
    expect_route("10.77.0.0/16 metric 0", "add 10.77.0.0/16" + (repeats == "1" ? hops : "") + " nhid 9");
    expect_route("2001:db8:9::/48 metric 1024",
                 "add 2001:db8:9::/48" + (repeats == "1" ? " via 2001:db8:1::1" + dev : "") + " nhid 10");
    run("ip nexthop replace id 7 via 10.9.1.3 dev a0");
    follow();
    EXPECT_EQ(mirror_.now["nhid 7"], "add nhid 7 via 10.9.1.3" + dev);
    run("ip nexthop del id 8");
    follow();
    EXPECT_EQ(mirror_.now["nhid 9"], "add nhid 9 7*3") << "the kernel tells what is left of a group";
    EXPECT_FALSE(mirror_.now.contains("nhid 8"));
    run("ip nexthop flush");
    follow();
    EXPECT_FALSE(mirror_.now.contains("nhid 7"));
    EXPECT_FALSE(mirror_.now.contains("nhid 10"));
    run("ip link set a0 down && ip link set a0 up && ip addr replace 2001:db8:1::fe/64 dev a0 nodad");
    follow();
    expect_no_route("10.77.0.0/16 metric 0");
  }
}

TEST_F(NetlinkMonitorTest, NextHopObjectsThatWereThereBefore) {
  run("sysctl -q net.ipv4.nexthop_compat_mode=0");
  run("ip nexthop add id 7 via 10.9.1.1 dev a0 && ip route add 10.77.0.0/16 nhid 7");
  NetlinkMonitor later;
  Mirror fresh;
  do later.poll(fresh, now_);
  while (!fresh.synchronized);
  EXPECT_EQ(fresh.now["nhid 7"], "add nhid 7 via 10.9.1.1 dev " + ifindex("a0"));
  EXPECT_EQ(fresh.now["route 10.77.0.0/16 metric 0"], "add 10.77.0.0/16 nhid 7 proto 3");
}

// A million routes must not keep the caller from its other work.
TEST_F(NetlinkMonitorTest, APollTakesABoundedAmount) {
  run("for i in $(seq 0 9999); do echo route add blackhole 20.$((i/256)).$((i%256)).0/24; done | ip -batch "
      "-");
  int polls = 0;
  std::size_t most = 0;
  for (std::size_t before = mirror_.told; readable(); before = mirror_.told) {
    monitor_->poll(mirror_, now_);
    most = std::max(most, mirror_.told - before);
    ++polls;
  }
  EXPECT_GE(polls, 4);
  EXPECT_LE(most, 2048U + 1024U) << "a dump's buffer more, at most";
  follow();
  expect_route("20.39.15.0/24 metric 0", "add");
}

// A table that takes several polls to read, and a link that comes and goes in each of them.
TEST_F(NetlinkMonitorTest, ALinkThatFlapsKeepsNoResynchronisationFromItsEnd) {
  run("for i in $(seq 0 9999); do echo route add blackhole 20.$((i/256)).$((i%256)).0/24; done | ip -batch "
      "-");
  run("ip link add c0 type veth peer name c1 && ip link set c1 up");
  follow();
  const int before = mirror_.resyncs;
  run("ip link set a0 down");
  for (int i = 0; i < 100; ++i) {
    run("ip link set c0 up && ip link set c0 down");
    monitor_->poll(mirror_, now_ += 100ms);
  }
  EXPECT_GE(mirror_.resyncs, before + 3);
  EXPECT_LE(mirror_.resyncs, before + 11) << "one a second";
  expect_no_route("10.9.1.0/24 metric 0");
  follow();
  expect_route("20.39.15.0/24 metric 0", "add");
}

// The kernel flushes these without a word.
TEST_F(NetlinkMonitorTest, Ipv4RoutesGoWithTheirLink) {
  run("ip route add 10.77.0.0/16 via 10.9.1.1");
  follow();
  expect_route("10.77.0.0/16 metric 0", "add 10.77.0.0/16");
  run("ip link set a0 down");
  follow();
  EXPECT_THAT(mirror_.now["link a0"], StartsWith(ifindex("a0") + ": a0 down"));
  expect_no_route("10.77.0.0/16 metric 0");
}

TEST_F(NetlinkMonitorTest, Ipv4RoutesGoWithTheirSourceAddress) {
  run("ip addr add 10.5.0.1/24 dev a0 && ip route add 10.77.0.0/16 via 10.9.1.1 src 10.5.0.1");
  follow();
  expect_route("10.77.0.0/16 metric 0", "add 10.77.0.0/16");
  run("ip addr del 10.5.0.1/24 dev a0");
  follow();
  expect_no_route("10.77.0.0/16 metric 0");
}

TEST_F(NetlinkMonitorTest, ADeadNextHopIsLeftOutAndComesBack) {
  run("ip link add c0 type veth peer name c1 && ip link set c0 up && ip link set c1 up");
  run("ip addr add 10.9.2.254/24 dev c0");
  run("ip route add 10.80.0.0/16 nexthop via 10.9.1.1 nexthop via 10.9.2.1");
  follow();
  const std::string first = "add 10.80.0.0/16 via 10.9.1.1 dev " + ifindex("a0");
  const std::string both = first + " via 10.9.2.1 dev " + ifindex("c0");
  EXPECT_THAT(mirror_.now["route 10.80.0.0/16 metric 0"], StartsWith(both));
  run("ip link set c0 down");
  follow();
  EXPECT_EQ(mirror_.now["route 10.80.0.0/16 metric 0"], first + " proto 3");
  run("ip link set c0 up");
  follow();
  EXPECT_THAT(mirror_.now["route 10.80.0.0/16 metric 0"], StartsWith(both));
}

// More changes than the receive buffer holds, removals among them:
// messages are lost, and their effect is not.
TEST_F(NetlinkMonitorTest, ResynchronisesAfterAnOverrun) {
  run("for i in $(seq 250); do echo route add 10.77.$i.0/24 via 10.9.1.1; done | ip -batch -");
  follow();
  const int before = mirror_.resyncs;
  expect_route("10.77.200.0/24 metric 0", "add");
  const int small = 1;  // the kernel makes it its minimum, of a few messages
  ASSERT_EQ(::setsockopt(monitor_->fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
  run("for i in $(seq 2 250); do echo route del 10.77.$i.0/24; done | ip -batch -");
  run("for i in $(seq 250); do echo route add 10.78.$i.0/24 via 10.9.1.1; done | ip -batch -");
  follow();
  EXPECT_GT(mirror_.resyncs, before);
  expect_route("10.77.1.0/24 metric 0", "add");
  for (int i = 1; i <= 250; ++i) {
    const std::string net = std::to_string(i) + ".0/24 metric 0";
    if (i > 1) expect_no_route("10.77." + net);
    expect_route("10.78." + net, "add");
  }
}

TEST_F(NetlinkMonitorTest, SaysNothingWhenNothingHappens) {
  const int before = mirror_.resyncs;
  const auto known = mirror_.now;
  monitor_->poll(mirror_, now_);
  EXPECT_EQ(mirror_.resyncs, before);
  EXPECT_EQ(mirror_.now, known);
}

}  // namespace
}  // namespace surety
