// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/papers/expression_parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "config/problems.h"
#include "config/suggest.h"

namespace surety::lab {
namespace {

using config::quote;
using Node = Expression::Node;

constexpr int kMaxDepth = 100;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// A recursive descent: comparison > sum > product > factor.
class Parser {
 public:
  Parser(std::string_view text, std::span<const std::string> variants) : text_(text), variants_(variants) {}

  ParsedExpression parse() {
    out_.root = comparison();
    skip_blanks();
    if (at_ < text_.size()) fail(at_, fmt::format("{} is not expected here", quote(text_.substr(at_, 1))));
    return std::move(out_);
  }

 private:
  [[noreturn]] static void fail(std::size_t at, const std::string& message) {
    throw ExpressionError(column_of(at), message);
  }
  static int column_of(std::size_t at) { return static_cast<int>(at) + 1; }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(std::string_view token) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail(at_, fmt::format("{} is missing", quote(token)));
  }
  std::string word() {
    const auto begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || (at_ > begin && is_digit(text_[at_])))) ++at_;
    if (at_ == begin) fail(at_, "a number, a path or a function is missing");
    return std::string(text_.substr(begin, at_ - begin));
  }

  template <std::size_t N>
  const ValueFunction* take_operator(const std::array<std::string_view, N>& names) {
    const auto it = std::find_if(names.begin(), names.end(), [&](auto name) { return take(name); });
    return it == names.end() ? nullptr : find_function(*it);
  }
  template <std::size_t N>
  Node chain(const std::array<std::string_view, N>& names, Node (Parser::*operand)()) {
    Node left = (this->*operand)();
    for (;;) {
      skip_blanks();
      const auto begin = at_;
      const auto* f = take_operator(names);
      if (!f) return left;
      left = call(begin, f, std::vector{std::move(left), (this->*operand)()});
    }
  }
  static Node call(std::size_t at, const ValueFunction* f, std::vector<Node> arguments) {
    return {Node::Kind::call, column_of(at), 0, 0, f, std::move(arguments)};
  }

  Node comparison() {
    if (++depth_ > kMaxDepth) fail(at_, "nested too deeply");
    // The longer ones first.
    Node node = chain(std::array<std::string_view, 5>{"<=", ">=", "==", "<", ">"}, &Parser::sum);
    --depth_;
    return node;
  }
  Node sum() { return chain(std::array<std::string_view, 2>{"+", "-"}, &Parser::product); }
  Node product() { return chain(std::array<std::string_view, 2>{"*", "/"}, &Parser::factor); }

  Node factor() {
    skip_blanks();
    const auto begin = at_;
    if (++depth_ > kMaxDepth) fail(at_, "nested too deeply");
    Node node = take("-") ? call(begin, find_function("negative"), {factor()}) : primary();
    --depth_;
    return node;
  }
  Node primary() {
    if (take("(")) {
      Node inside = comparison();
      expect(")");
      return inside;
    }
    skip_blanks();
    if (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) return number();
    const auto begin = at_;
    const auto name = word();
    if (take("(")) return name == "point" ? point(begin) : function(begin, name);
    return path(begin, name);
  }

  Node number() {
    const auto begin = at_;
    double value = 0;
    const char* first = text_.data() + at_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
    if (error != std::errc{}) fail(begin, "not a number");
    at_ += static_cast<std::size_t>(end - first);
    return {Node::Kind::number, column_of(begin), value};
  }
  Node point(std::size_t begin) {
    skip_blanks();
    const bool negative = take("-");
    skip_blanks();
    if (at_ == text_.size() || !is_digit(text_[at_]))
      fail(at_, "point() takes the x of a point first, a number");
    Node node = number();
    node.kind = Node::Kind::point;
    node.column = column_of(begin);
    if (negative) node.number = -node.number;
    expect(",");
    node.arguments.push_back(comparison());
    expect(")");
    out_.points.push_back(node.number);
    return node;
  }
  Node function(std::size_t begin, const std::string& name) {
    const auto* f = find_function(name);
    if (!f || name == "negative") unknown_function(begin, name);
    std::vector<Node> arguments{comparison()};
    while (take(",")) arguments.push_back(comparison());
    expect(")");
    if (arguments.size() < f->least || arguments.size() > f->most)
      fail(begin, fmt::format("{}() takes {} argument{}, not {}", name, f->least, f->least == 1 ? "" : "s",
                              arguments.size()));
    return call(begin, f, std::move(arguments));
  }
  [[noreturn]] static void unknown_function(std::size_t at, const std::string& name) {
    std::vector<std::string_view> names{"point"};
    for (const auto& f : functions()) {
      if (is_letter(f.name.front()) && f.name != "negative") names.push_back(f.name);
    }
    fail(at, fmt::format("no function is called {}{}", quote(name), config::hint(name, names)));
  }

  Node path(std::size_t begin, std::string first) {
    Path path;
    path.column = column_of(begin);
    auto text_begin = begin;
    if (!variants_.empty()) {
      path.variant = variant(begin, first);
      if (at_ == text_.size() || text_[at_] != '.')
        fail(at_, fmt::format("`.` is missing: what of {} is looked at?", quote(first)));
      text_begin = ++at_;
      first = word();
    }
    path.steps.push_back({std::move(first)});
    steps(path);
    path.text = text_.substr(text_begin, at_ - text_begin);
    try {
      check_path(path);
    } catch (const ValueError& e) {
      fail(begin, e.what());
    }
    out_.paths.push_back(std::move(path));
    Node node{Node::Kind::path, column_of(begin)};
    node.path = out_.paths.size() - 1;
    return node;
  }
  std::size_t variant(std::size_t at, const std::string& name) const {
    const auto it = std::find(variants_.begin(), variants_.end(), name);
    if (it != variants_.end()) return static_cast<std::size_t>(it - variants_.begin());
    const std::vector<std::string_view> names(variants_.begin(), variants_.end());
    fail(at, fmt::format("no variant is called {}{}", quote(name), config::hint(name, names)));
  }
  void steps(Path& path) {
    while (at_ < text_.size()) {
      if (text_[at_] == '.') {
        ++at_;
        path.steps.push_back({word()});
      } else if (text_[at_] == '[') {
        const auto end = text_.find(']', at_);
        if (end == text_.npos || end == at_ + 1) fail(at_, "a name and `]` are missing");
        path.steps.push_back({std::string(text_.substr(at_ + 1, end - at_ - 1)), true});
        at_ = end + 1;
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  std::span<const std::string> variants_;
  std::size_t at_ = 0;
  int depth_ = 0;
  ParsedExpression out_;
};

}  // namespace

ParsedExpression parse_expression(std::string_view text, std::span<const std::string> variants) {
  return Parser(text, variants).parse();
}

}  // namespace surety::lab
