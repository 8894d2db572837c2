// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/papers/papers_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace surety::lab {
namespace {

using testing::HasSubstr;
using testing::Not;

Paper paper() {
  auto result = parse_paper(
      "version: 1\npaper: csa\ntitle: C & A\nexperiments:\n"
      "  - {id: one, title: '1 < 2', scenario: s, rows: [{what: w, unit: u, value: events, paper: '<9', "
      "band: '< 4', "
      "reason: 'a > b'}], plots: [{title: Plotted, lines: {ours: events}}]}\n"
      "  - {id: two, title: Two, scenario: s, rows: [{what: v, value: 'flows[x].ros'}]}\n",
      "p.yaml");
  for (const auto& d : result.diagnostics) ADD_FAILURE() << d.format();
  return result.paper.value_or(Paper{});
}

struct Sample {
  Sample() {
    for (const auto& e : p.experiments) {
      Collector collector(e, 1);
      RunResult run;
      run.events = 9;
      collector.add(0, 0, 0, run);
      report.experiments.push_back(collector.result());
      for (const auto& row : report.experiments.back().rows) report.tally.add(row.verdict);
    }
  }
  Paper p = paper();
  PaperReport report{&p, {.paper = "csa", .title = "C & A"}, {}};
};

TEST(PapersPage, HasTablesReasonsErrorsAndPlots) {
  const Sample s;
  const auto page = papers_page(std::span(&s.report, 1), true);
  for (const char* part :
       {"<h2>C &amp; A</h2>", "<h3 id=\"one\">1 &lt; 2</h3>", "surety-lab papers --quick",
        "<td>w</td><td>u</td><td class=\"number\">&lt;9</td><td class=\"number\">9</td><td "
        "class=\"number\">1</td>"
        "<td>&lt; 4</td><td class=\"bad\">MISSED [1]</td>",
        "<p class=\"note\">[1] a &gt; b</p>", "<svg", "Plotted",
        "<p class=\"bad\">nothing is called `x`; there are none (column 1 of the expression)</p>", "</html>"})
    EXPECT_THAT(page, HasSubstr(part));
  EXPECT_THAT(page, Not(HasSubstr("Left out")));
}

TEST(PapersPage, SaysWhatWasNotRun) {
  Sample s;
  s.report.experiments[0].left_out = true;
  s.report.experiments[1].runs = 0;
  const auto page = papers_page(std::span(&s.report, 1), false);
  EXPECT_THAT(page, HasSubstr("<p class=\"note\">Left out of --quick.</p>"));
  EXPECT_THAT(page, HasSubstr("<p class=\"note\">Not run.</p>"));
  EXPECT_THAT(page, Not(HasSubstr("<svg")));
}

TEST(PapersMarkdown, ALineForEachPaper) {
  const Sample s;
  EXPECT_EQ(papers_markdown(std::span(&s.report, 1)),
            "| paper | rows | met | missed | differs | pinned | printed | not run |\n"
            "|---|---:|---:|---:|---:|---:|---:|---:|\n"
            "| C & A | 2 | 0 | 2 | 0 | 0 | 0 | 0 |\n");
}

TEST(PapersMarkdown, FilesOfOnePaperAreOneLine) {
  const Sample s;
  const std::vector<PaperReport> two{s.report,
                                     {&s.p, {.paper = "csa", .title = "Appendix", .rows = 3, .met = 3}, {}}};
  EXPECT_THAT(papers_markdown(two), HasSubstr("\n| C & A | 5 | 3 | 2 | 0 | 0 | 0 | 0 |\n"));
  EXPECT_THAT(papers_markdown(two), Not(HasSubstr("Appendix")));
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(WritePapersReport, MakesTheDirectory) {
  const Sample s;
  const auto papers = std::span(&s.report, 1);
  const auto directory = std::filesystem::path(testing::TempDir()) / "lab_papers_report" / "deep";
  std::filesystem::remove_all(directory);
  write_papers_report(directory.string(), papers, false);
  EXPECT_EQ(text_of(directory / "index.html"), papers_page(papers, false));
  EXPECT_EQ(text_of(directory / "summary.md"), papers_markdown(papers));
  std::filesystem::remove_all(directory.parent_path());
}

TEST(WritePapersReport, NamesTheFileThatCannotBeWritten) {
  const auto directory = std::filesystem::path(testing::TempDir()) / "lab_papers_report_blocked";
  std::filesystem::create_directories(directory / "index.html");
  try {
    write_papers_report(directory.string(), {}, false);
    ADD_FAILURE() << "no error";
  } catch (const std::system_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("lab_papers_report_blocked/index.html"));
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace surety::lab
