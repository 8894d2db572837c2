// SPDX-License-Identifier: BSD-3-Clause
// Cycles to look up one address, in vectors of 64. The addresses asked for are a set of the given size, drawn
// from the routes: its memory, not the number of routes, is what a router with few flows feels. With `avx512`
// as first argument EAL may use 512-bit vectors, else it does not.
#include <benchmark/benchmark.h>
#include <rte_eal.h>
#include <x86intrin.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "router/pipeline/routes/fib.h"

namespace surety {
namespace {

constexpr std::uint32_t kMostRoutes = 1 << 20;
constexpr std::uint32_t kInternet6 = 200'000;  // of IPv6: as the Internet has them
constexpr std::size_t kVectorSize = 64;

Prefix random_v4(std::mt19937& random) {
  Prefix p{IpAddress::v4(static_cast<std::uint32_t>(random()))};
  p.length = static_cast<std::uint8_t>(random() % 16 == 0 ? 25 + random() % 8 : 16 + random() % 9);
  return p.masked();
}

// As registries give them out: /32 of 2000::/8 to providers, /48 in them to sites.
Prefix random_v6(std::mt19937& random) {
  const std::uint8_t bytes[16] = {0x20,
                                  static_cast<std::uint8_t>(random() % 4),
                                  static_cast<std::uint8_t>(random() % 64),
                                  static_cast<std::uint8_t>(random()),
                                  static_cast<std::uint8_t>(random() % 8),
                                  static_cast<std::uint8_t>(random())};
  Prefix p{IpAddress::v6(bytes)};
  p.length = random() % 4 == 0 ? 32 : 48;
  return p.masked();
}

// As the Internet has them, roughly: in some forty of the first 16 bits, /29 and /32 side by side, most of
// what is longer close together within few of them, some subnets and hosts.
class Internet6 {
 public:
  Prefix operator()(std::mt19937& random) {
    static constexpr std::pair<std::uint8_t, unsigned> kShares[] = {
        {48, 45}, {32, 12}, {44, 10}, {40, 8}, {36, 5}, {29, 5}, {47, 4},
        {46, 4},  {42, 2},  {34, 2},  {28, 1}, {64, 1}, {128, 1}};
    auto percent = static_cast<int>(random() % 100);
    const auto* share = kShares;
    while ((percent -= static_cast<int>(share->second)) >= 0) ++share;
    const std::uint8_t length = share->first;
    std::uint64_t high = 0;
    if (length <= 32 || providers_.empty()) {
      high = std::uint64_t{0x2400 + random() % 4 * 0x200 + random() % 10} << 48 |
             std::uint64_t{random() & 0xffff} << 32;
      providers_.push_back(high);
    } else {
      const std::uint64_t n = providers_.size(), draw = random() % n * (random() % n) / n;
      high = providers_[draw] | std::uint64_t{random() & (random() % 2 == 0 ? 0xff : 0xffff)} << 16;
      if (length > 48) high |= random() % 4 << 8;
    }
    return Prefix{{__builtin_bswap64(high), length == 128 ? std::uint64_t{random()} << 32 : 0}, length}
        .masked();
  }

