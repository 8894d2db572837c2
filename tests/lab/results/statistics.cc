// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/statistics.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "tests/lab/results/result_json.h"

namespace surety::lab {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTables[] = {"flows", "queues", "domains", "aggregates"};

// One row as each run has it; null where a run has not.
using Versions = std::vector<const Json*>;

// What a row is called: its texts.
std::vector<std::string> identity_of(const Json& row) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : row.items()) {
    if (value.is_string()) texts.push_back(value.get<std::string>());
  }
  return texts;
}

int decimals_of(std::string_view key) {
  return key.ends_with("_bps") ? 0 : key.ends_with("_s") ? 9 : 6;
}

Json leaf(std::string_view key, const std::vector<double>& values) {
  const Summary s = summary_of(values);
  const auto shown = [&](double v) { return s.n > 0 ? rounded(v, decimals_of(key)) : Json(); };
  return {
      {"mean", shown(s.mean)}, {"sd", shown(s.sd)}, {"min", shown(s.min)}, {"max", shown(s.max)}, {"n", s.n}};
}

// What a row has not, though another has it, is 0: a flow's drops name only the routers that dropped of it.
Versions field_of(const Versions& rows, const std::string& key, bool object) {
  static const Json kNothing = 0, kEmpty = Json::object();
  Versions fields;
  for (const Json* row : rows) {
    if (row == nullptr)
      fields.push_back(nullptr);
    else if (const auto field = row->find(key); field != row->end())
      fields.push_back(&*field);
    else
      fields.push_back(object ? &kEmpty : &kNothing);
  }
  return fields;
}

Json summary_row(const Versions& versions);

Json summary(const std::string& key, const Json& value, const Versions& versions) {
  if (value.is_string()) return value;
  const Versions fields = field_of(versions, key, value.is_object());
  if (value.is_object()) return summary_row(fields);
  std::vector<double> values;
  for (const Json* field : fields) {
    if (field && field->is_number()) values.push_back(field->get<double>());
  }
  return leaf(key, values);
}

Json summary_row(const Versions& versions) {
  Json result = Json::object();
  for (const Json* row : versions) {
    if (row == nullptr) continue;
    for (const auto& [key, value] : row->items())
      if (!result.contains(key)) result[key] = summary(key, value, versions);
  }
  return result;
}

Json summary_table(const std::vector<Json>& runs, const char* table) {
  struct Row {
    std::vector<std::string> identity;
    Versions versions;
  };
  std::vector<Row> rows;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    std::size_t place = 0;
    for (const Json& json : runs[run].at(table)) {
      const auto identity = identity_of(json);
      const auto is_it = [&](const Row& r) { return r.identity == identity && !r.versions[run]; };
      // Nearly always at the same place in every run.
      auto row = place < rows.size() && is_it(rows[place]) ? rows.begin() + static_cast<std::ptrdiff_t>(place)
                                                           : std::find_if(rows.begin(), rows.end(), is_it);
      if (row == rows.end()) row = rows.insert(row, {identity, Versions(runs.size())});
      row->versions[run] = &json;
      ++place;
    }
  }
  Json result = Json::array();
  for (const auto& row : rows) result.push_back(summary_row(row.versions));
  return result;
}

}  // namespace

Summary summary_of(std::span<const double> values) {
  Summary s;
  s.n = values.size();
  if (values.empty()) return s;
  const auto n = static_cast<double>(s.n);
  double sum = 0, squares = 0;
  for (const double v : values) sum += v;
  s.mean = sum / n;
  for (const double v : values) squares += (v - s.mean) * (v - s.mean);
  s.sd = s.n > 1 ? std::sqrt(squares / (n - 1)) : 0;
  s.min = *std::min_element(values.begin(), values.end());
  s.max = *std::max_element(values.begin(), values.end());
  return s;
}

double jain_index(std::span<const double> values) {
  double sum = 0, squares = 0;
  for (const double v : values) sum += v, squares += v * v;
  return squares > 0 ? sum * sum / (static_cast<double>(values.size()) * squares) : 1;
}

Json summarize(std::span<const RunResult> runs) {
  std::vector<Json> all;
  for (const auto& run : runs) all.push_back(to_json(run));
  Json statistics = Json::object();
  for (const char* table : kTables) statistics[table] = summary_table(all, table);
  if (!all.empty() && all.front().contains("groups")) statistics["groups"] = summary_table(all, "groups");
  return {{"scenario", runs.empty() ? "" : runs.front().scenario},
          {"seeds", runs.size()},
          {"statistics", std::move(statistics)}};
}

}  // namespace surety::lab
