// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/bench/bench_router.h"

#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "aqm/params.h"
#include "router/daemon/bench/bench_paths.h"
#include "router/daemon/bench/bench_routes.h"

namespace surety {

namespace {

using namespace literals;

constexpr unsigned kMbufs = 8191;
constexpr config::Dscp kOther = 18, kOtherOut = 20;  // the customers' second class
constexpr std::uint32_t kFirstHop = kNextHopsFixed, kHops = 16;

// DSCPs of flows in a core: mostly assured, a third of these out of profile, some voice.
std::vector<config::Dscp> core_dscps() {
  constexpr config::Dscp kAf11 = 10, kAf12 = 12, kBe = 0, kEf = 46;
  std::vector<config::Dscp> v(16, kAf11);
  v[0] = kEf;
  v[1] = v[2] = kAf12;
  v[3] = v[4] = v[5] = kBe;
  return v;
}

// At 30 million packets a second each of 1,000 flows has 12 Mbit/s, within its contract.
config::Service csa_service() {
  constexpr Rate kRate = 100_Mbps;
  config::Service s;
  s.name = "silver";
  config::Csa csa;
  csa.bucket = {TokenBucketParams(kRate, Depth::packets(10)), TokenBucketParams(kRate, Depth::packets(1)),
                100};
  csa.alpha.max = CsaParams().max;  // packets wait for tokens
  s.conditioner = csa;
  s.mark_in = 10;  // AF11
  s.mark_out = 0;
  s.committed = kRate;
  return s;
}

// `roomy`: no drop in a queue that gets 64 packets at once, of any colours.
config::QueueSet uplink(bool roomy) {
  config::QueueSet set;
  set.name = "uplink";
  config::QueueClass control, voice, assured;
  control.scheduling.name = "control";
  control.scheduling.strict = true;
  control.in = {48, 56};
  voice.scheduling.name = "voice";
  voice.scheduling.strict = true;
  voice.scheduling.cap = roomy ? 50_Gbps : 2_Mbps;
  voice.in = {46};
  assured.scheduling.name = "assured";
  const RioParams paper{0.002, {70, 120, Probability(0.01)}, {10, 60, Probability(0.2)}};
  const RioParams wide{0.002, {400, 800, Probability(0.02)}, {200, 400, Probability(0.1)}};
  assured.scheduling.queue =
      roomy ? ActiveQueueParams{1000, wide, kMostBeyond, 500} : ActiveQueueParams{200, paper, 7 * 200, 100};
  assured.in = {10};
  assured.out = {12, 14, 0};
  set.classes = {control, voice, assured};
  set.by_dscp.fill({2, Precedence::out});
  set.by_dscp[48] = set.by_dscp[56] = {0, Precedence::in};
  set.by_dscp[46] = {1, Precedence::in};
  set.by_dscp[10] = {2, Precedence::in};
  return set;
}

config::Aggregate ard(std::size_t port) {
  config::Aggregate a;
  a.name = "uplink-tcp";
  a.port = port;
  a.class_index = 2;
  a.marker.tpr_max = 100_Gbps;
  a.out_dscp = 12;
  return a;
}

config::Port null_port(std::size_t pair, bool fed) {
  config::Port p;
  p.name = (fed ? "in" : "out") + std::to_string(pair);
  p.device.kind = config::Device::Kind::null;
  if (fed) p.device.name = kFeedDevice;
  p.trust = config::Port::Trust::core;
  // A trusted port without an address looks for the answers of DHCP servers.
  p.addresses = {{IpAddress::v4(192, 0, 2, static_cast<std::uint8_t>(2 * pair + fed)), 32}};
  // The feed's sources have no route; a source check is per new flow, which is not measured.
  p.source_check = config::Port::SourceCheck::off;
  return p;
}

void add_flows(config::Config& c, std::size_t port) {
  c.ports[port].trust = config::Port::Trust::customer;
  config::Rule rule;
  rule.match.port = port;
  rule.per = config::Rule::Per::flow;
  c.rules.push_back(rule);
}

void add_queues(config::Port& port) {
  port.queues = 0;
  port.shaper.rate = 100_Gbps;
  port.shaper.burst = 1_MB;
}

// Queues of a customer: data in two classes, one with RIO, which accepts all.
config::QueueSet customer() {
  config::QueueSet set;
  set.name = "customer";
  config::QueueClass assured, other;
  assured.scheduling.name = "assured";
  assured.scheduling.weight = 3;
  assured.scheduling.queue = {1000,
                              RioParams{0.002, {400, 800, Probability(0.02)}, {200, 400, Probability(0.1)}}};
  assured.in = {10};
  assured.out = {12};
  other.scheduling.name = "other";
  other.in = {kOther};
  other.out = {kOtherOut};
  set.classes = {assured, other};
  set.by_dscp.fill({1, Precedence::out});
  set.by_dscp[10] = {0, Precedence::in};
  set.by_dscp[12] = {0, Precedence::out};
  set.by_dscp[kOther] = {1, Precedence::in};
  return set;
}

PortShaperParams shaper(Rate rate) {
  return {.rate = rate, .burst = 1_MB, .overhead = {}};
}

// A service for each of the two classes.
void add_customers(config::Config& c, bool below) {
  c.services[0].mark_out = 12;
  config::Service other = c.services[0];
  other.name = "other";
  other.mark_in = kOther;
  other.mark_out = kOtherOut;
  c.services.push_back(other);
  config::Rule rule = c.rules[0];
  rule.match.dscp = kOther;
  rule.service = 1;
  c.rules.insert(c.rules.begin(), rule);
  if (!below) return;
  for (std::uint32_t g = 0; g < BenchInterfaces::kGroups; ++g)
    c.groups.push_back({.name = "g" + std::to_string(g), .port = 1, .shaper = shaper(80_Gbps)});
  for (std::size_t d = 0; d < c.interfaces.size(); ++d) {
    c.interfaces[d].group = d % BenchInterfaces::kGroups;
    c.interfaces[d].queues = 0;
    c.interfaces[d].shaper = shaper(40_Gbps);
  }
}

void add_hosts(config::Config& c, std::size_t port, std::uint32_t count) {
  const auto routes = edge_routes(false);
  for (std::uint32_t h = 0; h < count; ++h) {
    config::Interface i;
    i.name = "h" + std::to_string(h);
    i.port = port;
    i.prefixes = {routes[h]};
    i.trust = c.ports[port].trust;
    i.source_check = config::Port::SourceCheck::off;
    c.interfaces.push_back(i);
  }
}

void add_interfaces(config::Config& c, std::size_t port, const BenchInterfaces& interfaces) {
  constexpr std::uint8_t kUdp = 17;
  config::FilterEntry permit{.permit = true, .match = {}, .name = "udp"};
  permit.match.protocol = kUdp;
  c.filters.push_back({"from-customers", {permit}});
  if (interfaces.by_address) return add_hosts(c, port, interfaces.count);
  for (std::uint32_t first = 0; first < interfaces.count; first += interfaces.per_tag) {
    config::Interface i;
    i.name = "t" + std::to_string(interfaces.outer(first));
    i.port = port;
    i.vlan = static_cast<std::uint16_t>(interfaces.outer(first));
    i.first_inner = 1;
    i.last_inner = static_cast<std::uint16_t>(std::min(interfaces.count - first, interfaces.per_tag));
    i.trust = c.ports[port].trust;
    i.source_check = config::Port::SourceCheck::off;
    i.filter_in = 0;
    c.interfaces.push_back(i);
  }
}

}  // namespace

std::shared_ptr<const Forwarding> BenchBed::by_interfaces(const Snapshot& snapshot,
                                                          const BenchInterfaces& interfaces) {
  std::weak_ptr<const Forwarding>& made = by_interfaces_[interfaces];
  if (auto there = made.lock()) return there;
  auto forwarding = std::make_shared<Forwarding>(max_routes(false), 1);
  for (std::uint32_t i = 0; i < interfaces.count; ++i) {
    const bool host = interfaces.by_address;
    const InterfaceIndex whole = snapshot.interfaces->of_definition(host ? i : i / interfaces.per_tag);
    NextHopEntry entry{.port = 1, .state = NextHopEntry::State::ready};
    entry.destination = {{2, 0, 0, 0, static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i)}};
    entry.interface = static_cast<InterfaceIndex>(whole + (host ? 0 : interfaces.inner(i)));
    entry.tags = (*snapshot.interfaces)[entry.interface].tags;
    forwarding->set_next_hop(kFirstHop + i, entry);
  }
  const auto routes = edge_routes(false);
  for (std::uint32_t r = 0; r < routes.size(); ++r)
    if (!forwarding->set_route(routes[r], RouteTarget{kFirstHop + r % interfaces.count, 1}))
      throw std::runtime_error("no room for the benchmark's routes");
  made = forwarding;
  return forwarding;
}

