// SPDX-License-Identifier: BSD-3-Clause
// What one run showed. Rates are of IP bytes per second of the measured interval, in bits per second.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conditioners/packet.h"

namespace surety::lab {

// One value per sample of RunResult::sample_s, the first at its end (throughputs:
// of the bin) ; NaN: nothing to show.
using Series = std::vector<float>;

struct FlowResult {
  std::string name, protocol;
  double target_bps = 0;  // of the sender; 0: nothing was promised
  double committed_bps =
      0;  // r of the contract that its border router keeps for it, shared ones divided; 0: none
  double offered_bps = 0;     // the most that the sender's application gives it; 0: as much as it takes
  double throughput_bps = 0;  // arriving at the receiver
  double goodput_bps = 0;     // payload, each byte once
  // What the application got, in order (TCP) or at all, counted as the IP packets that carry it.
  double delivered_bps = 0;
  // Over the measured interval; lost: dropped on the way (by anything),
  // what is still on the way does not count.
  std::uint64_t sent_packets = 0, received_packets = 0, lost_packets = 0;
  std::uint64_t buffer_drops = 0;  // of these: at the input buffer of a CSA conditioner
  std::optional<double> in_share;  // of packets arriving at the receiver; none: nothing arrived
  double in_throughput_bps = 0;    // arriving at the receiver as IN
  // Respect of service, 0..1: with a CSA or token-bucket contract the rate of IN packets that leave the
  // conditioner / r (CSA paper); without one the mean of min(1, bin / target) of what is delivered, of TCP
  // as acknowledged; none: nothing was promised.
  std::optional<double> ros;
  // Conformance of the flow's contract, with all flows of the contract, by the router's own definition and
  // code (router/operate/observe/contract_book.h): the share of demanding seconds that are met. none: the
  // flow has no contract, or there is no demanding second.
  std::optional<double> conformance;
  // End of the first such 1-s bin (after the start) with >= 95 % of the target; none: never.
  std::optional<double> time_to_target_s;
  std::optional<double> rtt_mean_s;  // of the sender's smoothed estimate, sampled; none: never measured
  std::optional<double> one_way_delay_mean_s;
  // The sender's own view over the whole run.
  std::uint64_t retransmitted_packets = 0, timeouts = 0, loss_events = 0;
  // Over the measured interval: of those received, after one that was sent later; and IN bytes that left the
  // conditioners of its contract, of all flows of the contract together.
  std::uint64_t reordered_packets = 0, contract_in_bytes = 0;
  // Of those lost, by router: what it dropped behind its conditioners, IN and OUT.
  std::map<std::string, std::array<std::uint64_t, kPrecedences>> drops;
  Series throughput_series;  // bit/s
  Series in_series;          // bit/s arriving as IN
  Series control_series;     // cwnd in packets (TCP) or X in bit/s (TFRC, gTFRC); empty for UDP
  Series delay_series;       // mean one-way delay of the bin, s
  Series contract_series;    // bit/s that left the conditioners of its contract as IN
};

struct PrecedenceResult {
  std::uint64_t arrivals = 0, early_drops = 0, forced_drops = 0, overflow_drops = 0, marked = 0;
};

struct QueueResult {
  std::string router, port, queue;
  // Where the queue is that of an interface; of a template's the template. Empty: it is the port's own.
  std::string interface = {}, definition = {};
  // Over the measured interval; a queue without precedences counts in `in`.
  std::array<PrecedenceResult, kDropPrecedences> by_precedence;
  double average_in_mean = 0,
         average_total_mean =
             0;  // packets: RIO's averages, sampled; without RIO, and of interfaces, the instantaneous depth
  double utilisation =
      0;  // of the port's rate (its shaper, else its link), by this class; 0 where neither is known
  double rate_bps = 0;  // that rate; of an interface its shaper's
  double departed_bps = 0;
  struct Thresholds {
    double in_min = 0, in_max = 0, out_min = 0, out_max = 0;
  };
  std::optional<Thresholds> thresholds;  // RIO's
  Series average_in_series, average_total_series;
};

// Interfaces that share a port, or the part of it that their group has.
struct GroupResult {
  std::string router, port, group;  // group empty: what stands beside the groups, the port's own queues too
  std::uint64_t interfaces = 0, sending = 0;  // sending: in the measured interval
  double limit_bps = 0;                       // of its shaper; 0: none
  double departed_bps = 0;
  std::optional<double> jain;  // Jain's index of what those that sent got, divided by their weights
};

struct DomainResult {
  std::string router, port, queue;  // where the congestion is; of a remote one the core router's
  std::string at;                   // the border router whose alpha this is
  double alpha_mean = 0, alpha_min = 0, alpha_last = 0;
  Series alpha_series;
  bool applied = true;  // false: signals are only observed, and this is what alpha would be
};

struct AggregateResult {
  std::string router, name;
  double tpr_bps = 0, lambda_in_bps = 0,
         lambda_out_bps = 0;  // at the end; lambdas of the last whole interval
  double tpr_max_bps = 0;
  std::uint64_t passed_in = 0, passed_out = 0, remarked = 0, dropped = 0;  // whole run
  Series tpr_series;
  Series tokens_series = {};                    // bytes in the leaky bucket
  double tokens_mean = 0, below_threshold = 0;  // measured interval: bytes; part of the time below T_rd
  double expected_remarked = 0, expected_dropped = 0;  // of `remarked` and `dropped`, by the levels sampled
};

struct RunResult {
  std::string scenario;
  std::uint64_t seed = 0;
  double duration_s = 0;  // what was run: less than the scenario's when it was interrupted
  double measure_from_s = 0, measure_to_s = 0, sample_s = 1;
  bool interrupted = false;
  std::uint64_t events = 0;  // of the loop
  std::uint64_t hops = 0;    // packets through one router or link
  std::vector<FlowResult> flows;
  std::vector<QueueResult> queues;  // of ports that have `queues`, and of their interfaces that have
  std::vector<GroupResult> groups;  // of ports whose interfaces have queues or shapers of their own
  std::vector<DomainResult> domains;
  std::vector<AggregateResult> aggregates;
  // By router (and "links"), by reason; whole run.
  std::map<std::string, std::map<std::string, std::uint64_t>> drops;
  // Congestion signals, whole run: by router, what became of those that its queues asked for (sent,
  // limited, unsent: found no way out) and by result what ended there (congestion_signal.h);
  // "links": lost between routers.
  std::map<std::string, std::map<std::string, std::uint64_t>> signals;
};

}  // namespace surety::lab
