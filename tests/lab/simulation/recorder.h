// SPDX-License-Identifier: BSD-3-Clause
// What happens to the flows of a run, counted packet by packet.
//
// Counters run over the whole run; measured() is the difference between begin and end
// of the measured interval.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "tests/lab/results/result.h"
#include "tests/lab/simulation/packet_note.h"
#include "tests/lab/simulation/plan.h"

namespace surety::lab {

struct FlowCount {
  std::uint64_t sent = 0, received = 0, in_received = 0, lost = 0, buffer_drops = 0;  // packets with data
  std::uint64_t reordered = 0;            // of these, received after one that was sent later
  std::uint64_t bytes = 0, in_bytes = 0;  // arrived, of IP packets from the sender
  double delay_sum = 0;                   // seconds, over `received`

  FlowCount operator-(const FlowCount& earlier) const;
};

class Recorder {
 public:
  // `starts`: of the flows; bins of the time to target begin there. `delivered`: IP bytes that a TCP flow has
  // delivered so far.
  using Delivered = std::function<double(std::uint32_t flow)>;
  Recorder(const Plan& plan, std::vector<Time> starts, Delivered delivered);

  void on_sent(const PacketNote& note) {
    if (note.data) ++flows_[note.flow].count.sent;
  }
  // A packet has arrived at its host.
  void on_arrival(const PacketNote& note, const rte_mbuf* m, Time now);
  void on_drop(const PacketNote& note, const rte_mbuf* m);
  // Besides on_drop(): it was at the input buffer of a CSA conditioner, so it was not yet IN or OUT, whatever
  // it came as.
  void on_buffer_drop(const PacketNote& note, Precedence came_as);
  // IN by its DSCP, as the flow's receiver counts it.
  Precedence precedence(const PacketNote& note, const rte_mbuf* m) const;

  const FlowCount& count(std::size_t flow) const { return flows_[flow].count; }
  // Packets with data that routers dropped behind their conditioners, by flow and router.
  using Drops = std::map<std::pair<std::size_t, std::size_t>, std::array<std::uint64_t, kPrecedences>>;
  const Drops& drops() const { return drops_; }
  std::optional<double> time_to_target(std::size_t flow) const { return flows_[flow].reached_s; }
  // Mean of min(1, bin / target) over the 1-s bins that lie within the measured
  // interval; none: no target, no bin.
  std::optional<double> respect(std::size_t flow) const;
  void measure(Time from, Time to) { from_ = from, to_ = to; }
  // Closes the bins that are over.
  void settle(Time now);

 private:
  static constexpr Duration kBin = std::chrono::seconds(1);
  static constexpr double kReached = 0.95;
  struct Flow {
    FlowCount count;
    std::uint64_t in_dscps = 0;
    double target = 0;  // bytes per second
    Time start, bin_end;
    bool in_order = false;  // TCP: its bins are of what was delivered, not of what arrived
    double bin_bytes = 0;   // arrived in the bin; of TCP: delivered before it
    std::optional<double> reached_s;
    double respected = 0;  // sum over bins
    std::uint32_t bins = 0;
    std::uint32_t latest = 0;  // number of the packet received that was sent last
  };
  void close_bins(Flow& f, Time now);
  double bin(Flow& f);

  std::vector<Flow> flows_;
  Delivered delivered_;
  Drops drops_;
  Time from_{}, to_ = kNever;
};

}  // namespace surety::lab
