// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/bench_pacing.h"

#include <fmt/format.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "endpoints/dpdk/bench_pair.h"
#include "endpoints/dpdk/observer.h"
#include "endpoints/dpdk/worker.h"
#include "router/pipeline/wire/bytes.h"

namespace surety::endpoints {

namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kFlows = 1000, kPacket = 1500, kEthernet = 14;
constexpr Rate kRate = Rate::bits_per_second(5'000'000);  // per flow
constexpr Duration kWarmUp = 2s, kMeasured = 8s, kRoundTrip = 5ms;
constexpr std::size_t kInFlight = 16384;
constexpr unsigned kBuffers = 32768 - 1;

struct FreePool {
  void operator()(rte_mempool* p) const { rte_mempool_free(p); }
};
using Pool = std::unique_ptr<rte_mempool, FreePool>;

Pool make_pool() {
  Pool pool(rte_pktmbuf_pool_create("pacing", kBuffers, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY));
  if (!pool)
    throw std::runtime_error(
        fmt::format("no memory for {} packet buffers: {}", kBuffers, rte_strerror(rte_errno)));
  return pool;
}

BenchTraffic traffic() {
  BenchTraffic t;
  t.protocol = "gtfrc";
  t.flows = kFlows;
  t.packet = kPacket;
  t.rate = kRate;
  t.start_spread = 1s;
  return t;
}

// While it lives, threads are born on the other cores: the worker shall be alone on its own.
class ElsewhereForNow {
 public:
  ElsewhereForNow() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t others;
    CPU_ZERO(&others);
    for (std::size_t i = 0; i < CPU_SETSIZE; ++i) CPU_SET(i, &others);
    CPU_CLR(static_cast<std::size_t>(sched_getcpu()), &others);
    sched_setaffinity(0, sizeof others, &others);  // with a single core we stay
  }
  ~ElsewhereForNow() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_{};
};

// Takes snapshots as a run does, so that the worker has to make them.
class Watcher {
 public:
  Watcher(const config::Endpoints& config, const Traffic& traffic, SnapshotExchange& exchange)
      : observer_(config, traffic.flows()), exchange_(exchange) {
    const ElsewhereForNow elsewhere;
    thread_ = std::thread([this] { watch(); });
  }
  ~Watcher() {
    done_ = true;
    thread_.join();
  }

 private:
  void watch() {
    for (; !done_; std::this_thread::sleep_for(5ms)) {
      const Snapshot* s = exchange_.to_read();
      if (s == nullptr) continue;
      observer_.take(*s);
      exchange_.give_back();
    }
  }
  Observer observer_;
  SnapshotExchange& exchange_;
  std::atomic<bool> done_{false};
  std::thread thread_;
};

void print(const PacingMeter& meter, bool json) {
  const auto us = [](Duration d) { return static_cast<double>(d.count()) / 1000; };
  const double p50 = us(meter.quantile(0.5)), p99 = us(meter.quantile(0.99)),
               p999 = us(meter.quantile(0.999));
  if (json) {
    std::cout << nlohmann::ordered_json{{"flows", kFlows},
                                        {"rate_bps", kFlows * kRate.bits_per_second()},
                                        {"packets", meter.packets()},
                                        {"p50_us", p50},
                                        {"p99_us", p99},
                                        {"p999_us", p999},
                                        {"max_us", us(meter.largest())},
                                        {"budget_p99_us", us(kPacingBudget)}}
                     .dump()
              << std::endl;
    return;
  }
  std::cout
      << fmt::format(
             "{} gTFRC flows of 5 Mbit/s, {} packets of {} bytes; error of the interval between packets of a "
             "flow\np50 {:.1f} us, p99 {:.1f} us (budget {:.0f} us{}), p99.9 {:.1f} us, max {:.1f} us",
             kFlows, meter.packets(), kPacket, p50, p99, us(kPacingBudget),
             meter.quantile(0.99) <= kPacingBudget ? "" : ": missed", p999, us(meter.largest()))
      << std::endl;
}

}  // namespace

void bench_pacing(bool json) {
  const config::Endpoints config = bench_config(traffic());
  const TscClock clock;
  const Pool pool = make_pool();
  PacingMeter meter(kEthernet + kPacket, transmission_time(Bytes(kPacket), kRate), clock.now() + kWarmUp);
  auto left = std::make_unique<MemoryPort>(clock, kInFlight, Duration{});
  auto right = std::make_unique<MemoryPort>(clock, kInFlight, kRoundTrip);
  left->connect(*right);
  right->connect(*left);
  left->tap(&meter);
  const std::array<std::unique_ptr<FramePort>, 2> ports{std::move(left), std::move(right)};
  constexpr std::array<MacAddress, 2> kMacs{{{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}}};
  Traffic traffic(config, kMacs, kFlows, clock.now());
  SnapshotExchange exchange;
  WorkerOptions options;
  options.duration = kWarmUp + kMeasured;
  options.farewell = Duration{};
  Worker worker(traffic, clock, ports, pool.get(), exchange, options);
  const Watcher watcher(config, traffic, exchange);
  worker.run();
  if (meter.packets() == 0) throw std::runtime_error("the flows of the benchmark do not send");
  print(meter, json);
}

PacingMeter::PacingMeter(std::uint16_t frame, Duration due, Time from)
    : frame_(frame), due_(due), from_(from), last_(65536, kNever), counts_(kSteps) {}

void PacingMeter::on_departure(std::span<const std::uint8_t> frame, Time now) {
  constexpr std::size_t kSourcePort = 14 + 20;
  if (frame.size() != frame_ || now < from_) return;
  Time& last = last_[load_be16(frame.data() + kSourcePort)];
  if (last != kNever) {
    const Duration error = std::chrono::abs(now - last - due_);
    largest_ = std::max(largest_, error);
    ++counts_[std::min<std::size_t>(static_cast<std::size_t>(error / kStep), kSteps - 1)];
    ++packets_;
  }
  last = now;
}

Duration PacingMeter::quantile(double share) const {
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(packets_)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kSteps; ++i)
    if ((seen += counts_[i]) >= wanted && seen > 0) return static_cast<std::int64_t>(i + 1) * kStep;
  return {};
}

MemoryPort::~MemoryPort() {
  for (; head_ != tail_; ++head_) rte_pktmbuf_free(ring_[head_ & (ring_.size() - 1)].mbuf);
}

std::size_t MemoryPort::transmit(std::span<rte_mbuf*> burst) {
  const std::size_t n = std::min(burst.size(), ring_.size() - (tail_ - head_));
  const Time now = clock_.now();
  for (std::size_t i = 0; i < n; ++i) {
    rte_mbuf* const m = burst[i];
    if (tap_ != nullptr) tap_->on_departure({rte_pktmbuf_mtod(m, const std::uint8_t*), m->data_len}, now);
    ring_[tail_++ & (ring_.size() - 1)] = {m, now + delay_};
  }
  return n;
}

std::size_t MemoryPort::arrivals(std::span<rte_mbuf*> room) {
  if (head_ == tail_) return 0;
  const Time now = clock_.now();
  std::size_t n = 0;
  for (; n < room.size() && head_ != tail_; ++head_) {
    const Flight& f = ring_[head_ & (ring_.size() - 1)];
    if (f.due > now) break;
    room[n++] = f.mbuf;
  }
  return n;
}

}  // namespace surety::endpoints
