// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/live/live_layout.h"

#include <gmock/gmock.h>

#include "tests/unit/lab/scenario/scenario_text.h"

namespace surety::lab {
namespace {

using testing::ElementsAre;

// h1 and h2 at a switch of `edge`, then `core`, then s.
ScenarioText two_routers() {
  return {.routers =
              "routers: {edge: {ports: {lan: {}, none: {}, up: {mtu: 2000}}}, core: {ports: {in: {mtu: "
              "2000}, out: {}}}}",
          .hosts = "hosts: [h1, h2, s]",
          .links =
              "links: [{between: [h1, edge.lan]}, {between: [edge.lan, h2]}, {between: [core.in, edge.up]}, "
              "{between: [s, core.out]}]",
          .senders = "senders: [{name: f, host: h1, to: s, protocol: newreno}]"};
}

Plan plan_of(const ScenarioText& text) {
  auto result = result_of(text);
  for (const auto& d : result.diagnostics)
    EXPECT_NE(d.severity, config::Diagnostic::Severity::error) << d.format();
  return Plan(std::move(*result.scenario));
}

std::string address(const IpAddress& a) {
  return to_string(a);
}

TEST(LabLiveLayout, EveryLinkHasASubnetOfFour) {
  EXPECT_EQ(address(link_address(0, false)), "100.64.0.1");
  EXPECT_EQ(address(link_address(0, true)), "100.64.0.2");
  EXPECT_EQ(address(link_address(1, false)), "100.64.0.5");
  EXPECT_EQ(address(link_address(64, true)), "100.64.1.2");
  EXPECT_EQ(address(link_address(kMostLinks - 1, true)), "100.127.255.254");
}

TEST(LabLiveLayout, ALineGoesFromTheNearAddressToTheFarOne) {
  EXPECT_EQ(address(near_address(2)), "100.64.0.5") << "link 1, forth";
  EXPECT_EQ(address(far_address(2)), "100.64.0.6");
  EXPECT_EQ(address(near_address(3)), "100.64.0.6") << "and back";
  EXPECT_EQ(address(far_address(3)), "100.64.0.5");
}

TEST(LabLiveLayout, RoutesAreTheLabs) {
  const Plan plan = plan_of(two_routers());
  EXPECT_THAT(live_routes(plan), ElementsAre(ElementsAre(1, 2, 5), ElementsAre(4, 4, 7)));
}

TEST(LabLiveLayout, TheWayThatTheLabTakesIsTheShortestOne) {
  ScenarioText text{
      .routers =
          "routers: {a: {ports: {h: {}, b: {}, c: {}}}, b: {ports: {s: {}, a: {}, c: {}}}, "
          "c: {ports: {a: {}, b: {}}}}",
      .links =
          "links: [{between: [h, a.h]}, {between: [a.b, b.a], delay: 9 ms}, {between: [a.c, c.a], "
          "delay: 1 ms}, {between: [c.b, b.c], delay: 1 ms}, {between: [b.s, s]}]"};
  const auto routes = live_routes(plan_of(text));
  EXPECT_EQ(routes[0][1], 4u) << "a to s: over c";
  EXPECT_EQ(routes[2][1], 6u);
  EXPECT_EQ(routes[1][1], 8u);
}

TEST(LabLiveLayout, CommandsMakeAPairForEveryPortThatHasALink) {
  const LiveLayout layout = live_layout(plan_of(two_routers()), "t-");
  EXPECT_EQ(make_commands(layout),
            "netns add t-wire\n"
            "netns add t-hosts\n"
            "netns add t-router-edge\n"
            "netns add t-router-core\n"
            "link add r0p0 netns t-wire type veth peer name p0 netns t-router-edge\n"
            "link add r0p2 netns t-wire type veth peer name p2 netns t-router-edge\n"
            "link add r1p0 netns t-wire type veth peer name p0 netns t-router-core\n"
            "link add r1p1 netns t-wire type veth peer name p1 netns t-router-core\n"
            "link add h0 netns t-wire type veth peer name h0 netns t-hosts\n"
            "link add h1 netns t-wire type veth peer name h1 netns t-hosts\n"
            "link add h2 netns t-wire type veth peer name h2 netns t-hosts\n");
}

TEST(LabLiveLayout, CommandsBringEachSpaceUp) {
  const LiveLayout layout = live_layout(plan_of(two_routers()), "t-");
  EXPECT_EQ(up_commands(layout, "t-router-edge"),
            "link set lo up\n"
            "link set p0 address 02:02:00:00:00:00 mtu 1500 up\n"
            "link set p2 address 02:02:00:00:00:02 mtu 2000 up\n");
  EXPECT_EQ(up_commands(layout, "t-hosts"),
            "link set lo up\n"
            "link set h0 address 02:01:00:00:00:00 mtu 1500 up\n"
            "link set h1 address 02:01:00:00:00:01 mtu 1500 up\n"
            "link set h2 address 02:01:00:00:00:02 mtu 1500 up\n");
  EXPECT_EQ(up_commands(layout, "t-wire"),
            "link set lo up\n"
            "link set r0p0 mtu 1500 up\n"
            "link set r0p2 mtu 2000 up\n"
            "link set r1p0 mtu 2000 up\n"
            "link set r1p1 mtu 1500 up\n"
            "link set h0 mtu 1500 up\n"
            "link set h1 mtu 1500 up\n"
            "link set h2 mtu 1500 up\n");
}

TEST(LabLiveLayout, APortIsFoundAmongTheInterfaces) {
  const LiveLayout layout = live_layout(plan_of(two_routers()), "t-");
  EXPECT_EQ(layout.interfaces[layout.interface_of({true, 0, 2})].wire, "r0p2");
  EXPECT_EQ(layout.interfaces[layout.interface_of({false, 2, 0})].wire, "h2");
}

}  // namespace
}  // namespace surety::lab
