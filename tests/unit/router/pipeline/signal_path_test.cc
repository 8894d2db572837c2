// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/signal_path.h"

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using test::DataPlane;
using test::not_ready;
using test::ready;
using State = NextHopEntry::State;

std::string router(const std::string& role) {
  return "version: 1\nrouter: {name: r, id: 1.1.1.1, role: " + role + R"(}
ports:
  lan0: {addresses: [10.1.0.254/16]}
  wan0: {addresses: [10.2.0.254/16], trust: core}
  wan1: {addresses: [10.3.0.254/16], trust: core}
services:
  silver: {conditioner: csa, alpha: {max: 0.4}, rate: 8 Mbit/s, in_bucket: 2 kB, out_bucket: 2 kB, mark: {in: AF11, out: BE}}
)";
}

class SignalPathTest : public testing::Test {
 protected:
  SignalPathTest() {
    d.route("10.1.0.0/16", {ready(0)});
    d.route("2001:db8:1::/48", {ready(0)});
    d.route("10.2.0.0/24", {ready(1)});
    d.route("2001:db8:2::/48", {ready(2)});
  }
  SignalPath find(const std::string& source, const std::string& destination) {
    CongestionSignal s;
    s.source = parse_address(source).value();
    s.destination = parse_address(destination).value();
    return find_signal_path(d.snapshot, d.fib, d.next_hops, s);
  }
  SignalResult result(const std::string& source, const std::string& destination) {
    return find(source, destination).result;
  }

  DataPlane d{router("border")};
};

TEST_F(SignalPathTest, IsTheRouteOfTheDestination) {
  const SignalPath path = find("10.1.0.1", "10.2.0.9");
  EXPECT_EQ(path.result, SignalResult::applied);
  EXPECT_EQ(to_string(path.path), "10.2.0.0/24");
  EXPECT_EQ(path.ports, 1u << 1);
  EXPECT_EQ(path.kind, SignalKind::sample);
}

// Whatever next hop they have: two destinations behind one neighbour are two paths.
TEST_F(SignalPathTest, AWideRouteHasAPathForEachPartOfIt) {
  d.route("0.0.0.0/0", {ready(1)});
  EXPECT_EQ(to_string(find("10.1.0.1", "10.9.1.7").path), "10.9.1.0/24");
  EXPECT_EQ(to_string(find("10.1.0.1", "10.9.2.7").path), "10.9.2.0/24");
  d.route("10.9.2.7/32", {ready(1)});
  EXPECT_EQ(to_string(find("10.1.0.1", "10.9.2.7").path), "10.9.2.7/32");
  EXPECT_EQ(to_string(find("10.1.0.1", "10.9.2.8").path), "10.9.2.0/24");
}

TEST_F(SignalPathTest, Ipv6) {
  const SignalPath path = find("2001:db8:1::1", "2001:db8:2::1");
  EXPECT_EQ(path.result, SignalResult::applied);
  EXPECT_EQ(to_string(path.path), "2001:db8:2::/48");
  EXPECT_EQ(path.ports, 1u << 2);
  EXPECT_EQ(result("2001:db8:1::1", "2001:db8:3::1"), SignalResult::no_path);
  EXPECT_EQ(result("2001:db8:3::1", "2001:db8:2::1"), SignalResult::not_customer);
}

TEST_F(SignalPathTest, EqualCostRoutesAreOnePath) {
  d.route("10.3.0.0/24", {ready(1), not_ready(State::unresolved, 2), ready(1)});
  const SignalPath path = find("10.1.0.1", "10.3.0.1");
  EXPECT_EQ(to_string(path.path), "10.3.0.0/24");
  EXPECT_EQ(path.ports, 1u << 1 | 1u << 2);
}

TEST_F(SignalPathTest, TheSourceMustBeACustomers) {
  EXPECT_EQ(result("10.2.0.1", "10.2.0.9"), SignalResult::not_customer) << "behind a core port";
  EXPECT_EQ(result("10.9.0.1", "10.2.0.9"), SignalResult::not_customer) << "behind none";
  d.route_to("10.1.0.254/32", {kNextHopLocal, 1});
  EXPECT_EQ(result("10.1.0.254", "10.2.0.9"), SignalResult::not_customer) << "the router itself";
  d.route("10.1.7.0/24", {not_ready(State::glean, 0)});
  EXPECT_EQ(result("10.1.7.1", "10.2.0.9"), SignalResult::applied) << "its neighbour need not be known";
}

TEST_F(SignalPathTest, ThePathMustLeadSomewhere) {
  EXPECT_EQ(result("10.1.0.1", "10.9.0.1"), SignalResult::no_path);
  d.route_to("10.2.4.0/24", {kNextHopBlackhole, 1});
  EXPECT_EQ(result("10.1.0.1", "10.2.4.1"), SignalResult::no_path);
  d.route_to("10.2.5.0/24", {kNextHopLocal, 1});
  EXPECT_EQ(result("10.1.0.1", "10.2.5.1"), SignalResult::no_path);
  d.route("10.2.6.0/24", {not_ready(State::no_route, 1)});
  EXPECT_EQ(result("10.1.0.1", "10.2.6.1"), SignalResult::no_path) << "its port is down";
}

TEST(SignalPath, ACoreRouterHasNoFlows) {
  DataPlane d(router("core"));
  EXPECT_EQ(find_signal_path(d.snapshot, d.fib, d.next_hops, {}).result, SignalResult::not_border);
}

TEST(SignalPath, WithoutACsaServiceThereIsNoDomain) {
  DataPlane d("version: 1\nports: {lan0: {addresses: [10.1.0.254/16]}}\n");
  d.route("10.0.0.0/8", {ready(0)});
  CongestionSignal s;
  s.source = s.destination = parse_address("10.1.0.1").value();
  EXPECT_EQ(find_signal_path(d.snapshot, d.fib, d.next_hops, s).result, SignalResult::no_domain);
}

TEST(SignalPath, DomainsThatAReloadHasRetiredAreNotConcerned) {
  CsaDomain domain{.name = "a", .port = 0, .class_index = 0, .params = {}};
  const Snapshot s(test::configured("version: 1\nports: {lan0: {addresses: [10.1.0.254/16]}}\n"));
  EXPECT_TRUE(concerns(s, domain, 0));
  domain.retired = true;
  EXPECT_FALSE(concerns(s, domain, 0));
}

}  // namespace
}  // namespace surety
