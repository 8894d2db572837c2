// SPDX-License-Identifier: BSD-3-Clause
// Congestion signals as packets: where they end, where they go on, and what they do.
#include "router/pipeline/signal_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "router/pipeline/ingress.h"
#include "router/pipeline/signals/signal_sender.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using namespace test;
using frames::operator+;
using namespace std::chrono_literals;

constexpr PortIndex kLan = 0, kWan = 1;

std::string border(const std::string& mode, const std::string& role = "border") {
  return "version: 1\nrouter: {name: r, id: 192.0.2.1, role: " + role + R"(}
ports:
  lan: {addresses: [10.1.0.254/16], trust: customer}
  wan: {addresses: [10.2.0.254/16], trust: core, queues: up}
queues:
  up:
    - name: af
      dscp: {in: [AF11], out: [AF12, BE]}
      count: packets
      rio: {average: 1, in: {min: 20, max: 40, pmax: 0.1}, out: {min: 2, max: 30, pmax: 0.1}}
    - {name: other, dscp: [AF41]}
services:
  silver: {conditioner: csa, rate: 1 Mbit/s, in_bucket: 10 packets, out_bucket: 1 packets, buffer: 20 packets,
           alpha: {min: 0.1, max: 0.4, step: 0.1, t1: 30 ms, t2: 90 ms},
           mark: {in: AF11, out: BE}}
classify:
  - {match: {port: lan}, service: silver, per: flow}
signalling: )" +
         (mode == "off" ? "off" : "{mode: " + mode + ", key_file: k}") + "\n";
}

// The packets that a core router makes.
class Core {
 public:
  explicit Core(const DataPlane& d, const SignalKeys& keys)
      : d_(d), sender_(config_, keys, d.now, d.wall_clock.at(d.now)) {}
  // An IP packet in a frame to `port` of the router under test.
  Octets signal(PortIndex port = kWan, const std::string& source = "10.1.0.1",
                const std::string& destination = "10.9.0.1", std::uint8_t dscp = 0) {
    CongestionSignal s;
    s.source = parse_address(source).value();
    s.destination = parse_address(destination).value();
    s.dscp = dscp;
    Octets packet(kMaxSignalBytes);
    packet.resize(sender_.write(s, d_.now, d_.wall_clock.at(d_.now), packet));
    return frames::ethernet(frames::kIpv4, port_mac(port)) + packet;
  }

 private:
  const DataPlane& d_;
  config::Config config_ = configured(
      "version: 1\nrouter: {name: core, id: 192.0.2.2, role: core}\n"
      "ports: {a: {addresses: [10.2.0.1/16], trust: core}}\nsignalling: {mode: act, key_file: k}\n");
  SignalSender sender_;
};

class SignalStageTest : public testing::Test {
 protected:
  explicit SignalStageTest(const std::string& mode = "act", const std::string& role = "border")
      : d(border(mode, role)) {
    d.route("10.1.0.0/16", {ready(kLan)});
    d.route("10.9.0.0/16", {ready(kWan)});
    d.route_to("10.1.0.254/32", {kNextHopLocal, 1});
  }
  ~SignalStageTest() override { d.expect_law(); }
  std::uint64_t count(SignalResult r) { return d.ingress->signals()[static_cast<std::size_t>(r)]; }
  std::uint64_t drops(PortIndex p) { return d.ports[p].drops[static_cast<std::size_t>(DropReason::signal)]; }

  DataPlane d;
  Core core{d, d.signal_keys};
};

TEST_F(SignalStageTest, ASignalForSomebodyBehindACustomerPortEndsHere) {
  d.receive({core.signal()}, kWan);
  EXPECT_EQ(count(SignalResult::applied), 1u);
  EXPECT_EQ(d.ports[kWan].signals, 1u);
  EXPECT_EQ(d.egresses[kLan]->depth(), 0u) << "a customer never sees one";
  ASSERT_EQ(d.ingress->remote_alphas().size(), 1u);
  EXPECT_EQ(d.ingress->remote_alphas()[0].alpha, Ratio::of(0.3));
  EXPECT_EQ(d.ingress->applied_alpha(d.ingress->remote_alphas()[0], d.snapshot), Ratio::of(0.3));
}

