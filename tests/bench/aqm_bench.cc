// SPDX-License-Identifier: BSD-3-Clause
// Cycles per packet of the queueing stage; its budget: RIO + enqueue 7-10, strict + DRR dequeue 6.
#include <benchmark/benchmark.h>
#include <x86intrin.h>

#include <algorithm>
#include <array>
#include <vector>

#include "aqm/class_scheduler.h"
#include "conditioners/rng.h"

namespace surety {
namespace {

constexpr Time kStart{};
constexpr std::size_t kBurst = 64, kInputs = 4096;
constexpr WireOverhead kEthernet{WireOverhead::Kind::bytes, 38};

RedParams red(double min, double max, double pmax) {
  return {.min = min, .max = max, .pmax = Probability(pmax)};
}

// A queue that is judged, neither always empty nor always full.
RioParams rio() {
  return {.in = red(70, 120, 0.01), .out = red(10, 60, 0.2)};
}

// Packets whose precedence no branch predictor learns, `in_of_8` of eight IN; 64 bytes or mixed sizes.
std::vector<Packet> packets(std::uint32_t in_of_8, bool mixed = false) {
  Rng rng(1);
  std::vector<Packet> result(kInputs);
  for (Packet& p : result) {
    p.length = static_cast<std::uint16_t>(mixed ? 64 + rng.next() % 1437 : 64);
    p.precedence = rng.next() % 8 < in_of_8 ? Precedence::in : Precedence::out;
  }
  return result;
}

// TSC cycles per packet of what runs between start() and stop(): the median of all bursts, which a preempted
// burst or a busy neighbour hardly moves.
class Cycles {
 public:
  void start() { begin_ = __rdtsc(); }
  void stop(std::size_t packets) {
    const std::uint64_t tenths = 10 * (__rdtsc() - begin_) / packets;
    ++seen_[std::min<std::uint64_t>(tenths, seen_.size() - 1)];
    ++bursts_;
  }
  void report(benchmark::State& state, const char* name) const {
    std::size_t tenths = 0;
    for (std::uint64_t below = seen_[0]; 2 * below < bursts_; below += seen_[tenths]) ++tenths;
    state.counters[name] = static_cast<double>(tenths) / 10;
  }

