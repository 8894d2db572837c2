// SPDX-License-Identifier: BSD-3-Clause
// The small language in which an experiment says what it looks at: `mean(a.flows[f#*].ros) * 100`.
//
// Numbers, + - * / and comparisons (1 or 0), parentheses, the functions of expression_value.h, the
// paths of expression_path.h (after the name of a variant, where there are some), and point(x, e):
// e at one point of the sweep. Elsewhere a path stands for all points that are looked at: numbers
// become a list, lists one long list.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/lab/papers/expression_path.h"

namespace surety::lab {

// One sentence that ends with the column, from 1.
struct ExpressionError : std::runtime_error {
  ExpressionError(int column, std::string_view message);
};

class Expression {
 public:
  // Names of variants; none: paths start with what is looked at. All that can be known before a run is
  // checked. Throws ExpressionError.
  explicit Expression(std::string_view text = "0", std::span<const std::string> variants = {});

  const std::vector<Path>& paths() const { return paths_; }
  const std::vector<double>& points() const { return points_; }  // what point() asks for

  // The path at all points that are looked at, or at the one whose x is given.
  using Source = std::function<Value(const Path&, std::optional<double> x)>;
  // Throws ExpressionError, also for a ValueError of the source; what else the source throws passes.
  Value evaluate(const Source& source) const;

  struct Node;

 private:
  std::vector<Path> paths_;
  std::vector<double> points_;
  std::shared_ptr<const Node> root_;
};

}  // namespace surety::lab
