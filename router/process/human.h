// SPDX-License-Identifier: BSD-3-Clause
// Numbers as an operator reads them, with four significant digits and a unit, and tables of plain text.
// Machines get base units.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace surety::human {

std::string rate(double bytes_per_second);  // "30.79 Mbit/s"
std::string bytes(double bytes);            // "1.5 kB", powers of 1000
std::string duration(double seconds);       // "131.1 us", up to seconds
std::string elapsed(double seconds);        // "3 d 4 h", "5 min 2 s": the two largest units, rounded down
std::string percent(double ratio);          // "98.7 %"
std::string conformance(double ratio);      // "99.98 %", rounded down: 100 % is all of it
std::string ratio(double ratio);            // "0.38"
std::string list(std::span<const std::string_view> names);  // "edge1, edge2"

}  // namespace surety::human

namespace surety {

// A table of plain text: columns of minimal width, two spaces apart, numbers right-aligned, no blanks at line
// ends.
class TextTable {
 public:
  enum class Align : std::uint8_t { left, right };
  void column(std::string title, Align align);
  // `cells`: one per column; an empty cell stays blank.
  void row(std::vector<std::string> cells);
  // Header and rows, a newline after each; "(none)" instead of rows if there are none.
  std::string text() const;

 private:
  struct Column {
    std::string title;
    Align align;
  };
  void add_line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                std::string& text) const;
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace surety
