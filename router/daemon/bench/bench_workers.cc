// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/bench/bench_workers.h"

#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

#include "router/daemon/bench/bench_router.h"
#include "router/daemon/bench/bench_routes.h"
#include "router/daemon/workers/shared.h"
#include "router/daemon/workers/worker.h"
#include "router/pipeline/snapshot.h"

namespace surety {

using namespace literals;

namespace {

constexpr std::size_t kPairs = 2;
constexpr std::uint64_t kDispatchSeed = 1;
constexpr std::uint32_t kHop = kNextHopsFixed;  // next hop of each pair

struct Case {
  const char* what;
  const char* path;
  std::size_t feeds;                      // ports that receive
  bool one_exit = false;                  // true: all packets leave by the first pair's port
  bool elephant = false;                  // a single flow
  std::optional<std::size_t> dispatch{};  // on; an elephant to this one of two workers
};
constexpr std::array<Case, 8> kCases{{{"independent", "everything", 2},
                                      {"one owner", "everything", 2, true},
                                      {"one port", "everything", 1},
                                      {"one port, dispatched", "everything", 1, false, false, 0},
                                      {"elephant, core", "core", 1, false, true},
                                      {"elephant, edge", "everything", 1, false, true},
                                      {"elephant, dispatched", "everything", 1, false, true, 0},
                                      {"to the other worker", "everything", 1, false, true, 1}}};

// Port 2k is where pair k receives, port 2k+1 where it transmits.
class Bed {
 public:
  Bed() : pool_(make_bench_pool("workers", 65535)), forwarding_(kEdgeRoutes + 16, kPairs) {
    config::Config c = bench_config("forward", 1, kPairs);
    for (auto& port : c.ports) port.device.name.clear();  // receives only the given packets
    for (auto& nic : nics_) nic.set_pool(pool_.get());
    for (std::size_t p = 0; p < c.ports.size(); ++p) {
      ports_.push_back(std::make_unique<DpdkPort>(c.ports[p], p, pool_.get()));
      ports_.back()->start();
    }
    const auto routes = edge_routes(false);
    for (std::uint32_t i = 0; i < routes.size(); ++i)
      if (!forwarding_.set_route(routes[i], RouteTarget{kHop + (i < routes.size() / kPairs ? 0 : 1), 1}))
        throw std::runtime_error("no room for the benchmark's routes");
    for (std::size_t k = 0; k < kPairs; ++k)
      if (rte_eth_add_rx_callback(ports_[2 * k]->id(), 0, receive, &nics_[k]) == nullptr)
        throw std::runtime_error("this DPDK has no receive callbacks");
  }

  // Destinations of pair k's feed are those that pair k forwards, unless all leave by the first.
  void prepare(const Case& c, std::uint32_t flows) {
    const auto routes = edge_routes(false);
    for (std::uint32_t k = 0; k < kPairs; ++k) {
      NextHopEntry hop;
      hop.destination = {{2, 0, 0, 0, 1, static_cast<std::uint8_t>(k)}};
      hop.port = static_cast<std::uint8_t>(c.one_exit ? 1 : 2 * k + 1);
      hop.state = NextHopEntry::State::ready;
      forwarding_.set_next_hop(kHop + k, hop);
      nics_[k].connect(nullptr);
      const std::size_t half = routes.size() / kPairs;
      BenchTraffic traffic{flows, false, ports_[2 * k]->mac(), std::span(routes).subspan(k * half, half), {}};
      if (c.elephant) traffic.first = flow_of(traffic, c.dispatch.value_or(0));
      if (k < c.feeds) nics_[k].connect(std::make_unique<BenchFeed>(traffic));
    }
  }

  WorkerEnvironment environment(const Snapshot& snapshot) const {
    return {snapshot, ports_, forwarding_.fib(), forwarding_.next_hops()};
  }

 private:
  // The first one that is dispatched to `worker` of two.
  static std::uint32_t flow_of(BenchTraffic traffic, std::size_t worker) {
    const Dispatch dispatch(Spread::flow, 2, kDispatchSeed);
    while (dispatch(BenchFeed(traffic).frame(0)) != worker) ++traffic.first;
    return traffic.first;
  }
  // rte_rx_callback_fn; `self` is a pair's nic.
  static std::uint16_t receive(std::uint16_t, std::uint16_t, rte_mbuf** mbufs, std::uint16_t,
                               std::uint16_t room, void* self) {
    return static_cast<BenchNic*>(self)->receive(mbufs, room);
  }

