// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/metric_family.h"

namespace surety::metrics {

void Family::add(Labels labels, double value) {
  prometheus::ClientMetric& series = family_.metric.emplace_back();
  series.label = std::move(labels);
  (family_.type == MetricType::Counter ? series.counter.value : series.gauge.value) = value;
}

void Family::add(Labels labels, Histogram histogram) {
  prometheus::ClientMetric& series = family_.metric.emplace_back();
  series.label = std::move(labels);
  series.histogram = std::move(histogram);
}

}  // namespace surety::metrics
