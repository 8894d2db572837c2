// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/papers/papers_report.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "tests/lab/results/html_page.h"

namespace surety::lab {
namespace {

constexpr int kPlotWidth = 560, kPlotHeight = 300;

struct Count {
  const char* title;
  std::size_t Tally::*value;
};
constexpr std::array kCounts{Count{"rows", &Tally::rows},      Count{"met", &Tally::met},
                             Count{"missed", &Tally::missed},  Count{"differs", &Tally::differs},
                             Count{"pinned", &Tally::pinned},  Count{"printed", &Tally::printed},
                             Count{"not run", &Tally::not_run}};

std::string css_of(Verdict v) {
  if (fails(v)) return "bad";
  return v == Verdict::met || v == Verdict::pinned ? "good" : "note";
}

std::string summary_table(std::span<const PaperReport> papers) {
  std::vector<HtmlColumn> columns{{"paper"}};
  for (const auto& c : kCounts) columns.push_back({c.title, true});
  std::vector<std::vector<HtmlCell>> rows;
  for (const auto& t : tallies_of(papers)) {
    auto& row = rows.emplace_back();
    row.emplace_back(t.title);
    for (const auto& c : kCounts) {
      const auto n = t.*c.value;
      row.emplace_back(std::to_string(n), c.value == &Tally::missed && n > 0 ? "bad" : "");
    }
  }
  return html_table(columns, rows);
}

std::string rows_table(const ExperimentResult& result, const Reasons& reasons) {
  const std::array<HtmlColumn, 7> columns{
      {{"what"}, {"unit"}, {"paper", true}, {"ours (sd)", true}, {"seeds", true}, {"band"}, {"verdict"}}};
  std::vector<std::vector<HtmlCell>> rows;
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const Row& row = result.experiment->rows[i];
    const RowResult& ours = result.rows[i];
    const auto note = reasons.of_row[i] > 0 ? fmt::format(" [{}]", reasons.of_row[i]) : "";
    rows.push_back({row.what, row.unit, row.paper, shown_mean(ours), std::to_string(ours.seeds.size()),
                    band_of(row),
                    HtmlCell(fmt::format("{}{}", to_string(ours.verdict), note), css_of(ours.verdict))});
  }
  return html_table(columns, rows);
}

std::string paragraph(std::string_view text, std::string_view css) {
  return fmt::format("<p class=\"{}\">{}</p>\n", css, escape(text));
}

std::string experiment_html(const ExperimentResult& result) {
  const Experiment& e = *result.experiment;
  auto html = fmt::format("<h3 id=\"{0}\">{1}</h3>\n", escape(e.id), escape(e.title));
  if (result.left_out) return html + paragraph("Left out of --quick.", "note");
  if (result.runs == 0) return html + paragraph("Not run.", "note");
  const auto reasons = reasons_of(e);
  if (!e.rows.empty()) html += rows_table(result, reasons);
  for (std::size_t i = 0; i < reasons.texts.size(); ++i)
    html += paragraph(fmt::format("[{}] {}", i + 1, reasons.texts[i]), "note");
  for (const auto& r : result.rows) {
    if (!r.error.empty()) html += paragraph(r.error, "bad");
  }
  for (const auto& error : result.errors) html += paragraph(error, "bad");
  if (result.plots.empty()) return html;
  html += "<div class=\"plots\">\n";
  for (const auto& plot : result.plots) html += to_svg(plot, kPlotWidth, kPlotHeight);
  return html + "</div>\n";
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (!(file << text).flush()) throw std::system_error(errno, std::generic_category(), path);
}

}  // namespace

std::vector<Tally> tallies_of(std::span<const PaperReport> papers) {
  std::vector<Tally> tallies;
  for (const auto& p : papers) tallies.push_back(p.tally);
  return merged(tallies);
}

std::string papers_page(std::span<const PaperReport> papers, bool quick) {
  auto html = page_header("Surety beside the papers");
  html += paragraph(
      fmt::format("What surety-lab papers{} reproduces: what the paper prints, "
                  "the mean of ours over the seeds with its standard deviation, and the band that ours "
                  "must lie in. Bars in plots are one standard deviation to each side.",
                  quick ? " --quick" : ""),
      "note");
  html += summary_table(papers);
  for (const auto& p : papers) {
    html += fmt::format("<h2>{}</h2>\n", escape(p.paper->title));
    for (const auto& e : p.experiments) html += experiment_html(e);
  }
  return html + page_footer();
}

std::string papers_markdown(std::span<const PaperReport> papers) {
  std::string text = "| paper |", rule = "|---|";
  for (const auto& c : kCounts) {
    text += fmt::format(" {} |", c.title);
    rule += "---:|";
  }
  text += '\n' + rule + '\n';
  for (const auto& t : tallies_of(papers)) {
    text += fmt::format("| {} |", t.title);
    for (const auto& c : kCounts) text += fmt::format(" {} |", t.*c.value);
    text += '\n';
  }
  return text;
}

void write_papers_report(const std::string& directory, std::span<const PaperReport> papers, bool quick) {
  std::filesystem::create_directories(directory);
  write(directory + "/index.html", papers_page(papers, quick));
  write(directory + "/summary.md", papers_markdown(papers));
}

}  // namespace surety::lab
