// SPDX-License-Identifier: BSD-3-Clause
// The results of `surety-lab run` on standard output and in the report, as they come.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "tests/lab/results/result.h"
#include "tests/lab/run_points.h"

namespace surety::lab {

class RunPrinter {
 public:
  struct Options {
    bool json = false;
    bool series = false;    // in the JSON of each point's first run
    std::size_t seeds = 1;  // of each point
    std::string report;     // directory, which is there; empty: none
  };
  // `points` and `out` outlive it.
  RunPrinter(std::ostream& out, std::span<const Point> points, Options options);

  // To be called in the order of points and seeds. JSON: the run's line, at once, with "set" behind
  // "scenario" when there are sweeps; after the point's last run, for several seeds, its statistics. Else its
  // tables, then. Throws what write_report() throws.
  void add(std::size_t point, RunResult&& result);
  // What is left of a point that was not finished. Interrupted runs count only where there is no other.
  void finish();

 private:
  void print_json(const nlohmann::ordered_json& object);
  void print_text();
  void write_report();

  std::ostream& out_;
  std::span<const Point> points_;
  Options options_;
  std::size_t point_ = 0;
  std::vector<RunResult> results_;  // of point_
};

}  // namespace surety::lab
