// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/show_rates.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace surety {
namespace {

std::string line_name(const Json& line, const Columns& columns) {
  std::string name;
  for (const Column& c : columns)
    if (c.align == TextTable::Align::left) name += c.cell(line) + '\n';
  return name;
}

std::vector<double> counters_of(const Json& line, const Columns& columns) {
  std::vector<double> values;
  for (const Column& c : columns)
    if (c.counts) values.push_back(real(line, c.path.c_str()));
  return values;
}

Json rate_of(double grown, double elapsed) {
  return static_cast<std::uint64_t>(std::max(0.0, std::round(grown / elapsed)));
}

// Sets a member; `a.b` is a member of a member.
void set_member(Json& line, const std::string& path, Json value) {
  Json* at = &line;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    at = &(*at)[path.substr(begin, end - begin)];
    begin = end + 1;
  }
  *at = std::move(value);
}

}  // namespace

void ShowRates::apply(ShownTable& table, double elapsed) {
  std::map<std::string, std::vector<double>> now;
  const bool first = !std::exchange(any_, true) || elapsed <= 0;
  for (Json& line : table.lines) {
    const std::string name = line_name(line, table.columns);
    const std::vector<double> values = counters_of(line, table.columns);
    const auto before = before_.find(name);
    std::size_t i = 0;
    for (const Column& c : table.columns) {
      if (!c.counts) continue;
      const bool known = before != before_.end() && before->second.size() == values.size();
      if (!first && member(line, c.path) != nullptr)
        set_member(line, c.path, known ? rate_of(values[i] - before->second[i], elapsed) : Json());
      ++i;
    }
    now[name] = values;
  }
  before_ = std::move(now);
  for (Column& c : table.columns)
    if (c.counts && !first) c.title += "/S";
}

}  // namespace surety
