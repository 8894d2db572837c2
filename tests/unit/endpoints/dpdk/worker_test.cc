// SPDX-License-Identifier: BSD-3-Clause
// The worker and its port loops on memory ports: needs DPDK's mbufs (eal_main.cc).
#include "endpoints/dpdk/worker.h"

#include <gtest/gtest.h>
#include <rte_mbuf.h>

#include <thread>

#include "endpoints/dpdk/bench_pacing.h"
#include "tests/unit/endpoints/endpoint_pair.h"

namespace surety::endpoints {
namespace {

using namespace std::chrono_literals;

struct FreePool {
  void operator()(rte_mempool* p) const { rte_mempool_free(p); }
};

std::unique_ptr<rte_mempool, FreePool> make_pool(unsigned mbufs) {
  static int n = 0;
  return std::unique_ptr<rte_mempool, FreePool>(rte_pktmbuf_pool_create(
      ("worker" + std::to_string(n++)).c_str(), mbufs, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY));
}

// Takes what it is allowed to and remembers the order; receives nothing.
struct StubbornPort : FramePort {
  std::size_t allowed = 0;
  std::vector<std::vector<std::uint8_t>> taken;
  std::size_t receive(std::span<rte_mbuf*>) override { return 0; }
  std::size_t transmit(std::span<rte_mbuf*> burst) override {
    const std::size_t n = std::min(allowed, burst.size());
    for (std::size_t i = 0; i < n; ++i) {
      const auto* p = rte_pktmbuf_mtod(burst[i], const std::uint8_t*);
      taken.emplace_back(p, p + burst[i]->pkt_len);
      rte_pktmbuf_free(burst[i]);
    }
    allowed -= n;
    return n;
  }
};

constexpr const char* kUdp = R"(
sinks: [{port: p1, listen: [udp 5001]}]
senders: [{name: a, port: p0, protocol: udp, rate: 80 Mbit/s, packet: 1000 B, to: "10.0.0.2:5001"}]
)";

std::uint64_t sent_packets(const Traffic& t) {
  FlowReading r;
  t.engine(t.flows()[0])->read(r);
  return r.sent_packets;
}

TEST(PortLoop, OffersWhatWasNotTakenAgainInOrder) {
  const auto config = test::parsed(kUdp);
  const TscClock clock;
  Traffic traffic(config, test::kMacs, 16, Time{});
  test::introduce(traffic, Time{});
  traffic.start(Time{});
  const auto pool = make_pool(255);
  StubbornPort port;
  PortSample counters;
  {
    PortLoop loop(port, traffic.station(0), pool.get(), clock, counters);
    while (!loop.backlog()) EXPECT_EQ(loop.transmit(), 0u);
    const std::uint64_t built = sent_packets(traffic);
    for (const Time until = clock.now() + 1ms; clock.now() < until;) EXPECT_EQ(loop.transmit(), 0u);
    EXPECT_EQ(sent_packets(traffic), built) << "asked for more while a backlog stood";
    port.allowed = 1;
    EXPECT_EQ(loop.transmit(), 1u);
    port.allowed = 1000;
    while (port.taken.size() < 200) loop.transmit();
  }
  EXPECT_EQ(counters.tx_packets, port.taken.size());
  // The sequence numbers of UDP's payload, behind 14 + 20 + 8 bytes and magic, version and type.
  std::uint32_t expected = 0;
  for (const auto& frame : port.taken) {
    ASSERT_EQ(frame.size(), 1014u);
    ASSERT_EQ(load_be32(frame.data() + 46), expected++);
  }
  EXPECT_EQ(rte_mempool_avail_count(pool.get()), 255u) << "buffers got lost";
}

TEST(PortLoop, WithoutBuffersItWaits) {
  const auto config = test::parsed(kUdp);
  const TscClock clock;
  Traffic traffic(config, test::kMacs, 16, Time{});
  test::introduce(traffic, Time{});
  traffic.start(Time{});
  const auto pool = make_pool(63);  // a burst is 64
  StubbornPort port;
  port.allowed = 1000;
  PortSample counters;
  PortLoop loop(port, traffic.station(0), pool.get(), clock, counters);
  EXPECT_EQ(loop.transmit(), 0u);
  EXPECT_TRUE(port.taken.empty());
}

// A worker on two ports with a cable between them.
struct Bed {
  explicit Bed(const std::string& text, WorkerOptions options)
      : config(test::parsed(text)), pool(make_pool(4095)), traffic(config, test::kMacs, 16, clock.now()) {
    auto a = std::make_unique<MemoryPort>(clock, 1024, Duration{});
    auto b = std::make_unique<MemoryPort>(clock, 1024, Duration{});
    a->connect(*b);
    b->connect(*a);
    ports[0] = std::move(a);
    ports[1] = std::move(b);
    worker.emplace(traffic, clock, ports, pool.get(), exchange, options);
  }
  // Takes snapshots until the worker is done; the last one.
  Snapshot run(Duration stop_after = Duration::max()) {
    std::thread thread([this] { worker->run(); });
    Snapshot last;
    const Time begin = clock.now();
    while (worker->outcome() == Worker::Outcome::running) {
      if (clock.now() - begin > stop_after) worker->stop();
      take(last);
      std::this_thread::yield();
    }
    thread.join();
    take(last);
    return last;
  }
  void take(Snapshot& last) {
    const Snapshot* s = exchange.to_read();
    if (s == nullptr) return;
    last = *s;
    exchange.give_back();
  }

