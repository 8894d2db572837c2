// SPDX-License-Identifier: BSD-3-Clause
// The output of `surety bench`.
#pragma once

#include <string>
#include <vector>

#include "router/daemon/bench/bench_latency.h"
#include "router/daemon/bench/bench_workers.h"
#include "router/pipeline/counters.h"
#include "router/process/repetitions.h"

namespace surety {

struct BenchRow {
  std::string path;
  std::uint64_t flows = 0;
  int family = 4;
  Repetitions cycles;  // per packet
  StageCounters stages;
};

// Prints the rows of one family and number of flows. `hz`: cycles per second.
void print_rows(const std::vector<BenchRow>& rows, bool json, double hz);
void print_rows_header(unsigned core, int repetitions, double hz);
// Prints one line of JSON: the last repetition of each row.
void print_step(const std::vector<BenchRow>& rows);
void print_workers(const std::vector<BenchWorkers>& rows, bool json);
void print_latency(const BenchLatency& latency, bool json, double hz);
void print_latency_header(unsigned core, double hz);

}  // namespace surety
