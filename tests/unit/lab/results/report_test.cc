// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "router/process/this_process.h"
#include "tests/lab/results/recording.h"
#include "tests/lab/results/result_csv.h"
#include "tests/lab/results/result_json.h"
#include "tests/unit/lab/results/results.h"

namespace surety::lab {
namespace {

class Report : public testing::Test {
 protected:
  void SetUp() override {
    const char* root = std::getenv("TMPDIR");
    std::string name = std::string(root ? root : "/tmp") + "/lab-report-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  static std::string read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  const Scenario scenario_{};
  std::filesystem::path directory_;
};

TEST_F(Report, ThePageItsDataAndTheSeries) {
  const RunResult runs[] = {test::sample_run()};
  const auto made = directory_ / "new" / "deep";
  write_report(made, scenario_, runs);
  EXPECT_EQ(read(made / "data.js"),
            "'use strict';\nconst recording = " + to_line(recording_of(scenario_, runs)));
  EXPECT_EQ(read(made / "flows.csv"), flows_csv(runs));
  EXPECT_EQ(read(made / "queues.csv"), queues_csv(runs));
  EXPECT_EQ(read(made / "domains.csv"), domains_csv(runs));
  EXPECT_EQ(read(made / "aggregates.csv"), aggregates_csv(runs));
  for (const auto& file : std::filesystem::directory_iterator(console_files()))
    EXPECT_EQ(read(made / file.path().filename()) == read(file), file.path().filename() != "data.js") << file;
}

TEST_F(Report, IsWrittenOverWhatIsThere) {
  const RunResult runs[] = {test::sample_run(1), test::sample_run(2)};
  write_report(directory_, scenario_, {runs, 1});
  write_report(directory_, scenario_, {runs + 1, 1});
  EXPECT_THAT(read(directory_ / "data.js"), testing::HasSubstr("seed 2"));
}

TEST_F(Report, SeriesThatAreNotThereHaveNoFile) {
  RunResult run = test::sample_run();
  run.domains.clear();
  write_report(directory_, scenario_, {&run, 1});
  EXPECT_FALSE(std::filesystem::exists(directory_ / "domains.csv"));
  EXPECT_TRUE(std::filesystem::exists(directory_ / "queues.csv"));
}

TEST_F(Report, ADirectoryThatCannotBeMadeIsAnError) {
  std::ofstream(directory_ / "file") << "x";
  EXPECT_THROW(write_report(directory_ / "file", scenario_, {}), std::system_error);
}

}  // namespace
}  // namespace surety::lab
