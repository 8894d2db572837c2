// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/observer.h"

#include <gtest/gtest.h>

#include "tests/unit/endpoints/endpoint_pair.h"

namespace surety::endpoints {
namespace {

using namespace std::chrono_literals;

constexpr Time kZero(100s);

class ObserverTest : public testing::Test {
 protected:
  ObserverTest() {
    for (std::uint32_t i = 0; i < 2; ++i) {
      SenderFlow f;
      f.number = i;
      f.transport = Transport::udp;
      f.tuple = {IpAddress::v4(10, 0, 0, 1), IpAddress::v4(10, 0, 0, 2),
                 static_cast<std::uint16_t>(49152 + i), 5001};
      f.schedule = {kZero + i * 1s, kNever};
      flows_.push_back(f);
    }
  }
  static FlowSample sample(std::uint64_t sent, std::uint64_t received, Time at) {
    FlowSample s;
    s.transport = Transport::udp;
    s.state = FlowState::open;
    s.at = at;
    s.reading.sent_packets = sent;
    s.reading.sent_bytes = 1000 * sent;
    s.reading.received_packets = received;
    s.reading.received_bytes = 1000 * received;
    return s;
  }
  static Snapshot snapshot(Duration since_zero, FlowSample a, FlowSample b, bool final = false) {
    Snapshot s;
    s.zero = kZero;
    s.at = kZero + since_zero;
    s.final = final;
    s.senders = {a, b};
    s.ports.resize(2);
    return s;
  }

