// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/bench/bench_subject.h"

#include <fmt/format.h>
#include <rte_byteorder.h>
#include <rte_cycles.h>
#include <rte_prefetch.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "router/daemon/workers/worker.h"
#include "router/pipeline/wire/headers.h"

namespace surety {

BenchSubject::BenchSubject(BenchBed& bed, BenchFeed& feed, const std::string& path, Traffic traffic,
                           bool measure_stages)
    : bed_(bed), feed_(feed), path_(path), bad_(bad_input(path)) {
  if (path == "feed") {
    turn_ = [&bed] { return feed_turn(bed); };
  } else if (path == "anchor") {
    turn_ = [&bed, v6 = traffic.v6] { return anchor_turn(bed, v6); };
  } else {
    make_worker(path, traffic, measure_stages);
    turn_ = [this] { return bad_ == nullptr ? worker_->turn() : turn_worker(); };
  }
  attach();
  // Every flow is known before the measurement. A round of `held` has 2.5 packets per flow.
  const std::uint64_t rounds = bad_ != nullptr ? 4 : 2;
  cycles_per_packet(rounds * std::max<std::uint64_t>(traffic.flows, 100'000));
}

BenchSubject::~BenchSubject() = default;

StageCounters BenchSubject::stages() const {
  return worker_ ? worker_->stages() : StageCounters{};
}

void BenchSubject::make_worker(const std::string& path, Traffic traffic, bool measure_stages) {
  snapshot_ = std::make_unique<Snapshot>(bench_config(path, traffic.flows, 1, bed_.exits()));
  WorkerOptions options;
  options.measure_stages = measure_stages;
  if (bad_ != nullptr) options.start = now_;
  if (const auto interfaces = bench_interfaces(path, traffic.flows);
      interfaces.count > 0 && path != "access-up")
    forwarding_ = bed_.by_interfaces(*snapshot_, interfaces);
  if (ports_of(path) > 2) forwarding_ = bed_.by_ports();
  const Forwarding& forwarding = forwarding_ ? *forwarding_ : bed_.forwarding();
  const auto ports = bed_.ports().first(snapshot_->config.ports.size());
  worker_ = std::make_unique<Worker>(
      WorkerEnvironment{*snapshot_, ports, forwarding.fib(), forwarding.next_hops()}, options);
}

std::size_t BenchSubject::turn_worker() {
  now_ += bad_->per_packet * static_cast<std::int64_t>(kBurst);
  return worker_->turn(now_);
}

double BenchSubject::cycles_per_packet(std::uint64_t packets) const {
  const std::uint64_t before = feed_.received(), end = before + packets;
  const std::uint64_t start = rte_rdtsc();
  while (feed_.received() < end) turn_();
  return static_cast<double>(rte_rdtsc() - start) / static_cast<double>(feed_.received() - before);
}

void BenchSubject::reload() {
  config::Config c = snapshot_->config;
  if (c.services.size() == 1) {
    c.services.push_back(c.services[0]);
    c.services[1].name = "other";
  }
  for (config::Rule& rule : c.rules) rule.service = 1 - rule.service;
  auto next = std::make_unique<Snapshot>(std::move(c), *snapshot_);
  update_ = worker_->prepare(*next);
  worker_->update(*update_);
  before_ = std::move(snapshot_);
  snapshot_ = std::move(next);
}

void BenchSubject::must_be_clean() const {
  for (std::size_t r = 0; worker_ && r < kDropReasons; ++r) {
    const auto reason = static_cast<DropReason>(r);
    if (const auto n = worker_->drops(reason); n > 0 && !may_drop(bad_, reason))
      throw std::runtime_error(
          fmt::format("{}: {} packets were dropped: {}", path_, n, kDropReasonInfo[r].name));
  }
  if (bad_ != nullptr) must_have_been_bad();
}

void BenchSubject::must_have_been_bad() const {
  const Reading& reading = worker_->read_here();
  const auto& counters = reading.ports[0].counters;
  const double come = static_cast<double>(counters.rx_packets);
  const auto must = [&](bool is, const char* what) {
    if (!is) throw std::runtime_error(fmt::format("{}: {}", path_, what));
  };
  if (bad_->path == "held") must(counters.held > 0, "nothing is held");
  if (bad_->path == "dropping")
    must(static_cast<double>(worker_->drops(DropReason::early)) > 0.2 * come, "RIO hardly drops");
}

namespace {
using Mbufs = std::array<rte_mbuf*, kBurst>;
}

std::size_t feed_turn(const BenchBed& bed) {
  Mbufs burst;
  const std::size_t n = bed.ports()[0]->receive(burst);
  return bed.ports()[1]->transmit({burst.data(), n});
}

std::size_t anchor_turn(const BenchBed& bed, bool v6) {
  Mbufs burst;
  const std::size_t n = bed.ports()[0]->receive(burst);
  std::array<std::uint32_t, kBurst> v4_to;
  std::uint8_t v6_to[kBurst][16];
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint8_t* ip = ip_header(burst[i], 14);
    if (v6) {
      std::memcpy(v6_to[i], ip + 24, 16);
    } else {
      std::memcpy(&v4_to[i], ip + 16, 4);
      v4_to[i] = rte_be_to_cpu_32(v4_to[i]);
    }
  }
  std::array<std::uint64_t, kBurst> targets;
  if (v6)
    bed.forwarding().fib().lookup6(v6_to, targets.data(), static_cast<unsigned>(n));
  else
    bed.forwarding().fib().lookup4(v4_to.data(), targets.data(), static_cast<unsigned>(n));
  for (std::size_t i = 0; i < n; ++i) {
    const NextHopWord hop = bed.forwarding().next_hops().word(static_cast<std::uint32_t>(targets[i]));
    std::uint8_t* frame = ip_header(burst[i], 0);
    decrement_ttl(frame + 14, v6);
    store(frame, hop.bits());  // the last two bytes are overwritten below
    std::memcpy(frame + 6, bed.ports()[1]->mac().data(), 6);
  }
  return bed.ports()[1]->transmit({burst.data(), n});
}

}  // namespace surety