 private:
  std::vector<std::uint64_t> providers_;
};

std::unique_ptr<Fib> fill(bool v6, std::uint32_t routes, std::vector<IpAddress>& hosts) {
  auto fib = std::make_unique<Fib>("bench", routes);
  std::mt19937 random(1);
  Internet6 internet;
  std::uint32_t added = 0;
  while (added < routes) {
    const Prefix p = !v6 ? random_v4(random) : routes == kInternet6 ? internet(random) : random_v6(random);
    if (!fib->add(p, 3 + added % 1000)) break;
    ++added;
    hosts.push_back(p.address);
    for (std::size_t i = p.length / 8U + (p.length < 128); i < (v6 ? 16 : 4); ++i)
      hosts.back().data()[i] = static_cast<std::uint8_t>(random());
  }
  if (added < routes) return nullptr;
  return fib;
}

void report(benchmark::State& state, std::uint64_t cycles, std::size_t lookups) {
  state.counters["cycles/lookup"] =
      static_cast<double>(cycles) / (static_cast<double>(state.iterations()) * static_cast<double>(lookups));
  state.SetItemsProcessed(static_cast<std::int64_t>(lookups) * state.iterations());
}

void lookup4(benchmark::State& state) {
  std::vector<IpAddress> hosts;
  const auto fib = fill(false, static_cast<std::uint32_t>(state.range(0)), hosts);
  if (!fib) return state.SkipWithError("the routes do not fit");
  const auto n = static_cast<std::size_t>(state.range(1));
  std::vector<std::uint32_t> ips;
  for (std::size_t i = 0; i < n; ++i) ips.push_back(hosts[i * 7919 % hosts.size()].v4_host_order());
  std::array<std::uint64_t, kVectorSize> values{};
  std::uint64_t cycles = 0;
  for (auto _ : state) {
    const std::uint64_t start = __rdtsc();
    for (std::size_t i = 0; i < n; i += kVectorSize) {
      fib->lookup4(&ips[i], values.data(), kVectorSize);
      benchmark::DoNotOptimize(values);
    }
    cycles += __rdtsc() - start;
  }
  report(state, cycles, n);
}

void lookup6(benchmark::State& state) {
  std::vector<IpAddress> hosts;
  const auto fib = fill(true, static_cast<std::uint32_t>(state.range(0)), hosts);
  if (!fib) return state.SkipWithError("the routes do not fit");
  const auto n = static_cast<std::size_t>(state.range(1));
  const auto ips = std::make_unique<std::uint8_t[][16]>(n);
  for (std::size_t i = 0; i < n; ++i) std::memcpy(ips[i], hosts[i * 7919 % hosts.size()].data(), 16);
  std::array<std::uint64_t, kVectorSize> values{};
  std::uint64_t cycles = 0;
  for (auto _ : state) {
    const std::uint64_t start = __rdtsc();
    for (std::size_t i = 0; i < n; i += kVectorSize) {
      fib->lookup6(&ips[i], values.data(), kVectorSize);
      benchmark::DoNotOptimize(values);
    }
    cycles += __rdtsc() - start;
  }
  report(state, cycles, n);
}

// Cycles of adding and removing a route at a table of the given size, no worker to wait for.
void change(benchmark::State& state) {
  const bool v6 = state.range(1) == 6;
  std::vector<IpAddress> hosts;
  const auto fib = fill(v6, static_cast<std::uint32_t>(state.range(0)), hosts);
  if (!fib) return state.SkipWithError("the routes do not fit");
  std::mt19937 random(2);
  std::uint64_t cycles = 0;
  for (auto _ : state) {
    const Prefix p = v6 ? random_v6(random) : random_v4(random);
    const std::uint64_t start = __rdtsc();
    benchmark::DoNotOptimize(fib->add(p, 7));
    fib->remove(p);
    cycles += __rdtsc() - start;
  }
  state.counters["cycles/pair"] = static_cast<double>(cycles) / static_cast<double>(state.iterations());
}

BENCHMARK(lookup4)
    ->ArgNames({"routes", "addresses"})
    ->ArgsProduct({{1 << 16, kMostRoutes}, {1 << 10, 1 << 16, 1 << 20}});
BENCHMARK(lookup6)
    ->ArgNames({"routes", "addresses"})
    ->ArgsProduct({{1 << 16, kInternet6}, {1 << 10, 1 << 16, 1 << 20}});
BENCHMARK(change)
    ->ArgNames({"routes", "family"})
    ->Args({1 << 16, 4})
    ->Args({1 << 16, 6})
    ->Args({kInternet6, 6});

}  // namespace
}  // namespace surety

int main(int argc, char** argv) {
  const bool avx512 = argc > 1 && std::strcmp(argv[1], "avx512") == 0;
  const std::string memory = std::to_string(surety::Fib::memory_bytes(surety::kMostRoutes, true) >> 20);
  std::vector<std::string> words{
      "fib_bench",      "--no-huge",
      "--no-pci",       "--no-shconf",
      "--no-telemetry", "-m",
      memory,           avx512 ? "--force-max-simd-bitwidth=512" : "--force-max-simd-bitwidth=256"};
  std::vector<char*> arguments;
  for (auto& w : words) arguments.push_back(w.data());
  if (rte_eal_init(static_cast<int>(arguments.size()), arguments.data()) < 0) return 1;
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
