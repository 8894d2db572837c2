// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/papers/papers_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "router/process/text_table.h"
#include "tests/lab/results/result_json.h"

namespace surety::lab {
namespace {

using Align = TextTable::Align;
using Json = nlohmann::ordered_json;

constexpr int kJsonDecimals = 9;

int decimals_of(double x) {
  const double size = std::fabs(x);
  return size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4;
}

std::string fixed(double x, int decimals) {
  auto text = fmt::format("{:.{}f}", x, decimals);
  const bool zero = text.find_first_not_of("-0.") == text.npos;
  return zero && text.front() == '-' ? text.substr(1) : text;
}

std::string_view word_of(Judge j) {
  switch (j) {
    case Judge::mean:
      return "mean";
    case Judge::every:
      return "every";
    case Judge::min:
      return "min";
    case Judge::max:
      return "max";
  }
  return "";
}

std::string seeds_of(const RowResult& r, std::size_t wanted) {
  return r.seeds.size() == wanted ? std::to_string(wanted) : fmt::format("{} of {}", r.seeds.size(), wanted);
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

std::string table_text(const ExperimentResult& result, const Reasons& reasons) {
  TextTable table;
  table.column("WHAT", Align::left);
  table.column("UNIT", Align::left);
  table.column("PAPER", Align::right);
  table.column("OURS (SD)", Align::right);
  table.column("SEEDS", Align::right);
  table.column("BAND", Align::left);
  table.column("VERDICT", Align::left);
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const Row& row = result.experiment->rows[i];
    const RowResult& ours = result.rows[i];
    const auto note = reasons.of_row[i] > 0 ? fmt::format(" [{}]", reasons.of_row[i]) : "";
    table.row({row.what, row.unit, row.paper, shown_mean(ours), seeds_of(ours, result.seeds), band_of(row),
               fmt::format("{}{}", to_string(ours.verdict), note)});
  }
  return table.text();
}

}  // namespace

void Tally::add(Verdict v) {
  ++rows;
  switch (v) {
    case Verdict::met:
      ++met;
      break;
    case Verdict::missed:
    case Verdict::pin_missed:
    case Verdict::broken:
      ++missed;
      break;
    case Verdict::differs:
      ++differs;
      break;
    case Verdict::pinned:
      ++pinned;
      break;
    case Verdict::printed:
      ++printed;
      break;
    case Verdict::not_run:
      ++not_run;
      break;
  }
}

void Tally::add(const Tally& other) {
  for (const auto count : {&Tally::rows, &Tally::met, &Tally::missed, &Tally::differs, &Tally::pinned,
                           &Tally::printed, &Tally::not_run})
    this->*count += other.*count;
}

std::vector<Tally> merged(std::span<const Tally> tallies) {
  std::vector<Tally> papers;
  for (const auto& t : tallies) {
    if (!papers.empty() && papers.back().paper == t.paper) {
      papers.back().add(t);
    } else {
      papers.push_back(t);
    }
  }
  return papers;
}

std::string_view to_string(Verdict v) {
  constexpr std::array<std::string_view, 8> kWords{"met",        "MISSED",  "differs", "pinned",
                                                   "PIN MISSED", "printed", "BROKEN",  "not run"};
  return kWords[static_cast<std::size_t>(v)];
}

std::string band_of(const Row& row) {
  const auto judged = row.judge == Judge::mean ? "" : fmt::format(" ({})", word_of(row.judge));
  std::string text = row.band ? row.band->text() + judged : "-";
  if (!row.pin) return text;
  return fmt::format("{}{} (pin)", row.band ? text + "; " : "", row.pin->text());
}

std::string shown_number(double x) {
  return std::isnan(x) ? "-" : fixed(x, x == std::floor(x) ? 0 : decimals_of(x));
}

std::string shown_mean(const RowResult& row) {
  if (!row.summary) return "-";
  const auto& s = *row.summary;
  if (row.seeds.size() < 2) return shown_number(s.mean);
  if (s.sd == 0) return shown_number(s.mean) + " (0)";
  const int decimals = decimals_of(s.mean);
  return fmt::format("{} ({})", fixed(s.mean, decimals), fixed(s.sd, decimals));
}

Reasons reasons_of(const Experiment& e) {
  Reasons reasons;
  for (const auto& row : e.rows) {
    auto it = std::find(reasons.texts.begin(), reasons.texts.end(), row.reason);
    if (it == reasons.texts.end() && !row.reason.empty()) it = reasons.texts.insert(it, row.reason);
    reasons.of_row.push_back(row.reason.empty() ? 0
                                                : static_cast<std::size_t>(it - reasons.texts.begin()) + 1);
  }
  return reasons;
}

std::string experiment_text(const ExperimentResult& result) {
  const Experiment& e = *result.experiment;
  auto text = fmt::format("{}: {}\n", e.id, e.title);
  if (result.left_out) return text + "left out of --quick\n\n";
  if (result.runs == 0) return text + "not run\n\n";
  const auto reasons = reasons_of(e);
  if (!e.rows.empty()) text += table_text(result, reasons);
  for (std::size_t i = 0; i < reasons.texts.size(); ++i)
    text += fmt::format("[{}] {}\n", i + 1, reasons.texts[i]);
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    if (!result.rows[i].error.empty()) text += fmt::format("{}: {}\n", e.rows[i].what, result.rows[i].error);
  }
  for (const auto& error : result.errors) text += error + '\n';
  return text + '\n';
}

std::string summary_text(std::span<const Tally> tallies) {
  TextTable table;
  table.column("PAPER", Align::left);
  for (const char* title : {"ROWS", "MET", "MISSED", "DIFFERS", "PINNED", "PRINTED", "NOT RUN"})
    table.column(title, Align::right);
  for (const auto& t : tallies) {
    std::vector<std::string> cells{t.paper};
    for (const auto n : {t.rows, t.met, t.missed, t.differs, t.pinned, t.printed, t.not_run})
      cells.push_back(std::to_string(n));
    table.row(std::move(cells));
  }
  return table.text();
}

Json row_json(const std::string& paper, const Experiment& e, std::size_t index, const RowResult& ours) {
  const Row& row = e.rows.at(index);
  Json json{{"paper", paper}, {"experiment", e.id}, {"what", row.what}, {"unit", text_or_null(row.unit)}};
  json["x"] = row.point ? Json(e.points[*row.point].x) : Json();
  json["printed"] = text_or_null(row.paper);
  for (const auto& [key, value] : {std::pair{"mean", &Summary::mean}, std::pair{"sd", &Summary::sd},
                                   std::pair{"min", &Summary::min}, std::pair{"max", &Summary::max}})
    json[key] = ours.summary ? rounded((*ours.summary).*value, kJsonDecimals) : Json();
  json["seeds"] = ours.seeds.size();
  json["band"] = row.band ? Json(row.band->text()) : Json();
  json["pin"] = row.pin ? Json(row.pin->text()) : Json();
  json["claim"] = row.claim && row.band;
  json["judge"] = word_of(row.judge);
  json["verdict"] = to_string(ours.verdict);
  json["reason"] = text_or_null(row.reason);
  json["error"] = text_or_null(ours.error);
  return json;
}

}  // namespace surety::lab
