// Several workers of one router, turned by hand on one thread, between ports that are the test's.
#pragma once

#include <rte_ethdev.h>

#include <deque>

#include "router/dpdk/worker.h"
#include "router/reading_merge.h"
#include "tests/unit/data_plane.h"

namespace surety::test {

using frames::operator+;

// A null device whose packets are the test's.
class TestPort {
 public:
  TestPort(const config::Port& config, std::size_t index) {
    config::Port feed = config;
    feed.device.name = kFeedDevice;
    feed.mac = config::Mac{};
    const auto mac = port_mac(index);
    std::copy(mac.begin(), mac.end(), feed.mac->bytes.begin());
    device = std::make_unique<DpdkPort>(feed, index, packet_pool());
    device->start();
    receive_ = rte_eth_add_rx_callback(device->id(), 0, &TestPort::on_receive, this);
    transmit_ = rte_eth_add_tx_callback(device->id(), 0, &TestPort::on_transmit, this);
  }
  void close() {
    rte_eth_remove_rx_callback(device->id(), 0, receive_);
    rte_eth_remove_tx_callback(device->id(), 0, transmit_);
  }

  std::unique_ptr<DpdkPort> device;
  std::deque<Octets> in;
  std::vector<Octets> out;

 private:
  static std::uint16_t on_receive(std::uint16_t, std::uint16_t, rte_mbuf** packets, std::uint16_t n,
                                  std::uint16_t, void* user) {
    auto& self = *static_cast<TestPort*>(user);
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
    auto& self = *static_cast<TestPort*>(user);
    for (std::uint16_t i = 0; i < n; ++i) {
      const auto* p = rte_pktmbuf_mtod(packets[i], const std::uint8_t*);
      self.out.emplace_back(p, p + packets[i]->data_len);
    }
    return n;
  }
  const rte_eth_rxtx_callback *receive_, *transmit_;
};

class WorkersBed : public testing::Test {
 protected:
  static constexpr std::uint64_t kDispatchSeed = 0x5eed;
  // `start`: none: workers that run by the clock.
  WorkersBed(std::size_t workers, std::string_view yaml, std::optional<Time> start = kStart)
      : snapshot_(configured(yaml)), next_hops_(64) {
    const auto& config = snapshot_.config;
    std::vector<unsigned> cores;
    for (unsigned w = 0; w < workers; ++w) cores.push_back(w);
    for (std::size_t p = 0; p < config.ports.size(); ++p) {
      taps_.push_back(std::make_unique<TestPort>(config.ports[p], p));
      ports_.push_back(std::move(taps_.back()->device));
    }
    plan_ = plan_work(config, cores, std::vector<PortAbility>(config.ports.size()));
    fabric_ = std::make_unique<Fabric>("workers", plan_);
    route("10.2.0.0/16", 10, 1);
    route("10.3.0.0/16", 11, 2);
    WorkerOptions options;
    options.start = start;
    options.dispatch_seed = kDispatchSeed;
    for (std::size_t w = 0; w < workers; ++w)
      workers_.push_back(std::make_unique<Worker>(
          WorkerEnvironment{snapshot_, ports_, shared_fib(), next_hops_}, plan_, w, fabric_.get(), options));
    for (auto& w : workers_) w->connect(workers_);
  }
  ~WorkersBed() override {
    for (std::size_t p = 0; p < taps_.size(); ++p) {
      taps_[p]->device = std::move(ports_[p]);
      taps_[p]->close();
      ports_[p] = std::move(taps_[p]->device);
    }
    workers_.clear();
    fabric_.reset();
    for (const auto& p : prefixes_) shared_fib().remove(p);
  }
  void route(const std::string& to, std::uint32_t id, PortIndex port) {
    next_hops_.set(id, ready(port));
    prefixes_.push_back(config::parse_prefix(to).value());
    ASSERT_TRUE(shared_fib().add(prefixes_.back(), RouteTarget{id, 1}.encode()));
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

  Snapshot snapshot_;
  NextHopTable next_hops_;
  std::vector<std::unique_ptr<TestPort>> taps_;
  std::vector<std::unique_ptr<DpdkPort>> ports_;
  WorkPlan plan_;
  std::unique_ptr<Fabric> fabric_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<config::Prefix> prefixes_;
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
