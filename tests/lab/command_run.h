// SPDX-License-Identifier: BSD-3-Clause
// `surety-lab run FILE`: a scenario over seeds and settings, results on standard output.
//
// Standard output is a function of (scenario, settings, seeds): the same bytes on every machine, whatever the
// number of threads. Errors, progress and speed go to standard error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/lab/scenario/scenario.h"
#include "tests/lab/seed_range.h"

namespace surety::lab {

struct RunCommand {
  std::string file;
  std::optional<std::uint64_t> seed;  // default: the scenario's
  std::optional<SeedRange> seeds;     // instead
  std::vector<Setting> settings;
  std::vector<std::vector<Setting>> points{
      {}};  // of the sweeps: what makes one scenario differ from the others
  bool json = false;
  bool series = false;  // JSON: the first run of each point has its series too
  std::string report;   // directory; empty: no report. With sweeps one below it for each point: 1, 2, ...
  std::string pcap_link, pcap_file;  // empty: no capture
  unsigned threads = 0;              // 0: one per core
};

// The exit status: 0; 1 for an error of scenario, settings or files; 2 for options that do not go together;
// 128 and the signal's number when a signal ended it, with what was done until then printed.
int command_run(const RunCommand& command);

}  // namespace surety::lab
