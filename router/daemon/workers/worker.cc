// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/worker.h"

#include <algorithm>
#include <bit>

#include "router/daemon/workers/worker_reading.h"

namespace surety {

namespace {

std::vector<KernelPeer> kernel_peers(const config::Config& c) {
  std::vector<KernelPeer> v;
  for (const auto& p : c.ports) v.push_back(DpdkPort::peer(p.device));
  return v;
}

std::vector<MacAddress> macs(std::span<const std::unique_ptr<DpdkPort>> ports) {
  std::vector<MacAddress> v;
  for (const auto& p : ports) v.push_back(p != nullptr ? p->mac() : MacAddress{});
  return v;
}

Time start(const WorkerOptions& options) {
  return options.start.value_or(options.clock.now());
}

WorkPlan alone(const WorkerEnvironment& e, unsigned core) {
  WorkPlan plan;
  plan.cores = {core};
  for (const auto& port : e.ports) {
    WorkPlan::Port& p = plan.ports.emplace_back();
    if (port != nullptr) p.readers.assign(port->rx_queues(), 0);
  }
  return plan;
}

}  // namespace

Worker::Worker(const WorkerEnvironment& environment, const WorkerOptions& options)
    : Worker(environment, alone(environment, options.core), 0, nullptr, options) {
  connect({});
}

Worker::Worker(const WorkerEnvironment& e, const WorkPlan& plan, std::size_t index, const Fabric* fabric,
               const WorkerOptions& options)
    : plan_(plan),
      options_(options),
      counters_(plan.ports.size(), e.snapshot.services.size()),
      turns_(rte_rdtsc()),
      meter_(options.measure_stages ? &rte_rdtsc : nullptr),
      disposal_(counters_.ports(), kernel_peers(e.snapshot.config), e.punts, options.dispatch_seed,
                plan.cores.size()),
      context_{e.ports, plan_, index, fabric, counters_.ports(), disposal_, meter_, counters_.interfaces()},
      macs_(macs(e.ports)),
      port_egresses_(plan.ports.size()),
      receiver_(context_, options.dispatch_seed),
      signals_(e.snapshot.config, e.signal_keys, e.wall_clock, e.pool, start(options)),
      transmitter_(context_, e.snapshot, signals_.sender() != nullptr, options.seed, start(options)),
      ingress_(std::make_unique<Ingress>(
          IngressEnvironment{e.snapshot, e.fib, e.next_hops, port_egresses_, macs_, counters_.ports(),
                             counters_.services(), disposal_, meter_, e.signal_keys, e.wall_clock, e.pool,
                             &counters_.interfaces(), index},
          options.seed, start(options))),
      readings_(
          blank_reading(e.snapshot, options.core), e.snapshot, *ingress_, signalling_copy(e.snapshot),
          TreeCopy(transmitter_.egresses()),
          [this](Reading& r, const Snapshot& snapshot) { fill(r, snapshot); },
          [this](Reading& r, const Snapshot& snapshot, std::size_t& done) {
            return fill_some(r,
                             {counters_.services(), disposal_.losses(), ingress_->filter_counts(),
                              transmitter_.egresses()},
                             snapshot, done);
          }),
      idle_(IdleParams{}, receiver_.watch(sleeper_)) {
  disposal_.adopt(kernel_peers(e.snapshot.config), e.snapshot.config.port_count());
  disposal_.losses().make_room(plan.cores.size(), e.snapshot.config.flow_table.capacity);
}

Worker::~Worker() {
  transmitter_.discard(options_.clock.now());
  ingress_->discard();
}

void Worker::connect(std::span<const std::unique_ptr<Worker>> all) {
  const std::size_t self = context_.index;
  for (std::size_t p = 0; p < plan_.ports.size(); ++p) {
    if (!plan_.ports[p].exists()) continue;
    const std::size_t owner = plan_.ports[p].owner;
    const Transmitter& transmitter = owner == self ? transmitter_ : all[owner]->transmitter_;
    port_egresses_[p].egress = transmitter.egresses()[p].get();
    if (owner != self) port_egresses_[p].owner = context_.fabric->to_owner(self, static_cast<PortIndex>(p));
  }
  for (std::size_t w = 0; w < all.size(); ++w) {
    others_.push_back(w != self ? all[w].get() : nullptr);
    if (w == self) continue;
    signals_.connect(context_.fabric->signals(self, w), context_.fabric->signals(w, self));
    drain_.connect(all[w]->drain_);
  }
  ingress_->share_signals(all.size() > 1);
}

void Worker::run(Duration drain) {
  thread_.begin();
  if (options_.sleep) Sleeper::tighten_timer();
  while (!thread_.stopping()) poll();
  stop_receiving();
  const Time until = options_.clock.now() + std::min(drain, thread_.drain());
  do poll();
  while (!drained() && options_.clock.now() < until);
  thread_.end();
}

void Worker::stop(Duration most) {
  thread_.stop(most);
  wake();
}

void Worker::poll() {
  turn();
  if (thread_.calls().wanted()) [[unlikely]]
    thread_.calls().serve();
}

std::size_t Worker::turn() {
  const std::uint64_t tsc = rte_rdtsc();
  return turn(options_.clock.at(tsc), tsc);
}

// A turn on one page, in its order.
std::size_t Worker::turn(Time now, std::uint64_t tsc) {
  meter_.start();
  if (CaptureTap* const tap = disposal_.tap(); tap != nullptr) [[unlikely]]
    tap->at(now);
  if (update_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
    adopt(now);
  ingress_->release(now);
  transmitter_.advance(now);
  meter_.lap(Stage::other, 0);
  const std::size_t received = receiver_.receive(*ingress_, now);
  const std::size_t taken = transmitter_.take_over(now);
  exchange_signals(now);
  const std::size_t sent = transmitter_.transmit(now);
  thread_.quiesce();
  turns_.count(tsc, received + taken + sent > 0);
  if (options_.sleep) {
    idle_.turn(turns_.worked(), now);
    if (!turns_.worked()) rest(now);
  }
  return sent;
}

void Worker::exchange_signals(Time now) {
  signals_.send(transmitter_.egresses(), *ingress_, now);
  const bool noted = signals_.note(transmitter_.egresses(), *ingress_, now);
  const bool shared = signals_.share(*ingress_, now) || noted;
  if (options_.sleep) wake_others(shared);
}

// Wakes the workers that got packets in this turn; they may be asleep.
void Worker::wake_others(bool all) {
  std::uint64_t workers = receiver_.take_dispatched();
  for (std::uint32_t ports = ingress_->take_handed(); ports != 0; ports &= ports - 1)
    workers |= std::uint64_t{1} << plan_.ports[static_cast<std::size_t>(std::countr_zero(ports))].owner;
  for (std::size_t w = 0; w < others_.size(); ++w)
    if (others_[w] != nullptr && (all || (workers >> w & 1) != 0)) others_[w]->wake();
}

// Leaves the core to others, without losing the first packet's latency.
void Worker::rest(Time now) {
  if (ingress_->pending() > 0) return;  // due soon, and opening a next hop does not wake workers
  const Time next = std::min(ingress_->next_event(), transmitter_.next_event(now));
  const Duration duration = idle_.sleep(now, next, transmitter_.blocked());
  if (duration.count() == 0) return;
  sleeper_.prepare();
  receiver_.arm(true);
  if (work_waits()) {
    sleeper_.cancel();
  } else {
    thread_.go_offline();
    sleeper_.sleep(duration);
    thread_.return_online();
  }
  receiver_.arm(false);
}

// True if another thread has queued work for this worker. Devices wake it through their file descriptors.
bool Worker::work_waits() const {
  return thread_.stopping() || !updated() || thread_.calls().wanted() || receiver_.dispatched_waits() ||
         transmitter_.handed_waits() || signals_.waits();
}

bool Worker::drained() {
  return !receiver_.receiving() &&
         drain_.done([this] { return ingress_->held() == 0 && !receiver_.dispatched_waits(); },
                     [this] { return transmitter_.sent(); });
}

Time Worker::next_event(Time now) const {
  return transmitter_.blocked() ? now : std::min(ingress_->next_event(), transmitter_.next_event(now));
}

std::unique_ptr<WorkerUpdate> Worker::prepare(const Snapshot& snapshot, const WorkPlan* plan) const {
  const WorkPlan& next = plan != nullptr ? *plan : plan_;
  return std::make_unique<WorkerUpdate>(
      WorkerUpdate{.snapshot = snapshot,
                   .services = std::vector<ServiceCounters>(snapshot.services.size()),
                   .filters = std::vector<std::uint64_t>(snapshot.filters.counters()),
                   .plan = next,
                   .sources = receiver_.prepare(next),
                   .egresses = transmitter_.prepare(snapshot, next, options_.clock.now()),
                   .port_egresses = std::vector<PortEgress>(next.ports.size()),
                   .reading = blank_reading(snapshot, options_.core),
                   .queues = signal_queues(snapshot, next),
                   .peers = kernel_peers(snapshot.config)});
}

void Worker::connect(WorkerUpdate& update, std::span<const std::unique_ptr<WorkerUpdate>> all) const {
  for (std::size_t p = 0; p < update.plan.ports.size(); ++p) {
    const WorkPlan::Port& port = update.plan.ports[p];
    if (plan_.ports[p].exists() || !port.exists()) continue;
    update.port_egresses[p].egress = all[port.owner]->egresses.fresh[p].get();
    if (port.owner != context_.index)
      update.port_egresses[p].owner = context_.fabric->to_owner(context_.index, static_cast<PortIndex>(p));
  }
}

void Worker::update(WorkerUpdate& update) {
  update_.store(&update, std::memory_order_release);
  wake();
}

void Worker::adopt(Time now) {
  WorkerUpdate& update = *update_.load(std::memory_order_acquire);
  const std::uint64_t began = rte_rdtsc();
  if (update.keys != nullptr) signals_.use_keys(*update.keys, *ingress_);
  counters_.adopt(update.services);
  adopt_ports(update);
  transmitter_.adopt(update.egresses, update.snapshot, now);
  ingress_->adopt(update.snapshot, counters_.services(), update.filters, now);
  signals_.adopt(update.snapshot, now);
  readings_.adopt(update.reading, update.queues, update.snapshot);
  update.cycles = rte_rdtsc() - began;
  update_.store(nullptr, std::memory_order_release);
}

void Worker::adopt_ports(WorkerUpdate& update) {
  for (std::size_t p = 0; p < update.port_egresses.size(); ++p) {
    if (update.port_egresses[p].egress != nullptr) {
      port_egresses_[p] = update.port_egresses[p];
      counters_.begin_port(p);
    }
    if (update.egresses.devices[p] != nullptr) macs_[p] = update.egresses.devices[p]->mac();
  }
  std::swap(plan_, update.plan);
  idle_ = IdlePolicy(IdleParams{}, receiver_.adopt(update.sources, sleeper_));
  disposal_.adopt(update.peers, update.snapshot.config.port_count());
}

void Worker::fill(Reading& r, const Snapshot& snapshot) const {
  counters_.fill(r);
  transmitter_.fill(r, snapshot);
  r.flows = ingress_->flows().size();
  r.workers[0].counters = turns_.counters();
  r.workers[0].flows = r.flows;
  r.stages = meter_.counters();
}

std::vector<SignallingNumbers::Queue> Worker::signal_queues(const Snapshot& snapshot,
                                                            const WorkPlan& plan) const {
  std::vector<SignallingNumbers::Queue> queues;
  for (std::size_t p = 0; p < plan.ports.size(); ++p) {
    if (!plan.ports[p].exists() || plan.ports[p].owner != context_.index) continue;
    for (std::size_t c = 0; c < snapshot.queues[p].classes.size(); ++c)
      queues.push_back({static_cast<std::uint8_t>(p), static_cast<std::uint8_t>(c), {}});
  }
  return queues;
}

SignallingCopy Worker::signalling_copy(const Snapshot& snapshot) const {
  return {{signals_.sender(), ingress_->interceptor().gate(), ingress_->clocks(), ingress_->signals()},
          signal_queues(snapshot, plan_)};
}

std::uint64_t Worker::drops(DropReason reason) const {
  std::uint64_t n = 0;
  for (const auto& p : counters_.ports()) n += p.drops[static_cast<std::size_t>(reason)];
  return n;
}

}  // namespace surety
