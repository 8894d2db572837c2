// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>

#include "tests/unit/lab/scenario/scenario_text.h"

namespace surety::lab {
namespace {

using namespace surety::literals;
using testing::ElementsAre;

// h#1 and h#2 - agg - (one | two) - far - s
ScenarioText square(const std::string& routes) {
  return {.routers =
              "routers: {agg: {ports: {lan: {}, e1: {}, e2: {}, spare: {}}},"
              " one: {ports: {a: {}, b: {}}}, two: {ports: {a: {}, b: {}}},"
              " far: {ports: {e1: {}, e2: {}, lan: {}}}}",
          .hosts = "hosts: [{name: h, times: 2}, s]",
          .links =
              "links: [{between: [h, agg.lan]}, {between: [agg.e1, one.a]}, {between: [agg.e2, two.a]},"
              " {between: [one.b, far.e1]}, {between: [two.b, far.e2]}, {between: [far.lan, s]}]",
          .senders = "senders: []\nroutes: [" + routes + "]"};
}
// The port without a link has its warning in every scenario.
constexpr const char* kSpare = "2:50 warning: port `agg.spare` has no link";

std::vector<RouteChange> routes(const std::string& text) {
  return result_of(square(text)).scenario.value().routes;
}
bool is(const RouteChange& c, Duration at, std::size_t router, std::size_t port, std::size_t host) {
  return c.at == at && c.router == router && c.port == port && c.host == host;
}

TEST(LabRoutes, AreAHostAPortAndATime) {
  const auto all = routes("{to: s, by: agg.e2, at: 6 s}");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(is(all[0], 6s, 0, 2, 2));
}

TEST(LabRoutes, HoldFromTheStartWithoutATime) {
  const auto all = routes("{to: s, by: agg.e2}");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].at, Duration{});
}

TEST(LabRoutes, OfReplicasAreOneEach) {
  const auto all = routes("{to: h, by: far.e2}, {to: h#2, by: far.e1, at: 1 s}");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_TRUE(is(all[0], 0s, 3, 1, 0));
  EXPECT_TRUE(is(all[1], 0s, 3, 1, 1));
  EXPECT_TRUE(is(all[2], 1s, 3, 0, 1));
}

TEST(LabRoutes, StandByTimeAndThenAsWritten) {
  const auto all =
      routes("{to: s, by: agg.e1, at: 5 s}, {to: s, by: agg.e2, at: 2 s}, {to: h#1, by: far.e2, at: 5 s}");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_TRUE(is(all[0], 2s, 0, 2, 2));
  EXPECT_TRUE(is(all[1], 5s, 0, 1, 2));
  EXPECT_TRUE(is(all[2], 5s, 3, 1, 0));
}

TEST(LabRoutes, MayLeadToTheHostItself) {
  EXPECT_TRUE(is(routes("{to: s, by: far.lan}").at(0), 0s, 3, 2, 2));
}

TEST(LabRoutes, RefuseWhatLeadsNowhere) {
  EXPECT_THAT(messages(square("{to: x, by: agg.e2}")),
              ElementsAre(kSpare, "6:15 there is no host `x`; there are: h, s"));
  EXPECT_THAT(messages(square("{to: s, by: agg.e3}")),
              ElementsAre(kSpare, "6:22 there is no port `agg.e3`; did you mean `agg.e1`?"));
  EXPECT_THAT(messages(square("{to: s, by: agg}")),
              ElementsAre(kSpare, "6:22 `agg` is a router: say which port, like `agg.a`"));
  EXPECT_THAT(messages(square("{to: s, by: h}")),
              ElementsAre(kSpare, "6:22 `h` is a host: say by which router's port, like `edge.a`"));
  EXPECT_THAT(messages(square("{to: s, by: agg.spare}")),
              ElementsAre(kSpare, "6:22 `agg.spare` has no link"));
  EXPECT_THAT(messages(square("{to: s, by: agg.lan}")),
              ElementsAre(kSpare, "6:22 `agg.lan` leads to hosts, and `s` is none of them"));
}

TEST(LabRoutes, NeedBothEnds) {
  EXPECT_THAT(messages(square("{at: 1 s}")),
              ElementsAre(kSpare, "6:10 a route needs `to`", "6:10 a route needs `by`"));
  EXPECT_THAT(messages(square("{to: s, by: agg.e2, at: now}")).size(), 2u);
}

TEST(LabRoutes, TellWhenTheyComeTooLate) {
  EXPECT_THAT(messages(square("{to: s, by: agg.e2, at: 10 s}")),
              ElementsAre(kSpare, "6:34 warning: the run is over before this route is taken"));
}

}  // namespace
}  // namespace surety::lab
