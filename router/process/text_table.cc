// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/text_table.h"

#include <algorithm>
#include <utility>

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
