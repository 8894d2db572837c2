// SPDX-License-Identifier: BSD-3-Clause
// A line in a table of counters is all that it takes: here the tables themselves say what
// has to be merged and shown.
#include "router/operate/observe/reading_json.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>

#include "router/operate/observe/metrics.h"
#include "router/operate/observe/reading_merge.h"
#include "router/operate/observe/show.h"

namespace surety {
namespace {

using metrics::MetricType;
using testing::HasSubstr;

template <class Counters>
using Words = std::array<std::uint64_t, sizeof(Counters) / sizeof(std::uint64_t)>;

// Every counter has a value of its own, beyond 32 bits.
template <class Counters>
Counters distinct(std::uint64_t first) {
  Words<Counters> words;
  for (std::uint64_t& word : words) word = (std::uint64_t{1} << 33) + first++;
  return std::bit_cast<Counters>(words);
}

Reading distinct_reading() {
  Reading r;
  r.ports.emplace_back().counters = distinct<PortCounters>(1000);
  r.queues.emplace_back().counters = {distinct<QueueCounters>(2000), distinct<QueueCounters>(3000)};
  r.queues[0].sojourn = distinct<SojournHistogram>(4000);
  r.services.emplace_back().counters = distinct<ServiceCounters>(5000);
  r.aggregates.emplace_back().counters = distinct<AggregateCounters>(6000);
  r.workers.emplace_back().counters = distinct<WorkerCounters>(7000);
  r.stages = distinct<StageCounters>(8000);
  return r;
}

void expect_metric(const char* name, const char* help, std::uint64_t value) {
  if (*name == '\0') return;
  const bool counts = std::string_view(name).ends_with("_total");
  for (const metrics::MetricFamily& f : render(distinct_reading())) {
    if (f.name != name) continue;
    EXPECT_EQ(f.help, help) << name;
    EXPECT_EQ(f.type, counts ? MetricType::Counter : MetricType::Gauge) << name;
    const auto has_it = [&](const prometheus::ClientMetric& series) {
      return (counts ? series.counter.value : series.gauge.value) == static_cast<double>(value);
    };
    EXPECT_TRUE(std::ranges::any_of(f.metric, has_it)) << name;
    return;
  }
  ADD_FAILURE() << name << " is not rendered";
}

void expect_column(std::string_view title, std::string_view what, const std::string& json_name,
                   std::uint64_t value) {
  if (title.empty()) return;
  const std::string text = render_table(what, table(distinct_reading(), what));
  EXPECT_THAT(text.substr(0, text.find('\n')), HasSubstr(std::string(title)));
  if (json_name.ends_with("_bytes")) return;
  EXPECT_THAT(text, HasSubstr(std::to_string(value))) << title;
}

// `row`: the object of table `what` that has the counters.
template <class Counters>
void expect_shown(const Counters& counters, std::string_view what, const Json& row) {
  for (const auto& info : Counters::table()) {
    const std::uint64_t value = counters.*info.member;
    EXPECT_EQ(row.value(info.name, Json()), value) << info.name;
    expect_metric(info.metric, info.help, value);
    expect_column(info.column, what, info.name, value);
  }
}

TEST(CounterTables, EveryLineIsShown) {
  const Reading r = distinct_reading();
  const auto row = [&](std::string_view what) { return table(r, what).at(0); };
  expect_shown(r.ports[0].counters, "ports", row("ports"));
  expect_shown(r.queues[0].counters[0], "queues", row("queues")["in"]);
  expect_shown(r.queues[0].counters[1], "queues", row("queues")["out"]);
  expect_shown(r.services[0].counters, "services", row("services"));
  expect_shown(r.aggregates[0].counters, "aggregates", row("aggregates"));
  expect_shown(r.workers[0].counters, "workers", row("workers"));
  for (const auto& info : ServiceCounters::table_by_precedence())
    for (const Precedence p : {Precedence::in, Precedence::out}) {
      const std::uint64_t value = (r.services[0].counters.*info.member)[index(p)];
      EXPECT_EQ(row("services")[name(p)].value(info.name, Json()), value) << info.name;
      expect_metric(info.metric, info.help, value);
    }
}

TEST(CounterTables, EveryHelpIsASentence) {
  const auto expect_sentences = [](const auto& infos) {
    for (const auto& info : infos) EXPECT_TRUE(std::string_view(info.help).ends_with('.')) << info.name;
  };
  expect_sentences(PortCounters::table());
  expect_sentences(QueueCounters::table());
  expect_sentences(ServiceCounters::table());
  expect_sentences(ServiceCounters::table_by_precedence());
  expect_sentences(AggregateCounters::table());
  expect_sentences(WorkerCounters::table());
}

template <class Counters>
void expect_doubled(const Counters& twice, const Counters& once) {
  Words<Counters> expected = std::bit_cast<Words<Counters>>(once);
  for (std::uint64_t& word : expected) word *= 2;
  EXPECT_EQ(std::bit_cast<Words<Counters>>(twice), expected);
}

TEST(CounterTables, EveryCounterIsMerged) {
  const Reading once = distinct_reading();
  Reading twice = once;
  merge(twice, once);
  expect_doubled(twice.ports[0].counters, once.ports[0].counters);
  expect_doubled(twice.queues[0].counters, once.queues[0].counters);
  expect_doubled(twice.queues[0].sojourn, once.queues[0].sojourn);
  expect_doubled(twice.services[0].counters, once.services[0].counters);
  expect_doubled(twice.aggregates[0].counters, once.aggregates[0].counters);
  expect_doubled(twice.stages, once.stages);
}

}  // namespace
}  // namespace surety
