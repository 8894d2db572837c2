// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/traffic.h"

#include <gmock/gmock.h>

#include <set>

#include "config/address.h"
#include "tests/unit/endpoints/endpoint_pair.h"

namespace surety::endpoints {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

Traffic plan(const config::Endpoints& c) {
  return Traffic(c, test::kMacs, 16, Time{});
}

std::string refusal(const config::Endpoints& c) {
  try {
    plan(c);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "(none)";
}

TEST(Traffic, EachFlowHasItsOwnPortFromTheDynamicOnes) {
  const auto c = test::parsed(R"(
senders:
  - {name: a, port: p0, protocol: newreno, to: "10.0.0.2:5001", flows: 2}
  - {name: b, port: p0, protocol: reno, to: "10.0.0.2:5001"}
  - {name: c, port: p0, protocol: udp, rate: 1 Mbit/s, to: "10.0.0.2:5001"}
  - {name: d, port: p0, protocol: newreno, to: "10.0.0.2:5002"}
)");
  const Traffic t = plan(c);
  ASSERT_EQ(t.flows().size(), 5u);
  std::vector<std::uint16_t> ports;
  for (const auto& f : t.flows()) ports.push_back(f.tuple.local_port);
  // Others to another port, and of another transport, may begin anew.
  EXPECT_EQ(ports, (std::vector<std::uint16_t>{49152, 49153, 49154, 49152, 49152}));
  EXPECT_EQ(t.flows()[1].line, 0u);
  EXPECT_EQ(t.flows()[1].number, 1u);
  EXPECT_EQ(t.flows()[3].transport, Transport::udp);
  EXPECT_EQ(t.flows()[4].tuple, (Tuple{IpAddress::v4(10, 0, 0, 1), IpAddress::v4(10, 0, 0, 2), 49152, 5002}));
}

TEST(Traffic, BeyondTheDynamicPortsComeTheOthers) {
  const auto c = test::parsed(
      "senders: [{name: a, port: p0, protocol: udp, rate: 1 kbit/s, to: \"10.0.0.2:5001\", flows: 64512}]\n");
  const Traffic t = plan(c);
  std::set<std::uint16_t> ports;
  for (const auto& f : t.flows()) ports.insert(f.tuple.local_port);
  EXPECT_EQ(ports.size(), 64512u);
  EXPECT_EQ(*ports.begin(), 1024);
  EXPECT_EQ(t.flows()[65535 - 49152].tuple.local_port, 65535);
  EXPECT_EQ(t.flows()[65536 - 49152].tuple.local_port, 1024);
}

TEST(Traffic, MoreFlowsThanPortsAreRefused) {
  auto c = test::parsed(
      "senders: [{name: a, port: p0, protocol: udp, rate: 1 kbit/s, to: \"10.0.0.2:5001\", flows: 64512}]\n");
  c.senders.push_back(c.senders[0]);
  c.senders[1].name = "b";
  EXPECT_THAT(refusal(c), HasSubstr("sender b: at most 64512 flows to one address and port"));
}

TEST(Traffic, APeerBehindNoGatewayIsRefused) {
  auto c = test::parsed("senders: [{name: a, port: p0, protocol: newreno, to: \"10.0.0.2:5001\"}]\n");
  c.senders[0].to = *parse_address("192.0.2.1");
  EXPECT_EQ(refusal(c), "sender a: 192.0.2.1 is not on a link of port p0; give the port a `gateway:`");
  c.senders[0].to = *parse_address("2001:db8::1");
  EXPECT_EQ(refusal(c), "sender a: port p0 has no IPv6 address; give it one, or use another port");
}

TEST(Traffic, ASinkThatIsThereTwiceIsRefused) {
  auto c = test::parsed("sinks: [{port: p1, listen: [tcp 5001]}]\n");
  c.sinks.push_back(c.sinks[0]);
  EXPECT_EQ(refusal(c), "sinks: tcp 5001 of port p1 is listed twice; leave one out");
}

TEST(Traffic, StartsAreDrawnFromTheSeed) {
  const auto c = test::parsed(
      "seed: 7\n"
      "senders: [{name: a, port: p0, protocol: newreno, to: \"10.0.0.2:5001\", flows: 100, start: 1 s - 2 s, "
      "stop: 5 s}]\n");
  const Traffic a = plan(c), b = plan(c);
  std::set<Time> starts;
  for (std::size_t i = 0; i < 100; ++i) {
    const Schedule& s = a.flows()[i].schedule;
    EXPECT_GE(s.start, Time(1s));
    EXPECT_LT(s.start, Time(2s));
    EXPECT_EQ(s.stop, Time(5s));
    EXPECT_EQ(s.start, b.flows()[i].schedule.start);
    starts.insert(s.start);
  }
  EXPECT_EQ(starts.size(), 100u);
}

TEST(Traffic, ResolvesThenStartsThenCloses) {
  const auto c = test::parsed(R"(
sinks: [{port: p1, listen: [tcp 5001, dccp 5001, dccp-udp 6511, udp 5001]}]
senders:
  - {name: a, port: p0, protocol: newreno, to: "10.0.0.2:5001", start: 1 s}
  - {name: b, port: p0, protocol: gtfrc, target: 1 Mbit/s, to: "10.0.0.2:5001"}
  - {name: c, port: p0, protocol: gtfrc, target: 1 Mbit/s, to: "10.0.0.2:5001", encapsulation: udp}
  - {name: d, port: p0, protocol: udp, rate: 1 Mbit/s, to: "10.0.0.2:5001", stop: 2 s}
)");
  Traffic t = plan(c);
  EXPECT_EQ(t.unresolved(), 0u);
  t.resolve(Time{});
  test::exchange(t, Time{});
  EXPECT_EQ(t.unresolved(), std::nullopt);
  EXPECT_EQ(t.station(0).host().flows(), 0u);
  test::introduce(t, Time{});

  const Time zero(10s);
  t.start(zero);
  EXPECT_EQ(t.flows()[0].schedule.start, zero + 1s);
  EXPECT_EQ(t.flows()[0].schedule.stop, kNever);
  EXPECT_EQ(t.flows()[3].schedule.stop, zero + 2s);
  test::run(t, zero, zero + 500ms, 1ms, [](Time) {});
  EXPECT_EQ(t.engine(t.flows()[0])->state(), FlowState::idle);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(t.engine(t.flows()[i])->state(), FlowState::open) << i;
  test::run(t, zero + 501ms, zero + 3s, 1ms, [](Time) {});
  EXPECT_EQ(t.engine(t.flows()[0])->state(), FlowState::open);
  EXPECT_EQ(t.station(1).host().flows(), 4u);

  t.close(true, zero + 3s);
  test::run(t, zero + 3s, zero + 6s, 1ms, [](Time) {});
  for (const auto& f : t.flows()) {
    EXPECT_EQ(t.engine(f)->state(), FlowState::closed) << f.line;
    EXPECT_EQ(t.engine(f)->failure(), Failure::none) << f.line;
  }
}

TEST(Traffic, AFlowWithoutRoomHasNoEngine) {
  const auto c = test::parsed("senders: [{name: a, port: p0, protocol: newreno, to: \"10.0.0.2:5001\"}]\n");
  Traffic t = plan(c);
  EXPECT_EQ(t.engine(t.flows()[0]), nullptr);
  t.start(Time{});
  EXPECT_NE(t.engine(t.flows()[0]), nullptr);
}

}  // namespace
}  // namespace surety::endpoints
