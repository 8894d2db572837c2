// SPDX-License-Identifier: BSD-3-Clause
// From the text of an expression to its tree. For expression.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/lab/papers/expression.h"

namespace surety::lab {

struct Expression::Node {
  enum class Kind : std::uint8_t { number, path, call, point };
  Kind kind = Kind::number;
  int column = 1;
  double number = 0;                        // of a number; the x of a point
  std::size_t path = 0;                     // index
  const ValueFunction* function = nullptr;  // of a call
  std::vector<Node> arguments{};            // of a call or a point
};

struct ParsedExpression {
  Expression::Node root;
  std::vector<Path> paths;
  std::vector<double> points;
};
// Throws ExpressionError.
ParsedExpression parse_expression(std::string_view text, std::span<const std::string> variants);

}  // namespace surety::lab
