// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/capture/capture_server.h"

#include <gmock/gmock.h>

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using testing::HasSubstr;

struct CaptureRequestTest : testing::Test {
  std::shared_ptr<const Interfaces> interfaces = std::make_shared<const Interfaces>(
      test::configured("version: 1\nrouter: {name: r}\nports: {lan: {}, wan: {trust: core}}\n"
                       "interfaces:\n  acme: {port: lan, vlan: 107, customer: a}\n  acme2: {port: lan, vlan: "
                       "108, customer: a}\n"
                       "  homes: {port: lan, vlan: 200, inner_vlan: 1-3}\n"
                       "services: {s: {conditioner: none}}\nplans: {p: {service: s}}\n"
                       "subscribers: {bob: {plan: p, port: lan, prefixes: 10.1.0.7}}\n"));
  CaptureRequest parse(const std::string& text) { return parse_capture(text, interfaces); }
  std::vector<std::string> named(const std::string& text) {
    std::vector<std::string> names;
    const auto r = parse(text);
    for (std::size_t i = 0; i < r.wish.interfaces.size(); ++i)
      if (r.wish.interfaces[i] != 0) names.push_back(interfaces->name(static_cast<InterfaceIndex>(i)));
    return names;
  }
  std::string refusal(const std::string& text) {
    try {
      parse(text);
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "";
  }
};

TEST_F(CaptureRequestTest, IsOfAPortAnInterfaceOrACustomer) {
  EXPECT_EQ(parse("wan").wish.ports, 2u);
  EXPECT_EQ(parse("wan").what, "port wan");
  EXPECT_EQ(named("acme"), (std::vector<std::string>{"acme"}));
  EXPECT_EQ(named("a"), (std::vector<std::string>{"acme", "acme2"}));
  EXPECT_EQ(parse("a").what, "customer a");
  EXPECT_EQ(parse("bob").wish.hosts, std::vector{interfaces->of_definition(3)}) << "known by its address";
  EXPECT_EQ(named("homes.2"), (std::vector<std::string>{"homes.2"}));
  EXPECT_THAT(named("homes"), testing::IsSupersetOf({"homes.1", "homes.2", "homes.3"}));
}

TEST_F(CaptureRequestTest, IsOfDropsAllOrSome) {
  const auto all = parse("drops"), some = parse("drops reason=early,forced reason=police");
  EXPECT_TRUE(all.wish.drops && all.wish.reasons.all());
  EXPECT_EQ(some.wish.reasons.count(), 3u);
  EXPECT_TRUE(some.wish.reasons[static_cast<std::size_t>(DropReason::forced)]);
}

TEST_F(CaptureRequestTest, APortOfTcpIsNoPlace) {
  for (const char* field : {"port=5001", "vlan=107"})
    EXPECT_THAT(refusal(std::string("lan ") + field), HasSubstr("are `source_port` and `destination_port`"));
  EXPECT_EQ(parse("lan protocol=tcp destination_port=5001").wish.match.destination_port.from, 5001);
}

TEST_F(CaptureRequestTest, HasLimitsAndAMatch) {
  const auto r = parse("lan source=10.1.0.0/16 protocol=udp rate=5 snap=64 seconds=3");
  EXPECT_EQ(r.wish.rate, 5u);
  EXPECT_EQ(r.wish.snap, 64u);
  EXPECT_EQ(r.time, std::chrono::seconds(3));
  EXPECT_FALSE(r.wish.matches_all);
  EXPECT_EQ(r.wish.match.protocol, 17);
  EXPECT_TRUE(parse("lan").wish.matches_all);
  EXPECT_EQ(parse("lan").wish.rate, 10'000u);
}

TEST_F(CaptureRequestTest, SaysWhatCannotBe) {
  EXPECT_THAT(refusal(""), HasSubstr("say what to capture"));
  EXPECT_THAT(refusal("lab"), HasSubstr("called lab"));
  EXPECT_THAT(refusal("drops reason=late"), HasSubstr("no drop reason is called late"));
  EXPECT_THAT(refusal("drops reason="), HasSubstr("no drop reason is called"));
  EXPECT_THAT(refusal("lan reason=early"), HasSubstr("capture `drops`"));
  EXPECT_THAT(refusal("lan rate=0"), HasSubstr("from 1 to"));
  EXPECT_THAT(refusal("lan snap=70000"), HasSubstr("from 14 to"));
  EXPECT_THAT(refusal("lan source=10.1"), HasSubstr("10.1"));
  EXPECT_THAT(refusal("lan protocol=icmp source_port=1"), HasSubstr("no ports"));
}

}  // namespace
}  // namespace surety