  config::Endpoints config;
  TscClock clock;
  std::unique_ptr<rte_mempool, FreePool> pool;
  std::array<std::unique_ptr<FramePort>, 2> ports;
  Traffic traffic;
  SnapshotExchange exchange;
  std::optional<Worker> worker;
};

TEST(Worker, EndsWhenAllSendersAreDone) {
  WorkerOptions options;
  options.gentle = true;
  Bed b(R"(
sinks: [{port: p1, listen: [tcp 5001]}]
senders: [{name: a, port: p0, protocol: newreno, to: "10.0.0.2:5001", bytes: 1 MB}]
)",
        options);
  const Snapshot s = b.run();
  EXPECT_EQ(b.worker->outcome(), Worker::Outcome::finished);
  EXPECT_TRUE(s.final);
  ASSERT_EQ(s.senders.size(), 1u);
  EXPECT_EQ(s.senders[0].state, FlowState::closed);
  EXPECT_EQ(s.senders[0].failure, Failure::none);
  EXPECT_NE(s.senders[0].ended, kNever);
  EXPECT_EQ(s.senders[0].reading.payload_bytes, 1'000'000u);
  EXPECT_EQ(s.ports[0].tx_packets, s.ports[1].rx_packets);
  EXPECT_EQ(s.ports[1].tx_packets, s.ports[0].rx_packets);
}

TEST(Worker, EndsAtItsDuration) {
  WorkerOptions options;
  options.duration = 50ms;
  Bed b(kUdp, options);
  const Snapshot s = b.run();
  EXPECT_GE(s.at - s.zero, 50ms);
  ASSERT_EQ(s.senders.size(), 1u);
  EXPECT_GE(s.senders[0].state, FlowState::closing);
  EXPECT_GT(s.senders[0].reading.sent_packets, 0u);
  EXPECT_EQ(s.senders[0].ended, s.at);
  ASSERT_EQ(s.accepted.size(), 1u);
  EXPECT_EQ(s.accepted[0].reading.received_packets, s.senders[0].reading.sent_packets)
      << "what was sent before the end still counts";
}

TEST(Worker, StopsInOrder) {
  Bed b(R"(
sinks: [{port: p1, listen: [tcp 5001]}]
senders: [{name: a, port: p0, protocol: newreno, to: "10.0.0.2:5001", window: 20 packets}]
)",
        WorkerOptions{});
  const Snapshot s = b.run(30ms);
  EXPECT_EQ(b.worker->outcome(), Worker::Outcome::finished);
  ASSERT_EQ(s.senders.size(), 1u);
  EXPECT_GE(s.senders[0].state, FlowState::closing);
  EXPECT_EQ(s.senders[0].failure, Failure::none);
}

TEST(Worker, GivesUpWhereNobodyAnswers) {
  WorkerOptions options;
  options.patience = 20ms;
  Bed b(R"(
senders: [{name: a, port: p0, protocol: udp, rate: 1 Mbit/s, to: "10.0.0.77:5001"}]
)",
        options);
  b.run();
  EXPECT_EQ(b.worker->outcome(), Worker::Outcome::unresolved);
  EXPECT_EQ(b.traffic.unresolved(), 0u);
}

TEST(Worker, SinksAloneRunUntilStopped) {
  WorkerOptions options;
  options.gentle = true;
  Bed b("sinks: [{port: p1, listen: [tcp 5001]}]\n", options);
  const Snapshot s = b.run(20ms);
  EXPECT_TRUE(s.final);
  EXPECT_TRUE(s.senders.empty());
}

}  // namespace
}  // namespace surety::endpoints
