// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/forwarding_plane.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_random.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "router/daemon/device_events.h"
#include "router/daemon/hand_over.h"
#include "router/daemon/ports/eal.h"
#include "router/daemon/ports/memory_plan.h"
#include "router/daemon/ports/port_device.h"
#include "router/daemon/time_of_day.h"
#include "router/daemon/workers/worker.h"
#include "router/operate/observe/events.h"
#include "router/pipeline/snapshot.h"

namespace surety {

namespace {

constexpr unsigned kPuntRing = 1024;

rte_ring* make_ring(const config::Config& c, std::size_t workers) {
  const auto has_peer = [](const config::Device& d) { return DpdkPort::peer(d) != KernelPeer::none; };
  if (!any_device(c, has_peer) && !c.router.new_ports) return nullptr;
  const unsigned flags = RING_F_SC_DEQ | (workers == 1 ? RING_F_SP_ENQ : 0u);
  rte_ring* ring = rte_ring_create("punts", kPuntRing, static_cast<int>(rte_socket_id()), flags);
  if (ring == nullptr)
    throw std::runtime_error(fmt::format("no memory for the punt ring: {}; raise `dpdk: {{memory: ...}}`",
                                         rte_strerror(rte_errno)));
  return ring;
}

config::Config with_device_mtus(config::Config c) {
  for (config::Port& port : c.ports) port.device_mtu = DpdkPort::device_mtu_found(port);
  return c;
}

}  // namespace

ForwardingPlane::ForwardingPlane(const config::Config& config, config::Config placed, const EalPlan& plan,
                                 const RouterFacts* old_process)
    : cores_(plan.worker_cores),
      hugepages_(plan.hugepages),
      new_ports_(config.router.new_ports),
      held_packets_(config.flow_table.held_packets),
      snapshot_(std::make_unique<Snapshot>(with_device_mtus(std::move(placed)))),
      pools_("surety", config, plan_pool(config, cores_.size(), hugepages_)),
      ports_(pools_),
      forwarding_(config.dpdk.max_routes, static_cast<unsigned>(cores_.size())),
      punts_(make_ring(config, cores_.size())),
      clock_(old_process != nullptr ? TscClock(old_process->clock) : TscClock()),
      dispatch_seed_(old_process != nullptr ? old_process->dispatch_seed : rte_rand()),
      wall_clock_(time_of_day(), clock_.now()) {
  load_keys(config);
}

ForwardingPlane::~ForwardingPlane() = default;

const config::Config& ForwardingPlane::config() const {
  return snapshot_->config;
}

void ForwardingPlane::open_ports(EventLog& events) {
  const config::Config& config = snapshot_->config;
  for (std::size_t p = 0; p < config.ports.size(); ++p)
    if (config.ports[p].exists()) open_or_miss(p, events);
  work_ = plan_work(config, cores_, ports_.abilities(config));
  for (std::size_t p = 0; p < config.ports.size(); ++p)
    if (ports_.is_open(p)) ports_.start(p, work_.ports[p]);
  for (const config::Port& port : config.ports)
    if (port.device_mtu != 0) events.add(device_events::mtu(port));
}

// A router starts with the existing devices: an operator connected by another port can fix the rest.
void ForwardingPlane::open_or_miss(std::size_t place, EventLog& events) {
  const config::Port& port = snapshot_->config.ports[place];
  const auto missing = missing_device(port);
  if (!missing) return ports_.open(port, place);
  ports_.set_missing(place, true);
  events.add(device_events::missing(port, *missing, may_appear(port)));
}

bool ForwardingPlane::may_appear(const config::Port& port) const {
  return new_ports_ && port.device.kind != config::Device::Kind::pci;
}

std::vector<std::size_t> ForwardingPlane::appeared() const {
  const config::Config& config = snapshot_->config;
  std::vector<std::size_t> all;
  for (std::size_t p = 0; p < config.ports.size(); ++p)
    if (ports_.is_missing(p) && !ports_.is_lost(p) && may_appear(config.ports[p]) &&
        !missing_device(config.ports[p]))
      all.push_back(p);
  return all;
}

void ForwardingPlane::make_workers() {
  const WorkerEnvironment environment{
      *snapshot_,   ports_.all(), forwarding_.fib(), forwarding_.next_hops(), punts_.get(),
      pools_.of(0), keys(),       &wall_clock_};
  WorkerOptions options{.dispatch_seed = dispatch_seed_, .clock = clock_};
  options.sleep = snapshot_->config.idle == config::Config::Idle::adaptive;
  workers_ = std::make_unique<WorkerSet>(work_, environment, options, forwarding_.rcu());
}

void ForwardingPlane::load_keys(const config::Config& c) {
  if (c.signalling.mode == config::Signalling::Mode::off) return;
  SignalKeysResult result = load_signal_keys(c);
  for (const auto& w : result.warnings) spdlog::warn("{}", w);
  if (!result.ok()) throw std::runtime_error(fmt::format("{}", fmt::join(result.errors, "; ")));
  if (signal_keys_.empty() || result.keys != signal_keys_.back())
    signal_keys_.push_back(std::move(result.keys));
}

std::string ForwardingPlane::signing_key() const {
  if (signal_keys_.empty()) return {};
  const auto keys = signal_keys_.back().of(snapshot_->config.router.id);
  return keys.empty() ? std::string() : fmt::format("{}", keys.front().id);
}

void ForwardingPlane::find_buffers(const config::Config& config) {
  const std::size_t workers = cores_.size();
  if (buffer_needs(config, workers).total() > pools_.size_of_each() &&
      !pools_.grow(plan_pool(config, workers, hugepages_)))
    spdlog::warn("no memory for more packet buffers: {}", rte_strerror(rte_errno));
  const std::uint32_t wanted = least_buffers(config, workers);
  if (wanted > pools_.size_of_each())
    throw std::runtime_error(fmt::format(
        "its ports and queues need {} packet buffers, and there are {}: restart the router; a larger "
        "`dpdk: {{mbufs: ...}}` leaves room for later changes",
        wanted, pools_.size_of_each()));
}

void ForwardingPlane::tell_held() const {
  const std::uint32_t has = snapshot_->config.flow_table.held_packets;
  if (has < held_packets_)
    spdlog::warn(
        "a worker holds at most {} packets in input buffers, less than `flow_table: {{held: {}}}`, since "
        "there are {} packet buffers: raise `dpdk: {{mbufs: ...}}` and restart the router",
        has, held_packets_, pools_.size_of_each());
}

ForwardingPlane::Next::Next(PortSet& ports) : opening(ports) {}
ForwardingPlane::Next::~Next() = default;
ForwardingPlane::Next::Next(Next&& other) noexcept = default;

ForwardingPlane::Next ForwardingPlane::prepare(config::Config config, bool missing_too) {
  config.flow_table.held_packets = held_packets_;
  config.flow_table.held_packets = held_within(config, cores_.size(), pools_.size_of_each());
  Next next(ports_);
  next.waits = next.opening.open(config, missing_too && new_ports_);
  next.plan = next_plan(config);
  next.opening.start(config, next.plan);
  workers_->open_rings(work_, next.plan);
  next.snapshot = std::make_unique<Snapshot>(std::move(config), *snapshot_);
  next.updates = workers_->prepare(*next.snapshot, next.plan);
  load_keys(next.snapshot->config);
  return next;
}

WorkPlan ForwardingPlane::next_plan(const config::Config& next) const {
  WorkPlan plan = plan_on(work_, next, ports_.abilities(next));
  if (!serves(plan, next))
    throw std::runtime_error(
        "its rules need another distribution of packets to workers (a contract that covers more than a flow "
        "belongs to one worker): restart the router");
  return plan;
}

void ForwardingPlane::publish(Next next, const std::function<void()>& shown) {
  const auto lock = workers_->hold();
  ports_.detach_lost();
  before_ = std::move(snapshot_);
  snapshot_ = std::move(next.snapshot);
  workers_->adopt(*before_, *snapshot_, keys(), std::move(next.updates));
  work_ = std::move(next.plan);
  shown();
  workers_->tell_adopted();
}

void ForwardingPlane::free_old() {
  ports_.close_removed(snapshot_->config);
  ports_.close_lost();
  workers_->forget_updates();
  before_.reset();
}

}  // namespace surety
