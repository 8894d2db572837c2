// SPDX-License-Identifier: BSD-3-Clause
// What one more of 4,000 interfaces costs, step by step, from the text to next hops.
//
// Argument 0: an entry of its own for each of them; 1: a template's 4,000 members and an entry of its own; 2:
// as 0, and a rule and a contract for each. Each time one entry comes, in the middle of the file, or goes.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <rte_eal.h>

#include <string>
#include <vector>

#include "config/reload.h"
#include "config/text/document.h"
#include "router/pipeline/routes/routes.h"
#include "tests/unit/router/pipeline/data_plane.h"

namespace surety {
namespace {

constexpr int kInterfaces = 4000;

std::string entry(int i) {
  return fmt::format(
      "  c{}: {{port: acc0, vlan: {}, inner_vlan: {}, vlan_protocol: 802.1ad, addresses: [10.{}.{}.{}/30], "
      "shape: 50 "
      "Mbit/s, queues: down}}\n",
      i, 100 + i / 1000, 1 + i % 1000, 64 + i / 16384, i / 64 % 256, i % 64 * 4 + 1);
}

std::string text(std::int64_t shape, bool one_more) {
  std::string yaml =
      "version: 1\n"
      "ports:\n"
      "  acc0: {device: null, addresses: [10.1.0.254/24], shape: 1 Gbit/s}\n"
      "  up0: {device: null, addresses: [10.2.0.254/24], trust: core, shape: 1 Gbit/s, queues: uplink}\n"
      "interfaces:\n";
  const int entries = shape == 1 ? 0 : kInterfaces;
  for (int i = 0; i < entries; ++i) {
    if (i == entries / 2 && one_more) yaml += entry(5000);
    yaml += entry(i);
  }
  if (shape == 1)
    yaml +=
        "  homes: {port: acc0, vlan: 200, inner_vlan: 1-4000, vlan_protocol: 802.1ad, addresses: "
        "[100.64.0.1/16], hosts: "
        "4, queues: down}\n" +
        (one_more ? entry(5000) : std::string());
  yaml +=
      "routes:\n"
      "  - {to: 0.0.0.0/0, via: 10.2.0.1}\n"
      "queues:\n"
      "  uplink: [{name: assured, weight: 9, dscp: {in: [AF11], out: [AF12]}, limit: 2000 packets}, {name: "
      "rest, weight: "
      "1, dscp: [BE], limit: 1000 packets}]\n"
      "  down: [{name: data, weight: 1, dscp: [BE], limit: 200 packets}]\n"
      "services:\n"
      "  home: {conditioner: token-bucket, rate: 10 Mbit/s, bucket: 100 kB, mark: {in: AF11, out: AF12}}\n"
      "classify:\n";
  for (int i = 0; shape == 2 && i < entries; ++i)
    yaml += fmt::format("  - {{match: {{interface: c{}}}, service: home, per: rule}}\n", i);
  return yaml + "  - {match: {port: acc0}, service: home, per: interface}\n";
}

struct Texts {
  std::string less, more;
  static const Texts& of(std::int64_t shape) {
    static const std::vector<Texts> all{
        {text(0, false), text(0, true)}, {text(1, false), text(1, true)}, {text(2, false), text(2, true)}};
    return all[static_cast<std::size_t>(shape)];
  }
};

void BM_Document(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(config::Document(Texts::of(state.range(0)).more));
}
void BM_Parse(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(config::parse(Texts::of(state.range(0)).more, "more.yaml"));
}
// All that a reload does until the configuration is checked.
void BM_ParseReload(benchmark::State& state) {
  const Texts& texts = Texts::of(state.range(0));
  const config::Config running = test::configured(texts.less);
  for (auto _ : state)
    benchmark::DoNotOptimize(config::parse_tree(config::tree_of(texts.more, "more.yaml"), &running));
}
void BM_CopyConfig(benchmark::State& state) {
  const config::Config c = test::configured(Texts::of(state.range(0)).more);
  for (auto _ : state) benchmark::DoNotOptimize(config::Config(c));
}
void BM_Interfaces(benchmark::State& state) {
  const Interfaces before(test::configured(Texts::of(state.range(0)).less));
  const config::Config c = test::configured(Texts::of(state.range(0)).more);
  for (auto _ : state) benchmark::DoNotOptimize(Interfaces(c, &before));
}
// Its interfaces, its classifier and all else; without the copy of the configuration.
void BM_Snapshot(benchmark::State& state) {
  const Snapshot before(test::configured(Texts::of(state.range(0)).less));
  const config::Config c = test::configured(Texts::of(state.range(0)).more);
  for (auto _ : state) {
    state.PauseTiming();
    config::Config copy = c;
    state.ResumeTiming();
    benchmark::DoNotOptimize(std::make_unique<Snapshot>(std::move(copy), before));
  }
}
// In a worker's turn.
void BM_Adopt(benchmark::State& state) {
  test::DataPlane plane(Texts::of(state.range(0)).less);
  const Snapshot more(test::configured(Texts::of(state.range(0)).more), plane.snapshot);
  const Snapshot less(test::configured(Texts::of(state.range(0)).less), more);
  bool come = true;
  for (auto _ : state) {
    std::vector<std::uint64_t> filter_counts;
    plane.ingress->adopt(come ? more : less, plane.services, filter_counts, plane.now);
    come = !come;
  }
}
// Connected routes and next hops, at the control thread.
void BM_Routes(benchmark::State& state) {
  const config::Config less = test::configured(Texts::of(state.range(0)).less),
                       more = test::configured(Texts::of(state.range(0)).more);
  struct Nowhere : RouteSink {
    bool set_route(const Prefix&, RouteTarget) override { return true; }
    void remove_route(const Prefix&) override {}
    void set_next_hop(std::uint32_t, const NextHopEntry&) override {}
  } sink;
  Routes routes(sink);
  auto interfaces = std::make_shared<const Interfaces>(less);
  routes.configure(less, interfaces);
  bool come = true;
  for (auto _ : state) {
    state.PauseTiming();
    interfaces = std::make_shared<const Interfaces>(come ? more : less, interfaces.get());
    state.ResumeTiming();
    routes.configure(come ? more : less, interfaces);
    come = !come;
  }
}
#define SURETY_STEP(f) BENCHMARK(f)->DenseRange(0, 2)->Unit(benchmark::kMicrosecond)
SURETY_STEP(BM_Document);
SURETY_STEP(BM_Parse);
SURETY_STEP(BM_ParseReload);
SURETY_STEP(BM_CopyConfig);
SURETY_STEP(BM_Interfaces);
SURETY_STEP(BM_Snapshot);
SURETY_STEP(BM_Adopt);
SURETY_STEP(BM_Routes);

}  // namespace
}  // namespace surety

int main(int argc, char** argv) {
  std::vector<std::string> words{argv[0], "--no-huge", "--no-pci", "--no-shconf", "-m1024", "--no-telemetry"};
  std::vector<char*> eal;
  for (auto& w : words) eal.push_back(w.data());
  if (rte_eal_init(static_cast<int>(eal.size()), eal.data()) < 0) return 1;
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
