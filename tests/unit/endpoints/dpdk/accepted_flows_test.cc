// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/accepted_flows.h"

#include <gtest/gtest.h>

#include "tests/unit/endpoints/endpoint_pair.h"

namespace surety::endpoints {
namespace {

using namespace std::chrono_literals;

const IpAddress kSink = IpAddress::v4(10, 0, 0, 2);

// A UDP flow at the sink of p1 that has received `packets` of 1000 bytes.
FlowSample sample(std::uint16_t remote_port, std::uint64_t packets, Time at) {
  FlowSample s;
  s.port = 1;
  s.transport = Transport::udp;
  s.tuple = {kSink, IpAddress::v4(10, 0, 0, 1), 5001, remote_port};
  s.state = FlowState::open;
  s.at = at;
  s.reading.received_packets = packets;
  s.reading.received_bytes = 1000 * packets;
  s.reading.payload_bytes = 900 * packets;
  s.reading.lost_packets = packets / 100;
  return s;
}

Snapshot snapshot(std::vector<FlowSample> accepted) {
  Snapshot s;
  s.accepted = std::move(accepted);
  return s;
}

class AcceptedFlowsTest : public testing::Test {
 protected:
  config::Endpoints config_ = test::parsed(R"(
sinks: [{port: p1, listen: [udp 5001, tcp 5001]}]
senders: [{name: a, port: p0, protocol: udp, rate: 1 Mbit/s, to: "10.0.0.2:5001"}]
)");
  SenderFlow sender_{0, 0, 0, Transport::udp, {IpAddress::v4(10, 0, 0, 1), kSink, 49152, 5001}, {}, 1};
  AcceptedFlows flows_{config_, std::span(&sender_, 1)};
  void take(std::vector<FlowSample> accepted) { flows_.take(snapshot(std::move(accepted))); }
};

TEST_F(AcceptedFlowsTest, EverySinkIsThereFromTheBeginning) {
  const auto sinks = flows_.sinks();
  ASSERT_EQ(sinks.size(), 2u);
  EXPECT_EQ(sinks[0].protocol, "tcp");
  EXPECT_EQ(sinks[1].protocol, "udp");
  EXPECT_EQ(sinks[1].port, "p1");
  EXPECT_EQ(sinks[1].received_packets, 0u);
}

TEST_F(AcceptedFlowsTest, TellsOurSenderWhatArrived) {
  EXPECT_EQ(flows_.receiver_of(0), nullptr);
  take({sample(49152, 100, Time(1s))});
  ASSERT_NE(flows_.receiver_of(0), nullptr);
  EXPECT_EQ(flows_.receiver_of(0)->received_packets, 100u);
  take({});
  ASSERT_NE(flows_.receiver_of(0), nullptr) << "a sender stays to the end, and so does what is known of it";
  EXPECT_EQ(flows_.receiver_of(0)->received_packets, 100u);
  EXPECT_TRUE(flows_.results().empty());
  EXPECT_EQ(flows_.sinks()[1].flows[static_cast<std::size_t>(FlowState::closed)], 1u);
}

TEST_F(AcceptedFlowsTest, MeasuresOthersOverWholeSeconds) {
  take({sample(7, 50, Time(1s))});  // began at some time before
  take({sample(7, 150, Time(2s))});
  take({sample(7, 250, Time(3s))});
  take({sample(7, 260, Time(4s))});  // ended at some time within
  take({sample(7, 260, Time(5s))});
  const auto results = flows_.results();
  ASSERT_EQ(results.size(), 1u);
  const FlowResult& r = results[0];
  EXPECT_EQ(r.seconds, 2);
  EXPECT_EQ(r.throughput, Rate::bytes_per_second(100'000));
  EXPECT_EQ(r.goodput, Rate::bytes_per_second(90'000));
  EXPECT_EQ(r.received, 260u) << "counters have it all";
  EXPECT_EQ(r.lost, 2u);
  EXPECT_EQ(r.identity.name, "p1 udp 5001");
  EXPECT_EQ(r.identity.protocol, "udp");
  EXPECT_EQ(r.identity.peer, "10.0.0.1:7");
  EXPECT_EQ(r.state, "open");
}

TEST_F(AcceptedFlowsTest, AShortOneIsMeasuredAsWellAsCanBe) {
  take({sample(7, 50, Time(1s))});
  take({sample(7, 100, Time(2s))});
  EXPECT_EQ(flows_.results()[0].throughput, Rate::bytes_per_second(50'000));
}

TEST_F(AcceptedFlowsTest, SumsKeepWhatIsOver) {
  take({sample(7, 100, Time(1s)), sample(8, 200, Time(1s))});
  take({sample(8, 500, Time(2s))});
  const SinkReading s = flows_.sinks()[1];
  EXPECT_EQ(s.received_packets, 600u);
  EXPECT_EQ(s.received_bytes, 600'000u);
  EXPECT_EQ(s.payload_bytes, 540'000u);
  EXPECT_EQ(s.lost_packets, 6u);
  EXPECT_EQ(s.flows[static_cast<std::size_t>(FlowState::open)], 1u);
  EXPECT_EQ(s.delivered, 300'000);
  const auto results = flows_.results();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].state, "closed");
  EXPECT_EQ(results[0].received, 100u);
}

TEST_F(AcceptedFlowsTest, OfTcpWhatIsInOrderIsDelivered) {
  const auto tcp = [](std::uint64_t packets, std::uint64_t in_order, Time at) {
    FlowSample s = sample(7, packets, at);
    s.transport = Transport::tcp;
    s.reading.carried_bytes = 900 * packets;
    s.reading.payload_bytes = 900 * in_order;
    return s;
  };
  take({tcp(100, 100, Time(1s))});
  take({tcp(200, 150, Time(2s))});
  EXPECT_EQ(flows_.sinks()[0].delivered, 50'000);
  const FlowResult r = flows_.results()[0];
  EXPECT_EQ(r.throughput, Rate::bytes_per_second(100'000));
  EXPECT_EQ(r.delivered, Rate::bytes_per_second(50'000));
}

TEST_F(AcceptedFlowsTest, AnotherFlowOnTheSamePortsBeginsAnew) {
  take({sample(7, 100, Time(1s))});
  take({sample(7, 30, Time(2s))});
  EXPECT_EQ(flows_.sinks()[1].received_packets, 130u);
  const auto results = flows_.results();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].received, 100u);
  EXPECT_EQ(results[1].received, 30u);
}

TEST_F(AcceptedFlowsTest, ResultsAreBounded) {
  for (std::uint16_t port = 1; port <= AcceptedFlows::kKeptResults + 10; ++port)
    take({sample(port, 1, Time(std::chrono::seconds(port)))});
  EXPECT_EQ(flows_.results().size(), AcceptedFlows::kKeptResults);
  EXPECT_EQ(flows_.sinks()[1].received_packets, AcceptedFlows::kKeptResults + 10);
}

}  // namespace
}  // namespace surety::endpoints
