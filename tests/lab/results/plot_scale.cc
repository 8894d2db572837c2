// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/plot_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace surety::lab {
namespace {

constexpr double kTicks = 6;  // wanted; the step is then rounded up
constexpr double kLn2 = 0.693147180559945309, kLn10 = 2.302585092994045684;

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

double decimal_log(double x) {
  int exponent = 0;
  const double m = std::frexp(x, &exponent);  // 0.5 <= m < 1
  // ln m = 2 artanh z: with |z| <= 1/3 the terms fall ninefold.
  const double z = (m - 1) / (m + 1), z2 = z * z;
  double sum = 0;
  for (int k = 35; k >= 1; k -= 2) sum = sum * z2 + 1.0 / k;
  return (2 * z * sum + exponent * kLn2) / kLn10;
}

Scale Scale::linear(double from, double to) {
  if (from < to) return {from, to, false};
  const double room = from == 0 ? 1 : std::abs(from) / 2;
  return {from - room, from + room, false};
}

Scale Scale::rounded_out(double from, double to) {
  const Scale tight = from < to ? linear(from, to) : from == 0 ? linear(0, 1) : linear(from, from);
  const double step = step_of((tight.to_ - tight.from_) / kTicks).size;
  // A hair's breadth, so that 0.3 / 0.1 is not more than 3.
  return {std::floor(tight.from_ / step + 1e-9) * step, std::ceil(tight.to_ / step - 1e-9) * step, false};
}

Scale Scale::logarithmic(double from, double to) {
  return from < to ? Scale(from, to, true) : Scale(from / 2, from * 2, true);
}

double Scale::place(double value) const {
  if (!log_) return (value - from_) / (to_ - from_);
  const double low = decimal_log(from_);
  return (decimal_log(value) - low) / (decimal_log(to_) - low);
}

std::vector<Tick> Scale::ticks() const {
  return log_ ? log_ticks() : linear_ticks();
}

std::vector<Tick> Scale::linear_ticks() const {
  const Step step = step_of((to_ - from_) / kTicks);
  std::vector<Tick> ticks;
  const double first = std::ceil(from_ / step.size - 1e-9), last = std::floor(to_ / step.size + 1e-9);
  for (double i = first; i <= last; ++i)
    ticks.push_back({i * step.size, label_of(i * step.size, step.decimals)});
  return ticks;
}

std::vector<Tick> Scale::log_ticks() const {
  double power = 1;
  int decimals = 0;
  for (; power > from_; power /= 10) ++decimals;
  for (; power * 10 <= from_; power *= 10) {
  }
  const bool only_powers = to_ / from_ > 1000;
  std::vector<Tick> ticks;
  for (; power <= to_; power *= 10) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double value = digit * power;
      const bool inside = value >= from_ * (1 - 1e-9) && value <= to_ * (1 + 1e-9);
      if (inside && (digit == 1 || !only_powers)) ticks.push_back({value, label_of(value, decimals)});
    }
    decimals = std::max(0, decimals - 1);
  }
  return ticks;
}

}  // namespace surety::lab
