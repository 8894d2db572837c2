// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/human.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>

namespace surety::human {
namespace {

// 999.95 would print as 1000 with four digits: the next unit is due already.
std::string scaled(double value, std::span<const std::string_view> units) {
  std::size_t i = 0;
  for (; i + 1 < units.size() && value >= 999.95; ++i) value /= 1000;
  return fmt::format("{:.4g} {}", value, units[i]);
}

}  // namespace

std::string rate(double bytes_per_second) {
  static constexpr std::array<std::string_view, 5> units{"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"};
  return scaled(bytes_per_second * 8, units);
}

std::string bytes(double bytes) {
  static constexpr std::array<std::string_view, 6> units{"B", "kB", "MB", "GB", "TB", "PB"};
  return scaled(bytes, units);
}

std::string duration(double seconds) {
  static constexpr std::array<std::string_view, 4> units{"ns", "us", "ms", "s"};
  return scaled(seconds * 1e9, units);
}

std::string elapsed(double seconds) {
  const auto s = static_cast<std::uint64_t>(seconds);
  const std::uint64_t minutes = s / 60, hours = minutes / 60, days = hours / 24;
  if (days > 0) return fmt::format("{} d {} h", days, hours % 24);
  if (hours > 0) return fmt::format("{} h {} min", hours, minutes % 60);
  if (minutes > 0) return fmt::format("{} min {} s", minutes, s % 60);
  return fmt::format("{} s", s);
}

std::string percent(double ratio) {
  return fmt::format("{:.1f} %", ratio * 100);
}

std::string conformance(double ratio) {
  constexpr double kNoise = 1e-6;  // rounding error of a quotient, in hundredths of a percent
  return fmt::format("{:.2f} %", std::floor(ratio * 1e4 + kNoise) / 100);
}

std::string ratio(double ratio) {
  return fmt::format("{:.4g}", ratio);
}

std::string list(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

}  // namespace surety::human
