// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/show_command.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "config/text/problems.h"
#include "router/operate/observe/show.h"
#include "router/process/human.h"

namespace surety {
namespace {

std::vector<std::string_view> table_names() {
  std::vector<std::string_view> all(kTables.begin(), kTables.end());
  all.insert(all.end(), kOwnTables.begin(), kOwnTables.end());
  return all;
}

// Events come oldest first: the last are the newest.
bool newest_last(const ShowRequest& request) {
  return request.what == "events";
}

std::string as_json(const ShowRequest& request, std::vector<Json> rows, bool watched) {
  select(rows, columns_of(request.what), request.selection, newest_last(request));
  return Json(std::move(rows)).dump(watched ? -1 : 2) + '\n';
}

std::string as_text(const ShowRequest& request, std::vector<Json> rows, ShowRates* rates, double elapsed) {
  ShownTable table = shown(request.what, std::move(rows), request.all);
  if (rates != nullptr) rates->apply(table, elapsed);
  const std::string note = note_on(request.what, table.lines);  // before the selection
  std::vector<Json> heading;                                    // kept by the selection
  if (request.what == "signalling" && !table.lines.empty()) heading = {table.lines.front()};
  select(table.lines, table.columns, request.selection, newest_last(request));
  if (request.what != "signalling") return render(table.columns, table.lines) + note;
  heading.insert(heading.end(), table.lines.begin(), table.lines.end());
  return render_signalling(Json(std::move(heading)), request.all);
}

}  // namespace

int show(ShowRequest request, const TelemetryClient& client, std::ostream& out, std::ostream& err,
         const ShowAgain& again, std::string_view clear) {
  request.what = table_name(request.what);
  const std::vector<std::string_view> known = table_names();
  if (std::ranges::find(known, request.what) == known.end()) {
    err << fmt::format("surety show: no table is called {}: choose one of {}\n", request.what,
                       human::list(known));
    return 2;
  }
  try {
    ShowRates rates;
    for (double elapsed = 0;;) {
      Json table = client.table(request.what, request.router);
      std::vector<Json>& rows = table.get_ref<Json::array_t&>();
      const std::string text = request.json
                                   ? as_json(request, std::move(rows), again != nullptr)
                                   : as_text(request, std::move(rows), again ? &rates : nullptr, elapsed);
      out << text << std::flush;
      const auto more = again && out ? again() : std::nullopt;
      if (!more) return 0;
      elapsed = *more;
      if (!request.json) out << clear;
    }
  } catch (const std::invalid_argument& e) {
    err << fmt::format("surety show {}: {}\n", request.what, e.what());
    return 2;
  } catch (const std::runtime_error& e) {
    err << "surety show: " << e.what() << '\n';
    return 1;
  }
}

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
void set_member(Json& line, std::string path, Json value) {
  std::ranges::replace(path, '.', '/');
  line[Json::json_pointer('/' + path)] = std::move(value);
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
