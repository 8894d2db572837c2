// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace surety {

void TextTable::column(std::string title, Align align) {
  columns_.push_back({std::move(title), align});
}

void TextTable::row(std::vector<std::string> cells) {
  rows_.push_back(std::move(cells));
}

std::string TextTable::line(const std::vector<std::string>& cells,
                            const std::vector<std::size_t>& widths) const {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) text += "  ";
    text += columns_[i].align == Align::left ? fmt::format("{:<{}}", cells[i], widths[i])
                                             : fmt::format("{:>{}}", cells[i], widths[i]);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + '\n';
}

std::string TextTable::text() const {
  std::vector<std::string> titles;
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    titles.push_back(columns_[i].title);
    widths.push_back(columns_[i].title.size());
    for (const auto& row : rows_) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text = line(titles, widths);
  for (const auto& row : rows_) text += line(row, widths);
  return rows_.empty() ? text + "(none)\n" : text;
}

}  // namespace surety
