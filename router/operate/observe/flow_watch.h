// SPDX-License-Identifier: BSD-3-Clause
// The state of running workers for observers: their contracts, and the largest flows.
//
// Read by the control thread while the workers write: numbers may differ by a moment (CONTRIBUTING.md rule
// 9). A few cache lines per contract or flow, without delaying packets.
#pragma once

#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "router/operate/observe/contract_book.h"
#include "router/operate/observe/reading.h"
#include "router/pipeline/ingress.h"
#include "router/pipeline/snapshot.h"

namespace surety {

// The current contracts of all workers, and their names.
class ContractWatch {
 public:
  // A worker's state of contracts; both members must outlive this object.
  struct Source {
    const Ingress* ingress;
    const Losses* losses;
  };
  // `workers`: indexed by worker.
  ContractWatch(std::vector<Source> workers, const Snapshot& snapshot);
  // Called after a reload, before the workers adopt it.
  void follow(const Snapshot& snapshot);

  const std::vector<ContractSighting>& look();
  // The customer and the key of a contract: the interface, the address, the prefix or the tag, by `per:` of
  // its rule. With `per: flow`, where each flow is a contract, one name for all flows of a customer. The
  // customer is the interface's; behind an untagged port the contract's key, or else the port.
  ContractName name(const ContractSighting& s) const;
  // Indexed by service.
  const std::vector<ContractTerms>& terms() const { return terms_; }

 private:
  std::vector<Source> workers_;
  const Snapshot* snapshot_;
  std::unordered_map<std::uint32_t, std::uint16_t> rules_;  // indexed by Classifier::id()
  std::vector<ContractTerms> terms_;
  std::vector<ContractSighting> sightings_;
};

// The flows with most bytes, for operators. Scans the flow table of a worker, a part at a time: a large one
// takes a tenth of a second.
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