 private:
  std::uint64_t begin_ = 0, bursts_ = 0;
  std::array<std::uint64_t, 10000> seen_{};
};

void RioArrive(benchmark::State& state) {
  const std::vector<Packet> input = packets(static_cast<std::uint32_t>(state.range(0)));
  const auto depth = static_cast<std::uint32_t>(state.range(1));
  const RioRules rules(rio());
  RioState queue(1);
  Cycles arrive;
  Time now = kStart;
  std::size_t next = 0;
  for (auto _ : state) {
    arrive.start();
    for (std::size_t i = 0; i < kBurst; ++i) {
      const Packet& p = input[next++ % kInputs];
      benchmark::DoNotOptimize(rules.arrive(queue, p.precedence, false, depth, depth, now));
    }
    arrive.stop(kBurst);
    now += Duration(1000);
  }
  arrive.report(state, "cycles/arrive");
}
// IN packets of eight; occupancy: below min, in the OUT band.
BENCHMARK(RioArrive)->ArgsProduct({{0, 4, 8}, {8, 40}})->ArgNames({"in_of_8", "depth"});

// A burst in, a burst out, as the worker does; the queue stands at `depth` in between.
void Queue(benchmark::State& state) {
  const std::vector<Packet> input = packets(4);
  ActiveQueueParams params{.limit = 1000, .rio = {}};
  if (state.range(0) != 0) params.rio = rio();
  ActiveQueue queue(params, 1);
  Cycles enqueue, dequeue;
  Time now = kStart;
  std::size_t next = 0;
  const auto standing = static_cast<std::uint32_t>(state.range(1));
  for (auto _ : state) {
    enqueue.start();
    for (std::size_t i = 0; i < kBurst; ++i) {
      benchmark::DoNotOptimize(queue.enqueue(input[next++ % kInputs], false, now));
    }
    enqueue.stop(kBurst);
    now += Duration(1000);
    const std::size_t n = queue.depth() > standing ? queue.depth() - standing : 0;
    if (n == 0) continue;
    dequeue.start();
    for (std::size_t i = 0; i < n; ++i) benchmark::DoNotOptimize(queue.dequeue(now));
    dequeue.stop(n);
  }
  enqueue.report(state, "cycles/enqueue");
  dequeue.report(state, "cycles/dequeue");
}
BENCHMARK(Queue)->ArgsProduct({{0, 1}, {0, 20, 200}})->ArgNames({"rio", "standing"});

// Two strict classes (one capped) and five weighted; arrivals on `busy` of the weighted ones.
void Scheduler(benchmark::State& state) {
  const auto busy = static_cast<std::size_t>(state.range(0));
  std::vector<ClassParams> classes(7);
  classes[0].strict = classes[1].strict = true;
  classes[1].cap = Rate::bits_per_second(1'000'000'000);
  for (std::size_t i = 2; i < classes.size(); ++i) {
    classes[i].weight = static_cast<std::uint32_t>(i);
    if (state.range(2) != 0) classes[i].queue.rio = rio();
  }
  ClassScheduler scheduler(classes, kEthernet, kStart, 1);
  const std::vector<Packet> input = packets(4, state.range(1) != 0);
  Cycles enqueue, dequeue;
  Time now = kStart;
  std::size_t next = 0;
  for (auto _ : state) {
    enqueue.start();
    for (std::size_t i = 0, c = 0; i < kBurst; ++i, ++next, c = c + 1 == busy ? 0 : c + 1) {
      benchmark::DoNotOptimize(scheduler.enqueue(2 + c, input[next % kInputs], false, now));
    }
    enqueue.stop(kBurst);
    now += Duration(1000);
    std::size_t n = 0;
    Packet out;
    dequeue.start();
    for (; scheduler.dequeue(now, out); ++n) benchmark::DoNotOptimize(out);
    if (n > 0) dequeue.stop(n);
  }
  enqueue.report(state, "cycles/enqueue");
  dequeue.report(state, "cycles/dequeue");
}
BENCHMARK(Scheduler)->ArgsProduct({{1, 2, 5}, {0, 1}, {0, 1}})->ArgNames({"busy", "mixed", "rio"});

// Bursts, as the worker has them, that RIO accepts: `voice` of 64 packets in a strict class with a cap, the
// others in a weighted one, with `in_of_8` of eight IN; all leave at once, by a shaper.
void Bursts(benchmark::State& state) {
  const auto voice = static_cast<std::size_t>(state.range(0));
  std::vector<ClassParams> classes(2);
  classes[0].strict = true;
  classes[0].cap = Rate::bits_per_second(50'000'000'000);
  classes[1].queue.rio = RioParams{.in = red(400, 800, 0.02), .out = red(200, 400, 0.1)};
  ClassScheduler scheduler(classes, kEthernet, kStart, 1);
  PortShaper shaper(
      {.rate = Rate::bits_per_second(400'000'000'000), .burst = Bytes(1'000'000), .overhead = {}}, kStart);
  const std::vector<Packet> input = packets(static_cast<std::uint32_t>(state.range(1)));
  const std::array<bool, kBurst> ecn{};
  std::array<ActiveQueue::Notice, kBurst> notices;
  std::array<Packet, kBurst> out;
  Cycles enqueue, dequeue;
  Time now = kStart;
  std::size_t next = 0;
  for (auto _ : state) {
    const auto burst = std::span(input).subspan(next, kBurst);
    next = (next + kBurst) % kInputs;
    enqueue.start();
    std::size_t noticed = 0;
    if (voice > 0) noticed += scheduler.enqueue(0, burst.first(voice), ecn, notices, now);
    noticed += scheduler.enqueue(1, burst.subspan(voice), ecn, notices, now);
    enqueue.stop(kBurst);
    now += Duration(2000);
    dequeue.start();
    shaper.advance(now);
    const std::size_t n = scheduler.dequeue(now, shaper, out);
    dequeue.stop(kBurst);
    if (noticed != 0 || n != kBurst) state.SkipWithError("not all passed");
    benchmark::DoNotOptimize(out);
  }
  enqueue.report(state, "cycles/enqueue");
  dequeue.report(state, "cycles/dequeue");
}
BENCHMARK(Bursts)->ArgsProduct({{0, 4}, {4, 8}})->ArgNames({"voice", "in_of_8"});

void Shaper(benchmark::State& state) {
  PortShaper shaper(
      {.rate = Rate::bits_per_second(100'000'000'000),
       .burst = Bytes(1'000'000),
       .overhead = {.kind = state.range(0) != 0 ? WireOverhead::Kind::atm : WireOverhead::Kind::bytes,
                    .per_packet = 38}},
      kStart);
  const std::vector<Packet> input = packets(4, true);
  Cycles cycles;
  Time now = kStart;
  std::size_t next = 0;
  for (auto _ : state) {
    cycles.start();
    shaper.advance(now);
    for (std::size_t i = 0; i < kBurst && shaper.ready(); ++i) shaper.sent(input[next++ % kInputs].length);
    benchmark::DoNotOptimize(shaper.ready());
    cycles.stop(kBurst);
    now += Duration(10'000);
  }
  cycles.report(state, "cycles/packet");
}
BENCHMARK(Shaper)->Arg(0)->Arg(1)->ArgName("atm");

// What a reload asks of a worker with 16 ports of 8 classes, none of which are in its cache.
void Adopt(benchmark::State& state) {
  constexpr std::size_t kPorts = 16;
  std::vector<ClassParams> classes(8);
  for (auto& c : classes) c.queue.rio = rio();
  std::vector<ClassScheduler> ports, fresh;
  for (std::size_t p = 0; p < kPorts; ++p)
    for (auto* all : {&ports, &fresh}) all->emplace_back(classes, kEthernet, kStart, p);
  std::vector<char> others(32 << 20);
  Cycles cycles;
  for (auto _ : state) {
    for (std::size_t i = 0; i < others.size(); i += 64) ++others[i];
    cycles.start();
    for (std::size_t p = 0; p < kPorts; ++p) ports[p].adopt(fresh[p], {}, kStart);
    cycles.stop(kPorts * classes.size());
  }
  cycles.report(state, "cycles/class");
}
BENCHMARK(Adopt);

// Slices of 512 packets to the larger ring of a queue of a million.
void Growth(benchmark::State& state) {
  constexpr std::uint32_t kSlice = 512, kLimit = 1'000'000;
  Cycles cycles;
  for (auto _ : state) {
    state.PauseTiming();
    ActiveQueue queue({.limit = kLimit, .rio = {}}, 1), fresh({.limit = 2 * kLimit, .rio = {}}, 1);
    for (std::uint32_t i = 0; i < kLimit; ++i) queue.enqueue(Packet{}, false, kStart);
    queue.adopt(fresh, kStart);
    state.ResumeTiming();
    for (bool more = true; more;) {
      std::uint32_t budget = kSlice;
      cycles.start();
      more = queue.grow(budget);
      if (more) cycles.stop(kSlice);
    }
  }
  cycles.report(state, "cycles/packet");
}
BENCHMARK(Growth)->Iterations(5);

}  // namespace
}  // namespace surety
