// SPDX-License-Identifier: BSD-3-Clause
// Looks at a run at fixed times: the series of a report, and what only sampling shows
// (averages of queues, alpha, RTT).
#pragma once

#include <algorithm>
#include <compare>
#include <map>
#include <vector>

#include "tests/lab/results/result.h"
#include "tests/lab/simulation/conformance_watch.h"
#include "tests/lab/simulation/network.h"
#include "tests/lab/simulation/share_watch.h"

namespace surety::lab {

class Sampler {
 public:
  // Ten ticks to a sample.
  explicit Sampler(Network& network);

  Time next() const { return next_; }
  void tick();  // at next(), before anything else that happens then
  // Ends the run: fills the results of all that was measured in [from, to].
  void finish(RunResult& result);

 private:
  static constexpr int kTicks = 10;

  struct Mean {
    double sum = 0;
    std::uint64_t n = 0;
    void add(double x) { sum += x, ++n; }
    double value() const { return n == 0 ? 0 : sum / static_cast<double>(n); }
  };
  struct FlowWatch {
    FlowCount last, at_begin, at_end;  // at the last sample; at the ends of the measured interval
    std::uint64_t payload_begin = 0, payload_end = 0;
    std::uint64_t contract_begin = 0, contract_end = 0;  // IN bytes that left the conditioner of its contract
    std::uint64_t contract_last = 0;                     // at the last sample
    Mean rtt;
    Series throughput, in, control, delay, contract;
  };
  struct QueueWatch {
    std::size_t router, port, class_index;
    std::array<QueueCounters, kDropPrecedences> at_begin, at_end;
    Mean in, total;                // over the measured interval
    Mean sample_in, sample_total;  // over the running sample
    Series in_series, total_series;
  };
  // Results take an alpha without a limit as this, so that means and charts have numbers.
  static constexpr double kUnlimited = 256;
  static double value(Ratio alpha) { return std::min(alpha.value(), kUnlimited); }
  struct DomainWatch {
    std::size_t router;
    std::uint16_t domain;
    Mean mean;
    double least = kUnlimited;
    Series series;
  };
  // A path that signals have held back at a border router: at its maximum until then,
  // and whenever it is forgotten.
  struct RemoteWatch {
    Ratio now, max;
    Mean mean;
    double least = kUnlimited;
    Series series;
  };
  struct RemoteKey {
    std::size_t router;
    std::uint16_t domain;
    Path path;
    auto operator<=>(const RemoteKey&) const = default;
  };
  struct AggregateWatch {
    std::size_t router, port, index;
    Series series, tokens_series;
    Credit tokens = 0;     // at the last tick
    Credit met = 0;        // in the middle of the running tick, if nothing comes before
    std::uint64_t in = 0;  // IN packets that had come until then
    Mean level, below;     // over the measured interval: tokens in bytes, whether they are below T_rd
    double remarked = 0, dropped = 0;  // what equation 1 makes of the IN packets of all ticks
  };
  bool measuring() const;
  void mark(bool end);
  void sample();
  void watch_averages();
  void watch_tokens(AggregateWatch& w);
  double alpha(const DomainWatch& d);
  void read_remotes();
  RemoteWatch begin_remote(Ratio max) const;
  const ActiveQueue& queue(const QueueWatch& q);
  const Egress::Aggregate& aggregate(const AggregateWatch& w);

  void flow_results(RunResult& result);
  std::optional<double> conformance(const ContractBook::Contract& contract) const;
  void drop_results(RunResult& result);
  void queue_results(RunResult& result);
  void domain_results(RunResult& result);
  void remote_results(RunResult& result);
  void aggregate_results(RunResult& result);

  Network& network_;
  const Scenario& scenario_;
  Time from_, to_, next_tick_, next_second_, next_;
  Duration tick_;
  int ticks_ = 0;  // of the running sample
  bool begun_ = false, ended_ = false;
  std::vector<FlowWatch> flows_;
  Recorder::Drops drops_begin_, drops_end_;  // at the ends of the measured interval
  std::vector<QueueWatch> queues_;
  ShareWatch shares_;
  ConformanceWatch conformance_;
  ConformanceWatch::Counts conformance_begin_, conformance_end_;  // at the ends of the measured interval
  std::vector<DomainWatch> domains_;
  std::map<RemoteKey, RemoteWatch> remotes_;
  std::uint64_t measured_ticks_ = 0;
  std::size_t samples_ = 0;
  std::vector<AggregateWatch> aggregates_;
};

}  // namespace surety::lab
