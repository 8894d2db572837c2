// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/metrics.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/router/operate/observe/sample_reading.h"

namespace surety::metrics {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// Labels (their values, joined) and values of one family.
using Series = std::vector<std::pair<std::string, double>>;
Series series(const std::string& name, const Reading& reading) {
  Families families;
  congestion(families, reading);
  Series found;
  for (const MetricFamily& f : families) {
    if (f.name != name) continue;
    for (const prometheus::ClientMetric& metric : f.metric) {
      std::string labels;
      for (const auto& label : metric.label) labels += (labels.empty() ? "" : " ") + label.value;
      found.emplace_back(labels, f.type == MetricType::Counter ? metric.counter.value : metric.gauge.value);
    }
  }
  return found;
}

SignalPathReading path(const std::string& to, double alpha) {
  SignalPathReading p;
  p.path = to;
  p.domain = "wan0/assured";
  p.alpha = alpha;
  return p;
}
Series path_series(std::vector<SignalPathReading> paths) {
  Reading r;
  r.signalling.paths = std::move(paths);
  return series("surety_csa_path_alpha_ratio", r);
}

TEST(MetricsCongestion, SignalsSentAreThoseOfAllQueues) {
  Reading r;
  r.signalling.senders = {{"wan0", "assured", 7, 2, 1}, {"wan1", "assured", 1, 0, 4}};
  const Series signals = series("surety_csa_signals_total", r);
  ASSERT_EQ(signals.size(), 3 + kSignalResults);
  EXPECT_THAT(Series(signals.begin(), signals.begin() + 3),
              ElementsAre(Pair("sent sent", 8), Pair("sent limited", 2), Pair("sent lost", 5)));
}

TEST(MetricsCongestion, SignalsReceivedHaveASeriesForEachResult) {
  const Series signals = series("surety_csa_signals_total", test::sample_reading());
  ASSERT_EQ(signals.size(), 3 + kSignalResults);
  EXPECT_THAT(signals[3], Pair("received applied", 6));
  EXPECT_THAT(signals[3 + static_cast<std::size_t>(SignalResult::forged)], Pair("received forged", 1));
  EXPECT_THAT(signals.back(), Pair("received senders", 0));
}

TEST(MetricsCongestion, PathsByAddressAndDomain) {
  EXPECT_THAT(path_series({path("10.2.0.0/24", 0.12)}), ElementsAre(Pair("10.2.0.0/24 wan0/assured", 0.12)));
  EXPECT_THAT(path_series({}), IsEmpty());
  EXPECT_THAT(series("surety_csa_paths", Reading{}), ElementsAre(Pair("", 0)));
  EXPECT_THAT(series("surety_csa_paths", test::sample_reading()), ElementsAre(Pair("", 1)));
}

TEST(MetricsCongestion, SeriesOfPathsHaveACeilingThatLeavesThoseHeldBackMost) {
  std::vector<SignalPathReading> paths;
  for (std::size_t i = 0; i < kMaxPathSeries + 10; ++i)
    paths.push_back(path(std::to_string(i), 1 - static_cast<double>(i) / 1000));
  const Series shown = path_series(paths);
  ASSERT_EQ(shown.size(), kMaxPathSeries);
  EXPECT_EQ(shown.front().first, std::to_string(kMaxPathSeries + 9) + " wan0/assured");
  EXPECT_EQ(shown.back().first, "10 wan0/assured");
}

TEST(MetricsCongestion, DomainsAndAggregates) {
  const Reading r = test::sample_reading();
  EXPECT_THAT(series("surety_csa_alpha_ratio", r), ElementsAre(Pair("wan0/assured", 0.38)));
  EXPECT_THAT(series("surety_ard_tpr_bytes_per_second", r), ElementsAre(Pair("uplink-tcp", 2'125'000)));
  EXPECT_THAT(series("surety_ard_remarked_total", r), ElementsAre(Pair("uplink-tcp", 11)));
  EXPECT_THAT(series("surety_ard_dropped_total", r), ElementsAre(Pair("uplink-tcp", 2)));
}

}  // namespace
}  // namespace surety::metrics
