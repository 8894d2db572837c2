// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/run_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "tests/lab/results/report.h"
#include "tests/lab/results/result_json.h"
#include "tests/lab/results/result_text.h"
#include "tests/lab/results/statistics.h"

namespace surety::lab {

namespace {

using Json = nlohmann::ordered_json;

// `object` with the sweep's settings put behind its first key.
Json with_settings(const Json& object, const std::vector<Setting>& swept) {
  if (swept.empty()) return object;
  Json settings = Json::object();
  for (const auto& [path, value] : swept) settings[path] = value;
  Json made = Json::object();
  for (const auto& [key, value] : object.items()) {
    made[key] = value;
    if (made.size() == 1) made["set"] = settings;
  }
  return made;
}

void forget_series(RunResult& r) {
  for (auto& f : r.flows) f.throughput_series = f.in_series = f.control_series = f.delay_series = {};
  for (auto& q : r.queues) q.average_in_series = q.average_total_series = {};
  for (auto& d : r.domains) d.alpha_series = {};
  for (auto& a : r.aggregates) a.tpr_series = a.tokens_series = {};
}

std::string text_of(const std::vector<Setting>& swept) {
  std::string text;
  for (const auto& [path, value] : swept)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", path, value);
  return text;
}

}  // namespace

RunPrinter::RunPrinter(std::ostream& out, std::span<const Point> points, Options options)
    : out_(out), points_(points), options_(std::move(options)) {}

void RunPrinter::add(std::size_t point, RunResult&& result) {
  point_ = point;
  if (options_.json) print_json(options_.series && results_.empty() ? with_series(result) : to_json(result));
  if (options_.report.empty()) forget_series(result);
  results_.push_back(std::move(result));
  if (results_.size() == options_.seeds) finish();
}

void RunPrinter::finish() {
  const auto whole = [](const RunResult& r) { return !r.interrupted; };
  if (std::ranges::any_of(results_, whole)) std::erase_if(results_, std::not_fn(whole));
  if (results_.empty()) return;
  if (!options_.json)
    print_text();
  else if (options_.seeds > 1)
    print_json(summarize(results_));
  if (!options_.report.empty()) write_report();
  results_.clear();
}

void RunPrinter::print_json(const Json& object) {
  out_ << to_line(with_settings(object, points_[point_].swept)) << std::flush;
}

void RunPrinter::print_text() {
  const auto& swept = points_[point_].swept;
  if (point_ > 0) out_ << '\n';
  if (!swept.empty()) out_ << text_of(swept) << '\n';
  out_ << to_text(results_) << std::flush;
}

void RunPrinter::write_report() {
  const Point& point = points_[point_];
  if (point.swept.empty()) return lab::write_report(options_.report, point.scenario, results_);
  Scenario titled = point.scenario;
  titled.name += fmt::format(" ({})", text_of(point.swept));
  lab::write_report(fmt::format("{}/{}", options_.report, point_ + 1), titled, results_);
}

}  // namespace surety::lab
