// SPDX-License-Identifier: BSD-3-Clause
// Lab and live side by side: means over some seeds of the lab, one run in real time, and whether they agree.
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "tests/lab/live/live_report.h"

namespace surety::lab {

// How far the live throughput may be from the lab's mean: 5 % of it (as for the gTFRC paper's Fig. 11);
// or, where the lab's own runs are further apart than that, as far as 95 of 100 more runs of it would be
// (prediction interval of Student's t, four degrees of freedom: 2.776 * sqrt(1 + 1/5) standard deviations).
inline constexpr double kLiveTolerance = 0.05;
inline constexpr double kLiveSpread = 3.04;
inline constexpr std::uint64_t kLabSeeds = 5;

struct Beside {
  std::optional<double> lab, live;
};

struct FlowBeside {
  std::string name, protocol;
  double target_bps = 0;
  Beside throughput, goodput;  // of the measured interval, bit/s
  Beside in_share, loss;       // of the whole run, as endpoints count: of what arrived, of what was sent
  double throughput_sd = 0;    // of the lab, over its seeds
  // live / lab - 1; none: nothing arrived in the lab.
  std::optional<double> difference() const;
  double tolerance() const;  // of the difference
  bool agrees() const;       // within it; or nothing arrived at all
};

struct QueueBeside {
  static constexpr std::array<const char*, 4> kCounters{"arrivals", "early_drops", "forced_drops",
                                                        "overflow_drops"};
  std::string router, port, queue;
  std::array<std::array<Beside, kCounters.size()>, kPrecedences> counters;
};

struct LiveComparison {
  std::string scenario;
  std::vector<std::uint64_t> seeds;  // of the lab
  std::vector<FlowBeside> flows;
  std::vector<QueueBeside> queues;                                          // those of the lab
  std::uint64_t carried_packets = 0, late_packets = 0, missed_packets = 0;  // of the live run (live_report.h)

  bool agrees() const;
  // The machine was too slow: it lost packets, or 1 % of them were late.
  bool doubtful() const { return missed_packets > 0 || 100 * late_packets > carried_packets; }
  std::string text() const;
  nlohmann::ordered_json json() const;
};

// Results of one scenario, at least one; `whole`: the same ones with all of the run measured.
// Flows of all in the same order.
LiveComparison compare(std::span<const RunResult> measured, std::span<const RunResult> whole,
                       const LiveOutcome& live);

}  // namespace surety::lab
