// What a reload costs a worker: the longest of all turns is what counts (budget: 50 us).
//
// On a table of 4 Mi flows (RELOAD_FLOWS=N: of so many), all with state of their own. BM_Adopt: Ingress::adopt().
// BM_Slice: one slice of the sweep. BM_Known and BM_Stale: a vector of 64 packets of known flows at random, before
// and after a reload, where each asks the rules again. Besides the mean: the 99.9 % quantile and the longest call,
// in microseconds; the longest one holds what the machine takes away.
#include <benchmark/benchmark.h>
#include <rte_cycles.h>
#include <rte_eal.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "conditioners/rng.h"
#include "config/parse.h"
#include "router/ingress.h"

namespace surety {
namespace {

using namespace literals;

std::uint32_t flows() {
  const char* text = std::getenv("RELOAD_FLOWS");
  return text == nullptr ? 1u << 22 : static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

config::Config edge(bool other) {
  const std::string services =
      "version: 1\n"
      "ports: {lan0: {addresses: [10.1.0.254/16]}}\n"
      "services:\n"
      "  one: {conditioner: token-bucket, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: AF11, out: AF12}}\n"
      "  two: {conditioner: token-bucket, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: AF11, out: AF12}}\n";
  std::string rules = "classify:\n";
  for (int i = 0; i < 100; ++i)
    rules += "  - {match: {port: lan0, destination_port: " + std::to_string(i + 1) + "}, service: one, per: flow}\n";
  rules += std::string("  - {match: {port: lan0}, service: ") + (other ? "two" : "one") + ", per: flow}\n";
  auto parsed = config::parse(services + rules, "bench.yaml");
  if (!parsed.ok()) std::abort();
  parsed.config->flow_table.capacity = flows();
  parsed.config->flow_table.creation_rate = 0;
  parsed.config->flow_table.held_packets = 1024;
  return std::move(*parsed.config);
}

void start_eal() {
  static const bool started = [] {
    std::vector<std::string> words{"reload_bench", "--no-pci", "--no-huge", "--in-memory", "-m", "512",
                                   "--no-telemetry", "--log-level=*:error"};
    std::vector<char*> argv;
    for (auto& w : words) argv.push_back(w.data());
    return rte_eal_init(static_cast<int>(argv.size()), argv.data()) >= 0;
  }();
  if (!started) std::abort();
}

// The classify stage, which does all that grows with the number of flows, and the rest of an ingress around it.
class Edge {
 public:
  static Edge& get() {
    start_eal();
    static Edge edge;
    return edge;
  }

  // Services and rules of the one, then of the other; flows do not go stale by it alone.
  void adopt() {
    snapshot_ = snapshot_ == &first_ ? second_.get() : &third();
    stage_.adopt(*snapshot_, services_, now_);
  }
  void turn() {
    now_ += Duration(1000);
    stage_.serve(now_, [](FlowId) { return true; });
    stage_.age(now_);
  }
  bool adopting() const { return stage_.adopting(); }
  void finish() {
    while (adopting()) turn();
  }
  void vector() {
    for (std::size_t i = 0; i < kVector; ++i) write_key(v_.header[i], rng_.next() % flows());
  }
  void run() {
    v_.size = kVector;
    stage_.run(v_, 0, now_);
  }
  void next() { now_ += Duration(6400); }

 private:
  Edge()
      : first_(edge(false)),
        second_(std::make_unique<Snapshot>(edge(true), first_)),
        third_(std::make_unique<Snapshot>(edge(false), *second_)),
        stage_(first_, ports_, services_, 1, now_) {
    for (int packet = 0; packet < 2; ++packet)
      for (std::uint32_t f = 0; f < flows(); f += kVector) {
        for (std::size_t i = 0; i < kVector; ++i) write_key(v_.header[i], (f + i) % flows());
        run();
      }
  }
  const Snapshot& third() const { return *third_; }
  static void write_key(ParsedPacket& h, std::uint64_t flow) {
    h = {};
    h.key.rest = std::uint64_t{2} << 61 | 1000 | 5001 << 16;
    h.key.address[0] = 0x0a010000 + flow;
    h.length = 100;
    h.protocol = 17;
  }

  Snapshot first_;
  std::unique_ptr<Snapshot> second_, third_;
  const Snapshot* snapshot_ = &first_;
  std::vector<PortCounters> ports_{1};
  std::vector<ServiceCounters> services_{16};
  Time now_{Duration(std::int64_t{1} << 40)};
  Rng rng_{1};
  ClassifyStage stage_;
  Vector v_;
};

class Calls {
 public:
  template <class F>
  void time(benchmark::State& state, F&& work) {
    const std::uint64_t start = rte_rdtsc();
    work();
    const double s = static_cast<double>(rte_rdtsc() - start) / static_cast<double>(rte_get_tsc_hz());
    state.SetIterationTime(s);
    all_.push_back(s * 1e6);
  }
  void print(benchmark::State& state) {
    std::ranges::sort(all_);
    state.counters["p999_us"] = all_[all_.size() - 1 - all_.size() / 1000];
    state.counters["max_us"] = all_.back();
  }

 private:
  std::vector<double> all_;
};

void BM_Adopt(benchmark::State& state) {
  Edge& e = Edge::get();
  Calls calls;
  for (auto _ : state) calls.time(state, [&] { e.adopt(); });
  calls.print(state);
}
BENCHMARK(BM_Adopt)->UseManualTime()->Iterations(1000)->Unit(benchmark::kMicrosecond);

void BM_Slice(benchmark::State& state) {
  Edge& e = Edge::get();
  Calls calls;
  e.adopt();
  for (auto _ : state) {
    if (!e.adopting()) e.adopt();
    calls.time(state, [&] { e.turn(); });
  }
  calls.print(state);
}
BENCHMARK(BM_Slice)->UseManualTime()->Iterations(20'000)->Unit(benchmark::kMicrosecond);

void BM_Known(benchmark::State& state) {
  Edge& e = Edge::get();
  Calls calls;
  e.finish();
  for (int warm = 0; warm < 100'000; ++warm) e.vector(), e.run();
  for (auto _ : state) {
    e.vector();
    calls.time(state, [&] { e.run(); });
  }
  calls.print(state);
}
BENCHMARK(BM_Known)->UseManualTime()->Iterations(20'000)->Unit(benchmark::kMicrosecond);

void BM_Stale(benchmark::State& state) {
  Edge& e = Edge::get();
  Calls calls;
  e.adopt();
  e.finish();
  for (auto _ : state) {
    e.vector();
    calls.time(state, [&] { e.run(); });
  }
  calls.print(state);
}
BENCHMARK(BM_Stale)->UseManualTime()->Iterations(5000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace surety
