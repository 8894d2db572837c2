// SPDX-License-Identifier: BSD-3-Clause
// Families of metrics in the text format of Prometheus (0.0.4), written as they are collected: for what
// renders a reading. Ten thousand services are a hundred thousand series, so that no series is an object.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace surety::metrics {

enum class MetricType : std::uint8_t { Counter, Gauge, Histogram };

struct Label {
  std::string_view name, value;
};

// `port="lan0",queue="be"`: what is needed of names is copied and escaped here.
class Labels {
 public:
  Labels() = default;
  Labels(std::initializer_list<Label> labels) {
    for (const Label& label : labels) push_back(label);
  }
  void push_back(const Label& label);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

struct Histogram {
  struct Bucket {
    double bound;  // upper, included
    std::uint64_t cumulative;
  };
  std::vector<Bucket> buckets;
  std::uint64_t count = 0;
  double sum = 0;
};

struct MetricFamily {
  std::string name, help;
  MetricType type = MetricType::Gauge;
  std::string series;  // a line for each
};
using Families = std::vector<MetricFamily>;

// What a scraper gets.
std::string text_of(const Families& families);

class Family {
 public:
  Family(MetricType type, std::string name, const char* help) : family_{std::move(name), help, type, {}} {}

  void add(const Labels& labels, double value);
  void add(const Labels& labels, std::uint64_t value);
  // Without a value there is no series.
  void add(const Labels& labels, std::optional<double> value) {
    if (value) add(labels, *value);
  }
  void add(const Labels& labels, const Histogram& histogram);
  void move_to(Families& out) {
    if (!family_.series.empty()) out.push_back(std::move(family_));
  }

 private:
  void begin(std::string_view suffix, std::string_view labels);

  MetricFamily family_;
};

// One family with one series per row: `labels(row)`, `value(row)`.
template <class Rows, class LabelsOf, class ValueOf>
void each(Families& out, MetricType type, std::string name, const char* help, const Rows& rows,
          LabelsOf labels, ValueOf value) {
  Family family(type, std::move(name), help);
  for (const auto& row : rows) family.add(labels(row), value(row));
  family.move_to(out);
}

// One family for each counter of a table (conditioners/counter_table.h) that has a metric of its own;
// `add_series(family, member)` adds what it counts.
template <class Infos, class AddSeries>
void each_counter(Families& out, const Infos& infos, AddSeries add_series) {
  for (const auto& info : infos) {
    const std::string metric = info.metric;
    if (metric.empty()) continue;
    Family family(metric.ends_with("_total") ? MetricType::Counter : MetricType::Gauge, metric, info.help);
    add_series(family, info.member);
    family.move_to(out);
  }
}

template <class Value>
void single(Families& out, MetricType type, std::string name, const char* help, Value value,
            const Labels& labels = {}) {
  Family family(type, std::move(name), help);
  family.add(labels, value);
  family.move_to(out);
}

}  // namespace surety::metrics
