// Which service a packet gets, and the flow that remembers it.
//
// Rules are consulted when a flow is created; the flow record keeps the answer. No packet is refused here.
// Where no record can be had for a new flow, because the table is full or because more flows are new than
// flow_table.creation_rate, its packets go on nevertheless, their rule looked up each time:
//  - those whose service needs no state get that service;
//  - those of a contract that is known (`per: source` and the like) are conditioned by it;
//  - all others are degraded to best effort, counted by the reason (degrade_reason.h). Nothing is promised to
//    them, so nothing that was promised to others goes to them: a policed service's packets (voice) leave its
//    class as well, neither dropped nor let through unpoliced.
// Active flows keep their records: only an idle one is ever forgotten. Flows that need no state leave the
// last quarter of the table, and of the creations, to those that do.
#pragma once

#include <span>
#include <vector>

#include "conditioners/token_bucket.h"
#include "router/counters.h"
#include "router/flow_table.h"
#include "router/snapshot.h"
#include "router/vector.h"

namespace surety {

class ClassifyStage {
 public:
  ClassifyStage(const Snapshot& snapshot, std::span<PortCounters> ports, std::span<ServiceCounters> services,
                std::uint64_t seed, Time now);

  // Some rule may match what comes in by this port. If not, all of it has the service
  // Snapshot::unmatched(port).
  bool classifies(PortIndex port) const { return classified_[port] != 0; }
  // Sets flow and service of each packet of a port that is classified.
  void run(Vector& v, PortIndex port, Time now);
  // Forgets idle flows, a slice of the table at a time. Once per turn, before run().
  void age(Time now);

  FlowTable& flows() { return flows_; }
  const FlowTable& flows() const { return flows_; }

 private:
  // The packets of a vector whose flow is not known.
  struct Strangers {
    std::array<std::uint8_t, kVector> which;
    std::size_t size = 0;
  };
  // `reason`: why there is no record.
  struct Opened {
    FlowId id = kNoFlow;
    DegradeReason reason = DegradeReason::none;
  };
  using Hashes = std::array<std::uint64_t, kVector>;

  void meet(Vector& v, std::size_t i, FlowTable::Tick tick);
  void admit(Vector& v, const Strangers& strangers, const Hashes& hashes, PortIndex port, Time now);
  Opened create(Vector& v, std::size_t i, std::uint16_t rule, PortIndex port, std::uint64_t hash, Time now);
  Opened contract(std::uint16_t rule, std::uint16_t service, const ParsedPacket& packet, Time now);
  Opened open(const FlowKey& key, std::uint64_t hash, std::uint16_t service, bool contract, Time now);
  void start(FlowRecord& r, const ServiceProgram& program, Time now) const;
  void closed(FlowId id);  // a record is about to be forgotten
  bool full() const { return flows_.size() == flows_.capacity(); }
  bool plenty() const;

  const Snapshot& snapshot_;
  std::span<PortCounters> ports_;
  std::span<ServiceCounters> services_;
  FlowTable flows_;
  std::vector<std::uint8_t> classified_;  // by port: some rule may match there
  TokenBucketParams creation_limit_;      // a flow is a byte
  TokenBucket creations_;
  bool limited_;
  Duration per_record_;  // of the sweep
  Time swept_;           // the sweep is where it should have been then
};

}  // namespace surety
