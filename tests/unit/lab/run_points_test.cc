// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/run_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/lab/simulation/simulation.h"

namespace surety::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kScenario =
    "version: 1\nname: small\nduration: 10 s\nhosts: [a, b, c]\n"
    "links: [{between: [a, b], delay: 1 ms}]\n"
    "senders: [{name: f, host: a, to: b, protocol: udp, rate: 500 kbit/s}]\n";

// A scenario file for the time of a test; `c` has no link, which is an error that all points share.
class LabRunPoints : public testing::Test {
 protected:
  LabRunPoints() {
    command_.file = testing::TempDir() + "lab_run_points.yaml";
    write(without_c());
  }
  ~LabRunPoints() override { std::filesystem::remove(command_.file); }

  void write(const std::string& yaml) { std::ofstream(command_.file) << yaml; }
  static std::string without_c() {
    std::string yaml = kScenario;
    return yaml.replace(yaml.find(", c]"), 4, "]");
  }
  std::optional<std::vector<Point>> load() {
    errors_.str("");
    return load_points(command_, errors_);
  }

  RunCommand command_;
  std::ostringstream errors_;
};

TEST_F(LabRunPoints, WithoutASweepThereIsTheScenarioWithItsSettings) {
  command_.settings = {{"duration", "7 s"}};
  const auto points = load();
  ASSERT_TRUE(points) << errors_.str();
  ASSERT_EQ(points->size(), 1u);
  EXPECT_TRUE((*points)[0].swept.empty());
  EXPECT_EQ((*points)[0].scenario.duration, std::chrono::seconds(7));
  EXPECT_EQ(errors_.str(), "");
}

TEST_F(LabRunPoints, EachPointHasItsOwnSettingsOverTheCommonOnes) {
  command_.settings = {{"duration", "7 s"}, {"seed", "3"}};
  command_.points = {{{"duration", "8 s"}}, {{"duration", "9 s"}}};
  const auto points = load();
  ASSERT_TRUE(points) << errors_.str();
  ASSERT_EQ(points->size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const Point& p = (*points)[i];
    EXPECT_EQ(p.scenario.duration, std::chrono::seconds(8 + i));
    EXPECT_EQ(p.scenario.seed, 3u);
    ASSERT_EQ(p.swept.size(), 1u);
    EXPECT_EQ(p.swept[0].path, "duration");
  }
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST_F(LabRunPoints, WhatIsWrongAtAllPointsIsSaidOnce) {
  write(kScenario);
  command_.points = {{{"duration", "8 s"}}, {{"duration", "9 s"}}};
  EXPECT_FALSE(load());
  EXPECT_EQ(count(errors_.str(), ": error: "), 1u) << errors_.str();
}

TEST_F(LabRunPoints, OneWrongPointIsEnough) {
  command_.points = {{{"duration", "8 s"}}, {{"duration", "soon"}}, {{"duration", "9 s"}}};
  EXPECT_FALSE(load());
  EXPECT_THAT(errors_.str(), HasSubstr("duration=soon"));
}

TEST_F(LabRunPoints, AFileThatIsNotThereIsAnError) {
  command_.file = "/nonexistent/x.yaml";
  EXPECT_FALSE(load());
  EXPECT_THAT(errors_.str(), HasSubstr("/nonexistent/x.yaml"));
}

TEST(LabFindLink, ByItsNameInEitherOrder) {
  Scenario s;
  s.links.resize(3);
  s.links[0].name = "h1 edge.a";
  s.links[1].name = "h#2 edge.a";
  s.links[2].name = "edge.up core.in";
  EXPECT_EQ(find_link(s, "h#2 edge.a"), 1u);
  EXPECT_EQ(find_link(s, "edge.a h1"), 0u);
  EXPECT_EQ(find_link(s, "core.in edge.up"), 2u);
}

std::string refusal(const std::string& name) {
  Scenario s;
  s.links.resize(1);
  s.links[0].name = "host edge.a";
  try {
    find_link(s, name);
  } catch (const ScenarioError& e) {
    return e.what();
  }
  return "found";
}

TEST(LabFindLink, SaysWhatItMayHaveBeen) {
  EXPECT_EQ(refusal("hots edge.a"), "no link `hots edge.a`; did you mean `host edge.a`?");
  EXPECT_EQ(refusal("x"), "no link `x`; there are: host edge.a");
}

}  // namespace
}  // namespace surety::lab
