// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/papers/expression.h"

#include <fmt/format.h>

#include "tests/lab/papers/expression_parse.h"

namespace surety::lab {
namespace {

Value evaluate_node(const Expression::Node& node, const std::vector<Path>& paths,
                    const Expression::Source& source, std::optional<double> x) {
  using Kind = Expression::Node::Kind;
  try {
    switch (node.kind) {
      case Kind::number:
        return Value::number(node.number);
      case Kind::path:
        return source(paths[node.path], x);
      case Kind::point:
        return evaluate_node(node.arguments[0], paths, source, node.number);
      case Kind::call:
        break;
    }
    std::vector<Value> arguments;
    for (const auto& a : node.arguments) arguments.push_back(evaluate_node(a, paths, source, x));
    return node.function->apply(arguments);
  } catch (const ValueError& e) {
    throw ExpressionError(node.column, e.what());
  }
}

}  // namespace

ExpressionError::ExpressionError(int column, std::string_view message)
    : std::runtime_error(fmt::format("{} (column {} of the expression)", message, column)) {}

Expression::Expression(std::string_view text, std::span<const std::string> variants) {
  auto parsed = parse_expression(text, variants);
  paths_ = std::move(parsed.paths);
  points_ = std::move(parsed.points);
  root_ = std::make_shared<const Node>(std::move(parsed.root));
}

Value Expression::evaluate(const Source& source) const {
  return evaluate_node(*root_, paths_, source, {});
}

}  // namespace surety::lab
