// SPDX-License-Identifier: BSD-3-Clause
// Prometheus metric families (prometheus-cpp) from the rows of a reading.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace surety::metrics {

using prometheus::MetricFamily;
using prometheus::MetricType;
using Families = std::vector<MetricFamily>;
using Labels = std::vector<prometheus::ClientMetric::Label>;
using Histogram = prometheus::ClientMetric::Histogram;

// The source of a scrape. `families` is called once per scrape.
class Readings final : public prometheus::Collectable {
 public:
  explicit Readings(std::function<Families()> families) : families_(std::move(families)) {}
  Families Collect() const override { return families_(); }

 private:
  std::function<Families()> families_;
};

class Family {
 public:
  Family(MetricType type, std::string name, const char* help) : family_{std::move(name), help, type, {}} {}

  // Prometheus has doubles only: a counter above 2^53 loses its last digits.
  void add(Labels labels, double value) {
    prometheus::ClientMetric& series = family_.metric.emplace_back();
    series.label = std::move(labels);
    (family_.type == MetricType::Counter ? series.counter.value : series.gauge.value) = value;
  }
  void add(Labels labels, std::uint64_t value) { add(std::move(labels), static_cast<double>(value)); }
  // Adds no series if there is no value.
  void add(Labels labels, std::optional<double> value) {
    if (value) add(std::move(labels), *value);
  }
  void add(Labels labels, Histogram histogram) {
    prometheus::ClientMetric& series = family_.metric.emplace_back();
    series.label = std::move(labels);
    series.histogram = std::move(histogram);
  }
  // A family without series is left out.
  void move_to(Families& out) {
    if (!family_.metric.empty()) out.push_back(std::move(family_));
  }

 private:
  MetricFamily family_;
};

// Adds one family with one series.
template <class Value>
void single(Families& out, MetricType type, std::string name, const char* help, Value value,
            Labels labels = {}) {
  Family family(type, std::move(name), help);
  family.add(std::move(labels), value);
  family.move_to(out);
}

}  // namespace surety::metrics
