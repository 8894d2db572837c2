// SPDX-License-Identifier: BSD-3-Clause
#include "router/observe/metrics_congestion.h"

#include <algorithm>
#include <map>

namespace surety::metrics {
namespace {

// Those held back most, up to the ceiling. Paths that are called the same are one series.
void path_alphas(Families& out, const std::vector<SignalPathReading>& paths) {
  std::map<std::pair<std::string, std::string>, double> alphas;
  for (const SignalPathReading& p : paths) {
    const auto [it, fresh] = alphas.emplace(std::pair(p.gateway, p.domain), p.alpha);
    if (!fresh) it->second = std::min(it->second, p.alpha);
  }
  std::vector<std::pair<std::pair<std::string, std::string>, double>> rows(alphas.begin(), alphas.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second < b.second; });
  rows.resize(std::min(rows.size(), kMaxPathSeries));
  each(
      out, MetricType::Gauge, "surety_csa_path_alpha_ratio",
      "CSA's alpha as congestion signals ask for it, of the paths that are held back most.", rows,
      [](const auto& row) {
        return Labels{{"gateway", row.first.first}, {"domain", row.first.second}};
      },
      [](const auto& row) { return row.second; });
}

void signalling(Families& out, const SignallingReading& s) {
  Family signals(MetricType::Counter, "surety_csa_signals_total",
                 "Congestion signals, by what became of them.");
  SignalSenderReading sent;
  for (const SignalSenderReading& q : s.senders) {
    sent.sent += q.sent;
    sent.limited += q.limited;
    sent.lost += q.lost;
  }
  signals.add({{"direction", "sent"}, {"result", "sent"}}, sent.sent);
  signals.add({{"direction", "sent"}, {"result", "limited"}}, sent.limited);
  signals.add({{"direction", "sent"}, {"result", "lost"}}, sent.lost);
  for (std::size_t i = 0; i < kSignalResults; ++i)
    signals.add({{"direction", "received"}, {"result", std::string(kSignalResultInfo[i].name)}},
                s.received[i]);
  signals.move_to(out);
  single(out, MetricType::Gauge, "surety_csa_paths", "Paths that congestion signals hold back, or would.",
         std::uint64_t{s.paths.size()});
  path_alphas(out, s.paths);
}

}  // namespace

void congestion(Families& out, const Reading& r) {
  each(
      out, MetricType::Gauge, "surety_csa_alpha_ratio",
      "CSA's alpha: the share of the committed rate granted to OUT packets.", r.domains,
      [](const DomainReading& d) {
        return Labels{{"domain", d.name}};
      },
      [](const DomainReading& d) { return d.alpha; });
  each(
      out, MetricType::Gauge, "surety_ard_tpr_bytes_per_second", "Temporary permitted rate of IN packets.",
      r.aggregates,
      [](const AggregateReading& a) {
        return Labels{{"aggregate", a.name}};
      },
      [](const AggregateReading& a) { return a.tpr_bytes_per_second; });
  each_counter(out, AggregateCounters::table(), [&](Family& family, auto member) {
    for (const AggregateReading& a : r.aggregates) family.add({{"aggregate", a.name}}, a.counters.*member);
  });
  signalling(out, r.signalling);
}

}  // namespace surety::metrics
