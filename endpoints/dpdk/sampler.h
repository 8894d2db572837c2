// SPDX-License-Identifier: BSD-3-Clause
// The worker's side of a snapshot:
// reads every flow once a second, a few per turn, and notes when senders end.
#pragma once

#include <cstdint>
#include <vector>

#include "endpoints/dpdk/snapshot.h"
#include "endpoints/dpdk/traffic.h"

namespace surety::endpoints {

// Times at which the senders' flows began to close: a few flows are checked per turn.
class EndWatch {
 public:
  explicit EndWatch(const Traffic& traffic) : traffic_(traffic), ended_(traffic.flows().size(), kNever) {
    over_.resize(ended_.size());
  }
  void look(std::size_t flows, Time now);
  // Ends all flows that still run.
  void end_all(Time now);
  bool all_over() const { return closed_ == over_.size(); }
  Time ended(std::size_t flow) const { return ended_[flow]; }

 private:
  const Traffic& traffic_;
  std::vector<Time> ended_;
  std::vector<bool> over_;
  std::size_t next_ = 0, closed_ = 0;
};

class Sampler {
 public:
  static constexpr std::size_t kPerTurn = 64;

  // `ports`: the worker's own counters, read when a sweep ends.
  Sampler(const Traffic& traffic, const EndWatch& ends, const std::vector<PortSample>& ports,
          SnapshotExchange& exchange);

  // The first sweep begins one second after `zero`.
  void begin(Time zero);
  // A turn's share: continues a sweep, or begins one when it is due and the buffer is ours.
  void step(Time now);
  // The run ended at `end`: a turn's share of one last sweep, which waits for no full second.
  // True once its snapshot is published.
  bool finish(Time now, Time end);

 private:
  void open(Snapshot& s, Time now);
  void read_senders(Snapshot& s, Time now);
  void read_accepted(Snapshot& s, Time now);
  void publish(Snapshot& s);

  const Traffic& traffic_;
  const EndWatch& ends_;
  const std::vector<PortSample>& ports_;
  SnapshotExchange& exchange_;
  Time zero_{}, next_ = kNever, end_ = kNever;
  bool sweeping_ = false, finishing_ = false, finished_ = false;
  std::size_t sender_ = 0, port_ = 0;  // position of the sweep
  FlowIndex index_ = 1;
};

}  // namespace surety::endpoints
