// SPDX-License-Identifier: BSD-3-Clause
// The flows with most bytes, for operators.
//
// Read by the control thread while the worker writes: numbers may differ by a moment (CONTRIBUTING.md rule
// 9).
#pragma once

#include <utility>
#include <vector>

#include "router/operate/observe/reading.h"
#include "router/pipeline/ingress.h"
#include "router/pipeline/snapshot.h"

namespace surety {

// Scans the flow table of a worker, a part at a time: a large one takes a tenth of a second.
class TopFlows {
 public:
  // Both must outlive this object. `count`: number of flows; 0: nothing is scanned.
  TopFlows(const Ingress& ingress, const Snapshot& snapshot, std::size_t count)
      : ingress_(ingress), snapshot_(&snapshot), count_(count) {}
  // Called after a reload, before the worker adopts it: the new arguments of the constructor.
  void follow(const Snapshot& snapshot, std::size_t count);

  // Scans the next `places` of the table, or up to the end of the round.
  void look(std::size_t places, Time now);
  // The flows of the last round (contracts instead of the flows they cover), most bytes first.
  const std::vector<FlowReading>& largest() const { return largest_; }

 private:
  void consider(FlowId id);
  void finish(Time now);

  const Ingress& ingress_;
  const Snapshot* snapshot_;
  std::size_t count_;
  FlowId next_ = 0;
  std::vector<std::pair<std::uint64_t, FlowId>> heap_;  // bytes
  std::vector<FlowReading> largest_;
};

// Scans the whole table at once.
std::vector<FlowReading> top_flows(const Ingress& ingress, const Snapshot& snapshot, std::size_t count,
                                   Time now);

}  // namespace surety
