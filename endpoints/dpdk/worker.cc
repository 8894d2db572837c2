// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/worker.h"

#include <sys/prctl.h>

#include <algorithm>
#include <thread>

namespace surety::endpoints {

namespace {

using namespace std::chrono_literals;
// A sleep lasts some microseconds longer than requested: up to kNear the worker polls.
constexpr Duration kSleep = 50us, kNear = 60us;
constexpr Duration kStartPerFlow = 3us;  // to make a flow, rounded up: none starts late
constexpr std::size_t kWatchedWhenBusy = 1, kWatchedWhenIdle = 64;

}  // namespace

Worker::Worker(Traffic& traffic, const TscClock& clock, std::span<const std::unique_ptr<FramePort>> ports,
               rte_mempool* pool, SnapshotExchange& exchange, const WorkerOptions& options)
    : traffic_(traffic),
      clock_(clock),
      exchange_(exchange),
      options_(options),
      counters_(ports.size()),
      ends_(traffic),
      sampler_(traffic, ends_, counters_, exchange) {
  for (std::size_t p = 0; p < ports.size(); ++p)
    loops_.push_back(std::make_unique<PortLoop>(*ports[p], traffic.station(p), pool, clock, counters_[p]));
}

void Worker::run() {
  // The kernel's default timer slack adds 50 us to every sleep of a thread.
  if (options_.gentle) prctl(PR_SET_TIMERSLACK, 1ul);
  if (!resolve()) {
    outcome_.store(Outcome::unresolved, std::memory_order_release);
    return;
  }
  send();
  close();
  outcome_.store(Outcome::finished, std::memory_order_release);
}

// True also when it is stopped meanwhile: then there is nothing to send to.
bool Worker::resolve() {
  Time now = clock_.now();
  const Time until = now + options_.patience;
  while (traffic_.unresolved() && !stop_.load(std::memory_order_relaxed)) {
    if (now >= until) return false;
    traffic_.resolve(now);
    rest(turn());
    now = clock_.now();
  }
  return true;
}

void Worker::send() {
  zero_ = clock_.now() + static_cast<std::int64_t>(traffic_.flows().size()) * kStartPerFlow;
  traffic_.start(zero_);
  sampler_.begin(zero_);
  for (Time now = clock_.now(); !over(now); now = clock_.now()) {
    const std::size_t frames = turn();
    ends_.look(frames > 0 ? kWatchedWhenBusy : kWatchedWhenIdle, now);
    sampler_.step(now);
    rest(frames);
  }
}

bool Worker::over(Time now) const {
  if (stop_.load(std::memory_order_relaxed)) return true;
  if (options_.duration && now >= zero_ + *options_.duration) return true;
  return options_.until_senders_end && !traffic_.flows().empty() && ends_.all_over();
}

// Senders say goodbye first, while the sinks still listen; a flow is measured until now, but what is on its
// way still counts.
void Worker::close() {
  const Time end = clock_.now();
  Time now = end;
  const Time until = now + options_.farewell;
  ends_.end_all(now);
  traffic_.close(true, now);
  for (; !ends_.all_over() && now < until; now = clock_.now()) {
    const std::size_t frames = turn();
    ends_.look(frames > 0 ? kWatchedWhenBusy : kWatchedWhenIdle, now);
    rest(frames);
  }
  while (!sampler_.finish(clock_.now(), end)) turn();
  traffic_.close(false, now);
  const Time last = clock_.now() + options_.farewell;
  for (now = clock_.now(); now < last && (turn() > 0 || next_wakeup() <= now); now = clock_.now()) {
  }
}

std::size_t Worker::turn() {
  std::size_t frames = 0;
  for (auto& l : loops_) frames += l->receive();
  for (auto& l : loops_) frames += l->transmit();
  return frames;
}

Time Worker::next_wakeup() const {
  Time next = kNever;
  for (std::size_t p = 0; p < loops_.size(); ++p) next = std::min(next, traffic_.station(p).next_wakeup());
  return next;
}

void Worker::rest(std::size_t frames) {
  if (!options_.gentle || frames > 0) return;
  const Time now = clock_.now(), next = next_wakeup();
  if (next > now && next - now > kNear) std::this_thread::sleep_for(kSleep);
}

namespace {
constexpr int kBurstsPerTurn = 4;  // more may be due than one burst takes away; receiving must not wait long
}  // namespace

PortLoop::PortLoop(FramePort& port, Station& station, rte_mempool* pool, const TscClock& clock,
                   PortSample& counters)
    : port_(port), station_(station), pool_(pool), clock_(clock), counters_(counters) {
  refill();
}

PortLoop::~PortLoop() {
  rte_pktmbuf_free_bulk(mbufs_.data() + begin_, static_cast<unsigned>(ready_ - begin_));
}

std::size_t PortLoop::receive() {
  std::array<rte_mbuf*, kBurst> burst;
  const std::size_t n = port_.receive(burst);
  if (n == 0) return 0;
  std::array<std::span<const std::uint8_t>, kBurst> frames;
  for (std::size_t i = 0; i < n; ++i)
    frames[i] = {rte_pktmbuf_mtod(burst[i], const std::uint8_t*), burst[i]->data_len};
  station_.receive({frames.data(), n}, clock_.now());
  rte_pktmbuf_free_bulk(burst.data(), static_cast<unsigned>(n));
  counters_.rx_packets += n;
  return n;
}

// Time is read for every burst: what was built earlier in this turn has taken some.
std::size_t PortLoop::transmit() {
  std::size_t sent = flush();
  for (int bursts = 0; bursts < kBurstsPerTurn && !backlog(); ++bursts) {
    refill();
    const std::size_t n = station_.poll({slots_.data() + end_, ready_ - end_}, clock_.now());
    if (n == 0) break;
    for (std::size_t i = end_; i < end_ + n; ++i) {
      mbufs_[i]->data_len = static_cast<std::uint16_t>(slots_[i].length);
      mbufs_[i]->pkt_len = slots_[i].length;
    }
    begin_ = end_;
    end_ += n;
    const bool all = end_ == ready_;
    sent += flush();
    if (!all) break;
  }
  return sent;
}

std::size_t PortLoop::flush() {
  if (!backlog()) return 0;
  const std::size_t sent = port_.transmit({mbufs_.data() + begin_, end_ - begin_});
  begin_ += sent;
  counters_.tx_packets += sent;
  return sent;
}

// Sent buffers are at the front; once they are half of all, the empty ones move there and new ones follow.
void PortLoop::refill() {
  if (ready_ - end_ > kBurst / 2) return;
  std::copy(mbufs_.data() + end_, mbufs_.data() + ready_, mbufs_.data());
  std::copy(slots_.data() + end_, slots_.data() + ready_, slots_.data());
  ready_ -= end_;
  begin_ = end_ = 0;
  if (rte_pktmbuf_alloc_bulk(pool_, mbufs_.data() + ready_, static_cast<unsigned>(kBurst - ready_)) != 0)
    return;
  for (; ready_ < kBurst; ++ready_) {
    rte_mbuf* const m = mbufs_[ready_];
    slots_[ready_] = {rte_pktmbuf_mtod(m, std::uint8_t*), rte_pktmbuf_tailroom(m), 0};
  }
}

}  // namespace surety::endpoints
