// SPDX-License-Identifier: BSD-3-Clause
#include "router/observe/show_columns.h"

namespace surety {
namespace {

constexpr const char* kAbsent = "-";

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string cell_of(const Json& row, std::string_view path) {
  const Json* value = member(row, path);
  return value != nullptr ? text_of(*value) : kAbsent;
}

}  // namespace

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

Column text(const char* title, std::string path) {
  return {title, TextTable::Align::left,
          [path = std::move(path)](const Json& row) { return cell_of(row, path); }};
}

Column count(const char* title, std::string path) {
  return {title, TextTable::Align::right,
          [path = std::move(path)](const Json& row) { return cell_of(row, path); }};
}

Column number(const char* title, std::string path, std::string (*human)(double)) {
  return {title, TextTable::Align::right, [path = std::move(path), human](const Json& row) {
            const Json* value = member(row, path);
            return value != nullptr && value->is_number() ? human(value->get<double>()) : kAbsent;
          }};
}

Column quotient(const char* title, std::string (*human)(double),
                std::function<std::pair<double, double>(const Json&)> parts) {
  return {title, TextTable::Align::right, [human, parts = std::move(parts)](const Json& row) {
            const auto [part, whole] = parts(row);
            return whole > 0 ? human(part / whole) : std::string(kAbsent);
          }};
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
