// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/kernel_differences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace surety {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct KernelDifferencesTest : testing::Test {
  RouteEvent encap(const char* to) {
    return {.to = parse_prefix(to).value(), .unsupported = Unsupported::encapsulation};
  }
  std::vector<std::string> lines;
  EventLog log{[] { return EventTime{}; },
               [this](const StampedEvent& e) {
                 lines.push_back(std::string(name(e.event.kind)) + ": " + e.event.text);
               }};
  KernelDifferences differences{log};
};

TEST_F(KernelDifferencesTest, ARouteIsToldOnceWhileItExists) {
  RouteEvent route = encap("192.0.2.0/24");
  for (int i = 0; i < 3; ++i) differences.on(route);
  EXPECT_THAT(lines,
              ElementsAre(HasSubstr("unsupported_route: kernel route 192.0.2.0/24 metric 0 encapsulates")));
  route.action = EventAction::remove;
  differences.on(route);
  route.action = EventAction::add;
  differences.on(route);
  EXPECT_EQ(lines.size(), 2U);
  differences.on(RouteEvent{.to = route.to});
  differences.on(route);
  EXPECT_EQ(lines.size(), 3U) << "replaced by one that the data plane can do, and back";
}

TEST_F(KernelDifferencesTest, OtherRoutesAndRulesAreNoEvent) {
  differences.on(RouteEvent{.to = parse_prefix("192.0.2.0/24").value()});
  differences.on(RuleEvent{.text = "0: from all lookup 255"});
  EXPECT_TRUE(lines.empty());
}

TEST_F(KernelDifferencesTest, ARuleIsToldOnceInEachFamily) {
  RuleEvent rule{.followed = false, .table = 100, .text = "7: from all lookup 100"};
  differences.on(rule);
  differences.on(rule);
  rule.v6 = true;
  differences.on(rule);
  EXPECT_THAT(lines,
              ElementsAre(HasSubstr("unfollowed_rule: kernel rule 7: from all lookup 100 is not followed"),
                          HasSubstr("kernel rule -6 7: from all lookup 100")));
}

}  // namespace
}  // namespace surety
