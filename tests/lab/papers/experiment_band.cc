// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/papers/experiment_band.h"

#include <charconv>
#include <cmath>

namespace surety::lab {
namespace {

std::string_view trimmed(std::string_view s) {
  s.remove_prefix(std::min(s.find_first_not_of(' '), s.size()));
  return s.substr(0, s.find_last_not_of(' ') + 1);
}

std::optional<double> number(std::string_view text) {
  text = trimmed(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

std::optional<Band> Band::parse(std::string_view text) {
  text = trimmed(text);
  Band band;
  band.text_ = text;
  if (take(text, ">=")) {
    band.low_ = number(text);
  } else if (take(text, "<=")) {
    band.high_ = number(text);
  } else if (take(text, ">")) {
    band.low_ = number(text);
    band.open_ = true;
  } else if (take(text, "<")) {
    band.high_ = number(text);
    band.open_ = true;
  } else if (take(text, "=")) {
    band.low_ = band.high_ = number(text);
  } else if (const auto dash = text.find(" - "); dash != text.npos) {
    band.low_ = number(text.substr(0, dash));
    band.high_ = number(text.substr(dash + 3));
    if (!band.low_ || !band.high_ || *band.low_ > *band.high_) return {};
  }
  if (!band.low_ && !band.high_) return {};
  return band;
}

bool Band::holds(double x) const {
  if (std::isnan(x)) return false;
  if (low_ && (open_ ? x <= *low_ : x < *low_)) return false;
  return !(high_ && (open_ ? x >= *high_ : x > *high_));
}

}  // namespace surety::lab
