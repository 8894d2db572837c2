// SPDX-License-Identifier: BSD-3-Clause
// Microseconds that a worker is kept from its packets when somebody looks at ten thousand services: by step,
// and if it were one. None of it is in the core's own caches.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <vector>

#include "config/parse.h"
#include "router/dpdk/workers/worker_reading.h"

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

BENCHMARK(services)->Iterations(50);

}  // namespace
}  // namespace surety
