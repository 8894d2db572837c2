// Which service a packet gets, and the flow that remembers it.
//
// Rules are consulted when a flow is created; the flow record keeps the answer. When the table is full,
// packets whose service needs no state still pass (their rule is looked up each time), the others are dropped
// as `flow_table_full`.
#pragma once

#include <span>
#include <vector>

#include "router/counters.h"
#include "router/exits.h"
#include "router/flow_table.h"
#include "router/snapshot.h"
#include "router/vector.h"

namespace surety {

class ClassifyStage {
 public:
  ClassifyStage(const Snapshot& snapshot, std::span<ServiceCounters> services, Exits& exits,
                std::uint64_t seed, Time now);

  // Some rule may match what comes in by this port. If not, all of it has the service
  // Snapshot::unmatched(port).
  bool classifies(PortIndex port) const { return classified_[port] != 0; }
  // Sets flow and service of each packet of a port that is classified.
  void run(Vector& v, PortIndex port, Time now);
  // Forgets idle flows, a slice of the table at a time.
  void age(Time now);

  FlowTable& flows() { return flows_; }
  const FlowTable& flows() const { return flows_; }

 private:
  FlowId create(Vector& v, std::size_t i, PortIndex port, std::uint64_t hash, Time now);
  FlowId contract(std::uint16_t rule, std::uint16_t service, const ParsedPacket& packet, Time now);
  FlowId open(const FlowKey& key, std::uint64_t hash, std::uint16_t service, bool contract, Time now);
  void closed(FlowId id);  // a record is about to be forgotten

  const Snapshot& snapshot_;
  std::span<ServiceCounters> services_;
  Exits& exits_;
  FlowTable flows_;
  std::vector<std::uint8_t> classified_;  // by port: some rule may match there
  Duration slice_interval_;
  Time next_slice_;
};

}  // namespace surety
