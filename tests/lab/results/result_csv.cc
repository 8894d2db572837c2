// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/result_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/lab/results/result_tables.h"

namespace surety::lab {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string safe = "\"";
  for (const char c : text) safe += c == '"' ? std::string("\"\"") : std::string(1, c);
  return safe + '"';
}

std::string field(const Series& series, std::size_t i) {
  return i < series.size() && std::isfinite(series[i]) ? fmt::format("{}", series[i]) : "";
}

// The end of the i-th sample, free of what adding up would leave: 0.3, not 0.30000000000000004.
std::string time_of(const RunResult& run, std::size_t i) {
  return fmt::format("{}", std::round(static_cast<double>(i + 1) * run.sample_s * 1e9) / 1e9);
}

// Lines of one row of a run; `names` are its texts, already with commas.
void append(std::string& csv, const RunResult& run, const std::string& names,
            const std::vector<const Series*>& columns) {
  std::size_t samples = 0;
  for (const Series* s : columns) samples = std::max(samples, s->size());
  for (std::size_t i = 0; i < samples; ++i) {
    csv += fmt::format("{},{},{}", time_of(run, i), run.seed, names);
    for (const Series* s : columns) csv += ',' + field(*s, i);
    csv += '\n';
  }
}

}  // namespace

std::string flows_csv(std::span<const RunResult> runs) {
  static const Series nothing;
  std::string csv =
      "time_s,seed,flow,protocol,throughput_bps,in_throughput_bps,cwnd_packets,x_bps,one_way_delay_s\n";
  for (const auto& run : runs) {
    for (const auto& f : run.flows) {
      const bool rate = controls_rate(f);
      append(csv, run, quoted(f.name) + ',' + quoted(f.protocol),
             {&f.throughput_series, &f.in_series, rate ? &nothing : &f.control_series,
              rate ? &f.control_series : &nothing, &f.delay_series});
    }
  }
  return csv;
}

std::string queues_csv(std::span<const RunResult> runs) {
  std::string csv = "time_s,seed,router,port,queue,average_in,average_total\n";
  for (const auto& run : runs) {
    for (const auto& q : run.queues)
      append(csv, run, quoted(q.router) + ',' + quoted(q.port) + ',' + quoted(q.queue),
             {&q.average_in_series, &q.average_total_series});
  }
  return csv;
}

std::string domains_csv(std::span<const RunResult> runs) {
  std::string csv = "time_s,seed,router,port,queue,at,alpha\n";
  for (const auto& run : runs) {
    for (const auto& d : run.domains)
      append(csv, run, quoted(d.router) + ',' + quoted(d.port) + ',' + quoted(d.queue) + ',' + quoted(d.at),
             {&d.alpha_series});
  }
  return csv;
}

std::string aggregates_csv(std::span<const RunResult> runs) {
  std::string csv = "time_s,seed,router,aggregate,tpr_bps,tokens_bytes\n";
  for (const auto& run : runs) {
    for (const auto& a : run.aggregates)
      append(csv, run, quoted(a.router) + ',' + quoted(a.name), {&a.tpr_series, &a.tokens_series});
  }
  return csv;
}

}  // namespace surety::lab
