// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/signal_exchange.h"

#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using namespace test;
using frames::operator+;

constexpr PortIndex kLan = 0, kWan = 1;

// A router whose queue towards `wan` is congested from the third packet on.
std::string yaml(const std::string& role, const std::string& mode) {
  return "version: 1\nrouter: {name: r, id: 192.0.2.1, role: " + role + R"(}
ports:
  lan: {addresses: [10.1.0.254/16], trust: )" +
         (role == "core" ? "core" : "customer") + R"(}
  wan: {addresses: [10.2.0.254/16], trust: core, queues: up}
queues:
  up:
    - name: af
      dscp: {in: [AF11], out: [AF12, BE]}
      count: packets
      rio: {average: 1, in: {min: 90, max: 90, pmax: 1}, out: {min: 2, max: 90, pmax: 0.000001}}
services:
  silver: {conditioner: csa, rate: 1 Mbit/s, in_bucket: 10 packets, out_bucket: 1 packets, buffer: 20 packets,
           alpha: {min: 0.1, max: 0.4, step: 0.1, t1: 30 ms, t2: 90 ms}, mark: {in: AF11, out: BE}}
)" + (role == "core" ? "" : "classify: [{match: {port: lan}, service: silver, per: flow}]\n") +
         "signalling: {mode: " + mode + ", key_file: k}\n";
}

struct SignalExchangeTest : testing::Test {
  explicit SignalExchangeTest(const std::string& role = "core", const std::string& mode = "act")
      : d(yaml(role, mode)) {
    d.route("10.1.0.0/16", {ready(kLan)});
    d.route("10.2.0.0/16", {ready(kWan)});
    d.egresses[kWan]->enable_signals(true);
  }
  SignalExchange make(rte_mempool* pool = packet_pool()) {
    return SignalExchange(d.snapshot.config, &d.signal_keys, &d.wall_clock, pool, d.now);
  }
  void congest() { d.receive(copies(24, udp_frame())); }

  DataPlane d;
};

TEST_F(SignalExchangeTest, SendsWhatTheQueuesAskForTowardsTheSource) {
  SignalExchange exchange = make();
  ASSERT_NE(exchange.sender(), nullptr);
  exchange.send(d.egresses, *d.ingress, d.now);
  EXPECT_EQ(d.egresses[kLan]->depth(), 0u);
  congest();
  exchange.send(d.egresses, *d.ingress, d.now);
  const auto sent = exchange.sender()->counters(kWan, 0).sent;
  EXPECT_GT(sent, 0u);
  const auto frames = d.transmit(kLan);
  ASSERT_EQ(frames.size(), sent);
  EXPECT_EQ(frames[0][14 + 9], 1) << "ICMP";
  EXPECT_TRUE(d.egresses[kWan]->signals().empty());
}

TEST_F(SignalExchangeTest, WithoutAPacketItIsLost) {
  SignalExchange exchange = make(nullptr);
  congest();
  exchange.send(d.egresses, *d.ingress, d.now);
  EXPECT_EQ(exchange.sender()->counters(kWan, 0).sent, 0u);
  EXPECT_GT(exchange.sender()->counters(kWan, 0).lost, 0u);
}

TEST_F(SignalExchangeTest, OtherKeysSignFromThenOn) {
  SignalExchange exchange = make();
  const SignalKeys none{{}};
  exchange.use_keys(none, *d.ingress);
  congest();
  exchange.send(d.egresses, *d.ingress, d.now);
  EXPECT_EQ(exchange.sender()->counters(kWan, 0).sent, 0u) << "there is none to sign with";
}

TEST_F(SignalExchangeTest, AloneItSharesNothing) {
  SignalExchange exchange = make();
  EXPECT_FALSE(exchange.share(*d.ingress, d.now));
  EXPECT_FALSE(exchange.waits());
}

struct ObservingExchange : SignalExchangeTest {
  ObservingExchange() : SignalExchangeTest("core", "observe") {}
};
TEST_F(ObservingExchange, CountsWhatItWouldSend) {
  SignalExchange exchange = make();
  congest();
  exchange.send(d.egresses, *d.ingress, d.now);
  EXPECT_GT(exchange.sender()->counters(kWan, 0).sent, 0u);
  EXPECT_EQ(d.egresses[kLan]->depth(), 0u);
  exchange.adopt(Snapshot(configured(yaml("core", "act")), d.snapshot), d.now);
  d.turn(d.now + Contributors::kPace);  // within it nobody is told twice
  congest();
  exchange.send(d.egresses, *d.ingress, d.now);
  EXPECT_GT(d.egresses[kLan]->depth(), 0u);
}

struct BorderExchange : SignalExchangeTest {
  BorderExchange() : SignalExchangeTest("border") {
    d.ingress->share_signals(true);
    first.connect(&to, &from);
    second.connect(&from, &to);
  }
  // That some router beyond `wan` sends towards a customer.
  Octets signal() {
    const config::Config core = configured(
        "version: 1\nrouter: {name: core, id: 192.0.2.2, role: core}\n"
        "ports: {a: {addresses: [10.2.0.1/16], trust: core}}\nsignalling: {mode: act, key_file: k}\n");
    SignalSender sender(core, d.signal_keys, d.now, d.wall_clock.at(d.now));
    CongestionSignal s;
    s.source = parse_address("10.1.0.1").value();
    s.destination = parse_address("10.2.0.1").value();
    Octets packet(kMaxSignalBytes);
    packet.resize(sender.write(s, d.now, d.wall_clock.at(d.now), packet));
    return frames::ethernet(frames::kIpv4, port_mac(kWan)) + packet;
  }

  SignalRing to{"signals-to", kSignalRingSize}, from{"signals-from", kSignalRingSize};
  SignalExchange first = make(), second = make();
};

TEST_F(BorderExchange, ABorderDoesNotSignal) {
  EXPECT_EQ(first.sender(), nullptr);
  congest();
  first.send(d.egresses, *d.ingress, d.now);
  EXPECT_EQ(d.egresses[kLan]->depth(), 0u);
}

TEST_F(BorderExchange, WhatIsBelievedReachesTheOthers) {
  d.receive({signal()}, kWan);
  EXPECT_TRUE(first.share(*d.ingress, d.now));
  EXPECT_FALSE(first.share(*d.ingress, d.now)) << "once";
  EXPECT_TRUE(second.waits());
  EXPECT_FALSE(second.share(*d.ingress, d.now)) << "it is not passed on";
  EXPECT_FALSE(second.waits());
}

TEST_F(BorderExchange, WhatOthersBelievedHoldsFlowsBackHereToo) {
  CongestionSignal s;
  s.source = parse_address("10.1.0.1").value();
  s.destination = parse_address("10.2.0.1").value();
  from.enqueue({&s, 1});
  first.share(*d.ingress, d.now);
  EXPECT_EQ(d.ingress->remote_alphas().size(), 1u);
}

}  // namespace
}  // namespace surety
