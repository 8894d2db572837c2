// SPDX-License-Identifier: BSD-3-Clause
// A paper's tables and figures as data: which scenarios to run, what to look at, what the paper says.
//
// Read from tests/lab/papers/<paper>.yaml; tests/lab/papers/format.md shows the format.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/parse.h"
#include "tests/lab/papers/experiment_band.h"
#include "tests/lab/papers/expression.h"
#include "tests/lab/results/svg_plot.h"
#include "tests/lab/scenario/scenario.h"

namespace surety::lab {

struct Seeds {  // 1 to this many
  std::size_t full = 20, quick = 3;
};

struct Variant {
  std::string name;      // empty: the only one
  std::string scenario;  // file below tests/lab/papers/scenarios
  std::vector<Setting> settings;
};

struct SweepPoint {
  double x = 0;
  std::string text;  // the value as written; empty for a map of settings
  std::vector<Setting> settings;
};

// What a row is judged on: the mean over the seeds, the least or greatest of them, or every one of them.
enum class Judge : std::uint8_t { mean, every, min, max };

struct Row {
  std::string what, unit;
  Expression value;
  std::optional<std::size_t> point;  // of the sweep; none: all of it
  std::string paper;                 // what the paper prints
  std::optional<Band> band, pin;
  bool claim = true;  // a missed band fails
  Judge judge = Judge::mean;
  std::string reason;  // why ours differs from the paper
};

struct PlotRequest {
  struct Line {
    std::string name;
    std::variant<Expression, std::vector<double>> y;  // numbers: what the paper prints, one for each point
  };
  Plot frame;  // all but its lines
  bool over_time =
      false;  // of the first seed; else over the sweep, or over the items of a list: mean and sd over seeds
  std::optional<std::size_t> point;  // of the sweep
  std::vector<Line> lines;
};

struct Experiment {
  std::string id, title;
  std::vector<Variant> variants;  // at least one
  std::string sweep_label;
  std::vector<SweepPoint> points;  // at least one: without a sweep a nameless one without settings
  bool swept = false;
  Seeds seeds;
  std::vector<Setting> quick_settings;
  bool only_full = false;
  std::vector<Row> rows;
  std::vector<PlotRequest> plots;

  // In the order in which they apply: variant (with what is common), point, quick.
  std::vector<Setting> settings_of(std::size_t variant, std::size_t point, bool quick) const;
};

struct Paper {
  std::string name, title;
  std::vector<Experiment> experiments;
};

struct PaperResult {
  std::optional<Paper> paper;                   // present when there is no error
  std::vector<config::Diagnostic> diagnostics;  // in the order of the file
};
// Nothing throws.
PaperResult parse_paper(std::string_view text, const std::string& file_name);

}  // namespace surety::lab
