// SPDX-License-Identifier: BSD-3-Clause
// What the paths of congestion signals are called: by the next hops of their routes, "via 10.2.0.1 wan0".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "config/config.h"
#include "router/observe/reading.h"
#include "router/routes/neighbors.h"
#include "router/routes/routes.h"

namespace surety {

// Learnt by the control thread, which has the routes, and put into readings by others: the owner locks.
class PathNames {
 public:
  // Names for the paths of a reading, in place of all others.
  void learn(const SignallingReading& signalling, const Routes& routes, const NextHopTable& next_hops,
             const config::Config& config);
  // Fills the gateways in. A path not learnt yet is "next hop 17".
  void apply(SignallingReading& signalling) const;

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> names_;  // by first id and how many
};

}  // namespace surety
