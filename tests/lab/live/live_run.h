// SPDX-License-Identifier: BSD-3-Clause
// A scenario in real time: the programs `surety` and `surety-endpoint`, and delay lines for links.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "tests/lab/live/live_report.h"
#include "tests/lab/simulation/plan.h"

namespace surety::lab {

struct LiveRun {
  std::uint64_t seed = 1;
  std::string directory;                    // exists; gets configurations, logs and the report
  const std::atomic<bool>* stop = nullptr;  // true: ends at once, all of it cleaned up
  std::function<void(double)> progress;     // the part done, 0..1
};

// Needs root. Takes the scenario's duration and some seconds, whatever happens.
// Throws LiveError in one sentence.
LiveOutcome run_live(const Plan& plan, const LiveRun& run);

}  // namespace surety::lab
