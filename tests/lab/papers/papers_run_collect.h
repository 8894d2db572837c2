// SPDX-License-Identifier: BSD-3-Clause
// What an experiment's rows and plots look at, taken from each run as it comes: runs themselves are not kept.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/lab/papers/experiment.h"
#include "tests/lab/results/statistics.h"

namespace surety::lab {

// printed: no band. differs: a band that is not claimed is missed. pinned: so it is, or there is
// no band, but our own band holds. broken: the expression does not fit what the run showed.
// not_run: not one seed was finished.
enum class Verdict : std::uint8_t { met, missed, differs, pinned, pin_missed, printed, broken, not_run };

struct RowResult {
  std::vector<double> seeds;       // a value for each that was finished, NaN: null
  std::optional<Summary> summary;  // of them; none when one is null, or there is none
  Verdict verdict = Verdict::not_run;
  std::string error;  // of a broken one
};

struct ExperimentResult {
  const Experiment* experiment = nullptr;
  bool left_out = false;        // by --quick
  std::size_t seeds = 0;        // that were wanted
  std::size_t runs = 0;         // that were finished
  std::vector<RowResult> rows;  // as many as the experiment has
  std::vector<Plot> plots;
  std::vector<std::string> errors;  // of plots
  bool failed() const;              // a claimed band or a pin missed, or something is broken
};

bool fails(Verdict v);

class Collector {
 public:
  Collector(const Experiment& experiment, std::size_t seeds);  // the experiment outlives it

  void add(std::size_t variant, std::size_t point, std::size_t seed, const RunResult& run);
  // Over the seeds that are complete as far as each row or plot looks.
  ExperimentResult result() const;

 private:
  struct Looked {
    Value value;
    std::string error;  // instead
  };
  using Key = std::pair<std::size_t, std::string>;                // variant, path
  using Found = std::vector<std::vector<std::optional<Looked>>>;  // [seed][point]
  struct Wanted {
    Path path;
    bool all_seeds = false;  // else the first
  };

  void want(const Expression& expression, bool all_seeds);
  // None: not all of its runs are there. Throws ExpressionError.
  std::optional<Value> evaluate(const Expression& e, std::optional<std::size_t> point,
                                std::size_t seed) const;
  Value look(const Path& path, std::optional<std::size_t> point, std::size_t seed) const;
  Value look_at(const Path& path, std::size_t point, std::size_t seed) const;
  RowResult row(const Row& row) const;
  Plot plot(const PlotRequest& request) const;
  PlotLine series(const std::string& name, const Expression& y, std::optional<std::size_t> point) const;
  PlotLine over_points(const std::string& name, const Expression& y) const;
  PlotLine over_items(const std::string& name, const Expression& y, std::optional<std::size_t> point) const;
  PlotLine printed(const std::string& name, const std::vector<double>& y, bool over_points) const;

  const Experiment& experiment_;
  std::size_t seeds_, runs_ = 0;
  std::map<Key, Wanted> wanted_;
  std::map<Key, Found> found_;
};

}  // namespace surety::lab
