// SPDX-License-Identifier: BSD-3-Clause
// Events for what the kernel's tables say and the data plane does not do: routes that it refuses
// (RouteEvent::unsupported), and rules that it does not follow (RuleEvent::followed).
//
// One event for each route and rule while it exists, however often the kernel reports it, and for the removal
// of a rule that the data plane uses in any case. Beyond Announced::kMost routes or rules at a time there are
// no further events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "router/operate/observe/events.h"
#include "router/pipeline/routes/route_events.h"

namespace surety {

// The things that exist and have had their event, kMost at most. A synchronisation, in which all existing
// things are added again, leaves only these, and gives no second event for one that had it.
template <class Thing>
class Announced {
 public:
  static constexpr std::size_t kMost = 1024;

  // True if the thing gets an event.
  bool add(const Thing& thing) {
    return now_.size() < kMost && now_.insert(thing).second && !before_.contains(thing);
  }
  void remove(const Thing& thing) {
    now_.erase(thing);
    before_.erase(thing);
  }
  bool empty() const { return now_.empty() && before_.empty(); }

  // A begin may follow a begin: the earlier synchronisation has failed.
  void begin_sync() {
    before_.merge(now_);
    now_.clear();
    while (before_.size() > 2 * kMost) before_.erase(before_.begin());
  }
  void end_sync() { before_.clear(); }

 private:
  std::set<Thing> now_, before_;  // before_: of the time before the synchronisation, and not removed since
};

class KernelDifferences {
 public:
  explicit KernelDifferences(EventLog& log) : log_(log) {}
  void on(const RouteEvent& event);
  void on(const RuleEvent& event);
  // Called at NetlinkMonitor::Handler::on_resync_begin() and -end().
  void begin_sync();
  void end_sync();

 private:
  using Route = std::tuple<Prefix, std::uint32_t, std::uint8_t, Prefix>;  // with metric, selector and source
  using Rule = std::tuple<bool, std::string, EventAction>;  // with family; a rule, or its removal

  void warn_of(const RouteEvent& event);
  void warn_of(const RuleEvent& event);

  EventLog& log_;
  Announced<Route> routes_;
  Announced<Rule> rules_;
};

}  // namespace surety
