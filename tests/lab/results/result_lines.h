// SPDX-License-Identifier: BSD-3-Clause
// How rows of several runs become the rows of one table: matched by their names, each cell over all seeds.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/lab/results/result_tables.h"
#include "tests/lab/results/spread.h"
#include "tests/lab/results/statistics.h"

namespace surety::lab {

using Value = std::optional<double>;

// A row of one run: its first cells, which tell it from the others, and where its values come from.
template <class Row>
struct Named {
  std::vector<std::string> names;
  Row row;
};

// A row of the table, as each run has it.
template <class Row>
struct Line {
  std::vector<std::string> names;
  std::vector<std::optional<Row>> runs;
  const Row& any() const {
    return **std::find_if(runs.begin(), runs.end(), [](const auto& r) { return r.has_value(); });
  }
};

template <class Row>
struct Column {
  const char* title;
  Quantity quantity;
  std::function<Value(const Row&)> value;
  bool hide_zeros = false;                    // left out where all are 0
  const char* (*none)(const Row&) = nullptr;  // in place of a value, where no seed has one
};

// Of a field of a result, which may be optional.
template <class Row, class Field>
auto field(Field Row::*member) {
  return [member](const Row* row) { return Value(row->*member); };
}

inline Value unless_zero(double v) {
  return v > 0 ? Value(v) : std::nullopt;
}

// `rows_of(run)` gives its Named rows.
template <class Row, class RowsOf>
std::vector<Line<Row>> lines_of(std::span<const RunResult> runs, RowsOf rows_of) {
  std::vector<Line<Row>> lines;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    std::size_t place = 0;
    for (const Named<Row>& named : rows_of(runs[run])) {
      const auto is_it = [&](const auto& l) { return l.names == named.names && !l.runs[run]; };
      // Nearly always at the same place in every run.
      auto line = place < lines.size() && is_it(lines[place])
                      ? lines.begin() + static_cast<std::ptrdiff_t>(place)
                      : std::find_if(lines.begin(), lines.end(), is_it);
      if (line == lines.end())
        line = lines.insert(line, {named.names, std::vector<std::optional<Row>>(runs.size())});
      line->runs[run] = named.row;
      ++place;
    }
  }
  return lines;
}

template <class Row>
std::vector<Value> values_of(const Column<Row>& column, const Line<Row>& line) {
  std::vector<Value> values;
  for (const auto& row : line.runs) values.push_back(row ? column.value(*row) : std::nullopt);
  return values;
}

// Those of the columns that say something.
template <class Row>
std::vector<Column<Row>> used(const std::vector<Column<Row>>& all, const std::vector<Line<Row>>& lines) {
  std::vector<Column<Row>> some;
  for (const auto& column : all) {
    const auto speaks = [&](const Value& v) { return v && !(column.hide_zeros && *v == 0); };
    const bool any = std::any_of(lines.begin(), lines.end(), [&](const auto& line) {
      const auto values = values_of(column, line);
      return std::any_of(values.begin(), values.end(), speaks) ||
             (column.none && *column.none(line.any()) != '\0');
    });
    if (any) some.push_back(column);
  }
  return some;
}

template <class Row>
std::string cell(const Column<Row>& column, const Line<Row>& line) {
  const std::string text = spread(column.quantity, values_of(column, line));
  return text.empty() && column.none ? column.none(line.any()) : text;
}

// "least / mean / greatest" of the lines' means over the runs.
template <class Row>
std::string cell(const Column<Row>& column, std::span<const Line<Row>> lines) {
  std::vector<double> means;
  for (const auto& line : lines) {
    std::vector<double> values;
    for (const Value& v : values_of(column, line)) {
      if (v) values.push_back(*v);
    }
    if (!values.empty()) means.push_back(summary_of(values).mean);
  }
  if (means.empty()) return column.none ? column.none(lines.front().any()) : "";
  const Summary s = summary_of(means);
  const auto show = [&](double v) { return shown(column.quantity, v); };
  const bool alike = show(s.min) == show(s.max);
  std::string text =
      alike ? show(s.mean) : fmt::format("{} / {} / {}", show(s.min), show(s.mean), show(s.max));
  if (s.n < lines.size()) text += fmt::format(" ({} of {})", s.n, lines.size());
  return text;
}

// Jain's index over the lines, of each run; nothing of one line.
template <class Row>
std::string jain_cell(std::span<const Line<Row>> lines, const std::function<double(const Row&)>& got) {
  if (lines.size() == 1) return "";
  std::vector<Value> of_runs;
  for (std::size_t run = 0; run < lines[0].runs.size(); ++run) {
    std::vector<double> values;
    for (const auto& line : lines) {
      if (line.runs[run]) values.push_back(got(*line.runs[run]));
    }
    of_runs.push_back(values.empty() ? Value() : Value(jain_index(values)));
  }
  return spread(Quantity::number, of_runs);
}

// Leaves out a column that says nothing.
inline void drop_if_empty(ResultTable& table, std::size_t column) {
  const auto at = static_cast<std::ptrdiff_t>(column);
  if (std::ranges::any_of(table.rows, [&](const auto& row) { return !row[column].empty(); })) return;
  table.columns.erase(table.columns.begin() + at);
  for (auto& row : table.rows) row.erase(row.begin() + at);
}

// Calls f with the lines of each row: one, or those in a row of which alike(first, other) if they are more
// than `rows_per_stem`.
template <class Row, class Alike, class F>
void for_each_row(std::span<const Line<Row>> left, Alike alike, std::size_t rows_per_stem, F&& f) {
  while (!left.empty()) {
    const auto other =
        std::find_if(left.begin(), left.end(), [&](const auto& l) { return !alike(left[0], l); });
    const auto stem = left.first(static_cast<std::size_t>(other - left.begin()));
    left = left.subspan(stem.size());
    if (stem.size() > rows_per_stem) {
      f(stem);
    } else {
      for (const auto& line : stem) f(std::span(&line, 1));
    }
  }
}

// A row for each line.
template <class Row>
ResultTable table_of(std::string title, std::vector<ResultTable::Column> names,
                     const std::vector<Line<Row>>& lines, const std::vector<Column<Row>>& all) {
  const auto columns = used(all, lines);
  ResultTable table{std::move(title), std::move(names), {}};
  for (const auto& c : columns) table.columns.push_back({c.title, true});
  for (const auto& line : lines) {
    std::vector<std::string> cells = line.names;
    for (const auto& c : columns) cells.push_back(cell(c, line));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace surety::lab
