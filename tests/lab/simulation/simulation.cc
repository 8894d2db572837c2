// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/simulation.h"

#include <algorithm>

#include "tests/lab/simulation/network.h"
#include "tests/lab/simulation/sampler.h"

namespace surety::lab {

namespace {

// Exact for whole milliseconds, which seconds() is not: these are printed.
double in_seconds(Duration d) {
  return static_cast<double>(d.count()) / 1e9;
}

void count_drops(Network& network, RunResult& result) {
  const Scenario& scenario = network.plan().scenario();
  for (std::size_t r = 0; r < network.routers(); ++r) {
    auto& drops = result.drops[scenario.routers[r].name];
    for (std::size_t p = 0; p < network.router(r).ports(); ++p)
      for (std::size_t i = 0; i < kDropReasons; ++i)
        if (const std::uint64_t n = network.router(r).counters(p).drops[i]; n > 0)
          drops[std::string(kDropReasonInfo[i].name)] += n;
  }
  auto& links = result.drops["links"];
  for (LineNumber n = 0; n < network.plan().lines().size(); ++n) {
    const LineCounters& c = network.line(n).counters();
    if (c.lost > 0) links["lost"] += c.lost;
    if (c.overflow > 0) links["overflow"] += c.overflow;
  }
}

void count_signals(Network& network, RunResult& result) {
  const Scenario& scenario = network.plan().scenario();
  const auto add = [&](const std::string& where, std::string_view what, std::uint64_t n) {
    if (n > 0) result.signals[where][std::string(what)] += n;
  };
  for (std::size_t r = 0; r < network.routers(); ++r) {
    const RouterDriver& router = network.router(r);
    const std::string& name = scenario.routers[r].name;
    result.signals[name];
    for (std::size_t i = 0; i < kSignalResults; ++i)
      add(name, kSignalResultInfo[i].name, router.ingress().signals()[i]);
    if (router.signal_sender() == nullptr) continue;
    for (std::size_t p = 0; p < router.ports(); ++p)
      for (std::size_t c = 0; c < router.snapshot().queues[p].classes.size(); ++c) {
        const auto n =
            router.signal_sender()->counters(static_cast<std::uint8_t>(p), static_cast<std::uint8_t>(c));
        add(name, "sent", n.sent), add(name, "limited", n.limited), add(name, "unsent", n.lost);
      }
  }
  result.signals["links"];
  add("links", "lost", network.signals_lost());
}

}  // namespace

RunResult run(const Plan& plan, PacketPool& pool, const RunOptions& options) {
  const Scenario& scenario = plan.scenario();
  RunResult result;
  result.scenario = scenario.name;
  result.seed = options.seed;
  result.sample_s = in_seconds(scenario.sample);
  Network network(plan, pool, options.seed);
  network.tap(options.tap, options.tap_link);
  Sampler sampler(network);
  const Time end = Network::kZero + scenario.duration;
  const auto elapsed = [&] { return network.now() - Network::kZero; };
  while (sampler.next() <= end && !result.interrupted) {
    network.run_to(sampler.next());
    sampler.tick();
    if (options.progress) options.progress(seconds(elapsed()) / seconds(scenario.duration));
    result.interrupted =
        elapsed() > Duration{} && options.stop != nullptr && options.stop->load(std::memory_order_relaxed);
  }
  if (!result.interrupted) network.run_to(end);
  result.duration_s = in_seconds(elapsed());
  result.measure_from_s = std::min(in_seconds(scenario.measure.from), result.duration_s);
  result.measure_to_s = std::min(in_seconds(scenario.measure.to), result.duration_s);
  sampler.finish(result);
  count_drops(network, result);
  count_signals(network, result);
  result.events = network.events();
  result.hops = network.hops();
  return result;
}

}  // namespace surety::lab
