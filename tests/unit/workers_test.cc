// Several workers of one router, turned by hand on one thread: what they hand to each other arrives, once and
// in order, and everything is counted once.
#include <deque>
#include <map>

#include "tests/unit/workers_bed.h"

namespace surety {
namespace {

using namespace test;
using frames::operator+;

constexpr const char* kYaml = R"(
version: 1
router: {name: several, id: 192.0.2.1}
ports:
  lan: {device: null, addresses: [10.1.0.254/16], trust: customer}
  up: {device: null, addresses: [10.2.0.254/16], trust: core}
  down: {device: null, addresses: [10.3.0.254/16], trust: core}
services:
  silver: {conditioner: token-bucket, rate: 1 Gbit/s, bucket: 10 MB, mark: {in: AF11, out: AF12}}
classify:
  - {match: {port: lan}, service: silver, per: flow}
flow_table: {capacity: 4096}
)";

// What a device receives and has sent.
struct Frames {
  std::deque<Octets> in;
  std::vector<Octets> out;

  static std::uint16_t on_receive(std::uint16_t, std::uint16_t, rte_mbuf** packets, std::uint16_t n,
                                  std::uint16_t, void* user) {
    auto& self = *static_cast<Frames*>(user);
    std::uint16_t given = 0;
    for (std::uint16_t i = 0; i < n; ++i) {
      rte_pktmbuf_free(packets[i]);
      if (self.in.empty()) continue;
      packets[given++] = to_mbuf(self.in.front());
      self.in.pop_front();
    }
    return given;
  }
  static std::uint16_t on_transmit(std::uint16_t, std::uint16_t, rte_mbuf** packets, std::uint16_t n,
                                   void* user) {
    auto& self = *static_cast<Frames*>(user);
    for (std::uint16_t i = 0; i < n; ++i) {
      const auto* p = rte_pktmbuf_mtod(packets[i], const std::uint8_t*);
      self.out.emplace_back(p, p + packets[i]->data_len);
    }
    return n;
  }
};

WorkerOptions at_start() {
  WorkerOptions options;
  options.start = kStart;
  return options;
}

class Workers : public testing::Test {
 protected:
  static constexpr std::size_t kPorts = 3;

  explicit Workers(std::size_t workers = 2) : bed_(kYaml, workers, at_start(), kPorts) {
    for (std::size_t p = 0; p < kPorts; ++p) {
      bed_.taps[p]->on_receive(Frames::on_receive, &ports_[p]);
      bed_.taps[p]->on_transmit(Frames::on_transmit, &ports_[p]);
    }
  }
  // Turns of all workers, one after the other, until nothing moves.
  void run() {
    for (int quiet = 0; quiet < 3; ++quiet) {
      now_ += std::chrono::microseconds(10);
      for (auto& w : workers_)
        if (w->turn(now_) > 0) quiet = 0;
      if (!ports_[0].in.empty()) quiet = 0;
    }
  }
  // The law of counters.h over all workers.
  void expect_law() {
    Reading all;
    for (auto& w : workers_) merge(all, w->read_here());
    std::uint64_t forwarded = 0, enqueued = 0;
    for (const PortReading& p : all.ports) {
      const PortCounters& c = p.counters;
      std::uint64_t in = c.forwarded + c.held + c.signals, out = c.tx_packets + p.queued;
      for (const std::uint64_t n : c.punted) in += n;
      for (std::size_t r = 0; r < kDropReasons; ++r)
        (kDropReasonInfo[r].stage == "aggregate" || kDropReasonInfo[r].stage == "queue" ? out : in) +=
            c.drops[r];
      EXPECT_EQ(c.rx_packets, in) << p.name;
      EXPECT_EQ(c.enqueued, out) << p.name;
      forwarded += c.forwarded + c.originated;
      enqueued += c.enqueued + c.given - c.taken;
    }
    EXPECT_EQ(forwarded, enqueued);
  }
  std::uint64_t drops(DropReason r) const {
    std::uint64_t n = 0;
    for (const auto& w : workers_) n += w->drops(r);
    return n;
  }

