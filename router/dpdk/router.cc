#include "router/dpdk/router.h"

#include <fmt/format.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_random.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "router/top_flows.h"
#include "router/version.h"

namespace surety {

namespace {

using namespace std::chrono_literals;

constexpr unsigned kPuntRing = 1024;
constexpr unsigned kMempoolCache = 256;
constexpr Duration kDrain = 2s;
constexpr Duration kIdleSleep = 50us;

rte_mempool* make_pool(const config::Config& c) {
  std::uint32_t buffer = RTE_MBUF_DEFAULT_BUF_SIZE;
  for (const auto& p : c.ports) buffer = std::max<std::uint32_t>(buffer, p.mtu + RTE_PKTMBUF_HEADROOM + 64u);
  rte_mempool* pool =
      rte_pktmbuf_pool_create("surety", mbuf_count(c), kMempoolCache, 0, static_cast<std::uint16_t>(buffer),
                              static_cast<int>(rte_socket_id()));
  if (pool == nullptr)
    throw EalError(fmt::format("no memory for {} packet buffers: {}; raise `dpdk: {{memory: ...}}`",
                               mbuf_count(c), rte_strerror(rte_errno)));
  return pool;
}

bool any_kernel_peer(const config::Config& c) {
  return std::any_of(c.ports.begin(), c.ports.end(),
                     [](const config::Port& p) { return DpdkPort::peer(p.device) != KernelPeer::none; });
}

rte_ring* make_ring(const config::Config& c) {
  if (!any_kernel_peer(c)) return nullptr;
  rte_ring* ring =
      rte_ring_create("punts", kPuntRing, static_cast<int>(rte_socket_id()), RING_F_SP_ENQ | RING_F_SC_DEQ);
  if (ring == nullptr)
    throw EalError(fmt::format("no memory for the punt ring: {}", rte_strerror(rte_errno)));
  return ring;
}

std::vector<Rate> committed(const Snapshot& s) {
  std::vector<Rate> v;
  for (const auto& service : s.services) v.push_back(service.committed);
  return v;
}

}  // namespace

Router::Router(config::Config config, const EalPlan& plan, std::string config_hash)
    : snapshot_(std::move(config)),
      plan_(plan),
      config_hash_(std::move(config_hash)),
      pool_(make_pool(snapshot_.config)),
      forwarding_(snapshot_.config.dpdk.max_routes, 1),
      punts_(make_ring(snapshot_.config)),
      rates_(committed(snapshot_)) {
  open_ports();
  const WorkerOptions options{plan_.worker_core, rte_rand(), kIdleSleep, true};
  worker_ = std::make_unique<Worker>(snapshot_, ports_, forwarding_.fib(), forwarding_.next_hops(),
                                     punts_.get(), options);
  worker_->report_to(forwarding_.rcu());
  control_ = std::make_unique<Control>(snapshot_.config, ports_, forwarding_, punts_.get());
}

Router::~Router() {
  metrics_.reset();
  telemetry_.reset();
  control_.reset();
  worker_.reset();
  void* m = nullptr;
  while (punts_ && rte_ring_sc_dequeue(punts_.get(), &m) == 0) rte_pktmbuf_free(static_cast<rte_mbuf*>(m));
  ports_.clear();
}

void Router::open_ports() {
  if (any_kernel_peer(snapshot_.config)) Control::prepare_interfaces(snapshot_.config);
  for (std::size_t p = 0; p < snapshot_.config.ports.size(); ++p)
    ports_.push_back(std::make_unique<DpdkPort>(snapshot_.config.ports[p], p, pool_.get()));
}

void Router::start_observers() {
  telemetry_ = std::make_unique<Telemetry>([this] { return read(); });
  if (!telemetry_->ok()) spdlog::warn("`surety show` will not work: DPDK takes no telemetry commands");
  const std::string& listen = snapshot_.config.metrics.listen;
  if (listen.empty()) return;
  auto result = MetricsServer::start(listen, [this] { return read(); });
  if (!result.server) throw std::runtime_error(result.error);
  metrics_ = std::move(result.server);
  spdlog::info("metrics: http://{}/metrics", listen);
}

void Router::run(const std::atomic<bool>& stop) {
  const int launched = rte_eal_remote_launch(
      [](void* self) {
        static_cast<Worker*>(self)->run(kDrain);
        return 0;
      },
      worker_.get(), 1);
  if (launched != 0)
    throw EalError(fmt::format("cannot start on core {}: {}", plan_.worker_core, rte_strerror(-launched)));
  try {
    start_observers();
    spdlog::info("{} forwards between {} ports on core {}", snapshot_.config.router.name, ports_.size(),
                 plan_.worker_core);
    for (auto next = std::chrono::steady_clock::now(); !stop.load(std::memory_order_relaxed);) {
      control_->round(5ms);
      if (std::chrono::steady_clock::now() < next) continue;
      tick();
      next += 1s;
    }
  } catch (...) {
    worker_->stop();
    rte_eal_wait_lcore(1);
    throw;
  }
  worker_->stop();
  rte_eal_wait_lcore(1);
}

void Router::tick() {
  auto counters = worker_->read();
  auto flows = top_flows(worker_->ingress(), snapshot_, snapshot_.config.metrics.top_flows, worker_->now());
  const std::scoped_lock lock(shown_mutex_);
  if (counters) rates_.sample(counters->services, worker_->now());
  top_flows_ = std::move(flows);
  routes_ = control_->routes().routes();
  neighbors_ = control_->routes().neighbors();
}

Reading Router::read() {
  auto fresh = worker_->read();
  const std::scoped_lock lock(shown_mutex_);
  if (fresh) last_ = std::move(*fresh);
  Reading r = last_;
  const Time now = worker_->now();
  r.version = kVersion;
  r.config_hash = config_hash_;
  r.uptime_seconds = seconds(now.time_since_epoch());
  for (std::size_t p = 0; p < r.ports.size(); ++p) {
    r.ports[p].up = ports_[p]->link_up();
    r.ports[p].rx_missed = ports_[p]->rx_missed();
  }
  rates_.apply(r.services, now);
  r.top_flows = top_flows_;
  r.routes = routes_;
  r.neighbors = neighbors_;
  r.mempool_available = rte_mempool_avail_count(pool_.get());
  r.mempool_size = pool_->size;
  return r;
}

}  // namespace surety
