#include "router/dpdk/bench_router.h"

#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

namespace surety {

namespace {

using namespace literals;

constexpr unsigned kMbufs = 8191;

config::Service csa_service() {
  config::Service s;
  s.name = "silver";
  config::Csa csa;
  csa.bucket = {TokenBucketParams(10_Mbps, Depth::packets(10)), TokenBucketParams(10_Mbps, Depth::packets(1)),
                100};
  s.conditioner = csa;
  s.mark_in = 10;  // AF11
  s.mark_out = 0;
  s.committed = 10_Mbps;
  return s;
}

config::QueueSet uplink() {
  config::QueueSet set;
  set.name = "uplink";
  config::QueueClass control, voice, assured;
  control.scheduling.name = "control";
  control.scheduling.strict = true;
  control.in = {48, 56};
  voice.scheduling.name = "voice";
  voice.scheduling.strict = true;
  voice.scheduling.cap = 2_Mbps;
  voice.in = {46};
  assured.scheduling.name = "assured";
  assured.scheduling.queue = {200,
                              RioParams{0.002, {70, 120, Probability(0.01)}, {10, 60, Probability(0.2)}}};
  assured.in = {10};
  assured.out = {12, 14, 0};
  set.classes = {control, voice, assured};
  set.by_dscp.fill({2, Precedence::out});
  set.by_dscp[48] = set.by_dscp[56] = {0, Precedence::in};
  set.by_dscp[46] = {1, Precedence::in};
  set.by_dscp[10] = {2, Precedence::in};
  return set;
}

config::Aggregate ard() {
  config::Aggregate a;
  a.name = "uplink-tcp";
  a.port = 1;
  a.class_index = 2;
  a.marker.tpr_max = 100_Gbps;
  a.out_dscp = 12;
  return a;
}

}  // namespace

config::Config bench_config(const std::string& path, std::uint32_t flows) {
  config::Config c;
  c.router.name = "bench";
  c.ports.resize(2);
  for (std::size_t p = 0; p < 2; ++p) {
    c.ports[p].name = p == 0 ? "in" : "out";
    c.ports[p].device.kind = config::Device::Kind::null;
    if (p == 0) c.ports[p].device.name = kFeedDevice;
    c.ports[p].trust = config::Port::Trust::core;
  }
  // Room, and so an index, of the size the flows need: nothing may be refused, nothing be roomier than a
  // user's.
  c.flow_table.capacity = flows + flows / 8 + 64;
  c.flow_table.idle_timeout = std::chrono::hours(1);
  if (path == "forward") return c;
  c.ports[0].trust = config::Port::Trust::customer;
  c.services.push_back(csa_service());
  config::Rule rule;
  rule.match.port = 0;
  rule.per = config::Rule::Per::flow;
  c.rules.push_back(rule);
  if (path == "csa") return c;
  c.queues.push_back(uplink());
  c.ports[1].queues = 0;
  c.ports[1].shaper.rate = 100_Gbps;
  c.ports[1].shaper.burst = 1_MB;
  c.aggregates.push_back(ard());
  return c;
}

BenchBed::BenchBed()
    : pool_(rte_pktmbuf_pool_create("bench", kMbufs, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
                                    static_cast<int>(rte_socket_id()))),
      forwarding_(kBenchRoutes + 16, 1) {
  if (!pool_)
    throw std::runtime_error(
        "no memory for packet buffers; reserve hugepages: `echo 512 > /proc/sys/vm/nr_hugepages`");
  const config::Config c = bench_config("forward", 1);
  for (std::size_t p = 0; p < 2; ++p)
    ports_.push_back(std::make_unique<DpdkPort>(c.ports[p], p, pool_.get()));
  add_routes();
}

BenchBed::~BenchBed() {
  if (callback_ != nullptr) rte_eth_remove_rx_callback(ports_[0]->id(), 0, callback_);
}

void BenchBed::add_routes() {
  constexpr std::uint32_t kFirst = kNextHopLocal + 1, kHops = 16;
  for (std::uint32_t h = 0; h < kHops; ++h) {
    NextHopEntry entry;
    entry.destination = {{2, 0, 0, 0, 1, static_cast<std::uint8_t>(h)}};
    entry.port = 1;
    entry.state = NextHopEntry::State::ready;
    forwarding_.set_next_hop(kFirst + h, entry);
  }
  for (std::uint32_t i = 0; i < kBenchRoutes; ++i) {
    const std::uint32_t v4 = bench_route4(i);
    config::Prefix p;
    for (std::size_t b = 0; b < 4; ++b) p.address.bytes[b] = static_cast<std::uint8_t>(v4 >> (24 - 8 * b));
    p.length = 24;
    const RouteTarget target{kFirst + i % kHops, 1};
    bool ok = forwarding_.set_route(p, target);
    p.address.bytes = bench_route6(i);
    p.address.v6 = true;
    p.length = 48;
    ok = forwarding_.set_route(p, target) && ok;
    if (!ok) throw std::runtime_error("no room for the benchmark's routes");
  }
}

void BenchBed::feed(std::uint32_t flows, bool v6) {
  if (callback_ != nullptr) rte_eth_remove_rx_callback(ports_[0]->id(), 0, callback_);
  feed_ = std::make_unique<BenchFeed>(BenchTraffic{flows, v6, ports_[0]->mac(), kBenchRoutes});
  callback_ = rte_eth_add_rx_callback(ports_[0]->id(), 0, BenchFeed::callback, feed_.get());
  if (callback_ == nullptr) throw std::runtime_error("this DPDK has no receive callbacks");
}

}  // namespace surety
