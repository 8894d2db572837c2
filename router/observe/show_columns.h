// SPDX-License-Identifier: BSD-3-Clause
// Columns of a table for people, made from rows of reading_json.h:
// what the tables of `surety show` are written with.
//
// A column has a title, a side and a cell for a row; "-" stands for what the row does not have (an older
// router may not send it).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "router/observe/reading_json.h"
#include "router/process/human.h"
#include "router/process/text_table.h"

namespace surety {

struct Column {
  std::string title;
  TextTable::Align align;
  std::function<std::string(const Json&)> cell;
  std::string path{};   // of the member that it shows; empty: made of several
  bool counts = false;  // that only grows
};
using Columns = std::vector<Column>;

// `name`, or `outer.name` of a row's inner object; null where there is none.
const Json* member(const Json& row, std::string_view path);
double real(const Json& row, const char* path);  // 0 where there is none
std::string cell_text(const Json& value);        // one line, whatever is in it

Column text(std::string title, std::string path);   // on the left, as it is
Column count(std::string title, std::string path);  // on the right, as it is
Column number(std::string title, std::string path, std::string (*human)(double));
// A ratio that is null where there is no limit.
Column alpha(std::string title, std::string path);
// The quotient of the two numbers that `parts` takes from a row; "-" without a whole.
Column quotient(std::string title, std::string (*human)(double),
                std::function<std::pair<double, double>(const Json&)> parts);

// A column of what only grows.
inline Column grows(Column c) {
  c.counts = true;
  return c;
}

// Of a counter in its table (counter_table.h), which rows have under `prefix` and its name.
template <class Info>
Column counter(const Info& info, const std::string& prefix = "") {
  const std::string path = prefix + info.name;
  Column c = path.ends_with("_bytes") ? number(info.column, path, human::bytes) : count(info.column, path);
  const std::string_view metric = info.metric;
  c.counts = metric.empty() || metric.ends_with("_total");
  return c;
}
// Those that have a title.
template <class Infos>
void add_counters(Columns& columns, const Infos& infos, const std::string& prefix = "") {
  for (const auto& info : infos)
    if (*info.column != '\0') columns.push_back(counter(info, prefix));
}

// Header and rows; "(none)" where there are no rows.
std::string render(const Columns& columns, std::span<const Json> rows);

}  // namespace surety