  BenchPool pool_;
  std::vector<std::unique_ptr<DpdkPort>> ports_;
  Forwarding forwarding_;
  std::array<BenchNic, kPairs> nics_;
};

// With two pairs each worker has one; other egress ports are assigned by default, so that adjacent ports have
// different owners. Ports without traffic have a reader, too: a port without one does not exist.
WorkPlan plan(const Case& c, config::Config config, const std::vector<unsigned>& cores) {
  config.ports[0].dispatch = c.dispatch.has_value();
  WorkPlan plan = plan_work(config, cores, std::vector<PortAbility>(config.ports.size()));
  for (std::size_t p = 0; p < plan.ports.size(); ++p) {
    WorkPlan::Port& port = plan.ports[p];
    if (c.feeds > 1) port = {.owner = p / 2 % cores.size(), .readers = {p / 2 % cores.size()}};
    if (p % 2 == 1 || p / 2 >= c.feeds) port.dispatch = false;
  }
  return plan;
}

std::uint64_t transmitted(const std::vector<std::unique_ptr<Worker>>& workers) {
  std::uint64_t n = 0;
  for (const auto& w : workers) {
    const auto reading = w->read();
    if (!reading) throw std::runtime_error("a worker does not answer");
    for (const auto& port : reading->ports) n += port.counters.tx_packets;
  }
  return n;
}

// Packets in a second, after half as long to warm up.
double rate(const Bed& bed, const Case& c, const std::vector<unsigned>& cores, std::uint32_t flows,
            double seconds) {
  using Clock = std::chrono::steady_clock;
  config::Config config = bench_config(c.path, 2 * flows, kPairs);
  if (c.elephant && !config.services.empty()) {  // a contract of its size
    auto& csa = std::get<config::Csa>(config.services[0].conditioner);
    csa.bucket.in = TokenBucketParams(100_Gbps, Depth::packets(1000));
    csa.bucket.out = TokenBucketParams(100_Gbps, Depth::packets(1000));
  }
  const Snapshot snapshot(std::move(config));
  const WorkPlan work = plan(c, snapshot.config, cores);
  const Fabric fabric("bench", work);
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::size_t w = 0; w < cores.size(); ++w) {
    WorkerOptions options;
    options.core = cores[w];
    options.measure_stages = false;
    workers.push_back(std::make_unique<Worker>(bed.environment(snapshot), work, w, &fabric, options));
  }
  for (auto& w : workers) w->connect(workers);
  const auto run = [](void* self) {
    static_cast<Worker*>(self)->run(std::chrono::milliseconds(10));
    return 0;
  };
  for (std::size_t w = 0; w < workers.size(); ++w)
    if (rte_eal_remote_launch(run, workers[w].get(), static_cast<unsigned>(w + 1)) != 0)
      throw std::runtime_error("a worker does not start");
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds / 2));
  const std::uint64_t before = transmitted(workers);
  const auto start = Clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const auto packets = static_cast<double>(transmitted(workers) - before);
  const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
  for (auto& w : workers) w->stop();
  rte_eal_mp_wait_lcore();
  return packets / elapsed;
}

}  // namespace

std::vector<BenchWorkers> measure_workers(const std::vector<unsigned>& cores, std::uint32_t flows,
                                          int repetitions, double seconds) {
  Bed bed;
  std::vector<BenchWorkers> rows;
  for (const Case& c : kCases) {
    const std::uint32_t of_a_pair = c.elephant ? 1 : flows;
    bed.prepare(c, of_a_pair);
    BenchWorkers& row = rows.emplace_back(BenchWorkers{c.what, c.feeds * of_a_pair, {}, {}});
    for (int i = 0; i < repetitions; ++i) {
      row.one.add(rate(bed, c, {cores[0]}, of_a_pair, seconds));
      row.two.add(rate(bed, c, {cores[0], cores[1]}, of_a_pair, seconds));
    }
  }
  return rows;
}

void BenchNic::connect(std::unique_ptr<BenchFeed> feed) {
  feed_ = std::move(feed);
  give_back();
}

std::uint16_t BenchNic::receive(rte_mbuf** mbufs, std::uint16_t room) {
  if (!feed_ || room < ring_.size()) return 0;
  if (!full_) refill();
  if (!full_) return 0;
  for (rte_mbuf* m : ring_) {
    m->data_off = RTE_PKTMBUF_HEADROOM;
    m->nb_segs = 1;
    m->ol_flags = 0;
  }
  std::copy(ring_.begin(), ring_.end(), mbufs);
  const std::uint16_t n = feed_->receive(mbufs, kBurst);
  refill();
  return n;
}

// Prefetches the next buffers while the router works. x86-64-v3 has no PREFETCHW, which every machine with
// DPDK has; without it this would be a prefetch for reading.
[[gnu::target("prfchw")]] void BenchNic::refill() {
  full_ = rte_mempool_get_bulk(pool_, reinterpret_cast<void**>(ring_.data()), kBurst) == 0;
  if (!full_) return;
  for (rte_mbuf* m : ring_) __builtin_prefetch(m, 1);
  for (rte_mbuf* m : ring_)
    __builtin_prefetch(static_cast<std::uint8_t*>(m->buf_addr) + RTE_PKTMBUF_HEADROOM, 1);
}

void BenchNic::give_back() {
  if (full_) rte_mempool_put_bulk(pool_, reinterpret_cast<void**>(ring_.data()), kBurst);
  full_ = false;
}

}  // namespace surety
