// SPDX-License-Identifier: BSD-3-Clause
// Every file of tests/unit/broken says in its leading comments exactly which diagnostics it must give: as an
// endpoint's configuration where it is called endpoints_*, else as a router's.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "config/parse.h"
#include "endpoints/config/endpoints.h"

namespace surety::config {
namespace {

namespace fs = std::filesystem;

const fs::path kBroken = fs::path(SURETY_SOURCE_DIR) / "tests/unit/broken";

std::vector<std::string> expected_of(const fs::path& path) {
  constexpr std::string_view kExpect = "# expect: ";
  std::vector<std::string> expected;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line) && line.starts_with(kExpect);) {
    expected.push_back(line.substr(kExpect.size()));
  }
  return expected;
}

std::vector<Diagnostic> diagnostics_of(const fs::path& path, bool& ok) {
  if (path.stem().string().starts_with("endpoints_")) {
    auto result = parse_endpoints_file(path.string());
    ok = result.ok();
    return std::move(result.diagnostics);
  }
  auto result = parse_file(path.string());
  ok = result.ok();
  return std::move(result.diagnostics);
}

std::vector<std::string> found_in(const fs::path& path, bool& ok) {
  std::vector<std::string> found;
  for (const auto& d : diagnostics_of(path, ok)) {
    const auto first_line = d.format().substr(0, d.format().find('\n'));
    found.push_back(first_line.substr(path.string().size() + 1));
  }
  return found;
}

std::vector<std::string> files() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kBroken)) names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

class Broken : public testing::TestWithParam<std::string> {};

TEST_P(Broken, GivesExactlyTheExpectedDiagnostics) {
  const auto path = kBroken / (GetParam() + ".yaml");
  const auto expected = expected_of(path);
  ASSERT_FALSE(expected.empty());
  bool ok = false;
  EXPECT_EQ(found_in(path, ok), expected);
  const bool only_warnings = std::all_of(expected.begin(), expected.end(),
                                         [](const auto& line) { return line.find(" error: ") == line.npos; });
  EXPECT_EQ(ok, only_warnings);
}

INSTANTIATE_TEST_SUITE_P(Files, Broken, testing::ValuesIn(files()), [](const auto& i) { return i.param; });

}  // namespace
}  // namespace surety::config
