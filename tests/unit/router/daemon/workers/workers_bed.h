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
  // The law of counters.h over all workers.
  void expect_law() {
    Reading all;
    for (auto& w : workers_) merge(all, w->read_here());
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
