// SPDX-License-Identifier: BSD-3-Clause
// Cycles per packet of every conditioner, in bursts as a worker calls them: one time for 64 packets, flows in
// random order, records prefetched. The argument is the number of flows where there is state per flow.
#include <benchmark/benchmark.h>
#include <x86intrin.h>

#include <array>
#include <vector>

#include "conditioners/ard_marker.h"
#include "conditioners/csa_controller.h"
#include "conditioners/enhanced_token_bucket.h"
#include "conditioners/release_wheel.h"
#include "conditioners/rng.h"
#include "conditioners/token_bucket.h"

namespace surety {
namespace {

using namespace literals;

constexpr std::size_t kBurst = 64;
constexpr std::size_t kOrder = 1 << 16;  // packets until the order of flows repeats

std::vector<Packet> packets(std::uint32_t flows) {
  Rng rng(1);
  std::vector<Packet> p(kOrder);
  for (auto& packet : p) packet = {nullptr, rng.next() % flows, 64};
  return p;
}

// Runs burst(first packet, now) and reports TSC cycles and nanoseconds per packet.
template <class Burst>
void run(benchmark::State& state, Duration per_burst, Burst burst) {
  Time now(1s);
  std::size_t at = 0;
  const std::uint64_t start = __rdtsc();
  for (auto _ : state) {
    burst(at, now);
    at = (at + kBurst) % kOrder;
    now += per_burst;
  }
  const auto cycles = static_cast<double>(__rdtsc() - start);
  const double total = static_cast<double>(state.iterations()) * kBurst;
  state.counters["cycles/packet"] = cycles / total;
  state.SetItemsProcessed(static_cast<std::int64_t>(total));
}

template <class Record>
struct alignas(64) Line {
  Record record{};
};

void token_bucket(benchmark::State& state) {
  const auto order = packets(static_cast<std::uint32_t>(state.range(0)));
  std::vector<Line<TokenBucket>> flows(static_cast<std::size_t>(state.range(0)));
  const TokenBucketParams params(Rate::bits_per_second(1'000'000), Depth::bytes(10'000));
  std::uint64_t in = 0;
  run(state, 1us, [&](std::size_t at, Time now) {
    for (std::size_t i = 0; i < kBurst; ++i) __builtin_prefetch(&flows[order[at + i].flow], 1);
    for (std::size_t i = 0; i < kBurst; ++i) {
      TokenBucket& b = flows[order[at + i].flow].record;
      b.fill(params, now);
      in += b.take(params, params.cost(order[at + i].length));
    }
  });
  benchmark::DoNotOptimize(in);
}
BENCHMARK(token_bucket)->Arg(1)->Arg(1 << 10)->Arg(1 << 16);

// All packets leave at once: IN with the first rate, OUT (both buckets are consulted) with a rate of zero for
// IN.
void enhanced_token_bucket(benchmark::State& state, Rate in_rate) {
  const auto order = packets(static_cast<std::uint32_t>(state.range(0)));
  std::vector<Line<EnhancedTokenBucketState>> flows(static_cast<std::size_t>(state.range(0)));
  const EnhancedTokenBucketParams params{TokenBucketParams(in_rate, Depth::bytes(10'000)),
                                         TokenBucketParams(100_Gbps, Depth::bytes(10'000)), 100};
  const Ratio alpha = Ratio::of(0.4);
  AlphaClock clock(Time(1s), alpha);
  HoldingPool pool(1000);
  std::array<std::uint64_t, 5> verdicts{};
  run(state, 1us, [&](std::size_t at, Time now) {
    clock.advance(now, alpha);
    for (std::size_t i = 0; i < kBurst; ++i) __builtin_prefetch(&flows[order[at + i].flow], 1);
    for (std::size_t i = 0; i < kBurst; ++i) {
      const Packet& p = order[at + i];
      auto& s = flows[p.flow].record;
      ++verdicts[static_cast<std::size_t>(EnhancedTokenBucket::offer(s, params, p, now, clock, pool))];
    }
  });
  state.counters["in"] =
      static_cast<double>(verdicts[0]) / (static_cast<double>(state.iterations()) * kBurst);
}
BENCHMARK_CAPTURE(enhanced_token_bucket, in, 100_Gbps)->Arg(1)->Arg(1 << 10)->Arg(1 << 16);
BENCHMARK_CAPTURE(enhanced_token_bucket, out, 0_bps)->Arg(1)->Arg(1 << 10)->Arg(1 << 16);

// Two packets at a time of each flow: the first leaves IN, the second is held, scheduled, expired and
// released.
void hold_and_release(benchmark::State& state) {
  const auto flow_count = static_cast<std::uint32_t>(state.range(0));
  std::vector<Line<EnhancedTokenBucketState>> flows(flow_count);
  const TokenBucketParams bucket(102'400_kbps, Depth::bytes(64));  // a packet in 5 us, half a burst's time
  const EnhancedTokenBucketParams params{bucket, bucket, 100};
  const auto order = packets(flow_count);
  HoldingPool pool(1 << 16);
  ReleaseWheel wheel(pool.capacity(), 1us, 4096, Time(1s));
  AlphaClock clock(Time(1s));
  std::uint64_t released = 0;
  run(state, 10us, [&](std::size_t at, Time now) {
    clock.advance(now, Ratio());
    std::array<std::uint32_t, kBurst> due;
    const std::size_t n = wheel.expire(now, due);
    for (std::size_t i = 0; i < n; ++i) {
      auto& s = flows[pool.flow(due[i])].record;
      std::array<Packet, 8> out;
      released += EnhancedTokenBucket::release(s, params, now, clock, pool, out);
      if (s.held != 0) wheel.insert(s.held, EnhancedTokenBucket::next_release(s, params, now, clock, pool));
    }
    for (std::size_t i = 0; i < kBurst; ++i) {
      const Packet& p = order[at + i / 2];
      auto& s = flows[p.flow].record;
      const bool waits = s.held != 0;
      if (EnhancedTokenBucket::offer(s, params, p, now, clock, pool) == EtbVerdict::hold && !waits) {
        wheel.insert(s.held, EnhancedTokenBucket::next_release(s, params, now, clock, pool));
      }
    }
  });
  state.counters["released"] =
      static_cast<double>(released) / (static_cast<double>(state.iterations()) * kBurst);
}
BENCHMARK(hold_and_release)->Arg(1 << 10)->Arg(1 << 16);

// About 64 keys come due in each turn and go in again.
void release_wheel(benchmark::State& state) {
  const auto keys = static_cast<std::uint32_t>(state.range(0));
  ReleaseWheel wheel(keys, 1us, 4096, Time(1s));
  Rng rng(1);
  const auto delay = [&] { return Duration(rng.next() % (keys * 2000 / kBurst)); };
  for (std::uint32_t key = 1; key <= keys; ++key) wheel.insert(key, Time(1s) + delay());
  run(state, 1us, [&](std::size_t, Time now) {
    std::array<std::uint32_t, kBurst> due;
    const std::size_t n = wheel.expire(now, due);
    for (std::size_t i = 0; i < n; ++i) wheel.insert(due[i], now + delay());
  });
}
BENCHMARK(release_wheel)->Arg(1 << 10)->Arg(1 << 16);

void csa_control(benchmark::State& state) {
  CongestionDetector detector;
  CsaController csa({}, Time(1s));
  run(state, 1us, [&](std::size_t at, Time now) {
    const bool congested = at % (kOrder / 4) != 0;
    csa.advance(now, congested);
    for (std::size_t i = 0; i < kBurst; ++i) {
      const CongestionEvent event = detector.out_arrival(congested);
      if (event == CongestionEvent::onset) csa.onset(now);
      if (event == CongestionEvent::eighth) csa.eighth(now);
    }
  });
  benchmark::DoNotOptimize(csa);
}
BENCHMARK(csa_control);

// The argument is TPR_max in percent of the load: 200 never remarks, 50 keeps the bucket below T_rd.
void ard_marker(benchmark::State& state) {
  ArdParams params;
  params.tpr_max =
      Rate::bits_per_second(kBurst * 64 * 8 * 10'000 * static_cast<std::uint64_t>(state.range(0)));
  params.nominal_packet = Bytes(64);
  params.bucket = Depth::packets(1000);
  params.threshold = Depth::packets(250);
  params.interval = 100ms;
  ArdMarker marker(params, Time(1s), 1);
  std::array<std::uint64_t, 3> verdicts{};
  run(state, 1us, [&](std::size_t, Time now) {
    for (std::size_t i = 0; i < kBurst; ++i) {
      ++verdicts[static_cast<std::size_t>(marker.offer(Precedence::in, 64, now))];
    }
  });
  state.counters["pass"] =
      static_cast<double>(verdicts[0]) / (static_cast<double>(state.iterations()) * kBurst);
}
BENCHMARK(ard_marker)->Arg(200)->Arg(50);

}  // namespace
}  // namespace surety
