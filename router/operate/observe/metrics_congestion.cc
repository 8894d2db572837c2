// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/metrics.h"

#include <algorithm>

namespace surety::metrics {
namespace {

// Exports the most throttled paths, at most kMaxPathSeries.
void path_alphas(Families& out, std::vector<SignalPathReading> rows) {
  std::ranges::stable_sort(rows, {}, &SignalPathReading::alpha);
  rows.resize(std::min(rows.size(), kMaxPathSeries));
  each(
      out, MetricType::Gauge, "surety_csa_path_alpha_ratio",
      "CSA's alpha according to congestion signals, of the most throttled paths.", rows,
      [](const SignalPathReading& p) {
        return Labels{{"path", p.path}, {"domain", p.domain}};
      },
      [](const SignalPathReading& p) { return p.alpha; });
}

void signalling(Families& out, const SignallingReading& s) {
  Family signals(MetricType::Counter, "surety_csa_signals_total",
                 "Congestion signals, by direction and result.");
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
  single(out, MetricType::Gauge, "surety_csa_paths",
         "Paths that congestion signals throttle, or would in mode observe.", std::uint64_t{s.paths.size()});
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
