// SPDX-License-Identifier: BSD-3-Clause
// The ARD and ARM markers of a port's aggregates.
//
// An aggregate is all traffic of one class of one port, or its part from a list of sources: one customer's
// agreement. It exists only at that egress, where its meters and its tokens are exact. A remarked packet
// stays in its class. A dropped one is counted as `ard`. Packets of no aggregate pass unchanged.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conditioners/ard_marker.h"
#include "router/pipeline/class_split.h"
#include "router/pipeline/counters.h"
#include "router/pipeline/interfaces/prefix_map.h"
#include "router/pipeline/packet_disposal.h"
#include "router/pipeline/snapshot.h"

namespace surety {

class AggregateMarkers {
 public:
  struct Aggregate {
    std::size_t config_index;  // in the configuration adopted last
    std::size_t class_index;   // where interfaces have aggregates, a slot (port_tree.h)
    std::uint8_t out_dscp;
    ArdMarker marker;
    AggregateCounters counters;
    std::string name;
  };
  struct Set {
    std::vector<Aggregate> aggregates;
    std::vector<PrefixMap> sources;  // indexed by class
    // Indexed by class: the aggregate of the whole class; nullptr: none, or several. find_classes() sets it.
    std::vector<Aggregate*> whole;
  };
  // The aggregates that a configuration gives a port, as new; each draws random numbers of its own.
  static Set configured(const Snapshot& snapshot, PortIndex port, Time now, std::uint64_t seed);

  AggregateMarkers(Set set, PortIndex port, PacketDisposal& disposal);
  // Replaces the aggregates; one that keeps its name keeps its counters, meters and tokens. Does not
  // allocate: `fresh` takes the memory to be freed.
  void adopt(Set& fresh, Time now);

  // Remarks and drops packets by the aggregates of the run's class, if there are any; `run` keeps the rest.
  void mark(ClassRun& run, Time now) {
    if (Aggregate* a = set_.whole[run.class_index])
      mark(*a, run, now);
    else if (by_source_) [[unlikely]]
      mark_by_source(run, now);
  }
  // Ends the intervals that are over, in times without traffic too.
  void advance(Time now) {
    if (now >= next_) [[unlikely]]
      end_intervals(now);
  }
  Time next_event() const { return next_; }  // due time of advance(); never too late

  std::span<const Aggregate> all() const { return set_.aggregates; }

 private:
  void mark(Aggregate& a, ClassRun& run, Time now);
  void mark_by_source(ClassRun& run, Time now);
  template <class AggregateOf>
  void mark_each(ClassRun& run, AggregateOf aggregate_of, Time now);
  static bool mark(Aggregate& a, Packet& p, Time now);
  void end_intervals(Time now);
  void find_classes();
  void find_next();

  Set set_;
  bool by_source_ = false;  // a class has aggregates by source
  Time next_ = kNever;
  PortIndex port_;
  PacketDisposal& disposal_;
};

}  // namespace surety
