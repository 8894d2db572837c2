// SPDX-License-Identifier: BSD-3-Clause
// The tables of `surety show` for people, in human units, and the columns that they are made of; "-" marks
// missing values.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "router/operate/observe/reading_json.h"
#include "router/process/human.h"

namespace surety {

// Columns of the tables of `surety show`, made from rows of reading_json.h.
//
// A column has a title, an alignment and a cell for each row; "-" marks members that a row does not have (an
// older router may not send them).
struct Column {
  std::string title;
  TextTable::Align align;
  std::function<std::string(const Json&)> cell;
  std::string path{};   // the member shown; empty: several
  bool counts = false;  // the value only grows
};
using Columns = std::vector<Column>;

// `name`, or `outer.name` of a row's inner object; nullptr if missing.
const Json* member(const Json& row, std::string_view path);
double real(const Json& row, const char* path);  // 0 if missing
std::string cell_text(const Json& value);        // one line, whatever it contains

Column text(std::string title, const std::string& path);   // left-aligned, unchanged
Column count(std::string title, const std::string& path);  // right-aligned, unchanged
Column number(std::string title, const std::string& path, std::string (*human)(double));
// A ratio; null: there is no limit.
Column alpha(std::string title, const std::string& path);
// The quotient of the two numbers that `parts` takes from a row; "-" if the divisor is 0.
Column quotient(std::string title, std::string (*human)(double),
                std::function<std::pair<double, double>(const Json&)> parts);
// The quotient of two members.
Column quotient(std::string title, std::string (*human)(double), const char* part, const char* whole);

// Makes a column of title and path, as text() and count() do.
using MakeColumn = Column (*)(std::string title, const std::string& path);
template <std::string (*human)(double)>
Column number(std::string title, const std::string& path) {
  return number(std::move(title), path, human);
}
// The values only grow.
template <MakeColumn make>
Column growing(std::string title, const std::string& path) {
  Column c = make(std::move(title), path);
  c.counts = true;
  return c;
}
// The maker of the column of a counter (counter_table.h); nullptr: it has none.
MakeColumn column_of(std::string_view name, std::string_view metric, std::string_view title);

// Header and rows; "(none)" where there are no rows.
std::string render(const Columns& columns, std::span<const Json> rows);

// The rows of table `signalling` (reading_json.h) as paragraphs: signals sent, signals received, and their
// effects; results with count 0 only with `all`.
std::string render_signalling(const Json& rows, bool all);

// The columns of one of kTables or kOwnTables; none for `signalling`, which is rendered as paragraphs.
Columns columns_of(std::string_view what);

// The lines of a table, from the rows of a router: optional columns appear only if a row has their member, a
// queue has two lines, and without `all` lines without any count are left out.
struct ShownTable {
  Columns columns{};
  std::vector<Json> lines{};
};
ShownTable shown(std::string_view what, std::vector<Json> rows, bool all = false);

// A note for readers of the table; empty: none.
std::string note_on(std::string_view what, const std::vector<Json>& lines);

std::string render_table(std::string_view what, const Json& rows, bool all = false);

}  // namespace surety
