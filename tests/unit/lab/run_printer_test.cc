// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/run_printer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/lab/results/result_json.h"
#include "tests/lab/results/result_text.h"
#include "tests/lab/results/statistics.h"

namespace surety::lab {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RunResult result(std::uint64_t seed, bool interrupted = false) {
  RunResult r;
  r.scenario = "small";
  r.seed = seed;
  r.duration_s = 10;
  r.interrupted = interrupted;
  auto& f = r.flows.emplace_back();
  f.name = "f";
  f.protocol = "udp";
  f.delivered_bps = f.throughput_bps = 1000. * static_cast<double>(seed);
  f.throughput_series = {1, 2, 3};
  return r;
}

class LabRunPrinter : public testing::Test {
 protected:
  RunPrinter json(std::size_t seeds) {
    return {out_, points_, {.json = true, .series = false, .seeds = seeds, .report = ""}};
  }
  RunPrinter text(std::size_t seeds) {
    return {out_, points_, {.json = false, .series = false, .seeds = seeds, .report = ""}};
  }
  // What was printed since the last call, by lines.
  std::vector<std::string> lines() {
    std::vector<std::string> all;
    std::istringstream in(out_.str());
    for (std::string line; std::getline(in, line);) all.push_back(line + '\n');
    out_.str("");
    return all;
  }

  std::vector<Point> points_ = std::vector<Point>(1);
  std::ostringstream out_;
};

TEST_F(LabRunPrinter, AJsonLineComesWithItsRun) {
  auto printer = json(3);
  printer.add(0, result(1));
  EXPECT_THAT(lines(), ElementsAre(to_line(to_json(result(1)))));
  printer.add(0, result(2));
  EXPECT_THAT(lines(), ElementsAre(to_line(to_json(result(2)))));
}

TEST_F(LabRunPrinter, SeriesAreOfTheFirstRunOnly) {
  RunPrinter printer(out_, points_, {.json = true, .series = true, .seeds = 3, .report = ""});
  printer.add(0, result(4));
  printer.add(0, result(5));
  EXPECT_THAT(lines(), ElementsAre(to_line(with_series(result(4))), to_line(to_json(result(5)))));
}

TEST_F(LabRunPrinter, StatisticsFollowTheLastOfSeveralSeeds) {
  auto printer = json(2);
  printer.add(0, result(1));
  printer.add(0, result(2));
  const std::vector<RunResult> both{result(1), result(2)};
  EXPECT_THAT(lines(),
              ElementsAre(to_line(to_json(both[0])), to_line(to_json(both[1])), to_line(summarize(both))));
  printer.finish();
  EXPECT_THAT(lines(), IsEmpty());
}

TEST_F(LabRunPrinter, OneSeedHasNoStatistics) {
  auto printer = json(1);
  printer.add(0, result(1));
  printer.finish();
  EXPECT_EQ(lines().size(), 1u);
}

TEST_F(LabRunPrinter, OfAPointThatWasNotFinishedThereIsWhatThereIs) {
  auto printer = json(20);
  printer.add(0, result(1));
  printer.add(0, result(2));
  lines();
  printer.finish();
  const std::vector<RunResult> both{result(1), result(2)};
  EXPECT_THAT(lines(), ElementsAre(to_line(summarize(both))));
}

TEST_F(LabRunPrinter, InterruptedRunsArePrintedButDoNotCount) {
  auto printer = json(20);
  printer.add(0, result(1));
  printer.add(0, result(2, true));
  EXPECT_THAT(lines(), ElementsAre(to_line(to_json(result(1))), to_line(to_json(result(2, true)))));
  printer.finish();
  const std::vector<RunResult> whole{result(1)};
  EXPECT_THAT(lines(), ElementsAre(to_line(summarize(whole))));
}

TEST_F(LabRunPrinter, AnInterruptedRunIsBetterThanNothing) {
  auto printer = text(1);
  printer.add(0, result(1, true));
  const std::vector<RunResult> only{result(1, true)};
  EXPECT_EQ(out_.str(), to_text(only));
}

TEST_F(LabRunPrinter, SweptSettingsStandBehindTheScenario) {
  points_ = {{{{"a.b", "1 kbit/s"}, {"c", "{x: \"2\"}"}}, {}}, {{{"a.b", "2 kbit/s"}, {"c", "3"}}, {}}};
  auto printer = json(2);
  for (const std::size_t point : {0u, 1u})
    for (const std::uint64_t seed : {1u, 2u}) printer.add(point, result(seed));
  const auto printed = lines();
  ASSERT_EQ(printed.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    const Json line = Json::parse(printed[i]);
    EXPECT_EQ(line.begin().key(), "scenario");
    EXPECT_EQ(std::next(line.begin()).key(), "set");
    EXPECT_EQ(line["set"].dump(),
              i < 3 ? R"({"a.b":"1 kbit/s","c":"{x: \"2\"}"})" : R"({"a.b":"2 kbit/s","c":"3"})");
    EXPECT_EQ(line.contains("statistics"), i % 3 == 2);
  }
  Json without = Json::parse(printed[0]);
  without.erase("set");
  EXPECT_EQ(to_line(without), to_line(to_json(result(1))));
}

TEST_F(LabRunPrinter, TextIsOneTableForAllSeedsOfAPoint) {
  points_ = {{{{"a", "1"}, {"b", "2"}}, {}}, {{{"a", "1"}, {"b", "3"}}, {}}};
  auto printer = text(2);
  printer.add(0, result(1));
  EXPECT_EQ(out_.str(), "");
  for (const std::uint64_t seed : {2u, 3u, 4u}) printer.add(seed > 2 ? 1 : 0, result(seed));
  const std::vector<RunResult> first{result(1), result(2)}, second{result(3), result(4)};
  EXPECT_EQ(out_.str(), "a=1, b=2\n" + to_text(first) + "\na=1, b=3\n" + to_text(second));
}

class LabRunPrinterReport : public LabRunPrinter {
 protected:
  LabRunPrinterReport() { std::filesystem::remove_all(directory_); }
  ~LabRunPrinterReport() override { std::filesystem::remove_all(directory_); }
  void print_one_each() {
    RunPrinter printer(out_, points_, {.json = true, .series = false, .seeds = 1, .report = directory_});
    for (std::size_t i = 0; i < points_.size(); ++i) printer.add(i, result(1));
  }
  std::string content(const std::string& file) const {
    std::ifstream in(directory_ + "/" + file);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  const std::string directory_ = testing::TempDir() + "lab_run_printer_report";
};

TEST_F(LabRunPrinterReport, IsWrittenWithTheSeries) {
  points_[0].scenario.name = "small";
  print_one_each();
  EXPECT_THAT(content("data.js"), HasSubstr("\"title\":\"small\""));
  EXPECT_THAT(content("flows.csv"), HasSubstr("\n"));
}

TEST_F(LabRunPrinterReport, EachPointHasOneOfItsOwnThatNamesItsSettings) {
  points_ = {{{{"a", "1"}}, {}}, {{{"a", "2"}}, {}}};
  for (auto& p : points_) p.scenario.name = "small";
  print_one_each();
  EXPECT_THAT(content("1/data.js"), HasSubstr("\"title\":\"small (a=1)\""));
  EXPECT_THAT(content("2/data.js"), HasSubstr("\"title\":\"small (a=2)\""));
}

}  // namespace
}  // namespace surety::lab
