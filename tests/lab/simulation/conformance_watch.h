// SPDX-License-Identifier: BSD-3-Clause
// Conformance of the contracts at each router of a run, by the router's own definition and code
// (router/operate/observe/contract_book.h).
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "router/operate/observe/contract_book.h"
#include "router/operate/observe/flow_watch.h"
#include "tests/lab/simulation/router_driver.h"

namespace surety::lab {

class ConformanceWatch {
 public:
  struct Seconds {
    std::uint64_t demanding = 0, met = 0;
  };
  // Seconds of each contract, by router and by the contract's record in the router's flow table.
  using Counts = std::vector<std::map<FlowId, Seconds>>;

  // The routers must outlive this.
  explicit ConformanceWatch(std::span<const std::unique_ptr<RouterDriver>> routers);
  // Call once a second.
  void second(Time now);
  // What has been counted so far.
  Counts counts() const;

 private:
  struct Meter {
    explicit Meter(const RouterDriver& router);
    ContractWatch watch;
    surety::ContractBook book;
  };
  std::vector<std::unique_ptr<Meter>> meters_;  // by router; null: no contract there
};

}  // namespace surety::lab
