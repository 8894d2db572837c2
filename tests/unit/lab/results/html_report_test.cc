// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/html_report.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "tests/lab/results/result_csv.h"
#include "tests/unit/lab/results/results.h"

namespace surety::lab {
namespace {

using testing::HasSubstr;
using testing::Not;

Scenario sample_scenario() {
  Scenario s;
  s.name = "sample";
  Link link;
  link.name = "h1 <edge.a>";
  link.forth.rate = Rate::bits_per_second(10'000'000);
  link.forth.delay = std::chrono::milliseconds(317);
  link.back = link.forth;
  s.links.push_back(link);
  link.name = "core.out sink";
  link.back.rate.reset();
  link.back.loss = Probability(0.01);
  link.back.queue = 50;
  s.links.push_back(link);
  return s;
}

std::string page_of(const std::vector<RunResult>& runs) {
  return report_page(sample_scenario(), runs);
}

TEST(HtmlReport, HasHeadingTablesAndPlots) {
  const std::string page = page_of({test::sample_run()});
  for (const char* part :
       {"<h1>sample</h1>", "sample, 2 s, seed 1.", "<h2>Flows</h2>", "<h2>Queues</h2>",
        "<h2>Congestion domains</h2>", "<h2>Aggregates</h2>", "<h2>Drops, whole run</h2>",
        "<h2>Over time</h2>", "aria-label=\"Throughput at the receiver\"", "<td class=\"good\">kept</td>"})
    EXPECT_THAT(page, HasSubstr(part));
}

TEST(HtmlReport, NeedsNothingElse) {
  const std::string page = page_of({test::sample_run()});
  for (const char* outside : {"<script", "<img", "<link", "src=", "href=", "url("})
    EXPECT_THAT(page, Not(HasSubstr(outside)));
}

TEST(HtmlReport, IsTheSameEveryTime) {
  EXPECT_EQ(page_of({test::sample_run()}), page_of({test::sample_run()}));
}

TEST(HtmlReport, ShowsTheLinks) {
  const std::string page = page_of({test::sample_run()});
  EXPECT_THAT(
      page,
      HasSubstr("<td>h1 &lt;edge.a&gt;</td><td>10 Mbit/s, 317 ms</td><td class=\"note\">the same</td>"));
  EXPECT_THAT(page, HasSubstr("<td>unlimited, 317 ms, loss 1 %, queue 50</td>"));
}

TEST(HtmlReport, MarksWhatWasMissed) {
  EXPECT_THAT(page_of({test::sample_run(1, 700'000)}), HasSubstr("<td class=\"bad\">MISSED</td>"));
}

TEST(HtmlReport, SeveralSeedsHaveATableOfTheirOwn) {
  const std::string page = page_of({test::sample_run(1, 780'000), test::sample_run(2, 790'000)});
  EXPECT_THAT(page, HasSubstr("780.0 ± 7.1 kbit/s"));
  EXPECT_THAT(page, Not(HasSubstr("+-")));
  EXPECT_THAT(page, HasSubstr("<h2>Delivered, over the seeds</h2>"));
  EXPECT_THAT(
      page,
      HasSubstr("<tr><td>long</td><td class=\"number\">780 kbit/s</td><td class=\"number\">7.071 kbit/s</td>"
                "<td class=\"number\">775 kbit/s</td><td class=\"number\">785 kbit/s</td></tr>"));
  EXPECT_THAT(page_of({test::sample_run()}), Not(HasSubstr("over the seeds")));
}

TEST(HtmlReport, OfNoRunSaysSo) {
  EXPECT_THAT(page_of({}), HasSubstr("no runs."));
}

class HtmlReportFiles : public testing::Test {
 protected:
  void SetUp() override {
    const char* root = std::getenv("TMPDIR");
    std::string name = std::string(root ? root : "/tmp") + "/lab-report-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string read(const std::string& name) const {
    std::ifstream file(directory_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::filesystem::path directory_;
};

TEST_F(HtmlReportFiles, PageAndSeries) {
  const RunResult runs[] = {test::sample_run()};
  write_report(directory_ / "new" / "deep", sample_scenario(), runs);
  EXPECT_EQ(read("new/deep/index.html"), report_page(sample_scenario(), runs));
  EXPECT_EQ(read("new/deep/flows.csv"), flows_csv(runs));
  EXPECT_EQ(read("new/deep/queues.csv"), queues_csv(runs));
  EXPECT_EQ(read("new/deep/domains.csv"), domains_csv(runs));
  EXPECT_EQ(read("new/deep/aggregates.csv"), aggregates_csv(runs));
}

TEST_F(HtmlReportFiles, SeriesThatAreNotThereHaveNoFile) {
  RunResult run = test::sample_run();
  run.domains.clear();
  write_report(directory_, sample_scenario(), {&run, 1});
  EXPECT_FALSE(std::filesystem::exists(directory_ / "domains.csv"));
  EXPECT_TRUE(std::filesystem::exists(directory_ / "queues.csv"));
}

TEST_F(HtmlReportFiles, ADirectoryThatCannotBeMadeIsAnError) {
  std::ofstream(directory_ / "file") << "x";
  EXPECT_THROW(write_report(directory_ / "file", sample_scenario(), {}), std::system_error);
}

}  // namespace
}  // namespace surety::lab
