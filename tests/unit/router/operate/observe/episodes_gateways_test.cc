// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/episodes.h"

#include <gmock/gmock.h>

#include <set>

#include "config/address.h"

namespace surety {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

struct GatewayBed : testing::Test {
  std::vector<std::string> look(std::vector<Routes::Resolution> unresolved, Duration later = 250ms) {
    written.clear();
    gateways.look(unresolved, now += later);
    return written;
  }

  Time now{};
  std::set<std::pair<InterfaceIndex, IpAddress>> known{};
  std::vector<std::string> written{};
  EventLog log{[] { return EventTime{}; },
               [this](const StampedEvent& e) { written.push_back(e.event.text); }};
  GatewayEvents gateways{log, [](InterfaceIndex i) { return "wan" + std::to_string(i); },
                         [this](InterfaceIndex i, const IpAddress& a) {
                           return known.contains({i, a});
                         }};
  const IpAddress a = parse_address("10.0.0.1").value(), b = parse_address("10.0.0.2").value();
};

TEST_F(GatewayBed, OneThatAnswersSoonIsNoEvent) {
  EXPECT_THAT(look({{a, 1, 0}}), IsEmpty());
  EXPECT_THAT(look({{a, 1, 0}}, 1s), IsEmpty());
  known.insert({1, a});
  EXPECT_THAT(look({}), IsEmpty());
}

TEST_F(GatewayBed, OneThatIsSilentIsToldOnceAndWhenItAnswers) {
  EXPECT_THAT(look({{a, 1, 0}, {b, 1, 0}}), IsEmpty());
  EXPECT_THAT(look({{a, 1, 0}, {b, 1, 0}}, 2s), ElementsAre("gateway 10.0.0.1 by wan1 does not answer",
                                                            "gateway 10.0.0.2 by wan1 does not answer"));
  EXPECT_THAT(look({{a, 1, 0}, {b, 1, 0}}, 10s), IsEmpty());
  known.insert({1, a});
  EXPECT_THAT(look({{b, 1, 0}}), ElementsAre("gateway 10.0.0.1 by wan1 answers again"));
  EXPECT_EQ(log.rows()[2]["fields"],
            Json({{"address", "10.0.0.1"}, {"interface", "wan1"}, {"state", "found"}}));
  EXPECT_EQ(log.rows()[0]["fields"]["state"], "lost");
}

TEST_F(GatewayBed, OneThatNoRouteUsesAnyMoreIsForgotten) {
  look({{a, 1, 0}});
  EXPECT_EQ(look({{a, 1, 0}}, 2s).size(), 1U);
  EXPECT_THAT(look({}), IsEmpty());
  EXPECT_THAT(look({{a, 1, 0}}), IsEmpty());
  EXPECT_EQ(look({{a, 1, 0}}, 2s).size(), 1U) << "from the beginning";
}

}  // namespace
}  // namespace surety
