#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "config/parse.h"

namespace surety::config {
namespace {

namespace fs = std::filesystem;

const fs::path kExamples = fs::path(SURETY_SOURCE_DIR) / "config/examples";

std::string contents(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Examples, GiveNoErrorAndNoWarning) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(kExamples)) {
    const auto result = parse_file(entry.path().string());
    EXPECT_TRUE(result.ok()) << entry.path();
    for (const auto& d : result.diagnostics) ADD_FAILURE() << d.format();
    ++count;
  }
  EXPECT_EQ(count, 6);
}

TEST(Examples, AreTheSharedOnes) {
  const auto shared = fs::path(SURETY_SOURCE_DIR).parent_path() / "shared/examples";
  if (!fs::exists(shared)) GTEST_SKIP() << "no " << shared;
  for (const auto* name : {"edge.yaml", "core.yaml"}) {
    EXPECT_FALSE(contents(kExamples / name).empty()) << name;
    EXPECT_EQ(contents(kExamples / name), contents(shared / name)) << name;
  }
}

}  // namespace
}  // namespace surety::config
