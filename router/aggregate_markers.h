// SPDX-License-Identifier: BSD-3-Clause
// The ARD and ARM markers of a port's aggregates, one per class at most.
//
// An aggregate is all traffic of one class of one port: it exists only at that egress, where its meters and
// its tokens are exact. A remarked packet stays in its class. A dropped one is counted as `ard`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conditioners/ard_marker.h"
#include "router/class_split.h"
#include "router/counters.h"
#include "router/packet_disposal.h"
#include "router/snapshot.h"

namespace surety {

class AggregateMarkers {
 public:
  struct Aggregate {
    std::size_t config_index;  // in the configuration adopted last
    std::size_t class_index;
    std::uint8_t out_dscp;
    ArdMarker marker;
    AggregateCounters counters;
    std::string name;
  };
  // The aggregates that a configuration gives a port, as new; each draws random numbers of its own.
  static std::vector<Aggregate> configured(const Snapshot& snapshot, PortIndex port, Time now,
                                           std::uint64_t seed);

  AggregateMarkers(std::vector<Aggregate> aggregates, std::size_t classes, PortIndex port,
                   PacketDisposal& disposal);
  // Replaces the aggregates; one that keeps its name keeps its counters, meters and tokens. Does not
  // allocate: `fresh` takes what is to be freed.
  void adopt(std::vector<Aggregate>& fresh, Time now);

  // Lets the aggregate of the run's class, if there is one, remark and drop; `run` becomes what is left.
  void mark(ClassRun& run, Time now) {
    if (Aggregate* a = of_class_[run.class_index]) mark(*a, run, now);
  }
  // Ends the intervals that are over, in times without traffic too.
  void advance(Time now) {
    for (Aggregate& a : aggregates_)
      if (now >= a.marker.next_event()) a.marker.advance(now);
  }
  Time next_event() const {  // of advance()
    Time t = kNever;
    for (const Aggregate& a : aggregates_) t = std::min(t, a.marker.next_event());
    return t;
  }

  std::span<const Aggregate> all() const { return aggregates_; }

 private:
  void mark(Aggregate& a, ClassRun& run, Time now);
  static bool mark(Aggregate& a, Packet& p, Time now);
  void find_classes();

  std::vector<Aggregate> aggregates_;
  std::vector<Aggregate*> of_class_;  // null: none
  PortIndex port_;
  PacketDisposal& disposal_;
};

}  // namespace surety
