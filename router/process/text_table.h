// SPDX-License-Identifier: BSD-3-Clause
// A table of plain text: columns of minimal width, two spaces apart, numbers right-aligned, no blanks at line
// ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace surety {

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
