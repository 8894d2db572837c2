// SPDX-License-Identifier: BSD-3-Clause
// Several workers of one router, turned by hand on one thread, between ports that are the test's.
#pragma once

#include <deque>

#include "router/operate/observe/reading_merge.h"
#include "tests/unit/router/daemon/workers/null_router.h"

namespace surety::test {

using frames::operator+;

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

inline Reading merged(std::span<const std::unique_ptr<Worker>> workers) {
  Reading all;
  for (const auto& w : workers) merge(all, w->read_here());
  return all;
}

// The law of counters.h over all workers, port by port and in total.
inline void expect_law(const Reading& all) {
  std::uint64_t forwarded = 0, enqueued = 0;
  for (const PortReading& p : all.ports) {
    const PortCounters& c = p.counters;
    std::uint64_t in = c.forwarded + c.held + c.signals - c.fragments, out = c.tx_packets + p.queued;
    for (const std::uint64_t n : c.punted) in += n;
    for (std::size_t r = 0; r < kDropReasons; ++r)
      (kDropReasonInfo[r].stage == "aggregate" || kDropReasonInfo[r].stage == "queue" ? out : in) +=
          c.drops[r];
    EXPECT_EQ(c.rx_packets, in) << p.name;
    EXPECT_EQ(c.enqueued, out) << p.name;
    forwarded += c.forwarded + c.originated;
    enqueued += c.enqueued + c.handed_over - c.taken_over;
  }
  EXPECT_EQ(forwarded, enqueued);
}

// A router whose contracts let the first packets of a burst pass, and hold the others for their tokens.
// `receive`: more keys of the port that packets come by.
inline std::string holding(const std::string& rate, const std::string& receive = "") {
  return R"(
version: 1
router: {name: holds, id: 192.0.2.1}
ports:
  lan: {device: null, addresses: [10.1.0.254/16], trust: customer)" +
         receive + R"(}
  up: {device: null, addresses: [10.2.0.254/16], trust: core, queues: uplink}
  down: {device: null, addresses: [10.3.0.254/16], trust: core, queues: uplink}
queues:
  uplink:
    - name: af
      dscp: {in: [AF11], out: [BE]}
      count: packets
      rio: {in: {min: 200, max: 400, pmax: 0.1}, out: {min: 200, max: 400, pmax: 0.1}}
services:
  silver: {conditioner: csa, alpha: {max: 0.4}, in_bucket: 1 packets, out_bucket: 1 packets, buffer: 20 packets,
           mark: {in: AF11, out: BE}, rate: )" +
         rate + R"(}
classify:
  - {match: {port: lan}, service: silver, per: flow}
flow_table: {capacity: 4096}
)";
}

class WorkersBed : public testing::Test {
 protected:
  static constexpr std::uint64_t kDispatchSeed = 0x5eed;
  // `start`: none: workers that run by the clock.
  WorkersBed(std::size_t workers, const char* yaml, std::optional<Time> start = kStart)
      : router_(yaml, workers, options(start), kMaxPorts) {
    for (std::size_t p = 0; p < router_.taps.size(); ++p) {
      taps_.push_back(std::make_unique<Frames>());
      router_.taps[p]->on_receive(Frames::on_receive, taps_[p].get());
      router_.taps[p]->on_transmit(Frames::on_transmit, taps_[p].get());
    }
  }
  static WorkerOptions options(std::optional<Time> start) {
    WorkerOptions o;
    o.start = start;
    o.dispatch_seed = kDispatchSeed;
    return o;
  }
  // Turns of all workers, one after the other, until nothing moves.
  void run() {
    for (int quiet = 0; quiet < 3; ++quiet) {
      now_ += std::chrono::microseconds(10);
      for (auto& w : workers_)
        if (w->turn(now_) > 0) quiet = 0;
      if (!taps_[0]->in.empty()) quiet = 0;
    }
  }
  Reading reading() { return merged(workers_); }
  void expect_law() { test::expect_law(reading()); }
  std::uint64_t drops(DropReason r) const {
    std::uint64_t n = 0;
    for (const auto& w : workers_) n += w->drops(r);
    return n;
  }

  std::vector<std::unique_ptr<Frames>> taps_;  // outlive the router's taps
  NullRouter router_;
  std::unique_ptr<Fabric>& fabric_ = router_.fabric;
  std::vector<std::unique_ptr<Worker>>& workers_ = router_.workers;
  Time now_ = kStart;
};

// The n-th packet of a flow says so in its source port and payload.
inline Octets numbered(std::uint16_t flow, std::uint32_t number) {
  Udp u;
  u.from = flow;
  u.destination = flow % 2 == 0 ? 0x0a020001 : 0x0a030001;
  Octets frame = udp_frame(u);
  std::memcpy(frame.data() + 14 + 28, &number, 4);
  return frame;
}

}  // namespace surety::test
