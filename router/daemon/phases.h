// SPDX-License-Identifier: BSD-3-Clause
// Durations of the phases of a procedure, for the log: "total_ms=370 tables_ms=230 ports_ms=140".
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace surety {

class Phases {
 public:
  // Time since the previous phase, or since construction.
  void lap(std::string_view phase) {
    const auto now = Clock::now();
    text_ += fmt::format(" {}_ms={:.0f}", phase, ms(now - std::exchange(last_, now)));
  }
  // "total_ms=370 tables_ms=230 ..."
  std::string text() const { return fmt::format("total_ms={:.0f}{}", ms(last_ - first_), text_); }

 private:
  using Clock = std::chrono::steady_clock;
  static double ms(Clock::duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

  const Clock::time_point first_ = Clock::now();
  Clock::time_point last_ = first_;
  std::string text_;
};

}  // namespace surety
