// SPDX-License-Identifier: BSD-3-Clause
// What the programs of a live run counted, in the lab's terms.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "router/operate/observe/reading_json.h"
#include "tests/lab/results/result.h"

namespace surety::lab {

struct LiveFlow {
  std::string name, protocol;
  double target_bps = 0;                              // 0: nothing was promised
  std::optional<double> throughput_bps, goodput_bps;  // none: nothing ever arrived
  std::optional<double> in_share, rtt_mean_s;
  std::uint64_t sent_packets = 0, lost_packets = 0;
};

struct LiveOutcome {
  std::vector<LiveFlow> flows;      // in the order of Plan::flows()
  std::vector<QueueResult> queues;  // counters of the measured interval; no averages
  // What the links carried; of these, what left one more than 5 ms late;
  // and what the machine was too slow to take.
  std::uint64_t carried_packets = 0, late_packets = 0, missed_packets = 0;
  bool interrupted = false;
};

// The flows of an endpoint's report (report.h). Throws LiveError when it is none.
std::vector<LiveFlow> live_flows(const std::string& report);

// Rows of `surety show queues`, at the end of the interval and at its beginning.
std::vector<QueueResult> live_queues(const std::string& router, const Json& end, const Json& begin);

}  // namespace surety::lab
