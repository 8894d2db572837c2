// SPDX-License-Identifier: BSD-3-Clause
// Which contracts each flow has at the routers it enters by, and how much of it has left
// their conditioners as IN.
//
// A packet's contract is at the first router on its way whose rules give it one. A flow whose route changes
// has one after the other, which know nothing of each other. Read from the routers' flow tables, where
// contracts live; looked at often enough that a record is not forgotten in between.
#pragma once

#include <optional>
#include <vector>

#include "router/pipeline/wire/headers.h"
#include "tests/lab/simulation/packet_note.h"
#include "tests/lab/simulation/plan.h"
#include "tests/lab/simulation/router_driver.h"

namespace surety::lab {

class ContractBook {
 public:
  explicit ContractBook(const Plan& plan) : plan_(plan), entries_(plan.flows().size()) {}

  // A packet of the flow's sender, as a router gets it that it may enter by.
  // true: that one has a contract for it.
  bool enter(std::uint32_t flow, const NodePort& router, std::span<const std::uint8_t> frame);
  // Once per sample at least.
  void update(std::span<const std::unique_ptr<RouterDriver>> routers, Time now);

  struct Contract {
    Rate committed;          // of the whole contract, where the flow enters now
    std::uint64_t in_bytes;  // that left conditioners as IN, all flows of the contract together, wherever it
                             // has been
    std::size_t router;      // where the flow enters now
    FlowId record;           // there, with the conditioner's state
  };
  // None: no committed rate.
  std::optional<Contract> contract(std::uint32_t flow) const;
  // How many flows share it now: looks at all of them.
  std::uint32_t sharers(std::uint32_t flow) const;

 private:
  struct Place {
    std::size_t router = 0;
    FlowKey key;
    FlowId id = kNoFlow;  // of the record with the conditioner's state
    Rate committed;       // 0: no contract there
    std::uint64_t in_bytes = 0, last = 0;
  };
  struct Entry {
    std::vector<Place> places;
    std::size_t now = 0;  // where it entered last with a contract
  };
  Place learn(const NodePort& router, std::span<const std::uint8_t> frame) const;
  static void update(Place& place, const FlowTable& table, Time now);

  const Plan& plan_;
  std::vector<Entry> entries_;
};

}  // namespace surety::lab
