// SPDX-License-Identifier: BSD-3-Clause
// Result of a run: per flow the target, what was delivered, and whether it is enough; as JSON and text.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "endpoints/engine/flow_reading.h"
#include "endpoints/engine/refusal.h"

namespace surety::endpoints {

// Result of one flow: measured from readings of its two ends, about once a second.
//
//   delivered       IP bytes that the application got, in order (TCP) or at all (DCCP, UDP) / measured time
//   throughput      IP bytes that arrived: also repetitions, and what waits behind a hole / measured time
//   goodput         payload bytes, each once / measured time
//   time to target  from the start to the end of the first bin with at least 95 % of the target
//   RoS             mean over the time of min(1, bin / target)
// A bin is what was delivered between samples, at least kBin apart. What arrived is what the receiver
// counted; where it is in another process, what it reported (UDP, DCCP), or what it acknowledged, at the mean
// packet size (TCP). Reports come in steps: without news a bin waits, up to kNewsBin.
struct FlowIdentity {
  std::string name;       // name of the line of YAML; with #n for one of several flows
  std::string protocol;   // gtfrc, tfrc, gtcp, newreno, reno, cubic, udp
  std::string peer;       // "198.51.100.1:5001"
  Rate target;            // zero: no target
  bool in_order = false;  // TCP: what arrives is not all delivered
};

struct FlowResult {
  FlowIdentity identity;
  double seconds = 0;  // measured
  Rate delivered, throughput, goodput;
  bool arrival_known = false;  // false: no reading or report of arrivals, these rates are zero
  std::uint64_t sent = 0, received = 0, lost = 0, retransmitted = 0, duplicates = 0;  // packets
  std::uint64_t payload = 0, mismatched = 0;  // bytes: each once; of another stream than our senders'
  std::optional<double> in_share;             // IN share of received packets; where the sink is ours
  std::optional<Duration> rtt, min_rtt;
  std::optional<Duration> one_way_delay;  // mean; UDP whose ends share a clock
  std::optional<double> loss_event_rate;
  std::optional<double> time_to_target;  // seconds from the flow's start
  std::optional<double> respect;         // RoS, 0..1; flows with a target
  std::string state, failure;            // the sender's, filled in by the driver: "open", "no_answer"
  // With a target: delivered >= (1 - tolerance) * target. Without: true.
  bool kept(double tolerance) const;
};

// IP bytes that arrived, and those that were delivered, from the readings; receiver null: not in this
// process.
struct Received {
  double arrived = 0, delivered = 0;
};
Received received(const FlowReading& sender, const FlowReading* receiver, bool in_order);

class FlowTrack {
 public:
  static constexpr Duration kBin = std::chrono::milliseconds(950);
  static constexpr Duration kNewsBin = std::chrono::milliseconds(2500);
  static constexpr double kReached = 0.95;

  // Counters are taken to be zero at `start`, unless a sample at or before it says otherwise.
  FlowTrack(FlowIdentity identity, Time start);
  // Readings at `now`; receiver null: not in this process. The time of the last sample ends the measured
  // time; sampled again at that time, what has arrived since still counts.
  void sample(const FlowReading& sender, const FlowReading* receiver, Time now);
  // Rates and RoS are measured from the last sample on (`measure:`); what came before only counts towards the
  // time to target and in the counters.
  void begin_measuring();
  // Measures up to the last sample; counters continue.
  void end_measuring();
  FlowResult result() const;
  Rate last_second() const;  // delivered in the last bin, for the live table

 private:
  struct Bin {
    Time start;
    double bytes = 0;  // delivered before it
  };
  bool full(Time end) const;
  double bin_rate() const;  // rate of the open bin; bytes/s
  double reached(double rate) const { return std::min(1.0, rate / identity_.target.bytes_per_second()); }

  FlowIdentity identity_;
  Time start_, measured_from_, last_;
  Received base_, total_;  // at the start of measuring and at the last sample
  std::uint64_t base_payload_ = 0;
  Bin bin_;
  double last_rate_ = 0;  // rate of the last closed bin
  double respected_ = 0;  // seconds x min(1, bin / target) of closed bins
  Time reached_at_ = kNever;
  std::optional<std::uint64_t> final_payload_;  // set: measuring has ended
  bool known_ = false, own_receiver_ = false;
  FlowReading sender_, receiver_;  // at the last sample
};

struct Report {
  double seconds = 0;                // duration of the run
  std::vector<FlowResult> flows;     // flows of our senders, those of one line of YAML one after the other
  std::vector<FlowResult> accepted;  // flows at our sinks whose senders are elsewhere
  std::array<std::uint64_t, kRefusals> refusals{};
  double tolerance = 0.04;

  // True if each flow with a target reached it.
  bool kept() const {
    return std::ranges::all_of(flows, [&](const FlowResult& f) { return f.kept(tolerance); });
  }
  // One object: version (of this format: 1), duration_s, tolerance, kept, flows, accepted, refusals. A flow
  // has the keys of surety-lab: name, protocol, target_bps, delivered_bps, throughput_bps (what arrived),
  // ...; what is not known is null.
  std::string json() const;
  // Tables of flows, refusals, and a verdict: a line for each missed target. More than 8 flows of one line of
  // YAML are one row with their least, mean and greatest. The throughput is shown beside the delivered rate
  // where they differ by half a percent.
  std::string text() const;
};

}  // namespace surety::endpoints