std::shared_ptr<const Forwarding> BenchBed::by_ports() {
  if (auto there = by_ports_.lock()) return there;
  auto forwarding = std::make_shared<Forwarding>(max_routes(false), 1);
  for (std::uint32_t p = 1; p < ports_.size(); ++p) {
    NextHopEntry entry{.port = static_cast<std::uint8_t>(p), .state = NextHopEntry::State::ready};
    entry.destination = {{2, 0, 0, 0, 1, static_cast<std::uint8_t>(p)}};
    forwarding->set_next_hop(kFirstHop + p, entry);
  }
  const auto exits = static_cast<std::uint32_t>(ports_.size() - 1);
  for (const bool v6 : {false, true}) {
    const auto routes = edge_routes(v6);
    for (std::uint32_t r = 0; r < routes.size(); ++r)
      if (!forwarding->set_route(routes[r], RouteTarget{kFirstHop + 1 + r % exits, 1}))
        throw std::runtime_error("no room for the benchmark's routes");
  }
  by_ports_ = forwarding;
  return forwarding;
}

config::Config bench_config(const std::string& path, std::uint32_t flows, std::size_t pairs,
                            std::size_t exits) {
  config::Config c;
  c.router.name = "bench";
  const BadInput* const bad = bad_input(path);
  for (std::size_t k = 0; k < pairs; ++k)
    for (const bool fed : {true, false}) c.ports.push_back(null_port(k, fed));
  while (c.ports.size() < std::max(ports_of(path), exits + 1))
    c.ports.push_back(null_port(c.ports.size() - 1, false));
  // Room, and so an index, of the size the flows need: nothing may be refused,
  // nothing be roomier than a user's.
  c.flow_table.capacity = flows + flows / 8 + 64;
  c.flow_table.idle_timeout = std::chrono::hours(1);
  const bool customers = has_customers(path),
             everything = path == "everything" || is_access(path) || customers || bad != nullptr;
  const bool core = path == "core", queues = core || everything;
  if (path == "csa" || everything) c.services.push_back(csa_service());
  if (queues) c.queues.push_back(customers ? customer() : uplink(core || bad != nullptr));
  for (std::size_t p = 0; p < c.ports.size(); ++p) {
    const bool fed = c.ports[p].device.name == kFeedDevice;
    if (fed && !c.services.empty()) add_flows(c, p);
    if (!fed && queues) add_queues(c.ports[p]);
    if (!fed && everything && !customers) c.aggregates.push_back(ard(p));
  }
  if (const auto interfaces = bench_interfaces(path, flows); interfaces.count > 0)
    add_interfaces(c, path == "access-up" ? 0 : 1, interfaces);
  if (customers) add_customers(c, is_below(path));
  if (bad != nullptr) spoil(c, *bad);
  return c;
}

