// SPDX-License-Identifier: BSD-3-Clause
// Metric families as a scraper gets them.
#pragma once

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "router/process/metric_family.h"

namespace surety::metrics_text {

using metrics::Families;
using metrics::MetricFamily;

inline std::string text_of(const Families& families) {
  return prometheus::TextSerializer().Serialize(families);
}

// The lines of one family, HELP left out.
inline std::string family(Families families, const std::string& name) {
  for (MetricFamily& f : families)
    if (f.name == name) {
      const std::string all = text_of({std::move(f)});
      return all.substr(all.find("# TYPE"));
    }
  return "(no such family)";
}

// What `promtool check metrics` says to them: nothing, where it is installed.
inline void expect_promtool_finds_nothing(const Families& families) {
  if (std::system("command -v promtool >/dev/null") != 0)
    GTEST_SKIP() << "promtool (Debian package prometheus) is missing";
  const std::string path = testing::TempDir() + "surety_metrics_" + std::to_string(getpid());
  std::ofstream(path) << text_of(families);
  FILE* lint = popen(("promtool check metrics <" + path + " 2>&1").c_str(), "r");
  ASSERT_NE(lint, nullptr);
  std::string findings;
  for (int c = std::fgetc(lint); c != EOF; c = std::fgetc(lint)) findings += static_cast<char>(c);
  EXPECT_EQ(pclose(lint), 0);
  EXPECT_EQ(findings, "");
  std::filesystem::remove(path);
}

}  // namespace surety::metrics_text
