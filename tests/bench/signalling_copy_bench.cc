// SPDX-License-Identifier: BSD-3-Clause
// Microseconds that a worker is kept from its packets when somebody asks what it has heard of congestion
// signals: all tables full, and none of it in the core's own caches.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "router/daemon/workers/signalling_copy.h"
#include "tests/unit/router/pipeline/signals/signal_packets.h"

namespace surety {
namespace {

using namespace signals;

constexpr std::size_t kSources = SignalGate::kMaxSenders, kPaths = AlphaClocks::kMaxPaths;

void copy(benchmark::State& state) {
  const SignalKeys keys{{key(1)}};
  config::Signalling params;
  params.source_limit = 400'000'000;  // a second: never reached
  SignalGate gate(params, 0, keys);
  CongestionSignal out;
  SignalMessage m = message();
  for (m.router = 1; m.router <= kSources; ++m.router) gate.judge(packet(m, key(1)), Time{}, kWall, out);
  const std::vector<CsaDomain> domains{{"up/silver", 0, 0, CsaParams{}}};
  AlphaClocks clocks(domains, Time{});
  for (std::uint32_t n = 0; n < kPaths; ++n)
    clocks.signal({IpAddress::v4(__builtin_bswap32(n << 8)), 24}, 0, SignalKind::sample, Time{});
  const SignalCounters received{};
  SignallingCopy copy({nullptr, &gate, clocks, received}, {});
  std::vector<std::uint8_t> other(16 << 20);
  using Microseconds = std::chrono::duration<double, std::micro>;
  std::vector<double> steps;
  for (auto _ : state) {
    copy.start();
    for (bool all = false; !all;) {
      for (std::size_t i = 0; i < other.size(); i += 64) ++other[i];
      const auto start = std::chrono::steady_clock::now();
      all = copy.step(Time{});
      steps.push_back(Microseconds(std::chrono::steady_clock::now() - start).count());
    }
  }
  if (copy.numbers().sources.size() != kSources || copy.numbers().paths.size() != kPaths)
    state.SkipWithError("rows are missing");
  std::sort(steps.begin(), steps.end());
  const double total = std::accumulate(steps.begin(), steps.end(), 0.0);
  state.counters["median step us"] = steps[steps.size() / 2];
  state.counters["p99 step us"] = steps[steps.size() * 99 / 100];
  state.counters["longest step us"] = steps.back();
  state.counters["all steps us"] = total / static_cast<double>(state.iterations());
}

BENCHMARK(copy)->Iterations(10);

}  // namespace
}  // namespace surety
