// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/session.h"

#include <fmt/format.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <thread>

#include "endpoints/dpdk/observer.h"
#include "endpoints/dpdk/plan.h"
#include "router/daemon/ports/eal.h"
#include "router/daemon/ports/memory_plan.h"
#include "router/daemon/ports/packet_pool.h"
#include "router/process/this_process.h"

namespace surety::endpoints {

namespace {

using namespace std::chrono_literals;

constexpr unsigned kWorkerLcore = 1;
constexpr auto kRound = 5ms;
constexpr std::uint32_t kAccepted = 16384;

class DpdkFrames final : public FramePort {
 public:
  explicit DpdkFrames(DpdkPort& port) : port_(port) {}
  std::size_t receive(std::span<rte_mbuf*> room) override { return port_.receive(room); }
  std::size_t transmit(std::span<rte_mbuf*> burst) override { return port_.transmit(burst); }

 private:
  DpdkPort& port_;
};

// Room for all senders in this process, and for others.
std::uint32_t accepted_flows(const config::Endpoints& c, std::uint32_t wish) {
  std::uint32_t own = 0;
  for (const auto& s : c.senders) own += s.flows;
  return wish > 0 ? wish : std::max(kAccepted, own);
}

WorkerOptions worker_options(const config::Endpoints& c, const RunOptions& o, bool gentle) {
  WorkerOptions w;
  w.duration = o.duration ? o.duration : c.duration;
  // Sinks also serve senders elsewhere, until the run's `duration`.
  w.until_senders_end = c.sinks.empty() || !w.duration;
  w.gentle = gentle;
  return w;
}

std::uint64_t secret() {
  std::uint64_t s = 0;
  if (getrandom(&s, sizeof s, 0) != sizeof s)
    throw std::runtime_error("cannot get random numbers from the kernel");
  return s;
}

winsize terminal() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) size = {24, 80, 0, 0};
  return size;
}

}  // namespace

Session::Session(const config::Endpoints& config, const config::Config& ports, const RunOptions& options,
                 bool gentle)
    : config_(config),
      options_(options),
      pool_(make_packet_pool("endpoint", ports, plan_pool(ports), static_cast<int>(rte_socket_id()))) {
  prepare_interfaces(ports);
  const std::string xdp = bpf_object_path("take_all.bpf.o");
  std::vector<MacAddress> macs;
  for (std::size_t p = 0; p < ports.ports.size(); ++p) {
    if (xdp.empty() && ports.ports[p].device.kind == config::Device::Kind::af_xdp)
      throw std::runtime_error(
          "take_all.bpf.o is neither beside the program nor in ../lib/surety; reinstall surety");
    ports_.push_back(std::make_unique<DpdkPort>(ports.ports[p], p, pool_.get(), xdp));
    ports_.back()->start();
    frames_.push_back(std::make_unique<DpdkFrames>(*ports_.back()));
    macs.push_back(ports_.back()->mac());
  }
  traffic_ =
      std::make_unique<Traffic>(config, macs, accepted_flows(config, options.accept), clock_.now(), secret());
  observer_ = std::make_unique<Observer>(config, traffic_->flows());
  worker_ = std::make_unique<Worker>(*traffic_, clock_, frames_, pool_.get(), exchange_,
                                     worker_options(config, options, gentle));
  live_ = options.json != "-" && options.live.value_or(isatty(STDOUT_FILENO) != 0);
}

Session::~Session() {
  metrics_.reset();
  worker_.reset();
  frames_.clear();
  ports_.clear();
}

void Session::start_metrics() {
  const std::string& listen = options_.metrics ? *options_.metrics : config_.metrics.listen;
  if (listen.empty() || listen == "off") return;
  metrics_ = std::make_unique<MetricsServer>(
      listen, load_metrics_access(config_.metrics),
      std::make_unique<metrics::Readings>([this] { return render(observer_->reading()); }));
  spdlog::info("metrics: {}://{}/metrics", config_.metrics.tls ? "https" : "http", listen);
}

void Session::run(const std::atomic<bool>& stop) {
  start_metrics();
  const int launched = rte_eal_remote_launch(
      [](void* self) {
        static_cast<Worker*>(self)->run();
        return 0;
      },
      worker_.get(), kWorkerLcore);
  if (launched != 0)
    throw std::runtime_error(fmt::format("cannot start the worker: {}", rte_strerror(-launched)));
  spdlog::info("started ports={} flows={}", config_.ports.size(), traffic_->flows().size());
  try {
    for (; worker_->outcome() == Worker::Outcome::running; std::this_thread::sleep_for(kRound)) {
      if (stop.load(std::memory_order_relaxed)) worker_->stop();
      observe();
    }
  } catch (...) {
    abandon();
    throw;
  }
  rte_eal_wait_lcore(kWorkerLcore);
  observe();
  if (worker_->outcome() == Worker::Outcome::finished) return;
  const auto& sender = config_.senders[traffic_->unresolved().value_or(0)];
  throw std::runtime_error(
      fmt::format("sender {}: no answer on port {} from the next hop to {}; is the gateway right, and up?",
                  sender.name, config_.ports[sender.port].name, to_string(sender.to)));
}

// Empties the exchange until the worker has ended: the snapshots are not used any more.
void Session::abandon() {
  worker_->stop();
  for (; worker_->outcome() == Worker::Outcome::running; std::this_thread::sleep_for(kRound))
    exchange_.give_back();
  rte_eal_wait_lcore(kWorkerLcore);
}

void Session::observe() {
  const Snapshot* s = exchange_.to_read();
  if (s == nullptr) return;
  observer_->take(*s);
  const bool final = s->final;
  exchange_.give_back();
  if (!live_) return;
  if (final)
    std::cout << table_.draw("") << std::flush;  // the report says it better
  else
    show();
}

void Session::show() {
  const winsize size = terminal();
  std::cout << table_.draw(clipped(live_text(observer_->reading(), size.ws_row - 1u), size.ws_col))
            << std::flush;
}

}  // namespace surety::endpoints
