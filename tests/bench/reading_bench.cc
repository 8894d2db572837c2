// SPDX-License-Identifier: BSD-3-Clause
// Readings of ten thousand services and contracts. `services`: microseconds that a worker is kept from its
// packets, by step and in all, with nothing in the core's own caches. `scrape`: the families and text of
// /metrics, on the server's thread.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <vector>

#include "config/parse.h"
#include "router/daemon/workers/worker_reading.h"
#include "router/operate/observe/metrics.h"

namespace surety {
namespace {

void services(benchmark::State& state) {
  const Snapshot snapshot(
      *config::parse("version: 1\nports: {a: {device: null}, b: {device: null}}\n", "bench.yaml").config);
  Reading reading = blank_reading(snapshot, 1);
  std::vector<ServiceCounters> counters(10'000);
  const Losses losses;
  reading.services.resize(counters.size());
  std::vector<std::uint8_t> other(16 << 20);
  std::vector<double> steps;
  for (auto _ : state) {
    for (std::size_t done = 0; done < counters.size();) {
      for (std::size_t i = 0; i < other.size(); i += 64) ++other[i];
      const auto start = std::chrono::steady_clock::now();
      fill_some(reading, {counters, losses, {}, {}}, snapshot, done);
      steps.push_back(
          std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    }
  }
  std::sort(steps.begin(), steps.end());
  const double total = std::accumulate(steps.begin(), steps.end(), 0.0);
  state.counters["median step us"] = steps[steps.size() / 2];
  state.counters["p99 step us"] = steps[steps.size() * 99 / 100];
  state.counters["longest step us"] = steps.back();
  state.counters["all steps us"] = total / static_cast<double>(state.iterations());
}

void scrape(benchmark::State& state) {
  Reading reading;
  for (int i = 0; i < 10'000; ++i) {
    ServiceReading& service = reading.services.emplace_back();
    service.name = fmt::format("service{}", i);
    service.objective = 0.99;
    ContractReading& contract = reading.contracts.emplace_back();
    contract.customer = fmt::format("customer-{}", i);
    contract.service = service.name;
    contract.contract = fmt::format("access.{}", i);
    contract.objective = 0.99;
  }
  std::size_t bytes = 0, series = 0;
  for (auto _ : state) {
    const auto families = render(reading);
    series = 0;
    for (const auto& f : families) series += f.metric.size();
    bytes = prometheus::TextSerializer().Serialize(families).size();
  }
  state.counters["series"] = static_cast<double>(series);
  state.counters["bytes"] = static_cast<double>(bytes);
}

BENCHMARK(services)->Iterations(50);
BENCHMARK(scrape)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace surety
