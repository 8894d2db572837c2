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
  Time now{};
  EventLog log{[this] { return EventTime{.now = now += std::chrono::seconds(1)}; },  // within the log's limit
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

TEST_F(KernelDifferencesTest, ARouteForEachSourcePrefixIsToldOfItsOwn) {
  const auto from = [](const char* source) {
    return RouteEvent{.to = parse_prefix("2001:db8::/32").value(),
                      .unsupported = Unsupported::source,
                      .selector = 1,
                      .from = parse_prefix(source).value()};
  };
  differences.on(from("2001:db8:1::/48"));
  differences.on(from("2001:db8:2::/48"));
  RouteEvent gone = from("2001:db8:2::/48");
  gone.action = EventAction::remove;
  differences.on(gone);
  differences.on(from("2001:db8:1::/48"));
  EXPECT_THAT(lines, ElementsAre(HasSubstr("2001:db8::/32 from 2001:db8:1::/48 metric 0 is only for"),
                                 HasSubstr("2001:db8::/32 from 2001:db8:2::/48 metric 0 is only for")));
}

// Beside a route that the data plane can do.
TEST_F(KernelDifferencesTest, AnotherRouteOfItsMetricIsNotItsEnd) {
  RouteEvent other{.to = parse_prefix("192.0.2.0/24").value()};
  for (const auto order : {RouteOrder::last, RouteOrder::first, RouteOrder::dumped}) {
    differences.on(encap("192.0.2.0/24"));
    other.order = order;
    differences.on(other);
  }
  EXPECT_EQ(lines.size(), 1U);
}

// Changes of a table that the kernel has not reported (ENOBUFS).
TEST_F(KernelDifferencesTest, ASynchronisationLeavesWhatIsThere) {
  const auto number = [this](std::size_t i) {
    RouteEvent route = encap("192.0.2.0/24");
    route.metric = static_cast<std::uint32_t>(i);
    return route;
  };
  constexpr std::size_t kMost = Announced<int>::kMost;
  for (std::size_t i = 0; i < kMost; ++i) differences.on(number(i));
  lines.clear();
  differences.on(number(kMost));
  EXPECT_TRUE(lines.empty()) << "no room";
  for (const bool whole : {false, true}) {
    differences.begin_sync();
    differences.on(number(kMost - 1));
    differences.on(number(kMost + 1));
    if (whole) differences.end_sync();
  }
  EXPECT_THAT(lines, ElementsAre(HasSubstr("metric 1025 encapsulates")))
      << "once, also after a failed attempt";
  lines.clear();
  for (std::size_t i = 0; i < 2 * kMost; ++i) differences.on(number(i));
  EXPECT_EQ(lines.size(), kMost - 2) << "the room of those that were gone";
}

TEST_F(KernelDifferencesTest, OtherRoutesAndRulesAreNoEvent) {
  differences.on(RouteEvent{.to = parse_prefix("192.0.2.0/24").value()});
  differences.on(RuleEvent{.text = "0: from all lookup 255"});
  EXPECT_TRUE(lines.empty());
}

// `ip rule del priority 32766`
TEST_F(KernelDifferencesTest, TheRemovalOfARuleThatIsUsedIsToldOnce) {
  RuleEvent gone{.action = EventAction::remove,
                 .preset = true,
                 .followed = false,
                 .table = 254,
                 .text = "32766: from all lookup 254"};
  differences.on(gone);
  for (int i = 0; i < 2; ++i) {
    differences.begin_sync();
    differences.on(gone);
    differences.end_sync();
  }
  EXPECT_THAT(
      lines,
      ElementsAre(HasSubstr("unfollowed_rule: kernel rule 32766: from all lookup 254 has been removed")));
  RuleEvent back = gone;
  back.action = EventAction::add;
  back.followed = true;
  differences.on(back);
  EXPECT_EQ(lines.size(), 1U);
  differences.on(gone);
  EXPECT_EQ(lines.size(), 2U);
  RuleEvent default_table{.action = EventAction::remove, .preset = true, .table = 253};
  RuleEvent other{.action = EventAction::remove, .followed = false, .text = "7: from all lookup 100"};
  differences.on(default_table);
  differences.on(other);
  EXPECT_EQ(lines.size(), 2U);
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
