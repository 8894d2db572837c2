// SPDX-License-Identifier: BSD-3-Clause
// LiveComparison for people and for programs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "router/process/human.h"
#include "tests/lab/live/live_compare.h"
#include "tests/lab/results/result_json.h"

namespace surety::lab {

namespace {

using Json = nlohmann::ordered_json;
using Align = TextTable::Align;

constexpr std::array<const char*, kPrecedences> kNames{"in", "out"};

std::string rate(const std::optional<double>& bps) {
  return bps ? human::rate(*bps / 8) : "-";
}
std::string percent(const std::optional<double>& share) {
  return share ? human::percent(*share) : "-";
}
std::string count(const std::optional<double>& n) {
  return n ? fmt::format("{:.0f}", *n) : "-";
}
std::string both(const Beside& b, std::string (*show)(const std::optional<double>&)) {
  return show(b.lab) + " | " + show(b.live);
}

std::string flow_table(const LiveComparison& c) {
  TextTable t;
  t.column("flow", Align::left);
  t.column("target", Align::right);
  t.column("throughput: lab (sd)", Align::right);
  t.column("live", Align::right);
  t.column("difference", Align::right);
  t.column("allowed", Align::right);
  t.column("goodput: lab | live", Align::right);
  t.column("IN, whole run: lab | live", Align::right);
  t.column("loss, whole run: lab | live", Align::right);
  for (const auto& f : c.flows) {
    const auto d = f.difference();
    t.row({f.name, f.target_bps > 0 ? rate(f.target_bps) : "-",
           fmt::format("{} ({})", rate(f.throughput.lab), rate(f.throughput_sd)), rate(f.throughput.live),
           d ? fmt::format("{:+.1f} %", 100 * *d) : "-", percent(f.tolerance()), both(f.goodput, rate),
           both(f.in_share, percent), both(f.loss, percent)});
  }
  return t.text();
}

std::string queue_table(const LiveComparison& c) {
  TextTable t;
  t.column("queue", Align::left);
  t.column("", Align::left);
  for (const char* title : {"arrivals: lab | live", "early drops", "forced drops", "overflow drops"})
    t.column(title, Align::right);
  for (const auto& q : c.queues)
    for (std::size_t p = 0; p < kPrecedences; ++p) {
      std::vector<std::string> cells{fmt::format("{}.{} {}", q.router, q.port, q.queue),
                                     p == 0 ? "IN" : "OUT"};
      for (const auto& b : q.counters[p]) cells.push_back(both(b, count));
      t.row(std::move(cells));
    }
  return t.text();
}

std::string verdict(const LiveComparison& c) {
  std::string out;
  for (const auto& f : c.flows)
    if (!f.agrees())
      out += fmt::format("{}: live {}, lab {}: they differ by more than {}\n", f.name,
                         rate(f.throughput.live), rate(f.throughput.lab), percent(f.tolerance()));
  if (out.empty())
    out = fmt::format(
        "Every flow is within {:.0f} % of the lab's mean, or within the spread of the lab's own runs.\n",
        100 * kLiveTolerance);
  if (c.doubtful())
    out += fmt::format(
        "This machine was too slow: of {} packets it lost {}, and sent {} more than 5 ms late. The live "
        "results are doubtful.\n",
        c.carried_packets, c.missed_packets, c.late_packets);
  return out;
}

Json number(const std::optional<double>& v, int decimals) {
  return v ? rounded(*v, decimals) : Json();
}

Json side(const FlowBeside& f, std::optional<double> Beside::*of) {
  return {{"throughput_bps", number(f.throughput.*of, 0)},
          {"goodput_bps", number(f.goodput.*of, 0)},
          {"in_share", number(f.in_share.*of, 6)},
          {"loss", number(f.loss.*of, 6)}};
}

Json flow(const FlowBeside& f) {
  Json lab = side(f, &Beside::lab);
  lab["throughput_sd_bps"] = rounded(f.throughput_sd, 0);
  return {{"name", f.name},
          {"protocol", f.protocol},
          {"target_bps", rounded(f.target_bps, 0)},
          {"lab", std::move(lab)},
          {"live", side(f, &Beside::live)},
          {"difference", number(f.difference(), 6)},
          {"tolerance", rounded(f.tolerance(), 6)},
          {"agrees", f.agrees()}};
}

Json queue(const QueueBeside& q) {
  Json out = {{"router", q.router}, {"port", q.port}, {"queue", q.queue}};
  for (std::size_t p = 0; p < kPrecedences; ++p)
    for (std::size_t c = 0; c < QueueBeside::kCounters.size(); ++c)
      out[kNames[p]][QueueBeside::kCounters[c]] = {{"lab", number(q.counters[p][c].lab, 1)},
                                                   {"live", number(q.counters[p][c].live, 0)}};
  return out;
}

}  // namespace

std::string LiveComparison::text() const {
  std::string out =
      fmt::format("{}: the lab's mean of {} seeds, and one run in real time\n\n", scenario, seeds.size());
  out += flow_table(*this) + '\n';
  if (!queues.empty()) out += queue_table(*this) + '\n';
  return out + verdict(*this);
}

Json LiveComparison::json() const {
  Json out = {{"scenario", scenario}, {"seeds", seeds}, {"agrees", agrees()}};
  out["flows"] = Json::array();
  for (const auto& f : flows) out["flows"].push_back(flow(f));
  out["queues"] = Json::array();
  for (const auto& q : queues) out["queues"].push_back(queue(q));
  out["carried_packets"] = carried_packets;
  out["late_packets"] = late_packets;
  out["missed_packets"] = missed_packets;
  out["doubtful"] = doubtful();
  return out;
}

}  // namespace surety::lab
