// SPDX-License-Identifier: BSD-3-Clause
// The one FIB of the process: a next-hop id for every host address that any scenario has used.
//
// Routers of all runs look it up at the same time; only new addresses change it, one at a time, and none is
// ever taken out.
#pragma once

#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "router/routes/fib.h"

namespace surety::lab {

class HostRoutes {
 public:
  static constexpr std::uint32_t kMaxAddresses = 100'000;

  HostRoutes();
  const Fib& fib() const { return fib_; }
  // The ids of these addresses; throws ScenarioError when there are too many.
  std::vector<std::uint32_t> ids(std::span<const config::Address> addresses);

 private:
  struct Less {
    bool operator()(const config::Address& a, const config::Address& b) const {
      return a.v6 != b.v6 ? a.v6 < b.v6 : a.bytes < b.bytes;
    }
  };
  std::mutex mutex_;
  Fib fib_;
  std::map<config::Address, std::uint32_t, Less> ids_;
};

HostRoutes& host_routes();  // made when first used; DPDK must be running

}  // namespace surety::lab
