// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/show.h"

#include "router/operate/observe/events.h"

namespace surety {
namespace {

constexpr const char* kAbsent = "-";

std::string cell_of(const Json& row, std::string_view path) {
  const Json* value = member(row, path);
  return value != nullptr && !value->is_null() ? cell_text(*value) : kAbsent;
}

}  // namespace

std::string cell_text(const Json& value) {
  return value.is_string() ? printable(value.get_ref<const std::string&>()) : value.dump();
}

const Json* member(const Json& row, std::string_view path) {
  const std::size_t dot = path.find('.');
  const auto found = row.find(path.substr(0, dot));
  if (found == row.end()) return nullptr;
  return dot == std::string_view::npos ? &*found : member(*found, path.substr(dot + 1));
}

double real(const Json& row, const char* path) {
  const Json* value = member(row, path);
  return value != nullptr && value->is_number() ? value->get<double>() : 0;
}

Column text(std::string title, const std::string& path) {
  return {std::move(title), TextTable::Align::left, [path](const Json& row) { return cell_of(row, path); },
          path};
}

Column count(std::string title, const std::string& path) {
  return {std::move(title), TextTable::Align::right, [path](const Json& row) { return cell_of(row, path); },
          path};
}

Column number(std::string title, const std::string& path, std::string (*human)(double)) {
  return {std::move(title), TextTable::Align::right,
          [path, human](const Json& row) {
            const Json* value = member(row, path);
            return value != nullptr && value->is_number() ? human(value->get<double>()) : kAbsent;
          },
          path};
}

Column alpha(std::string title, const std::string& path) {
  Column c = number(std::move(title), path, human::ratio);
  c.cell = [path](const Json& row) -> std::string {
    const Json* value = member(row, path);
    if (value == nullptr) return kAbsent;
    return value->is_number() ? human::ratio(value->get<double>()) : "unlimited";
  };
  return c;
}

Column quotient(std::string title, std::string (*human)(double),
                std::function<std::pair<double, double>(const Json&)> parts) {
  return {std::move(title), TextTable::Align::right, [human, parts = std::move(parts)](const Json& row) {
            const auto [part, whole] = parts(row);
            return whole > 0 ? human(part / whole) : std::string(kAbsent);
          }};
}

Column quotient(std::string title, std::string (*human)(double), const char* part, const char* whole) {
  return quotient(std::move(title), human,
                  [=](const Json& row) { return std::pair(real(row, part), real(row, whole)); });
}

MakeColumn column_of(std::string_view name, std::string_view metric, std::string_view title) {
  if (title.empty()) return nullptr;
  const bool grows = metric.empty() || metric.ends_with("_total");
  if (name.ends_with("_bytes")) return grows ? growing<number<human::bytes>> : number<human::bytes>;
  return grows ? growing<count> : count;
}

std::string render(const Columns& columns, std::span<const Json> rows) {
  TextTable table;
  for (const Column& column : columns) table.column(column.title, column.align);
  for (const Json& row : rows) {
    std::vector<std::string> cells;
    for (const Column& column : columns) cells.push_back(column.cell(row));
    table.row(std::move(cells));
  }
  return table.text();
}

}  // namespace surety
