#include "router/dpdk/worker.h"

#include <rte_pause.h>

#include <chrono>
#include <thread>

#include "router/dpdk/worker_reading.h"

namespace surety {

namespace {

constexpr std::uint32_t kIdleTurns = 2000;  // some hundred microseconds
constexpr int kBurstsPerTurn = 4;           // to one port: more may come in than one burst takes away

std::vector<KernelPeer> peers(const config::Config& c) {
  std::vector<KernelPeer> v;
  for (const auto& p : c.ports) v.push_back(DpdkPort::peer(p.device));
  return v;
}

}  // namespace

Worker::Worker(const Snapshot& snapshot, std::span<const std::unique_ptr<DpdkPort>> ports, const Fib& fib,
               const NextHopTable& next_hops, rte_ring* punts, const WorkerOptions& options)
    : snapshot_(snapshot),
      ports_(ports),
      options_(options),
      port_counters_(ports.size()),
      service_counters_(snapshot.services.size()),
      meter_(options.measure_stages ? &rte_rdtsc : nullptr),
      exits_(port_counters_, peers(snapshot.config), punts),
      transmit_(ports.size()) {
  const Time now = options.start.value_or(clock_.now());
  for (std::size_t p = 0; p < ports.size(); ++p) {
    macs_.push_back(ports[p]->mac());
    egresses_.push_back(std::make_unique<Egress>(snapshot, static_cast<PortIndex>(p), port_counters_[p],
                                                 exits_, now, options.seed + (p << 32)));
  }
  ingress_ = std::make_unique<Ingress>(IngressEnvironment{snapshot, fib, next_hops, egresses_, macs_,
                                                          port_counters_, service_counters_, exits_, meter_},
                                       options.seed, now);
  reading_ = blank_reading(snapshot, options.core);
  last_tsc_ = rte_rdtsc();
}

Worker::~Worker() {
  for (auto& t : transmit_)
    rte_pktmbuf_free_bulk(t.mbufs.data() + t.begin, static_cast<unsigned>(t.end - t.begin));
  for (auto& e : egresses_) e->discard(clock_.now());
  ingress_->discard();
}

void Worker::report_to(rte_rcu_qsbr* rcu) {
  rcu_ = rcu;
  rte_rcu_qsbr_thread_register(rcu_, 0);
}

void Worker::run(Duration drain) {
  if (rcu_ != nullptr) rte_rcu_qsbr_thread_online(rcu_, 0);
  running_.store(true, std::memory_order_release);
  while (!stop_.load(std::memory_order_relaxed)) {
    turn();
    answer();
  }
  receiving_ = false;
  const Time until = clock_.now() + drain;
  while (!empty() && clock_.now() < until) {
    turn();
    answer();
  }
  if (rcu_ != nullptr) rte_rcu_qsbr_thread_offline(rcu_, 0);
  fill(reading_);
  running_.store(false, std::memory_order_release);
}

std::size_t Worker::turn() {
  const std::uint64_t tsc = rte_rdtsc();
  return turn(clock_.at(tsc), tsc);
}

std::size_t Worker::turn(Time now, std::uint64_t tsc) {
  meter_.start();
  ingress_->release(now);
  for (auto& e : egresses_) e->advance(now);
  meter_.lap(Stage::other, 0);
  const std::size_t received = receive(now), sent = transmit(now);
  if (rcu_ != nullptr) rte_rcu_qsbr_quiescent(rcu_, 0);
  ++counters_.turns;
  // The time since the last turn began belongs to what that turn turned out to be.
  (idle_turns_ == 0 ? counters_.busy_cycles : counters_.idle_cycles) += tsc - last_tsc_;
  last_tsc_ = tsc;
  idle_turns_ = received + sent > 0 ? 0 : idle_turns_ + 1;
  if (idle_turns_ > kIdleTurns && options_.idle_sleep.count() > 0) rest(now);
  return sent;
}

Time Worker::next_event(Time now) const {
  Time next = ingress_->next_event();
  for (const auto& e : egresses_) next = std::min(next, e->next_event(now));
  return next;
}

std::size_t Worker::receive(Time now) {
  if (!receiving_) return 0;
  std::size_t total = 0;
  std::array<rte_mbuf*, kVector> burst;
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    const std::size_t n = ports_[p]->receive(burst);
    if (n == 0) continue;
    meter_.lap(Stage::rx, n);
    ingress_->receive({burst.data(), n}, static_cast<PortIndex>(p), now);
    total += n;
  }
  return total;
}

