// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/plot_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace surety::lab {
namespace {

constexpr double kTicks = 6;  // wanted; the step is then rounded up

struct Step {
  double size = 1;
  int decimals = 0;  // that its multiples need
};

// The least of 1, 2 and 5 times a power of ten that is not below `least`.
Step step_of(double least) {
  double power = 1;
  int exponent = 0;
  for (; power < least; power *= 10) ++exponent;
  for (; power / 10 >= least; power /= 10) --exponent;
  const int whole = std::max(0, -exponent), fraction = std::max(0, 1 - exponent);
  if (power / 5 >= least) return {power / 5, fraction};
  if (power / 2 >= least) return {power / 2, fraction};
  return {power, whole};
}

std::string label_of(double value, int decimals) {
  if (decimals > 6 || std::abs(value) >= 1e9) return fmt::format("{:.6g}", value);
  std::string text = fmt::format("{:.{}f}", value, decimals);
  return text.find_first_not_of("-0.") == std::string::npos ? "0" : text;  // no "-0"
}

}  // namespace

Scale Scale::linear(double from, double to) {
  if (from < to) return {from, to};
  const double room = from == 0 ? 1 : std::abs(from) / 2;
  return {from - room, from + room};
}

Scale Scale::rounded_out(double from, double to) {
  const Scale tight = from < to ? linear(from, to) : from == 0 ? linear(0, 1) : linear(from, from);
  const double step = step_of((tight.to_ - tight.from_) / kTicks).size;
  // A hair's breadth, so that 0.3 / 0.1 is not more than 3.
  return {std::floor(tight.from_ / step + 1e-9) * step, std::ceil(tight.to_ / step - 1e-9) * step};
}

double Scale::place(double value) const {
  return (value - from_) / (to_ - from_);
}

std::vector<Tick> Scale::ticks() const {
  const Step step = step_of((to_ - from_) / kTicks);
  std::vector<Tick> ticks;
  const double first = std::ceil(from_ / step.size - 1e-9), last = std::floor(to_ / step.size + 1e-9);
  for (double i = first; i <= last; ++i)
    ticks.push_back({i * step.size, label_of(i * step.size, step.decimals)});
  return ticks;
}

}  // namespace surety::lab
