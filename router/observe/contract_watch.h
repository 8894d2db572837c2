// SPDX-License-Identifier: BSD-3-Clause
// All contracts of all workers, as they are now, and their names.
//
// For the control thread, which reads what the workers own (CONTRIBUTING.md rule 9): some cache lines for
// each contract, no packet waits for it.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "router/ingress.h"
#include "router/observe/contract_book.h"
#include "router/snapshot.h"

namespace surety {

class ContractWatch {
 public:
  // What a worker knows of contracts; both must outlive this.
  struct Source {
    const Ingress* ingress;
    const Losses* losses;
  };
  // By worker.
  ContractWatch(std::vector<Source> workers, const Snapshot& snapshot);
  // After a reload, before the workers go by it.
  void follow(const Snapshot& snapshot);

  const std::vector<ContractSighting>& look();
  // Who has it, and what it covers: the interface, the address, the prefix, the tag, by `per:` of its rule.
  // Of `per: flow`, where each flow is a contract, one name for all of a customer. The customer is that of
  // the interface; behind an untagged port it is what is covered, or else the port.
  ContractName name(const ContractSighting& s) const;
  // By service.
  const std::vector<ContractTerms>& terms() const { return terms_; }

 private:
  std::vector<Source> workers_;
  const Snapshot* snapshot_;
  std::unordered_map<std::uint32_t, std::uint16_t> rules_;  // by Classifier::id()
  std::vector<ContractTerms> terms_;
  std::vector<ContractSighting> sightings_;
};

}  // namespace surety