TEST_F(SignalStageTest, WhatComesTwiceCountsOnce) {
  const Octets signal = core.signal();
  d.receive({signal, signal, signal}, kWan);
  EXPECT_EQ(count(SignalResult::applied), 1u);
  EXPECT_EQ(count(SignalResult::replayed), 2u);
  EXPECT_EQ(drops(kWan), 2u);
}

TEST_F(SignalStageTest, CustomersDoNotSignal) {
  d.receive({core.signal(kLan)}, kLan);
  EXPECT_EQ(count(SignalResult::from_customer), 1u);
  EXPECT_EQ(drops(kLan), 1u);
  EXPECT_TRUE(d.ingress->remote_alphas().empty());
}

TEST_F(SignalStageTest, OneForSomebodyElseGoesOn) {
  d.receive({core.signal(kWan, "10.9.0.7", "10.1.0.1")}, kWan);
  EXPECT_EQ(d.ports[kWan].signals, 0u);
  EXPECT_EQ(d.transmit(kWan).size(), 1u);
}

TEST_F(SignalStageTest, OneToTheRoutersOwnAddressEndsHere) {
  d.receive({core.signal(kWan, "10.1.0.254", "10.9.0.1")}, kWan);
  EXPECT_EQ(d.ports[kWan].signals, 1u);
}

TEST_F(SignalStageTest, AForgedOneHasNoEffect) {
  const SignalKeys other{{{7, HiddenKey({9, 9, 9})}}};
  Core liar(d, other);
  d.receive({liar.signal()}, kWan);
  EXPECT_EQ(count(SignalResult::forged), 1u);
  EXPECT_EQ(drops(kWan), 1u);
  EXPECT_TRUE(d.ingress->remote_alphas().empty());
}

TEST_F(SignalStageTest, AnOldOneHasNoEffect) {
  const Octets signal = core.signal();
  d.turn(d.now + 11s);
  d.receive({signal}, kWan);
  EXPECT_EQ(count(SignalResult::stale), 1u);
}

TEST_F(SignalStageTest, WhatWasSentBeforeTheStartHasNoEffect) {
  const UnixTime right = d.wall_clock.at(d.now);
  d.wall_clock.set(right - 1s, d.now);
  const Octets before = core.signal();
  d.wall_clock.set(right, d.now);
  d.receive({before}, kWan);
  EXPECT_EQ(count(SignalResult::stale), 1u);
  EXPECT_TRUE(d.ingress->remote_alphas().empty());
}

// The time of day may step either way: signals are refused while the routers' clocks disagree, and believed
// again when they agree.
TEST_F(SignalStageTest, ClockStepsRefuseAndRecover) {
  const UnixTime right = d.wall_clock.at(d.now);
  for (const auto step : {-1h, 1h}) {
    const Octets signal = core.signal();
    d.wall_clock.set(right + step, d.now);
    d.receive({signal}, kWan);
    d.wall_clock.set(right, d.now);
  }
  EXPECT_EQ(count(SignalResult::stale), 2u);
  d.receive({core.signal()}, kWan);
  EXPECT_EQ(count(SignalResult::applied), 1u);
}

// Packets of ICMP type 253 that are not ours are anybody's.
TEST_F(SignalStageTest, OtherIcmpOfThatTypeIsForwarded) {
  Octets icmp(16, 0);
  icmp[0] = 253;
  const Octets frame = frames::ethernet(frames::kIpv4, port_mac(kWan)) +
                       frames::ip4(1, icmp, {0x0a090001, 0x0a010001, 0, 0, 64, {}});
  d.receive({frame}, kWan);
  EXPECT_EQ(d.transmit(kLan).size(), 1u);
  EXPECT_EQ(count(SignalResult::malformed), 0u);
}

TEST_F(SignalStageTest, AmongOtherPacketsOnlySignalsAreTakenOut) {
  const Octets data = udp_frame({.source = 0x0a090001, .destination = 0x0a010001, .port = kWan});
  d.receive({data, core.signal(), data, core.signal(), data}, kWan);
  EXPECT_EQ(count(SignalResult::applied), 2u);
  EXPECT_EQ(d.transmit(kLan).size(), 3u);
}

