// SPDX-License-Identifier: BSD-3-Clause
// The one FIB of the process: a next-hop id for every host address that any scenario has used.
//
// Routers of all runs look it up at the same time; only new addresses change it, one at a time,
// and none is ever taken out.
#pragma once

#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "router/pipeline/routes/fib.h"

namespace surety::lab {

class HostRoutes {
 public:
  static constexpr std::uint32_t kMaxAddresses = 100'000;

  HostRoutes();
  const Fib& fib() const { return fib_; }
  // The ids of these addresses; throws ScenarioError when there are too many.
  std::vector<std::uint32_t> ids(std::span<const IpAddress> addresses);

 private:
  std::mutex mutex_;
  Fib fib_;
  std::map<IpAddress, std::uint32_t> ids_;
};

HostRoutes& host_routes();  // made when first used; DPDK must be running

}  // namespace surety::lab
