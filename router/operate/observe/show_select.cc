// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/show_select.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "config/text/suggest.h"

namespace surety {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c == ' ' ? '_' : (c >= 'A' && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

// The meaning of a key: a member, a column, or both.
struct Key {
  std::string path{};
  const Column* column = nullptr;
};

void collect(const Json& row, const std::string& prefix, std::set<std::string>& names) {
  for (const auto& [name, value] : row.items()) {
    names.insert(prefix + name);
    if (value.is_object()) collect(value, prefix + name + '.', names);
  }
}

Key find_key(const std::string& name, const std::vector<Json>& rows, const Columns& columns) {
  Key key{name, nullptr};
  for (const Column& c : columns)
    if (lower(c.title) == lower(name) || c.path == name) key.column = &c;
  const auto has = [&](const Json& row) { return member(row, name) != nullptr; };
  if (key.column != nullptr || std::ranges::any_of(rows, has)) return key;
  std::set<std::string> names;
  for (const Column& c : columns) names.insert(c.path.empty() ? lower(c.title) : c.path);
  for (const Json& row : rows) collect(row, "", names);
  const std::vector<std::string_view> all(names.begin(), names.end());
  throw std::invalid_argument(fmt::format("no key is called `{}`{}", name, config::hint(name, all)));
}

struct Condition {
  Key key{};
  std::string value{};
  bool wanted = true;

  bool holds(const Json& row) const {
    const auto is = [&](const std::string& text) {
      return ::fnmatch(value.c_str(), text.c_str(), FNM_CASEFOLD | FNM_NOESCAPE) == 0;
    };
    const Json* const found = member(row, key.path);
    const bool same =
        (found != nullptr && is(cell_text(*found))) || (key.column != nullptr && is(key.column->cell(row)));
    return same == wanted;
  }
};

Condition condition(const std::string& text, const std::vector<Json>& rows, const Columns& columns) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos || equals == 0)
    throw std::invalid_argument(fmt::format("`{}` is not KEY=VALUE", text));
  const bool wanted = text[equals - 1] != '!';
  return {find_key(text.substr(0, wanted ? equals : equals - 1), rows, columns), text.substr(equals + 1),
          wanted};
}

void sort_by(std::vector<Json>& rows, const Key& key) {
  const std::string path = key.column != nullptr && !key.column->path.empty() ? key.column->path : key.path;
  std::ranges::stable_sort(rows, [&](const Json& a, const Json& b) {
    const Json *const x = member(a, path), *const y = member(b, path);
    if (x == nullptr || y == nullptr) return y == nullptr && x != nullptr;
    return x->is_number() && y->is_number() ? *y < *x : *x < *y;
  });
}

}  // namespace

void select(std::vector<Json>& rows, const Columns& columns, const Selection& selection, bool last) {
  std::vector<Condition> conditions;
  for (const std::string& text : selection.where) conditions.push_back(condition(text, rows, columns));
  const auto order = selection.sort ? std::optional(find_key(*selection.sort, rows, columns)) : std::nullopt;
  std::erase_if(rows, [&](const Json& row) {
    return !std::ranges::all_of(conditions, [&](const Condition& c) { return c.holds(row); });
  });
  if (order) sort_by(rows, *order);
  if (!selection.top || *selection.top >= rows.size()) return;
  if (last && !order)
    rows.erase(rows.begin(), rows.end() - static_cast<std::ptrdiff_t>(*selection.top));
  else
    rows.resize(*selection.top);
}

}  // namespace surety