// A class of packets that congests a queue somewhere says nothing of those of another class.
TEST_F(SignalStageTest, OnlyDomainsOfTheSignalledClassAreConcerned) {
  d.receive({core.signal(kWan, "10.1.0.1", "10.9.0.1", 34)}, kWan);
  EXPECT_EQ(count(SignalResult::no_domain), 1u);
  EXPECT_TRUE(d.ingress->remote_alphas().empty());
}

// Silence for T2 lets alpha rise again: a lost signal, or a dead router, does no lasting harm.
TEST_F(SignalStageTest, AlphaRecoversWithoutSignals) {
  for (int i = 0; i < 4; ++i) {
    d.receive({core.signal()}, kWan);
    d.turn(d.now + 31ms);
  }
  ASSERT_EQ(d.ingress->remote_alphas().at(0).alpha, Ratio::of(0.1));
  d.run_until(d.now + 60s);
  EXPECT_TRUE(d.ingress->remote_alphas().empty());
}

struct Observing : SignalStageTest {
  Observing() : SignalStageTest("observe") {}
};
TEST_F(Observing, EverythingIsComputedAndNothingApplied) {
  d.receive({core.signal()}, kWan);
  EXPECT_EQ(count(SignalResult::observed), 1u);
  ASSERT_EQ(d.ingress->remote_alphas().size(), 1u);
  EXPECT_EQ(d.ingress->remote_alphas()[0].alpha, Ratio::of(0.3)) << "what it would be";
  EXPECT_EQ(d.ingress->applied_alpha(d.ingress->remote_alphas()[0], d.snapshot), Ratio::of(0.4));
}

struct Off : SignalStageTest {
  Off() : SignalStageTest("off") {}
};
TEST_F(Off, NothingReachesACustomerAllTheSame) {
  d.receive({core.signal()}, kWan);
  EXPECT_EQ(count(SignalResult::off), 1u);
  EXPECT_EQ(d.egresses[kLan]->depth(), 0u);
  EXPECT_EQ(drops(kWan), 1u);
}

struct InTheCore : SignalStageTest {
  InTheCore() : SignalStageTest("act", "core") {}
};
TEST_F(InTheCore, AnAuthenticSignalForItsCustomersIsNobodysBusiness) {
  d.receive({core.signal()}, kWan);
  EXPECT_EQ(count(SignalResult::not_border), 1u);
  EXPECT_EQ(drops(kWan), 0u);
}

TEST_F(SignalStageTest, ItsOwnPacketsFindTheirWay) {
  const auto own = [&](std::uint32_t to) {
    Octets ip = frames::ip4(17, frames::udp(1, 2, 40), {0xc0000201, to, 0, 0xc0, 64, {}});
    return to_mbuf(frames::ethernet(0, {}) + ip);
  };
  EXPECT_TRUE(d.ingress->originate(own(0x0a090001), d.now));
  EXPECT_FALSE(d.ingress->originate(own(0x0b000001), d.now)) << "no route";
  const auto sent = d.transmit(kWan);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(Octets(sent[0].begin(), sent[0].begin() + 6), Octets({2, 0, 0, 0, 9, 1})) << "to the next hop";
  EXPECT_EQ(sent[0][12], 0x08);
  EXPECT_EQ(sent[0][14 + 8], 64) << "the first hop does not count";
  EXPECT_TRUE(checksum_right(sent[0]));
  EXPECT_EQ(d.ports[kWan].originated, 1u);
}

TEST_F(SignalStageTest, SharedOnesAreForTheOtherWorkers) {
  std::array<CongestionSignal, 4> shared;
  d.receive({core.signal()}, kWan);
  EXPECT_EQ(d.ingress->take_shared(shared), 0u) << "there are no others";
  d.ingress->share_signals(true);
  d.turn(d.now + 31ms);
  d.receive({core.signal()}, kWan);
  ASSERT_EQ(d.ingress->take_shared(shared), 1u);
  EXPECT_EQ(to_string(shared[0].source), "10.1.0.1");
  d.turn(d.now + 31ms);
  d.ingress->on_shared(shared[0], d.now);
  EXPECT_EQ(d.ingress->remote_alphas().at(0).alpha, Ratio::of(0.1)) << "a third step";
  EXPECT_EQ(count(SignalResult::applied), 2u) << "counted where it came";
}

}  // namespace
}  // namespace surety