  std::array<Frames, kPorts> ports_;  // outlive their taps
  WorkersBed bed_;
  std::vector<std::unique_ptr<Worker>>& workers_ = bed_.workers;
  Time now_ = kStart;
};

// The n-th packet of a flow says so in its source port and payload.
Octets numbered(std::uint16_t flow, std::uint32_t number) {
  Udp u;
  u.from = flow;
  u.destination = flow % 2 == 0 ? 0x0a020001 : 0x0a030001;
  Octets frame = udp_frame(u);
  std::memcpy(frame.data() + 14 + 28, &number, 4);
  return frame;
}

TEST_F(Workers, EveryPacketArrivesOnceAndInOrder) {
  constexpr std::uint16_t kFlows = 37;
  constexpr std::uint32_t kPackets = 200;
  for (std::uint32_t n = 0; n < kPackets; ++n)
    for (std::uint16_t f = 0; f < kFlows; ++f) ports_[0].in.push_back(numbered(f, n));
  run();
  std::map<std::uint16_t, std::uint32_t> next;
  for (const std::size_t p : {std::size_t{1}, std::size_t{2}})
    for (const Octets& frame : ports_[p].out) {
      const auto flow = static_cast<std::uint16_t>(frame[14 + 20] << 8 | frame[14 + 21]);
      std::uint32_t number = 0;
      std::memcpy(&number, frame.data() + 14 + 28, 4);
      EXPECT_EQ(flow % 2, p - 1);
      EXPECT_EQ(number, next[flow]++) << "flow " << flow;
    }
  EXPECT_EQ(next.size(), kFlows);
  for (const auto& [flow, n] : next) EXPECT_EQ(n, kPackets) << flow;
  expect_law();
}

TEST_F(Workers, BothHaveFlows) {
  for (std::uint16_t f = 0; f < 64; ++f) ports_[0].in.push_back(numbered(f, 0));
  run();
  const auto first = workers_[0]->ingress().flows().size(), second = workers_[1]->ingress().flows().size();
  EXPECT_EQ(first + second, 64u);
  EXPECT_GT(first, 16u);
  EXPECT_GT(second, 16u);
}

TEST_F(Workers, AFlowHasOneContract) {
  for (std::uint32_t n = 0; n < 100; ++n) ports_[0].in.push_back(numbered(4, n));
  run();
  Reading all;
  for (auto& w : workers_) merge(all, w->read_here());
  EXPECT_EQ(all.services[0].counters.contracts, 1u);
  EXPECT_EQ(all.services[0].counters.packets[index(Precedence::in)], 100u);
}

// A worker that does not come round: what the other one dispatches to it is dropped by name, not waited for.
TEST_F(Workers, AFullRingDropsByName) {
  for (std::uint32_t n = 0; n < 200; ++n)
    for (std::uint16_t f = 0; f < 64; ++f) ports_[0].in.push_back(numbered(f, n));
  while (!ports_[0].in.empty()) workers_[0]->turn(now_ += std::chrono::microseconds(10));
  EXPECT_GT(drops(DropReason::dispatch_full), 0u);
  EXPECT_GT(drops(DropReason::handover_full), 0u) << "port `up` belongs to the other one";
  expect_law();
  run();
  expect_law();
  EXPECT_EQ(ports_[1].out.size() + ports_[2].out.size() + drops(DropReason::dispatch_full) +
                drops(DropReason::handover_full) + drops(DropReason::overflow),
            200u * 64u);
}

TEST_F(Workers, WhatTheKernelSendsLeavesByItsPort) {
  const Octets arp = frames::ethernet(frames::kArp, frames::kBroadcast) + frames::zeros(46);
  const std::array<rte_mbuf*, 2> own{to_mbuf(arp), to_mbuf(udp_frame())};
  ASSERT_EQ(bed_.fabric->injected(1)->give(own), 2u);
  run();
  ASSERT_EQ(ports_[1].out.size(), 2u);
  EXPECT_EQ(ports_[1].out[0], arp) << "as it is";
  EXPECT_EQ(ports_[1].out[1], udp_frame());
  expect_law();
}

struct ThreeWorkers : Workers {
  ThreeWorkers() : Workers(3) {}
};
TEST_F(ThreeWorkers, TheSame) {
  for (std::uint32_t n = 0; n < 100; ++n)
    for (std::uint16_t f = 0; f < 64; ++f) ports_[0].in.push_back(numbered(f, n));
  run();
  EXPECT_EQ(ports_[1].out.size() + ports_[2].out.size(), 6400u);
  for (const auto& w : workers_) EXPECT_GT(w->ingress().flows().size(), 8u);
  expect_law();
}

}  // namespace
}  // namespace surety
