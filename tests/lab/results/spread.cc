// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "router/process/human.h"
#include "tests/lab/results/statistics.h"

namespace surety::lab {
namespace {

struct Unit {
  double size;
  std::string_view name;
};
constexpr std::array<Unit, 4> kRates{{{1, " bit/s"}, {1e3, " kbit/s"}, {1e6, " Mbit/s"}, {1e9, " Gbit/s"}}};
constexpr std::array<Unit, 4> kDurations{{{1e-9, " ns"}, {1e-6, " us"}, {1e-3, " ms"}, {1, " s"}}};
constexpr std::array<Unit, 1> kShares{{{0.01, " %"}}};
constexpr std::array<Unit, 1> kPlain{{{1, ""}}};

std::span<const Unit> units_of(Quantity q) {
  switch (q) {
    case Quantity::rate:
      return kRates;
    case Quantity::duration:
      return kDurations;
    case Quantity::share:
      return kShares;
    default:
      return kPlain;
  }
}

// The unit in which the value has at most three digits before the point, as human.h chooses.
const Unit& unit_of(Quantity q, double value) {
  const auto units = units_of(q);
  for (const auto& unit : units) {
    if (std::abs(value) < 999.95 * unit.size) return unit;
  }
  return units.back();
}

// Four digits of the larger of the two.
int decimals_of(Quantity q, double larger) {
  if (q == Quantity::share || q == Quantity::count) return 1;
  return larger < 9.9995 ? 3 : larger < 99.995 ? 2 : larger < 999.95 ? 1 : 0;
}

std::string mean_and_sd(Quantity q, const Summary& s) {
  const double larger = std::max(std::abs(s.mean), s.sd);
  const Unit& unit = unit_of(q, larger);
  const int decimals = decimals_of(q, larger / unit.size);
  return fmt::format("{:.{}f} +- {:.{}f}{}", s.mean / unit.size, decimals, s.sd / unit.size, decimals,
                     unit.name);
}

}  // namespace

std::string shown(Quantity quantity, double value) {
  switch (quantity) {
    case Quantity::rate:
      return human::rate(value / 8);
    case Quantity::duration:
      return human::duration(value);
    case Quantity::share:
      return human::percent(value);
    case Quantity::count:
      return fmt::format("{:.0f}", value);
    default:
      return fmt::format("{:.4g}", value);
  }
}

std::string spread(Quantity quantity, std::span<const std::optional<double>> seeds) {
  std::vector<double> values;
  for (const auto& v : seeds) {
    if (v) values.push_back(*v);
  }
  if (values.empty()) return "";
  const Summary s = summary_of(values);
  std::string text = s.min == s.max ? shown(quantity, s.mean) : mean_and_sd(quantity, s);
  if (values.size() < seeds.size()) text += fmt::format(" ({} of {})", values.size(), seeds.size());
  return text;
}

}  // namespace surety::lab
