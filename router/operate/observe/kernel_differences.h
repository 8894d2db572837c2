// SPDX-License-Identifier: BSD-3-Clause
// Events for what the kernel's tables say and the data plane does not do: routes that it refuses
// (RouteEvent::unsupported), and rules that it does not follow (RuleEvent::followed).
//
// One event for each route and rule while it exists, however often the kernel reports it. Beyond kMost routes
// or rules at a time there are no further events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>

#include "router/operate/observe/events.h"
#include "router/pipeline/routes/route_events.h"

namespace surety {

class KernelDifferences {
 public:
  static constexpr std::size_t kMost = 1024;

  explicit KernelDifferences(EventLog& log) : log_(log) {}
  void on(const RouteEvent& event);
  void on(const RuleEvent& event);

 private:
  using Route = std::tuple<Prefix, std::uint32_t, std::uint8_t>;  // with metric and selector

  EventLog& log_;
  std::set<Route> routes_;
  std::set<std::pair<bool, std::string>> rules_;  // with the family
};

}  // namespace surety
