// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/live/live_compare.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace surety::lab {

namespace {

using FlowValue = std::function<std::optional<double>(const FlowResult&)>;

// Over the runs that have the value.
struct Mean {
  std::optional<double> mean;
  double sd = 0;
};

Mean mean_of(std::span<const RunResult> runs,
             const std::function<std::optional<double>(const RunResult&)>& value) {
  std::vector<double> values;
  double sum = 0;
  for (const auto& run : runs)
    if (const auto v = value(run)) sum += values.emplace_back(*v);
  if (values.empty()) return {};
  const double n = static_cast<double>(values.size()), mean = sum / n;
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return {mean, n > 1 ? std::sqrt(squares / (n - 1)) : 0};
}

std::optional<double> share(std::uint64_t part, std::uint64_t all) {
  return all > 0 ? std::optional(static_cast<double>(part) / static_cast<double>(all)) : std::nullopt;
}

Mean mean_of(std::span<const RunResult> runs, std::size_t flow, const FlowValue& value) {
  return mean_of(runs, [&](const RunResult& run) { return value(run.flows.at(flow)); });
}

FlowBeside beside(std::span<const RunResult> measured, std::span<const RunResult> whole, std::size_t i,
                  const LiveFlow& live) {
  const FlowResult& first = measured[0].flows.at(i);
  const Mean throughput = mean_of(measured, i, [](const FlowResult& f) { return f.throughput_bps; });
  FlowBeside b;
  b.name = first.name;
  b.protocol = first.protocol;
  b.target_bps = first.target_bps;
  b.throughput = {throughput.mean, live.throughput_bps};
  b.throughput_sd = throughput.sd;
  b.goodput = {mean_of(measured, i, [](const FlowResult& f) { return f.goodput_bps; }).mean,
               live.goodput_bps};
  b.in_share = {mean_of(whole, i, [](const FlowResult& f) { return f.in_share; }).mean, live.in_share};
  b.loss = {mean_of(whole, i, [](const FlowResult& f) { return share(f.lost_packets, f.sent_packets); }).mean,
            share(live.lost_packets, live.sent_packets)};
  return b;
}

std::array<std::uint64_t, QueueBeside::kCounters.size()> counters(const PrecedenceResult& p) {
  return {p.arrivals, p.early_drops, p.forced_drops, p.overflow_drops};
}

QueueBeside beside(std::span<const RunResult> lab, std::size_t i, const std::vector<QueueResult>& live) {
  const QueueResult& first = lab[0].queues.at(i);
  QueueBeside b{first.router, first.port, first.queue, {}};
  const auto same = std::find_if(live.begin(), live.end(), [&](const QueueResult& q) {
    return q.router == b.router && q.port == b.port && q.queue == b.queue;
  });
  for (std::size_t p = 0; p < kPrecedences; ++p)
    for (std::size_t c = 0; c < QueueBeside::kCounters.size(); ++c) {
      const auto of = [&](const QueueResult& q) {
        return static_cast<double>(counters(q.by_precedence[p])[c]);
      };
      b.counters[p][c].lab = mean_of(lab, [&](const RunResult& run) { return of(run.queues.at(i)); }).mean;
      if (same != live.end()) b.counters[p][c].live = of(*same);
    }
  return b;
}

}  // namespace

std::optional<double> FlowBeside::difference() const {
  if (throughput.lab.value_or(0) <= 0) return {};
  return throughput.live.value_or(0) / *throughput.lab - 1;
}

double FlowBeside::tolerance() const {
  const double lab = throughput.lab.value_or(0);
  return lab > 0 ? std::max(kLiveTolerance, kLiveSpread * throughput_sd / lab) : kLiveTolerance;
}

bool FlowBeside::agrees() const {
  const auto d = difference();
  return d ? std::abs(*d) <= tolerance() : throughput.live.value_or(0) <= 0;
}

bool LiveComparison::agrees() const {
  return std::all_of(flows.begin(), flows.end(), [](const FlowBeside& f) { return f.agrees(); });
}

LiveComparison compare(std::span<const RunResult> measured, std::span<const RunResult> whole,
                       const LiveOutcome& live) {
  LiveComparison c;
  c.scenario = measured[0].scenario;
  for (const auto& run : measured) c.seeds.push_back(run.seed);
  for (std::size_t i = 0; i < live.flows.size(); ++i)
    c.flows.push_back(beside(measured, whole, i, live.flows[i]));
  for (std::size_t i = 0; i < measured[0].queues.size(); ++i)
    c.queues.push_back(beside(measured, i, live.queues));
  c.carried_packets = live.carried_packets;
  c.late_packets = live.late_packets;
  c.missed_packets = live.missed_packets;
  return c;
}

}  // namespace surety::lab
