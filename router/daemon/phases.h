// SPDX-License-Identifier: BSD-3-Clause
// Durations of the parts of a procedure, for the log: "tables 230 ms, ports 140 ms".
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace surety {

class Phases {
 public:
  // Time since the previous phase, or since construction.
  void lap(std::string_view phase) {
    const auto now = Clock::now();
    add(phase, now - std::exchange(last_, now));
  }
  // "in 370 ms: tables 230 ms, ..."
  std::string text() const { return fmt::format("in {:.0f} ms: {}", ms(last_ - first_), text_); }

 private:
  using Clock = std::chrono::steady_clock;
  static double ms(Clock::duration d) { return std::chrono::duration<double, std::milli>(d).count(); }
  void add(std::string_view phase, Clock::duration took) {
    fmt::format_to(std::back_inserter(text_), "{}{} {:.0f} ms", text_.empty() ? "" : ", ", phase, ms(took));
  }

  const Clock::time_point first_ = Clock::now();
  Clock::time_point last_ = first_;
  std::string text_;
};

}  // namespace surety
