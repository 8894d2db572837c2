// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/metric_family.h"

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>

namespace surety::metrics {
namespace {

// What a scraper gets.
std::string text(const Family& family) {
  Families all;
  Family(family).move_to(all);
  return prometheus::TextSerializer().Serialize(all);
}

TEST(MetricFamily, HasHelpTypeAndALineForEachSeries) {
  Family family(MetricType::Counter, "x_total", "What it is.");
  family.add({{"a", "1"}, {"b", ""}}, std::uint64_t{7});
  family.add({}, 0.5);
  EXPECT_EQ(text(family),
            "# HELP x_total What it is.\n# TYPE x_total counter\nx_total{a=\"1\",b=\"\"} 7\nx_total 0.5\n");
}

TEST(MetricFamily, WithoutSeriesThereIsNone) {
  Family family(MetricType::Gauge, "x", "What it is.");
  family.add({}, std::optional<double>());
  EXPECT_EQ(text(family), "");
}

TEST(MetricFamily, NumbersCanBeReadBack) {
  Family family(MetricType::Gauge, "x", "?");
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> values{0.1,    1e-9,      1250000.0,  1.0 / 3,
                                   0x1p53, kInfinity, -kInfinity, std::nan("")};
  for (const double value : values) family.add({}, value);
  std::istringstream lines(text(family));
  std::string line, number;
  std::getline(lines, line);
  std::getline(lines, line);
  for (const double value : values) {
    ASSERT_TRUE(lines >> line >> number);
    const double read = std::strtod(number.c_str(), nullptr);
    EXPECT_TRUE(read == value || (std::isnan(read) && std::isnan(value))) << number;
  }
}

// A name ends neither its label nor its line.
TEST(MetricFamily, WhateverANameHasInIt) {
  Family family(MetricType::Gauge, "x", "?");
  family.add({{"name", "a\"b\\c\nd"}}, 1.0);
  family.add({{"name", "\xf0\x9f\x98\x80"}}, 2.0);
  family.add({{"name", std::string(10'000, 'n')}}, 3.0);
  EXPECT_EQ(text(family),
            "# HELP x ?\n# TYPE x gauge\nx{name=\"a\\\"b\\\\c\\nd\"} 1\nx{name=\"\xf0\x9f\x98\x80\"} 2\n"
            "x{name=\"" +
                std::string(10'000, 'n') + "\"} 3\n");
}

TEST(MetricFamily, HistogramsEndWithWhatIsBeyondAllBounds) {
  Family family(MetricType::Histogram, "x", "?");
  const Histogram histogram{4, 2.5, {{1, 1e-6}, {3, 0.25}}};
  family.add({{"q", "v"}}, histogram);
  family.add({}, histogram);
  EXPECT_EQ(
      text(family),
      "# HELP x ?\n# TYPE x histogram\n"
      "x_count{q=\"v\"} 4\nx_sum{q=\"v\"} 2.5\n"
      "x_bucket{q=\"v\",le=\"1e-06\"} 1\nx_bucket{q=\"v\",le=\"0.25\"} 3\nx_bucket{q=\"v\",le=\"+Inf\"} 4\n"
      "x_count 4\nx_sum 2.5\nx_bucket{le=\"1e-06\"} 1\nx_bucket{le=\"0.25\"} 3\nx_bucket{le=\"+Inf\"} 4\n");
}

}  // namespace
}  // namespace surety::metrics
