// SPDX-License-Identifier: BSD-3-Clause
// How a worker is made, and what it has to do with which others.
#include "router/dpdk/workers/worker.h"
#include "router/dpdk/workers/worker_reading.h"

namespace surety {

namespace {

std::vector<KernelPeer> peers(const config::Config& c) {
  std::vector<KernelPeer> v;
  for (const auto& p : c.ports) v.push_back(DpdkPort::peer(p.device));
  return v;
}

WorkPlan alone(const WorkerEnvironment& e, unsigned core) {
  WorkPlan plan;
  plan.cores = {core};
  for (const auto& port : e.ports) {
    WorkPlan::Port& p = plan.ports.emplace_back();
    p.readers.assign(port->rx_queues(), 0);
  }
  return plan;
}

}  // namespace

Worker::Worker(const WorkerEnvironment& environment, const WorkerOptions& options)
    : Worker(environment, alone(environment, options.core), 0, nullptr, options) {
  connect({});
}

Worker::Worker(const WorkerEnvironment& environment, const WorkPlan& plan, std::size_t index,
               const Fabric* fabric, const WorkerOptions& options)
    : environment_(environment),
      snapshot_(&environment.snapshot),
      plan_(plan),
      index_(index),
      fabric_(fabric),
      options_(options),
      clock_(options.clock),
      port_counters_(plan.ports.size()),
      service_counters_(environment.snapshot.services.size()),
      meter_(options.measure_stages ? &rte_rdtsc : nullptr),
      exits_(port_counters_, peers(environment.snapshot.config), environment.punts),
      outlets_(plan.ports.size()),
      transmit_(plan.ports.size()),
      idle_(IdleParams{}, false),
      reading_(blank_reading(environment.snapshot, options.core)) {
  const Time now = options.start.value_or(clock_.now());
  for (const auto& port : environment.ports) macs_.push_back(port->mac());
  for (const auto& port : plan.ports)
    dispatch_.emplace_back(port.spread, plan.cores.size(), options.dispatch_seed);
  find_sources();
  watch_sources();
  make_egresses(now);
  last_tsc_ = rte_rdtsc();
}

void Worker::find_sources() {
  for (std::size_t p = 0; p < plan_.ports.size(); ++p) {
    const auto port = static_cast<PortIndex>(p);
    const WorkPlan::Port& plan = plan_.ports[p];
    for (std::size_t q = 0; q < plan.readers.size(); ++q)
      if (plan.readers[q] == index_)
        sources_.push_back({port, static_cast<std::uint16_t>(q), plan.dispatch, nullptr});
    if (Handover* ring = fabric_ != nullptr ? fabric_->dispatched(port, index_) : nullptr)
      sources_.push_back({port, 0, false, ring});
  }
}

void Worker::make_egresses(Time now) {
  const config::Config& c = environment_.snapshot.config;
  const bool signals = c.router.role == config::Router::Role::core &&
                       c.signalling.mode != config::Signalling::Mode::off &&
                       environment_.signal_keys != nullptr;
  egresses_.resize(plan_.ports.size());
  for (std::size_t p = 0; p < plan_.ports.size(); ++p) {
    if (plan_.ports[p].owner != index_) continue;
    owned_.push_back(static_cast<PortIndex>(p));
    egresses_[p] = std::make_unique<Egress>(environment_.snapshot, owned_.back(), port_counters_[p], exits_,
                                            now, options_.seed + (p << 32));
    egresses_[p]->enable_signals(signals);
  }
  if (signals) signal_sender_.emplace(c, *environment_.signal_keys, now, environment_.wall_clock->at(now));
}

void Worker::connect(std::span<const std::unique_ptr<Worker>> all) {
  for (std::size_t p = 0; p < plan_.ports.size(); ++p) {
    const std::size_t owner = plan_.ports[p].owner;
    outlets_[p].egress = owner == index_ ? egresses_[p].get() : all[owner]->egresses_[p].get();
    if (owner != index_) outlets_[p].owner = fabric_->to_owner(index_, static_cast<PortIndex>(p));
  }
  for (std::size_t w = 0; w < all.size(); ++w)
    if (w != index_)
      peers_.push_back({all[w].get(), fabric_->signals(index_, w), fabric_->signals(w, index_)});
  const Time now = options_.start.value_or(clock_.now());
  ingress_ = std::make_unique<Ingress>(
      IngressEnvironment{environment_.snapshot, environment_.fib, environment_.next_hops, outlets_, macs_,
                         port_counters_, service_counters_, exits_, meter_, environment_.signal_keys,
                         environment_.wall_clock},
      options_.seed, now);
  ingress_->share_signals(!peers_.empty());
  signalling_.emplace(
      SignallingCopy::Source{signal_sender_ ? &*signal_sender_ : nullptr, ingress_->desk().gate(),
                             ingress_->clocks(), ingress_->signals()},
      signalling_queues());
}

std::vector<SignallingNumbers::Queue> Worker::signalling_queues() const {
  std::vector<SignallingNumbers::Queue> queues;
  for (const PortIndex p : owned_)
    for (std::size_t c = 0; c < environment_.snapshot.queues[p].classes.size(); ++c)
      queues.push_back({p, static_cast<std::uint8_t>(c), {}});
  return queues;
}

Worker::~Worker() {
  for (auto& t : transmit_)
    rte_pktmbuf_free_bulk(t.mbufs.data() + t.begin, static_cast<unsigned>(t.end - t.begin));
  for (const PortIndex p : owned_) egresses_[p]->discard(clock_.now());
  if (ingress_) ingress_->discard();
}

void Worker::report_to(rte_rcu_qsbr* rcu) {
  rcu_ = rcu;
  rte_rcu_qsbr_thread_register(rcu_, static_cast<unsigned>(index_));
}

}  // namespace surety
