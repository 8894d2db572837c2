// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/human.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

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

namespace surety {

void TextTable::column(std::string title, Align align) {
  columns_.push_back({std::move(title), align});
}

void TextTable::row(std::vector<std::string> cells) {
  rows_.push_back(std::move(cells));
}

void TextTable::add_line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                         std::string& text) const {
  const std::size_t begin = text.size();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t blanks = widths[i] - std::min(widths[i], cells[i].size());
    if (i > 0) text += "  ";
    if (columns_[i].align == Align::right) text.append(blanks, ' ');
    text += cells[i];
    if (columns_[i].align == Align::left) text.append(blanks, ' ');
  }
  text.resize(std::max(begin, text.find_last_not_of(' ') + 1));
  text += '\n';
}

std::string TextTable::text() const {
  std::vector<std::string> titles;
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    titles.push_back(columns_[i].title);
    widths.push_back(columns_[i].title.size());
    for (const auto& row : rows_) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  add_line(titles, widths, text);
  for (const auto& row : rows_) add_line(row, widths, text);
  return rows_.empty() ? text + "(none)\n" : text;
}

}  // namespace surety
