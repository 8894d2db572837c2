// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/dpdk/commands.h"

#include <fmt/format.h>
#include <rte_cycles.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>

#include "endpoints/dpdk/bench_pacing.h"
#include "endpoints/dpdk/bench_pair.h"
#include "endpoints/dpdk/plan.h"
#include "router/process/repetitions.h"

namespace surety::endpoints {

namespace {

constexpr std::uint64_t kPacketsPerRun = 1'000'000;

struct Row {
  std::string protocol;
  std::uint64_t flows = 0;
  std::uint32_t packet = 0;
  Repetitions cycles;      // per data packet
  double answers = 0;      // per data packet
  std::size_t memory = 0;  // bytes per flow
};

// In TSC cycles, without what the kernel gave to others meanwhile.
double thread_cycles() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9) *
         static_cast<double>(rte_get_tsc_hz());
}

double cycles_per_packet(BenchPair& pair) {
  std::uint64_t packets = 0;
  const double start = thread_cycles();
  while (packets < kPacketsPerRun) packets += pair.turn();
  return (thread_cycles() - start) / static_cast<double>(packets);
}

Row measure(const BenchOptions& o, const std::string& protocol, std::uint64_t flows, std::uint32_t packet) {
  BenchPair pair(protocol, static_cast<std::uint32_t>(flows), packet);
  Row row{protocol, flows, packet, {}, 0, pair.memory_per_flow()};
  const std::uint64_t sent = pair.sent(), answers = pair.answers();
  for (int i = 0; i < o.repetitions; ++i) row.cycles.add(cycles_per_packet(pair));
  row.answers = static_cast<double>(pair.answers() - answers) / static_cast<double>(pair.sent() - sent);
  pair.must_be_clean();
  return row;
}

void print(const Row& row, bool json) {
  const double mhz = static_cast<double>(rte_get_tsc_hz()) / 1e6, cycles = row.cycles.median();
  const double budget = cycle_budget(row.protocol, row.flows);
  if (json) {
    nlohmann::ordered_json j{{"protocol", row.protocol}, {"flows", row.flows}, {"packet", row.packet}};
    row.cycles.write(j);
    j.update({{"budget", budget},
              {"mpps", mhz / cycles},
              {"answers_per_packet", row.answers},
              {"memory_per_flow", row.memory},
              {"memory_budget", kFlowBytesBudget}});
    std::cout << j.dump() << std::endl;
    return;
  }
  std::cout << fmt::format(
                   "{:<9} {:>7} {:>6} {:>7.1f} {:>7.1f} {:>7.1f} {:>6.0f}{} {:>6.1f} {:>7.2f} {:>6}{}",
                   row.protocol, row.flows, row.packet, cycles, row.cycles.least(), row.cycles.greatest(),
                   budget, cycles <= budget ? ' ' : '!', mhz / cycles, row.answers, row.memory,
                   row.memory <= kFlowBytesBudget ? ' ' : '!')
            << std::endl;
}

void header(const EalPlan& plan, const BenchOptions& o) {
  std::cout << fmt::format(
      "sender and sink together, core {}, TSC {:.0f} MHz, {} repetitions; cycles per data packet, answers "
      "included; `!`: beyond the budget\n{:<9} {:>7} {:>6} {:>7} {:>7} {:>7} {:>6}  {:>6} {:>7} {:>6}\n",
      plan.worker_cores[0], static_cast<double>(rte_get_tsc_hz()) / 1e6, o.repetitions, "protocol", "flows",
      "packet", "median", "min", "max", "budget", "Mpps", "answers", "B/flow");
}

EalPlan plan(const BenchOptions& o, const std::string& name) {
  EalPlan p = plan_endpoint_eal(port_config(config::Endpoints{}, name), Placement::own_core, o.core);
  // One thread, on the core that is measured.
  *(std::find(p.arguments.begin(), p.arguments.end(), "--lcores") + 1) =
      fmt::format("0@{}", p.worker_cores[0]);
  return p;
}

void measure_all(const BenchOptions& o, const EalPlan& plan) {
  if (!o.json) header(plan, o);
  for (const auto& protocol : o.protocols)
    for (const std::uint64_t flows : o.flows)
      for (const std::uint32_t packet : o.packets) print(measure(o, protocol, flows, packet), o.json);
}

}  // namespace

double cycle_budget(const std::string& protocol, std::uint64_t flows) {
  return (protocol == "udp" ? 120 : 250) * (flows > 1000 ? 2 : 1);
}

int bench(const BenchOptions& options) {
  const std::string name = fmt::format("endpoint-bench-{}", getpid());
  try {
    const EalPlan p = plan(options, name);
    if (!p.note.empty()) std::cerr << "surety-endpoint: " << p.note << '\n';
    const RunningEal eal(p, name);
    if (options.pacing)
      bench_pacing(options.json);
    else
      measure_all(options, p);
  } catch (const std::invalid_argument& e) {
    std::cerr << "surety-endpoint: " << e.what() << '\n';
    return kBadUsage;
  } catch (const std::exception& e) {
    std::cerr << "surety-endpoint: " << e.what() << '\n';
    return kMissed;
  }
  return kKept;
}

}  // namespace surety::endpoints
