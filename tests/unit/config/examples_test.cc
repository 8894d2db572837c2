// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "config/parse.h"
#include "endpoints/config/endpoints.h"

namespace surety::config {
namespace {

namespace fs = std::filesystem;

const fs::path kExamples = fs::path(SURETY_SOURCE_DIR) / "config/examples";

template <class Result>
void expect_clean(const Result& result, const fs::path& path) {
  EXPECT_TRUE(result.ok()) << path;
  for (const auto& d : result.diagnostics) ADD_FAILURE() << d.format();
}

TEST(Examples, GiveNoErrorAndNoWarning) {
  int routers = 0, endpoints = 0;
  for (const auto& entry : fs::directory_iterator(kExamples)) {
    const auto name = entry.path().stem().string();
    if (name.starts_with("lab-") || entry.is_directory()) continue;  // scenario_test.cc
    if (name.starts_with("endpoints")) {
      expect_clean(parse_endpoints_file(entry.path().string()), entry.path());
      ++endpoints;
    } else if (name != "access") {
      expect_clean(parse_file(entry.path().string()), entry.path());
      ++routers;
    }
  }
  EXPECT_EQ(routers, 11);
  EXPECT_EQ(endpoints, 2);
}

// Homes are sold more than their street has, as is the custom; that is said, and nothing else of any example.
TEST(Examples, TheAccessEdgeIsOverbooked) {
  const auto result = parse_file((kExamples / "access.yaml").string());
  ASSERT_TRUE(result.ok());
  std::vector<std::string> said;
  for (const Diagnostic& d : result.diagnostics) said.push_back(d.message);
  EXPECT_THAT(
      said,
      testing::ElementsAre(
          "oversubscribed by a factor of 500: shapers on group `street` allow 200 Gbit/s in all, more than "
          "its 400 Mbit/s",
          "oversubscribed by a factor of 103: contracts on group `street` commit 41024 Mbit/s in all, more "
          "than its 400 Mbit/s",
          "strict classes on group `street` may take 20 Gbit/s in all, more than its 400 Mbit/s: if they "
          "do, no other class is served",
          "rules up to here commit 400 Mbit/s in queue `voice` of port `up0`, more than its guaranteed 100 "
          "Mbit/s"));
}

// What begins as the file does and ends anywhere, as long as it is being written: no part of a line passes.
// Each part is parsed in whole, so every thirteenth is taken.
int expect_no_part_of_a_line(const fs::path& example, auto parse, auto parse_file) {
  std::stringstream all;
  all << std::ifstream(example).rdbuf();
  const std::string text = all.str(), path = testing::TempDir() + "cut_" + std::to_string(getpid()) + ".yaml";
  int accepted = 0;  // by what parses the text alone
  // The first part is all but the last end of line, which is accepted.
  for (std::size_t size = text.size() - 1; size > 13; size -= 13) {
    const std::string part = text.substr(0, size);
    if (part.back() == '\n' || !parse(part, path).ok()) continue;
    ++accepted;
    std::ofstream(path) << part;
    const auto result = parse_file(path);
    EXPECT_FALSE(result.ok()) << part;
    const auto line = std::ranges::count(part, '\n') + 1;
    EXPECT_EQ(result.diagnostics.at(0).line, line);
    EXPECT_EQ(result.diagnostics.at(0).column, static_cast<int>(size - part.find_last_of('\n')));
    EXPECT_EQ(result.diagnostics.at(0).message.find("the last line has no line break"), 0u);
  }
  fs::remove(path);
  return accepted;
}

TEST(Examples, AFileThatIsTooLargeIsNotSaidToEndWithinALine) {
  const std::string path = testing::TempDir() + "large_" + std::to_string(getpid()) + ".yaml";
  std::ofstream(path) << "version: 1\n" << std::string(5 << 20, '#') << '\n';
  const auto result = parse_file(path);
  fs::remove(path);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.diagnostics.at(0).message, "larger than the limit of 4 MiB");
}

TEST(Examples, APartThatEndsWithinALineIsNone) {
  for (const auto& entry : fs::directory_iterator(kExamples)) {
    const auto name = entry.path().stem().string();
    if (name.starts_with("lab-") || entry.is_directory()) continue;
    const int accepted = name.starts_with("endpoints")
                             ? expect_no_part_of_a_line(entry.path(), parse_endpoints, parse_endpoints_file)
                             : expect_no_part_of_a_line(entry.path(), parse, [](const std::string& path) {
                                 return parse_file(path);
                               });
    EXPECT_GT(accepted, 0) << name;
  }
}

TEST(Examples, JsonIsWholeWithItsLastBrace) {
  const std::string path = testing::TempDir() + "json_" + std::to_string(getpid()) + ".yaml";
  const std::string text = R"({"version": 1, "ports": {"a": {"device": "null"}}})";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    std::ofstream(path) << text.substr(0, size);
    EXPECT_EQ(parse_file(path).ok(), size == text.size()) << size;
  }
  fs::remove(path);
}

}  // namespace
}  // namespace surety::config
