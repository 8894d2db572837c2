// SPDX-License-Identifier: BSD-3-Clause
// What a reload costs a worker: the longest of all turns is what counts (budget: 50 us).
//
// An ingress with a table of 4 Mi flows (RELOAD_FLOWS=N: of so many), each with state of its own; a reload
// changes the service of half of them. BM_Adopt: Ingress::adopt(). BM_Sweep: a turn without packets while the
// sweep goes round. BM_Stale and BM_Known: a burst of 64 packets of flows at random, all of which ask the
// rules again, and the same when they have. Of each: the median call and the longest.
#include <benchmark/benchmark.h>
#include <rte_cycles.h>
#include <rte_eal.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "conditioners/rng.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

using namespace literals;

std::uint32_t flows() {
  const char* text = std::getenv("RELOAD_FLOWS");
  return text == nullptr ? 1u << 22 : static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

// A hundred rules that match nothing, then one for even and one for odd source ports.
std::string edge(const char* odd) {
  const auto bucket = [](const char* name) {
    return std::string("  ") + name +
           ": {conditioner: token-bucket, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: AF11, out: AF12}}\n";
  };
  std::string yaml =
      "version: 1\n"
      "ports: {lan0: {addresses: [10.1.0.254/16]}, wan0: {addresses: [10.2.0.254/16], trust: core}}\n"
      "flow_table: {idle_timeout: 1000 s, creation_rate: 0, capacity: " +
      std::to_string(flows()) + "}\nservices:\n" + bucket("one") + bucket("two") + "classify:\n";
  for (int i = 0; i < 100; ++i)
    yaml += "  - {match: {port: lan0, destination_port: " + std::to_string(i + 1) +
            "}, service: one, per: flow}\n";
  yaml += "  - {match: {port: lan0, source_port: 1}, service: one, per: flow}\n";
  return yaml + "  - {match: {port: lan0}, service: " + odd + ", per: flow}\n";
}

class Edge {
 public:
  static Edge& get() {
    static Edge edge;
    return edge;
  }

  // To and fro: what each has the other one has, too.
  void adopt() {
    next_ = next_ == &first_ ? &second_ : &first_;
    std::vector<std::uint64_t> filter_counts;
    plane_.ingress->adopt(*next_, plane_.services, filter_counts, plane_.now);
  }
  void turn() {
    plane_.now += Duration(1000);
    plane_.ingress->release(plane_.now);
  }
  bool adopting() const { return plane_.ingress->adopting(); }
  void finish() {
    while (adopting()) turn();
  }
  void begin_bursts() { rng_ = Rng(1); }
  void make_burst() {
    burst_.clear();
    while (burst_.size() < kBurst) burst_.push_back(packet(rng_.next() % flows()));
  }
  void receive() { plane_.ingress->receive(burst_, 0, plane_.now); }
  void forget_burst() {
    plane_.now += Duration(6400);
    std::array<rte_mbuf*, kBurst> out;
    while (const std::size_t n = plane_.egresses[1]->transmit(out, plane_.now))
      rte_pktmbuf_free_bulk(out.data(), static_cast<unsigned>(n));
  }

 private:
  Edge()
      : plane_(edge("one")),
        first_(test::configured(edge("two")), plane_.snapshot),
        second_(test::configured(edge("one")), first_) {
    plane_.route("10.2.0.0/16", {test::ready(1)});
    for (int twice = 0; twice < 2; ++twice)
      for (std::uint32_t f = 0; f < flows(); f += kBurst) {
        burst_.clear();
        for (std::uint32_t i = f; i < f + kBurst; ++i) burst_.push_back(packet(i % flows()));
        receive();
        forget_burst();
      }
  }
  // Of a flow: its number stands in the addresses.
  static rte_mbuf* packet(std::uint32_t flow) {
    return test::to_mbuf(test::udp_frame({.source = 0x0a010000 | (flow >> 8 & 0xffff),
                                          .destination = 0x0a020000 | (flow & 0xff) << 8 | 1,
                                          .from = static_cast<std::uint16_t>(1 + (flow & 1)),
                                          .to = static_cast<std::uint16_t>(5000 + (flow >> 24))}));
  }

  test::DataPlane plane_;
  Snapshot first_, second_;
  const Snapshot* next_ = &second_;
  std::vector<rte_mbuf*> burst_;
  Rng rng_{1};
};

// Of calls that are the same in every round each one's shortest: what the machine takes away (a hypervisor,
// another process) meets another one each time.
class Calls {
 public:
  explicit Calls(std::size_t round) : shortest_(round, 1e9) {}
  bool first() const { return next_ % shortest_.size() == 0; }  // of a round
  template <class F>
  void time(benchmark::State& state, F&& work) {
    const std::uint64_t start = rte_rdtsc();
    work();
    const double s = static_cast<double>(rte_rdtsc() - start) / static_cast<double>(rte_get_tsc_hz());
    state.SetIterationTime(s);
    double& shortest = shortest_[next_++ % shortest_.size()];
    shortest = std::min(shortest, s * 1e6);
  }
  void print(benchmark::State& state) {
    std::ranges::sort(shortest_);
    state.counters["median_us"] = shortest_[shortest_.size() / 2];
    state.counters["longest_us"] = shortest_.back();
  }

 private:
  std::vector<double> shortest_;
  std::size_t next_ = 0;
};

constexpr std::int64_t kRounds = 5, kCalls = 2000;

void BM_Adopt(benchmark::State& state) {
  Edge& e = Edge::get();
  Calls calls(100);
  for (auto _ : state) calls.time(state, [&] { e.adopt(); });
  calls.print(state);
}
BENCHMARK(BM_Adopt)->UseManualTime()->Iterations(1000)->Unit(benchmark::kMicrosecond);

void BM_Sweep(benchmark::State& state) {
  Edge& e = Edge::get();
  Calls calls(flows() / 1024);
  for (auto _ : state) {
    if (calls.first()) e.adopt();
    calls.time(state, [&] { e.turn(); });
  }
  calls.print(state);
}
BENCHMARK(BM_Sweep)->UseManualTime()->Iterations(kRounds* flows() / 1024)->Unit(benchmark::kMicrosecond);

void receive(benchmark::State& state, bool stale) {
  Edge& e = Edge::get();
  Calls calls(kCalls);
  for (auto _ : state) {
    if (calls.first()) {
      if (stale) e.adopt();
      e.finish();
      e.begin_bursts();
    }
    e.make_burst();
    calls.time(state, [&] { e.receive(); });
    e.forget_burst();
  }
  calls.print(state);
}
void BM_Stale(benchmark::State& state) {
  receive(state, true);
}
void BM_Known(benchmark::State& state) {
  receive(state, false);
}
BENCHMARK(BM_Stale)->UseManualTime()->Iterations(kRounds* kCalls)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Known)->UseManualTime()->Iterations(kRounds* kCalls)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace surety

int main(int argc, char** argv) {
  std::vector<std::string> words{argv[0], "--no-huge", "--no-pci", "--no-shconf", "-m512", "--no-telemetry"};
  std::vector<char*> eal;
  for (auto& w : words) eal.push_back(w.data());
  if (rte_eal_init(static_cast<int>(eal.size()), eal.data()) < 0) return 1;
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