  config::Endpoints config_ = test::parsed(R"(
senders: [{name: cam, port: p0, protocol: udp, rate: 800 kbit/s, target: 800 kbit/s, to: "10.0.0.2:5001", flows: 2}]
)");
  std::vector<SenderFlow> flows_;
};

TEST_F(ObserverTest, BeforeTheFirstSnapshotItKnowsTheLines) {
  Observer o(config_, flows_);
  const EndpointReading r = o.reading();
  ASSERT_EQ(r.senders.size(), 1u);
  EXPECT_EQ(r.senders[0].name, "cam");
  EXPECT_EQ(r.senders[0].target, 200'000);
  EXPECT_EQ(r.ports.size(), 2u);
  const Report report = o.report(0.04);
  ASSERT_EQ(report.flows.size(), 2u);
  EXPECT_EQ(report.flows[0].seconds, 0);
  EXPECT_FALSE(report.kept());
}

TEST_F(ObserverTest, MeasuresTheStretchThatItWasAskedTo) {
  config_.measure = config::TimeRange{1s, 3s};
  Observer o(config_, flows_);
  FlowSample idle;
  std::uint64_t received = 0;
  for (int second = 1; second <= 5; ++second) {
    received += second == 2 || second == 3 ? 100 : 40;
    const Time at = kZero + second * 1s;
    idle.at = at;
    o.take(snapshot(second * 1s, sample(100u * static_cast<unsigned>(second), received, at), idle));
  }
  const FlowResult r = o.report(0.04).flows[0];
  EXPECT_DOUBLE_EQ(r.seconds, 2);
  EXPECT_EQ(r.throughput, Rate::bits_per_second(800'000));
  EXPECT_EQ(r.sent, 500u) << "counters go on";
  EXPECT_TRUE(r.kept(0));
}

TEST_F(ObserverTest, SumsTheFlowsOfALine) {
  Observer o(config_, flows_);
  FlowSample idle;
  idle.at = kZero + 1s;
  o.take(snapshot(1s, sample(100, 90, kZero + 1s), idle));
  SenderReading s = o.reading().senders[0];
  EXPECT_EQ(s.flows, (FlowCounts{1, 0, 1, 0, 0}));
  EXPECT_EQ(s.sent_packets, 100u);
  EXPECT_EQ(s.received_packets, 90u);
  EXPECT_EQ(s.delivered, 90'000);
  o.take(snapshot(2s, sample(200, 190, kZero + 2s), sample(100, 50, kZero + 2s)));
  s = o.reading().senders[0];
  EXPECT_EQ(s.sent_packets, 300u);
  EXPECT_EQ(s.received_bytes, 240'000u);
  EXPECT_EQ(s.delivered, 150'000);
  EXPECT_DOUBLE_EQ(*s.respect.value(), (0.95 + 0.5) / 2);
  EXPECT_EQ(o.reading().elapsed, 2);
}

TEST_F(ObserverTest, CountsTheGuaranteesThatTheNetworkBreaks) {
  Observer o(config_, flows_);
  const auto broken = [&](int second, Rate g, bool b_is_broken) {
    FlowSample a = sample(100, 90, kZero + second * 1s);
    a.reading.g = g;
    FlowSample b = a;
    b.reading.guarantee_broken = b_is_broken;
    o.take(snapshot(second * 1s, a, b));
    return o.reading().senders[0].broken_guarantees;
  };
  EXPECT_EQ(broken(2, Rate{}, false), std::nullopt) << "nothing is guaranteed";
  EXPECT_EQ(broken(3, Rate::bits_per_second(800'000), false), 0);
  EXPECT_EQ(broken(4, Rate::bits_per_second(800'000), true), 1);
}

TEST_F(ObserverTest, AFlowIsMeasuredUntilItBeginsToClose) {
  Observer o(config_, flows_);
  o.take(snapshot(1s, sample(100, 100, kZero + 1s), {}));
  FlowSample closing = sample(150, 120, kZero + 2s);
  closing.state = FlowState::closing;
  closing.ended = kZero + 1500ms;
  o.take(snapshot(2s, closing, {}));
  EXPECT_EQ(o.report(0.04).flows[0].seconds, 1) << "what is on its way is waited for";
  FlowSample closed = sample(150, 150, kZero + 3s);
  closed.state = FlowState::closed;
  closed.ended = kZero + 1500ms;
  o.take(snapshot(3s, closed, {}));
  o.take(snapshot(4s, closed, {}));
  const FlowResult r = o.report(0.04).flows[0];
  EXPECT_EQ(r.seconds, 1.5);
  EXPECT_EQ(r.throughput, Rate::bytes_per_second(100'000));
  EXPECT_EQ(r.state, "closed");
  EXPECT_EQ(o.reading().senders[0].delivered, 0);
}

TEST_F(ObserverTest, TheLastSnapshotEndsWhatNeverClosed) {
  Observer o(config_, flows_);
  FlowSample a = sample(200, 200, kZero + 4s), b = sample(100, 100, kZero + 4s);
  a.ended = b.ended = kZero + 2s;
  o.take(snapshot(2s, a, b, true));
  const Report r = o.report(0.04);
  EXPECT_EQ(r.flows[0].seconds, 2);
  EXPECT_EQ(r.flows[1].seconds, 1) << "it began a second later";
  EXPECT_TRUE(r.kept());
  EXPECT_EQ(r.seconds, 2);
  EXPECT_EQ(r.flows[0].identity.name, "cam#1");
  EXPECT_EQ(r.flows[1].identity.name, "cam#2");
  EXPECT_EQ(r.flows[0].identity.peer, "10.0.0.2:5001");
}

TEST_F(ObserverTest, AFlowThatEndedBeforeItsStartHasNoTime) {
  Observer o(config_, flows_);
  FlowSample b = sample(0, 0, kZero + 2s);
  b.ended = kZero + 500ms;
  o.take(snapshot(500ms, sample(50, 50, kZero + 2s), b, true));
  EXPECT_EQ(o.report(0.04).flows[1].seconds, 0);
}

TEST_F(ObserverTest, FailuresAreKnown) {
  Observer o(config_, flows_);
  FlowSample a = sample(1, 0, kZero + 1s);
  EXPECT_FALSE(o.any_failed());
  a.state = FlowState::closed;
  a.failure = Failure::no_answer;
  o.take(snapshot(1s, a, {}));
  EXPECT_TRUE(o.any_failed());
  EXPECT_EQ(o.reading().senders[0].failed, 1u);
  EXPECT_EQ(o.report(0.04).flows[0].failure, "no_answer");
}

TEST_F(ObserverTest, OurOwnSinkKnowsBest) {
  config_ = test::parsed(R"(
sinks: [{port: p1, listen: [udp 5001]}]
senders: [{name: cam, port: p0, protocol: udp, rate: 800 kbit/s, to: "10.0.0.2:5001", flows: 2}]
)");
  Observer o(config_, flows_);
  Snapshot s = snapshot(1s, sample(100, 10, kZero + 1s), {});
  FlowSample sink = sample(0, 99, kZero + 1s);
  sink.port = 1;
  sink.tuple = {flows_[0].tuple.remote, flows_[0].tuple.local, 5001, 49152};
  s.accepted = {sink};
  o.take(s);
  EXPECT_EQ(o.reading().senders[0].received_packets, 99u);
  EXPECT_EQ(o.report(0.04).flows[0].throughput, Rate::bytes_per_second(99'000));
  EXPECT_TRUE(o.report(0.04).accepted.empty());
}

// A TCP sink has 99 packets, and of the 90 kB in them 50 in order.
TEST_F(ObserverTest, OfTcpWhatIsInOrderCounts) {
  config_ = test::parsed(R"(
sinks: [{port: p1, listen: [tcp 5001]}]
senders: [{name: cam, port: p0, protocol: gtcp, target: 600 kbit/s, to: "10.0.0.2:5001", flows: 2}]
)");
  for (SenderFlow& f : flows_) f.transport = Transport::tcp;
  Observer o(config_, flows_);
  Snapshot s = snapshot(1s, sample(100, 0, kZero + 1s), {});
  FlowSample sink = sample(0, 99, kZero + 1s);
  sink.transport = Transport::tcp;
  sink.reading.carried_bytes = 99 * 900;
  sink.reading.payload_bytes = 50 * 900;
  sink.port = 1;
  sink.tuple = {flows_[0].tuple.remote, flows_[0].tuple.local, 5001, 49152};
  s.accepted = {sink};
  o.take(s);
  const FlowResult r = o.report(0.04).flows[0];
  EXPECT_EQ(r.throughput, Rate::bytes_per_second(99'000));
  EXPECT_EQ(r.delivered, Rate::bytes_per_second(50'000));
  EXPECT_FALSE(r.kept(0.04)) << "600 kbit/s have arrived, and 400 are delivered";
  EXPECT_EQ(o.reading().senders[0].delivered, 50'000);
  EXPECT_NEAR(r.respect.value(), 50 / 75., 1e-9);
}

TEST_F(ObserverTest, RefusalsOfAllPortsAreInTheReport) {
  Observer o(config_, flows_);
  Snapshot s = snapshot(1s, {}, {});
  s.ports[0].refusals[static_cast<std::size_t>(Refusal::checksum)] = 2;
  s.ports[1].refusals[static_cast<std::size_t>(Refusal::checksum)] = 3;
  s.ports[1].tx_packets = 7;
  o.take(s);
  EXPECT_EQ(o.report(0.04).refusals[static_cast<std::size_t>(Refusal::checksum)], 5u);
  EXPECT_EQ(o.reading().ports[1].name, "p1");
  EXPECT_EQ(o.reading().ports[1].tx_packets, 7u);
}

}  // namespace
}  // namespace surety::endpoints
