// SPDX-License-Identifier: BSD-3-Clause
// Cycles per packet of queues below queues, beside a flat port with the same two classes.
//
// A burst of 64 comes, for interfaces in no order, and a burst leaves; every queue holds packets all the
// time. Aims: 1,000 interfaces in 8 groups: flat + 25; 10,000: + 40; 64,000: + 60; one of them has all: + 15.
#include <benchmark/benchmark.h>
#include <x86intrin.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <vector>

#include "aqm/class_scheduler.h"
#include "aqm/hierarchy/hierarchy.h"
#include "conditioners/rng.h"

namespace surety {
namespace {

constexpr Time kStart{};
constexpr std::size_t kBurst = 64;
constexpr WireOverhead kEthernet{WireOverhead::Kind::bytes, 38};
constexpr std::uint32_t kGroups = 8, kStanding = 4;  // packets that each queue holds

// Data in two classes, of which RIO judges one and accepts.
std::vector<ClassParams> classes() {
  std::vector<ClassParams> two(2);
  two[0].weight = 3;
  two[0].queue.rio = RioParams{.in = {.min = 6000, .max = 9000, .pmax = Probability(0.02)},
                               .out = {.min = 3000, .max = 6000, .pmax = Probability(0.1)}};
  for (ClassParams& c : two) c.queue.limit = 10'000;
  return two;
}

std::uint16_t length(Rng& rng, std::int64_t size) {
  return static_cast<std::uint16_t>(size != 0 ? size : 64 + rng.next() % 1437);  // 0: mixed
}

// The median of all bursts, TSC cycles per packet.
class Cycles {
 public:
  void start() { begin_ = __rdtsc(); }
  void stop(std::size_t packets) {
    const std::uint64_t tenths = 10 * (__rdtsc() - begin_) / packets;
    ++seen_[std::min<std::uint64_t>(tenths, seen_.size() - 1)];
    ++bursts_;
  }
  double median() const {
    std::size_t tenths = 0;
    for (std::uint64_t below = seen_[0]; 2 * below < bursts_; below += seen_[tenths]) ++tenths;
    return static_cast<double>(tenths) / 10;
  }

