// SPDX-License-Identifier: BSD-3-Clause
// The flows that have carried most, for operators.
//
// Read by the control thread while the worker writes: numbers may be a moment apart, never more
// (CONTRIBUTING.md rule 9).
#pragma once

#include <utility>
#include <vector>

#include "router/ingress.h"
#include "router/observe/reading.h"
#include "router/snapshot.h"

namespace surety {

// Goes round the flow table of a worker, a part at a time: a large one takes a tenth of a second.
class TopFlows {
 public:
  // Both must outlive this. `count`: how many; 0: none, and nothing is looked at.
  TopFlows(const Ingress& ingress, const Snapshot& snapshot, std::size_t count)
      : ingress_(ingress), snapshot_(&snapshot), count_(count) {}
  // After a reload, before the worker goes by it: what it was made with, in the new one.
  void follow(const Snapshot& snapshot, std::size_t count);

  // Looks at the next `places` of the table, or up to where it has been round.
  void look(std::size_t places, Time now);
  // Of the last time round: flows (contracts instead of the flows they cover), most bytes first.
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

// All of the table at once.
std::vector<FlowReading> top_flows(const Ingress& ingress, const Snapshot& snapshot, std::size_t count,
                                   Time now);

}  // namespace surety
