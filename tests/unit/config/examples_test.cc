// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <filesystem>

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
    if (name.starts_with("lab-")) continue;  // scenario_test.cc
    if (name.starts_with("endpoints")) {
      expect_clean(parse_endpoints_file(entry.path().string()), entry.path());
      ++endpoints;
    } else {
      expect_clean(parse_file(entry.path().string()), entry.path());
      ++routers;
    }
  }
  EXPECT_EQ(routers, 9);
  EXPECT_EQ(endpoints, 2);
}

}  // namespace
}  // namespace surety::config
