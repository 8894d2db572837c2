// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/sampler.h"

#include <gtest/gtest.h>

#include "tests/unit/endpoints/endpoint_pair.h"

namespace surety::endpoints {
namespace {

using namespace std::chrono_literals;

constexpr Time kZero(10s);

struct Bed {
  explicit Bed(const std::string& senders)
      : config(test::parsed("sinks: [{port: p1, listen: [tcp 5001, udp 5001]}]\nsenders:\n" + senders)),
        traffic(config, test::kMacs, 1024, Time{}),
        ends(traffic),
        ports(2),
        sampler(traffic, ends, ports, exchange) {
    test::introduce(traffic, kZero);
    traffic.start(kZero);
    sampler.begin(kZero);
  }
  // Runs the traffic, but no sampler.
  void run(Time from, Time to) {
    test::run(traffic, from, to, 1ms, [this](Time now) { ends.look(1, now); });
  }
  config::Endpoints config;
  Traffic traffic;
  EndWatch ends;
  std::vector<PortSample> ports;
  SnapshotExchange exchange;
  Sampler sampler;
};

constexpr const char* kUdp =
    "  - {name: a, port: p0, protocol: udp, rate: 800 kbit/s, packet: 1000 B, to: \"10.0.0.2:5001\"}\n";

TEST(Sampler, SweepsOnceASecondInSmallSteps) {
  Bed b("  - {name: a, port: p0, protocol: udp, rate: 8 kbit/s, to: \"10.0.0.2:5001\", flows: 130}\n");
  b.run(kZero, kZero + 500ms);
  b.sampler.step(kZero + 999ms);
  EXPECT_EQ(b.exchange.to_read(), nullptr);
  // 64 + 64 + 2 senders; one port with 130 places, one with 1024 more; the publication.
  const std::size_t steps = 3 + 3 + 16 + 1;
  std::size_t n = 0;
  for (; b.exchange.to_read() == nullptr && n < 1000; ++n) b.sampler.step(kZero + 1s + Duration(n));
  EXPECT_EQ(n, steps);
  const Snapshot* s = b.exchange.to_read();
  ASSERT_NE(s, nullptr);
  EXPECT_EQ(s->zero, kZero);
  EXPECT_EQ(s->at, kZero + 1s);
  EXPECT_FALSE(s->final);
  ASSERT_EQ(s->senders.size(), 130u);
  EXPECT_EQ(s->senders[129].at, kZero + 1s + Duration(2));
  EXPECT_EQ(s->senders[129].tuple, b.traffic.flows()[129].tuple);
  EXPECT_EQ(s->accepted.size(), 130u);
}

TEST(Sampler, WaitsForItsBuffer) {
  Bed b(kUdp);
  while (b.exchange.to_read() == nullptr) b.sampler.step(kZero + 1s);
  for (int i = 0; i < 100; ++i) b.sampler.step(kZero + 2s);
  EXPECT_EQ(b.exchange.to_read()->at, kZero + 1s);
  b.exchange.give_back();
  while (b.exchange.to_read() == nullptr) b.sampler.step(kZero + 2500ms);
  EXPECT_EQ(b.exchange.to_read()->at, kZero + 2500ms);
  b.exchange.give_back();
  b.sampler.step(kZero + 2999ms);
  EXPECT_EQ(b.exchange.to_read(), nullptr);
  while (b.exchange.to_read() == nullptr) b.sampler.step(kZero + 3s);  // back on the second
  EXPECT_EQ(b.exchange.to_read()->at, kZero + 3s);
}

TEST(Sampler, ReadsBothEndsAndPorts) {
  Bed b(kUdp);
  b.ports[0].tx_packets = 42;
  b.run(kZero, kZero + 995ms);
  while (b.exchange.to_read() == nullptr) b.sampler.step(kZero + 1s);
  const Snapshot& s = *b.exchange.to_read();
  ASSERT_EQ(s.senders.size(), 1u);
  ASSERT_EQ(s.accepted.size(), 1u);
  EXPECT_EQ(s.senders[0].reading.sent_packets, 100u);
  EXPECT_EQ(s.senders[0].state, FlowState::open);
  EXPECT_EQ(s.senders[0].ended, kNever);
  EXPECT_EQ(s.accepted[0].reading.received_packets, 100u);
  EXPECT_EQ(s.accepted[0].port, 1u);
  EXPECT_EQ(s.accepted[0].tuple.remote_port, s.senders[0].tuple.local_port);
  EXPECT_EQ(s.ports[0].tx_packets, 42u);
}

TEST(Sampler, TheLastSweepComesAtOnceAndIsDatedAtTheEnd) {
  Bed b(kUdp);
  b.run(kZero, kZero + 200ms);
  while (!b.sampler.finish(kZero + 1500ms, kZero + 200ms)) {
  }
  const Snapshot* s = b.exchange.to_read();
  ASSERT_NE(s, nullptr);
  EXPECT_TRUE(s->final);
  EXPECT_EQ(s->at, kZero + 200ms);
  b.exchange.give_back();
  EXPECT_TRUE(b.sampler.finish(kZero + 5s, kZero + 200ms));
  EXPECT_EQ(b.exchange.to_read(), nullptr) << "there is but one last sweep";
}

TEST(Sampler, FinishesASweepThatIsUnderWayFirst) {
  Bed b(kUdp);
  b.sampler.step(kZero + 1s);
  while (b.exchange.to_read() == nullptr) EXPECT_FALSE(b.sampler.finish(kZero + 1100ms, kZero + 1050ms));
  EXPECT_FALSE(b.exchange.to_read()->final);
  b.exchange.give_back();
  while (!b.sampler.finish(kZero + 1200ms, kZero + 1050ms)) {
  }
  EXPECT_TRUE(b.exchange.to_read()->final);
}

TEST(EndWatch, NotesWhenAFlowBeganToClose) {
  Bed b(
      "  - {name: a, port: p0, protocol: udp, rate: 800 kbit/s, packet: 1000 B, to: \"10.0.0.2:5001\", stop: "
      "1 s}\n");
  b.run(kZero, kZero + 900ms);
  EXPECT_EQ(b.ends.ended(0), kNever);
  EXPECT_FALSE(b.ends.all_over());
  b.run(kZero + 901ms, kZero + 5s);
  EXPECT_TRUE(b.ends.all_over());
  EXPECT_GE(b.ends.ended(0), kZero + 990ms);
  EXPECT_LE(b.ends.ended(0), kZero + 1s);
}

TEST(EndWatch, LooksAtAFewFlowsAtATime) {
  Bed b("  - {name: a, port: p0, protocol: newreno, to: \"10.0.0.2:5001\", flows: 3, bytes: 1 kB}\n");
  test::run(b.traffic, kZero, kZero + 10s, 10ms, [](Time) {});
  b.ends.look(2, kZero + 11s);
  EXPECT_FALSE(b.ends.all_over());
  b.ends.look(1, kZero + 12s);
  EXPECT_TRUE(b.ends.all_over());
}

TEST(EndWatch, EndsWhatStillRuns) {
  Bed b(kUdp);
  b.ends.end_all(kZero + 3s);
  EXPECT_EQ(b.ends.ended(0), kZero + 3s);
  EXPECT_FALSE(b.ends.all_over());
}

}  // namespace
}  // namespace surety::endpoints
