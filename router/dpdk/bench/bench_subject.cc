// SPDX-License-Identifier: BSD-3-Clause
#include "router/dpdk/bench/bench_subject.h"

#include <fmt/format.h>
#include <rte_cycles.h>

#include <algorithm>

#include "router/dpdk/bench/bench_loops.h"

namespace surety {

BenchSubject::BenchSubject(BenchBed& bed, BenchFeed& feed, const std::string& path, Traffic traffic,
                           bool measure_stages)
    : bed_(bed), feed_(feed) {
  if (path == "feed") {
    turn_ = [&bed] { return feed_turn(bed); };
  } else if (path == "anchor") {
    turn_ = [&bed, v6 = traffic.v6] { return anchor_turn(bed, v6); };
  } else {
    snapshot_ = std::make_unique<Snapshot>(bench_config(path, traffic.flows));
    WorkerOptions options;
    options.measure_stages = measure_stages;
    if (const auto interfaces = bench_interfaces(path, traffic.flows);
        interfaces.count > 0 && path != "access-up")
      forwarding_ = bed.by_interfaces(*snapshot_, interfaces);
    const Forwarding& forwarding = forwarding_ ? *forwarding_ : bed.forwarding();
    worker_ = std::make_unique<Worker>(
        WorkerEnvironment{*snapshot_, bed.ports(), forwarding.fib(), forwarding.next_hops()}, options);
    turn_ = [this] { return worker_->turn(); };
  }
  attach();
  // Every flow is known before it is measured.
  for (std::uint64_t packets = 0; packets < 2 * std::max<std::uint64_t>(traffic.flows, 100'000);)
    packets += turn_();
}

double BenchSubject::cycles_per_packet(std::uint64_t packets) const {
  std::uint64_t moved = 0;
  const std::uint64_t start = rte_rdtsc();
  while (moved < packets) moved += turn_();
  return static_cast<double>(rte_rdtsc() - start) / static_cast<double>(moved);
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
  for (std::size_t r = 0; worker_ && r < kDropReasons; ++r)
    if (const auto n = worker_->drops(static_cast<DropReason>(r)); n > 0)
      throw std::runtime_error(fmt::format("{} packets were dropped: {}", n, kDropReasonInfo[r].name));
}

}  // namespace surety