BenchPool make_bench_pool(const char* name, unsigned buffers) {
  BenchPool pool(rte_pktmbuf_pool_create(name, buffers, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
                                         static_cast<int>(rte_socket_id())));
  if (pool) return pool;
  throw std::runtime_error(
      "no memory for packet buffers; reserve hugepages: `echo 512 > /proc/sys/vm/nr_hugepages`");
}

std::uint32_t BenchBed::max_routes(bool core) {
  return kEdgeRoutes + (core ? kCoreRoutes4 : 0) + 16;
}

BenchBed::BenchBed(bool core, std::size_t ports, std::size_t exits)
    : pool_(make_bench_pool("bench", kMbufs)), exits_(exits), forwarding_(max_routes(core), 1) {
  for (std::size_t p = 0; p < ports; ++p) {
    const config::Port port = null_port(p, p == 0);
    ports_.push_back(std::make_unique<DpdkPort>(port, p, pool_.get()));
    ports_.back()->start();
  }
  for (std::uint32_t h = 0; h < kHops; ++h) {
    NextHopEntry entry;
    entry.destination = {{2, 0, 0, 0, 1, static_cast<std::uint8_t>(h)}};
    entry.port = static_cast<std::uint8_t>(1 + h % exits);
    entry.state = NextHopEntry::State::ready;
    forwarding_.set_next_hop(kFirstHop + h, entry);
  }
  for (const bool v6 : {false, true}) {
    add_routes(edge_routes(v6));
    if (core) add_routes(core_routes(v6));
  }
  callback_ = rte_eth_add_rx_callback(ports_[0]->id(), 0, receive, this);
  if (callback_ == nullptr) throw std::runtime_error("this DPDK has no receive callbacks");
}

BenchBed::~BenchBed() {
  if (callback_ != nullptr) rte_eth_remove_rx_callback(ports_[0]->id(), 0, callback_);
}

void BenchBed::add_routes(const std::vector<Prefix>& routes) {
  for (std::uint32_t i = 0; i < routes.size(); ++i)
    if (!forwarding_.set_route(routes[i], RouteTarget{kFirstHop + i % kHops, 1}))
      throw std::runtime_error("no room for the benchmark's routes");
}

std::unique_ptr<BenchFeed> BenchBed::make_feed(const std::string& path, std::uint32_t flows, bool v6) const {
  const bool core = path == "core";
  const auto routes = core ? core_routes(v6) : edge_routes(v6);
  const bool customers = has_customers(path);
  const auto interfaces = bench_interfaces(path, flows);
  const std::vector<config::Dscp> dscps = core        ? core_dscps()
                                          : customers ? std::vector<config::Dscp>{0, kOther}
                                                      : std::vector<config::Dscp>{};
  BenchTraffic traffic{.flows = flows,
                       .v6 = v6,
                       .destination_mac = ports_[0]->mac(),
                       .routes = routes,
                       .dscps = dscps,
                       .interfaces = path == "access-up" ? interfaces : BenchInterfaces{},
                       .spread = by_one(path) ? 1
                                 : customers  ? interfaces.count
                                              : 0};
  const auto other_family = edge_routes(!v6);
  if (const BadInput* const bad = bad_input(path)) spoil(traffic, *bad, other_family);
  return std::make_unique<BenchFeed>(traffic);
}

std::uint16_t BenchBed::receive(std::uint16_t, std::uint16_t, rte_mbuf** mbufs, std::uint16_t n,
                                std::uint16_t, void* self) {
  return static_cast<BenchBed*>(self)->feed_->receive(mbufs, n);
}

}  // namespace surety