 private:
  std::uint64_t begin_ = 0, bursts_ = 0;
  std::array<std::uint64_t, 100'000> seen_{};
};

void report(benchmark::State& state, const Cycles& enqueue, const Cycles& dequeue) {
  state.counters["enqueue"] = enqueue.median();
  state.counters["dequeue"] = dequeue.median();
  state.counters["cycles/packet"] = enqueue.median() + dequeue.median();
}

PortShaper port_shaper() {
  return {{.rate = Rate::bits_per_second(400'000'000'000), .burst = Bytes(1'000'000), .overhead = kEthernet},
          kStart};
}
constexpr Duration kTurn{2'500};  // in which the port sends more than a burst

// `runs`: the burst is two runs of a class each, as an egress has it; else each packet is of another class
// than the one before, as bursts for thousands of interfaces are.
void Flat(benchmark::State& state) {
  const bool runs = state.range(1) != 0;
  ClassScheduler scheduler(classes(), kEthernet, kStart, 1);
  PortShaper shaper = port_shaper();
  Rng rng(1);
  std::array<std::array<Packet, kBurst / 2>, 2> in;
  const std::array<bool, kBurst> ecn{};
  std::array<ActiveQueue::Notice, kBurst> notices;
  std::array<Packet, kBurst> out;
  for (auto& run : in)
    for (Packet& p : run) p.length = length(rng, state.range(0));
  for (std::size_t i = 0; i < 200; ++i)
    for (std::size_t c = 0; c < 2; ++c) scheduler.enqueue(c, in[c][i % in[c].size()], false, kStart);
  Cycles enqueue, dequeue;
  Time now = kStart;
  for (auto _ : state) {
    now += kTurn;
    enqueue.start();
    if (runs) {
      for (std::size_t c = 0; c < 2; ++c)
        benchmark::DoNotOptimize(
            scheduler.enqueue(c, in[c], std::span(ecn).first(in[c].size()), notices, now));
    } else {
      for (std::size_t i = 0; i < kBurst; ++i)
        benchmark::DoNotOptimize(scheduler.enqueue(i % 2, in[i % 2][i / 2], false, now));
    }
    enqueue.stop(kBurst);
    dequeue.start();
    shaper.advance(now);
    const std::size_t n = scheduler.dequeue(now, shaper, out);
    dequeue.stop(n);
  }
  report(state, enqueue, dequeue);
}
BENCHMARK(Flat)->ArgNames({"size", "runs"})->ArgsProduct({{64, 0, 1500}, {1, 0}});

// `one`: of all interfaces, one has packets. `drained`: what has come leaves before more does, so that no
// queue holds packets, as on a port that is not full; else every queue does.
void Below(benchmark::State& state) {
  const auto interfaces = static_cast<std::uint32_t>(state.range(0));
  const bool one = state.range(2) != 0, drained = state.range(3) != 0;
  const InterfaceParams bought(
      {.rate = Rate::bits_per_second(400'000'000'000), .burst = Bytes(1'000'000), .overhead = kEthernet}, 1,
      classes(), 3);
  const GroupParams group(
      {.rate = Rate::bits_per_second(400'000'000'000), .burst = Bytes(1'000'000), .overhead = kEthernet}, 1);
  auto h = std::make_unique<Hierarchy>(HierarchyRoom{.packets = 2'000'000}, kEthernet, kStart);
  for (std::uint32_t g = 0; g < kGroups; ++g) h->add_group(g, group, kStart);
  for (std::uint32_t i = 0; i < interfaces; ++i) h->add(i, i % kGroups, bought, kStart, i);
  PortShaper shaper = port_shaper();

  Rng rng(1);
  std::vector<std::uint32_t> order(one ? 1 : interfaces);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.next() % i]);
  const std::size_t standing = drained ? 0 : one ? 200 : kStanding;
  for (std::size_t k = 0; k < standing; ++k)
    for (const std::uint32_t i : order)
      for (std::uint8_t c = 0; c < 2; ++c) {
        Hierarchy::Arrival a{.packet = {}, .interface = i, .class_index = c};
        a.packet.length = length(rng, state.range(1));
        h->enqueue(a, kStart);
      }

  std::array<Hierarchy::Arrival, kBurst> in;
  std::array<std::uint16_t, 4096> lengths;
  for (auto& l : lengths) l = length(rng, state.range(1));
  std::array<ArrivalNotice, kBurst> notices;
  std::array<Packet, kBurst> out;
  Cycles enqueue, dequeue;
  Time now = kStart;
  std::size_t at = 0;
  std::uint64_t dropped = 0;
  for (auto _ : state) {
    for (std::size_t i = 0; i < kBurst; ++i, ++at) {
      in[i].interface = order[(drained ? at : at / 2) % order.size()];
      in[i].class_index = one ? i < kBurst / 2 : (drained ? at / order.size() : at) % 2;
      in[i].packet.length = lengths[at % lengths.size()];
    }
    now += kTurn;
    enqueue.start();
    const std::size_t noticed = h->enqueue(in, notices, now);
    enqueue.stop(kBurst);
    dropped += noticed;
    dequeue.start();
    shaper.advance(now);
    const std::size_t n = h->dequeue(now, shaper, out);
    if (n > 0) dequeue.stop(n);
  }
  report(state, enqueue, dequeue);
  state.counters["noticed"] = static_cast<double>(dropped);
}
BENCHMARK(Below)
    ->ArgNames({"interfaces", "size", "one", "drained"})
    ->ArgsProduct({{1'000, 10'000, 64'000}, {64, 0, 1500}, {0}, {0}})
    ->ArgsProduct({{64'000}, {64, 0, 1500}, {1}, {0}})
    ->ArgsProduct({{1'000, 10'000, 64'000}, {64}, {0}, {1}})
    ->ArgsProduct({{64'000}, {64}, {1}, {1}});

// A reload of 4,000 interfaces under load, 64 in a slice, none of which is in a cache: cycles of one.
void Change(benchmark::State& state) {
  constexpr std::uint32_t kInterfaces = 4'000, kSlice = 64;
  constexpr std::array<std::uint64_t, 2> kRates{50'000'000, 40'000'000};
  std::vector<InterfaceParams> bought;
  for (const std::uint64_t rate : kRates)
    bought.emplace_back(
        PortShaperParams{.rate = Rate::bits_per_second(rate), .burst = Bytes(3000), .overhead = {}}, 1,
        classes(), 3);
  auto h = std::make_unique<Hierarchy>(HierarchyRoom{}, kEthernet, kStart);
  for (std::uint32_t i = 0; i < kInterfaces; ++i) {
    h->add(i, Hierarchy::kPort, bought[0], kStart, i);
    Hierarchy::Arrival a{.packet = {}, .interface = i};
    a.packet.length = 1500;
    h->enqueue(a, kStart);
  }
  std::vector<char> others(32 << 20);
  Cycles change;
  std::size_t next = 0;
  for (auto _ : state) {
    state.PauseTiming();
    for (std::size_t i = 0; i < others.size(); i += 64) ++others[i];
    state.ResumeTiming();
    change.start();
    for (std::uint32_t k = 0; k < kSlice; ++k, ++next)
      h->change(static_cast<std::uint32_t>(next % kInterfaces), Hierarchy::kPort,
                bought[next / kInterfaces % 2], kStart + Duration(static_cast<std::int64_t>(next)), next);
    change.stop(kSlice);
  }
  state.counters["cycles/change"] = change.median();
}
BENCHMARK(Change);

// So many interfaces of two classes from nothing.
void Build(benchmark::State& state) {
  const auto interfaces = static_cast<std::uint32_t>(state.range(0));
  const InterfaceParams bought(
      {.rate = Rate::bits_per_second(50'000'000), .burst = Bytes(3000), .overhead = {}}, 1, classes(), 3);
  for (auto _ : state) {
    Hierarchy h({}, kEthernet, kStart);
    for (std::uint32_t i = 0; i < interfaces; ++i) h.add(i, Hierarchy::kPort, bought, kStart, i);
    benchmark::DoNotOptimize(h.depth());
  }
}
BENCHMARK(Build)->Arg(65'536)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace surety