std::size_t Worker::transmit(Time now) {
  std::size_t total = 0;
  for (std::size_t p = 0; p < ports_.size(); ++p)
    for (int bursts = 0; bursts < kBurstsPerTurn; ++bursts) {
      const std::size_t n = transmit(p, now);
      total += n;
      if (n < kVector) break;
    }
  return total;
}

std::size_t Worker::transmit(std::size_t p, Time now) {
  Transmit& t = transmit_[p];
  if (t.begin == t.end) {
    t.begin = 0;
    t.end = egresses_[p]->transmit(t.mbufs, now);
    if (t.end == 0) return 0;
    meter_.lap(Stage::dequeue, t.end);
  }
  std::uint64_t bytes = 0;
  for (std::size_t i = t.begin; i < t.end; ++i) bytes += t.mbufs[i]->pkt_len;
  const std::size_t sent = ports_[p]->transmit({t.mbufs.data() + t.begin, t.end - t.begin});
  PortCounters& c = port_counters_[p];
  c.tx_packets += sent;
  t.begin += sent;
  for (std::size_t i = t.begin; i < t.end; ++i)
    bytes -= t.mbufs[i]->pkt_len;  // what was not sent is still ours
  c.tx_bytes += bytes;
  meter_.lap(Stage::tx, sent);
  return sent;
}

std::uint64_t Worker::drops(DropReason reason) const {
  std::uint64_t n = 0;
  for (const auto& p : port_counters_) n += p.drops[static_cast<std::size_t>(reason)];
  return n;
}

bool Worker::empty() const {
  for (std::size_t p = 0; p < ports_.size(); ++p)
    if (transmit_[p].begin != transmit_[p].end || egresses_[p]->depth() > 0) return false;
  return ingress_->held() == 0;
}

// Nothing to do for a while: leave the core to others, but not past the next timer.
void Worker::rest(Time now) {
  Time until = std::min(now + options_.idle_sleep, ingress_->next_event());
  for (const auto& e : egresses_)
    if (e->depth() > 0) until = std::min(until, e->next_event(now));
  if (until > now) std::this_thread::sleep_for(until - now);
}

void Worker::answer() {
  const std::uint64_t asked = asked_.load(std::memory_order_acquire);
  if (asked == answered_.load(std::memory_order_relaxed)) [[likely]]
    return;
  fill(reading_);
  answered_.store(asked, std::memory_order_release);
}

std::optional<Reading> Worker::read() {
  const std::scoped_lock lock(reading_mutex_);
  const std::uint64_t question = asked_.fetch_add(1, std::memory_order_acq_rel) + 1;
  for (int waited_us = 0; running_.load(std::memory_order_acquire); waited_us += 20) {
    if (answered_.load(std::memory_order_acquire) == question) return reading_;
    if (waited_us > 1'000'000) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return reading_;
}

void Worker::fill(Reading& r) {
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    const std::uint64_t pending = transmit_[p].end - transmit_[p].begin;
    r.ports[p].counters = port_counters_[p];
    r.ports[p].queued = egresses_[p]->depth() + pending;
  }
  for (std::size_t s = 0; s < service_counters_.size(); ++s) r.services[s].counters = service_counters_[s];
  fill_egresses(r, egresses_, snapshot_);
  r.flows = ingress_->flows().size();
  r.workers[0].counters = counters_;
  r.stages = meter_.counters();
}

}  // namespace surety
