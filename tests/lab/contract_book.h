// Which contract each flow has at the router it enters by, and how much of it has left the conditioner as IN.
//
// Read from the router's flow table, where the contract lives; looked at often enough that a record is not
// forgotten in between.
#pragma once

#include <optional>
#include <vector>

#include "router/headers.h"
#include "tests/lab/packet_note.h"
#include "tests/lab/plan.h"
#include "tests/lab/router_driver.h"

namespace surety::lab {

class ContractBook {
 public:
  explicit ContractBook(const Plan& plan) : plan_(plan), entries_(plan.flows().size()) {}

  bool knows(std::uint32_t flow) const { return entries_[flow].known; }
  // A packet of the flow's sender, as the first router gets it.
  void learn(std::uint32_t flow, std::size_t router, std::size_t port, std::span<const std::uint8_t> frame);
  // Once per sample at least.
  void update(std::span<const std::unique_ptr<RouterDriver>> routers, Time now);

  struct Contract {
    Rate committed;          // of the whole contract
    std::uint32_t flows;     // that share it now
    std::uint64_t in_bytes;  // that left the conditioner as IN, all flows of the contract together
  };
  // None: no committed rate.
  std::optional<Contract> contract(std::uint32_t flow) const;

 private:
  struct Entry {
    bool known = false;
    std::size_t router = 0;
    FlowKey key;
    FlowId id = kNoFlow;  // of the record with the conditioner's state
    Rate committed;
    std::uint64_t in_bytes = 0, last = 0;
  };
  const Plan& plan_;
  std::vector<Entry> entries_;
};

}  // namespace surety::lab
