// SPDX-License-Identifier: BSD-3-Clause
// `surety-endpoint run FILE` and `surety-endpoint check FILE`.
#pragma once

#include <optional>
#include <string>

#include "conditioners/units.h"

namespace surety::endpoints {

// 0: every flow reached its target; 1: a flow with a target missed it by more than the tolerance, or a flow
// failed, or the run could not be made; 2: the command line or the configuration is wrong.
enum ExitStatus : int { kKept = 0, kMissed = 1, kBadUsage = 2 };

enum class Pace : std::uint8_t { automatic, busy, gentle };

struct RunOptions {
  std::string file;
  std::optional<Duration> duration;  // beats the configuration's
  double tolerance = 0.04;
  std::string json;                    // file for the report; "-": standard output; empty: none
  std::optional<bool> live;            // default: when standard output is a terminal
  std::optional<std::string> metrics;  // beats the configuration's `metrics: {listen: ...}`
  Pace pace = Pace::automatic;         // automatic: gentle where there are fewer than three cores
  int core = -1;
  std::uint32_t accept = 0;  // flows that the sinks of a port keep at most; 0: enough
};

int run(const RunOptions& options);
int check(const std::string& file);

}  // namespace surety::endpoints
