// SPDX-License-Identifier: BSD-3-Clause
// The current contracts of all workers, and their names.
//
// Used by the control thread, which reads the workers' state (CONTRIBUTING.md rule 9): a few cache lines per
// contract, without delaying packets.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "router/operate/observe/contract_book.h"
#include "router/pipeline/ingress.h"
#include "router/pipeline/snapshot.h"

namespace surety {

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

}  // namespace surety
