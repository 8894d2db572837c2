// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/result_text.h"

#include <fmt/format.h>

#include "router/process/human.h"
#include "tests/lab/results/result_tables.h"

namespace surety::lab {
namespace {

constexpr std::size_t kRowsPerStem = 8;

std::string text_of(const ResultTable& table) {
  TextTable text;
  for (const auto& c : table.columns)
    text.column(c.title, c.number ? TextTable::Align::right : TextTable::Align::left);
  for (const auto& row : table.rows) text.row(row);
  return text.text();
}

}  // namespace

std::string heading(std::span<const RunResult> runs) {
  if (runs.empty()) return "no runs";
  const RunResult& first = runs.front();
  std::string text = fmt::format("{}, {} s", first.scenario, first.duration_s);
  if (first.measure_from_s > 0 || first.measure_to_s < first.duration_s)
    text += fmt::format(" (measured {} s - {} s)", first.measure_from_s, first.measure_to_s);
  if (runs.size() == 1) text += fmt::format(", seed {}", first.seed);
  if (runs.size() > 1)
    text += fmt::format(", {} seeds from {} to {}, mean +- standard deviation", runs.size(), first.seed,
                        runs.back().seed);
  for (const auto& run : runs) {
    if (run.interrupted) return text + ", interrupted";
  }
  return text;
}

std::string to_text(std::span<const RunResult> runs) {
  std::string text = heading(runs) + '\n';
  if (runs.empty()) return text;
  for (const auto& table : result_tables(runs, kRowsPerStem))
    text += fmt::format("\n{}\n{}", table.title, text_of(table));
  return text;
}

}  // namespace surety::lab
