// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/html_report.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "router/process/human.h"
#include "tests/lab/results/html_page.h"
#include "tests/lab/results/report_plots.h"
#include "tests/lab/results/result_csv.h"
#include "tests/lab/results/result_flows.h"
#include "tests/lab/results/result_tables.h"
#include "tests/lab/results/result_text.h"
#include "tests/lab/results/svg_plot.h"

namespace surety::lab {
namespace {

constexpr std::size_t kRowsPerStem = 40;

// The text's "+-" as print has it.
std::string typeset(const std::string& text) {
  const std::size_t at = text.find("+-");
  return at == std::string::npos ? text : text.substr(0, at) + "±" + typeset(text.substr(at + 2));
}

std::string css_of(const std::string& cell) {
  if (cell == "kept") return "good";
  return cell == "MISSED" || cell == "never" ? "bad" : "";
}

std::string section(const std::string& title, const std::string& content) {
  return fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", escape(title), content);
}

std::string html_of(const ResultTable& table) {
  std::vector<HtmlColumn> columns;
  for (const auto& c : table.columns) columns.push_back({c.title, c.number});
  std::vector<std::vector<HtmlCell>> rows;
  for (const auto& row : table.rows) {
    rows.emplace_back();
    for (const auto& cell : row) rows.back().emplace_back(typeset(cell), css_of(cell));
  }
  return section(table.title, html_table(columns, rows));
}

std::string rate_of(const std::optional<Rate>& rate) {
  return rate ? human::rate(rate->bytes_per_second()) : "unlimited";
}
std::string one_way(const LinkDirection& d) {
  std::string text = rate_of(d.rate) + ", " + human::duration(seconds(d.delay));
  if (d.loss.value() > 0) text += fmt::format(", loss {:.3g} %", d.loss.value() * 100);
  if (d.queue) text += fmt::format(", queue {}", *d.queue);
  return text;
}

std::string links(const Scenario& scenario) {
  const std::vector<HtmlColumn> columns{{"link"}, {"forth"}, {"back"}};
  std::vector<std::vector<HtmlCell>> rows;
  for (const auto& link : scenario.links) {
    const std::string forth = one_way(link.forth), back = one_way(link.back);
    rows.push_back({link.name, forth, back == forth ? HtmlCell("the same", "note") : HtmlCell(back)});
  }
  return fmt::format("<details><summary>{} routers, {} hosts, {} links</summary>\n{}</details>\n",
                     scenario.routers.size(), scenario.hosts.size(), scenario.links.size(),
                     html_table(columns, rows));
}

std::string tables(std::span<const RunResult> runs) {
  std::string html;
  for (const auto& table : result_tables(runs, kRowsPerStem)) html += html_of(table);
  if (runs.size() > 1) html += html_of(delivered_over_seeds(runs, kRowsPerStem));
  return html;
}

std::string plots(const RunResult& run) {
  std::string svgs = "<div class=\"plots\">\n";
  for (const auto& plot : report_plots(run)) svgs += to_svg(plot);
  const std::string note =
      fmt::format("seed {}, a value every {} s; all series are in the CSV files beside this page", run.seed,
                  run.sample_s);
  return section("Over time", fmt::format("<p class=\"note\">{}</p>\n{}</div>\n", note, svgs));
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(), path.string());
}

// Nothing but its header: not worth a file.
bool empty(const std::string& csv) {
  return csv.find('\n') + 1 == csv.size();
}

}  // namespace

std::string report_page(const Scenario& scenario, std::span<const RunResult> runs) {
  std::string page = page_header(scenario.name.empty() ? scenario.file : scenario.name);
  page += fmt::format("<p>{}.</p>\n", escape(typeset(heading(runs))));
  page += links(scenario) + tables(runs);
  if (!runs.empty()) page += plots(runs[0]);
  return page + page_footer();
}

void write_report(const std::string& directory, const Scenario& scenario, std::span<const RunResult> runs) {
  const std::filesystem::path root(directory);
  std::filesystem::create_directories(root);
  write_file(root / "index.html", report_page(scenario, runs));
  const std::pair<const char*, std::string> files[] = {{"flows.csv", flows_csv(runs)},
                                                       {"queues.csv", queues_csv(runs)},
                                                       {"domains.csv", domains_csv(runs)},
                                                       {"aggregates.csv", aggregates_csv(runs)}};
  for (const auto& [name, csv] : files) {
    if (!empty(csv)) write_file(root / name, csv);
  }
}

}  // namespace surety::lab
