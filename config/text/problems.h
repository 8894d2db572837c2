// SPDX-License-Identifier: BSD-3-Clause
// Everything that is wrong with one file, collected while it is read; and what its messages have in common:
// places, quotes, "did you mean".
#pragma once

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/text/document.h"

namespace surety::config {

// One finding about a file, for its author: the place, the problem, and the fix.
struct Diagnostic {
  enum class Severity : std::uint8_t { error, warning, note };  // a note gives the value of a default
  Severity severity = Severity::error;
  std::string file;
  int line = 1, column = 1;  // 1-based; a line below 1: `file` alone says where (the lab's `--set`)
  std::string message;
  std::string source;  // the line itself; may be empty
  // "file:line:column: error: message\n    source line\n    ^\n"
  std::string format() const;
};

class Problems {
 public:
  static constexpr std::size_t kMax = 1000;  // per severity: bounds the messages about a broken file

  void error(Mark at, std::string message) { add(at, Diagnostic::Severity::error, std::move(message)); }
  void warning(Mark at, std::string message) { add(at, Diagnostic::Severity::warning, std::move(message)); }
  void note(Mark at, std::string message) { add(at, Diagnostic::Severity::note, std::move(message)); }
  // Each of the three also formats its message, with the arguments of fmt::format().
  template <class A, class... As>
  void error(Mark at, fmt::format_string<A, As...> text, A&& a, As&&... as) {
    error(at, fmt::format(text, std::forward<A>(a), std::forward<As>(as)...));
  }
  template <class A, class... As>
  void warning(Mark at, fmt::format_string<A, As...> text, A&& a, As&&... as) {
    warning(at, fmt::format(text, std::forward<A>(a), std::forward<As>(as)...));
  }
  template <class A, class... As>
  void note(Mark at, fmt::format_string<A, As...> text, A&& a, As&&... as) {
    note(at, fmt::format(text, std::forward<A>(a), std::forward<As>(as)...));
  }
  bool any_error() const { return counts_[0] > 0; }
  bool full() const { return counts_[0] > kMax; }  // further errors are not kept

  // Keeps `value`, which is at `at`, out of all messages from now on: they have `name` instead.
  void hide(Mark at, std::string value, std::string name);

  // In the order of the file, each once, with their source lines; then those of included files.
  std::vector<Diagnostic> take(std::string_view text, const std::string& file);

 private:
  struct Problem {
    Mark at;
    Diagnostic::Severity severity;
    std::string message;
  };
  struct Hidden {
    Mark at;
    std::string value, name;
  };
  void add(Mark at, Diagnostic::Severity severity, std::string message);
  void redact(Mark at, std::string& message) const;

  std::vector<Hidden> hidden_;
  std::vector<Problem> problems_;
  std::set<std::pair<Mark, std::string>> seen_;  // a value behind an alias is read several times
  std::array<std::size_t, 3> counts_{};          // indexed by severity
};

// "line 7", "line 7 of a.yaml"; of a mark in no file "a setting".
std::string line_name(const Mark& mark);

// Text of the user inside a message: `text`, shortened, control characters replaced.
std::string quote(std::string_view text);

// Optimal string alignment distance (insert, delete, replace, swap neighbours);
// letters differ whatever their case costs 0.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest candidate within a third of the word's length (at most 3); empty when none is near.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

// "; did you mean `lan0`?" or "; there are: a, b" or, with no candidates, "; there are none".
std::string hint(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace surety::config
