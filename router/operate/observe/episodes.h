// SPDX-License-Identifier: BSD-3-Clause
// Reports the begin and the end of continuous or intermittent conditions, once each.
//
// Sampled about once a second. An episode begins with the first sample that has the condition, and ends when
// `quiet` has passed since the last one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "conditioners/drop_reason.h"
#include "conditioners/units.h"
#include "router/operate/observe/events.h"
#include "router/operate/observe/reading.h"
#include "router/pipeline/routes/routes.h"

namespace surety {

// Events for gateways of routes that do not answer: one after kGrace, one when the gateway answers again.
class GatewayEvents {
 public:
  // An existing neighbour answers within a second or two.
  static constexpr Duration kGrace = std::chrono::seconds(2);

  using NameOf = std::function<std::string(InterfaceIndex)>;
  using Known = std::function<bool(InterfaceIndex, const IpAddress&)>;
  // `name_of` an interface; `known`: true if its MAC address is known.
  GatewayEvents(EventLog& log, NameOf name_of, Known known)
      : log_(log), name_of_(std::move(name_of)), known_(std::move(known)) {}

  // Called several times a second, with the gateways in use whose MAC address is not known.
  void look(std::span<const Routes::Resolution> unresolved, Time now);

 private:
  struct Unanswered {
    Time since{};
    bool told = false;
    bool still = true;
  };
  void tell(EventLevel level, const std::pair<InterfaceIndex, IpAddress>& gateway, bool found);

  EventLog& log_;
  NameOf name_of_;
  Known known_;
  std::map<std::pair<InterfaceIndex, IpAddress>, Unanswered> silent_;
};

class Episodes {
 public:
  enum class Change : std::uint8_t { none, began, over };
  explicit Episodes(Duration quiet = std::chrono::seconds(10)) : quiet_(quiet) {}

  Change look(std::string_view of, bool happening, Time now) {
    const auto at = last_.find(of);
    if (happening && at == last_.end()) {
      last_.emplace(of, now);
      return Change::began;
    }
    if (at == last_.end()) return Change::none;
    if (happening) at->second = now;
    if (now - at->second < quiet_) return Change::none;
    last_.erase(at);
    return Change::over;
  }
  // Removes the episode of a subject that no longer exists.
  void forget(std::string_view of) {
    if (const auto at = last_.find(of); at != last_.end()) last_.erase(at);
  }
  std::size_t size() const { return last_.size(); }  // current episodes

 private:
  Duration quiet_;
  std::map<std::string, Time, std::less<>> last_;  // last time it happened
};

// Events for full tables and exceeded limits: one at the begin, derived from existing counters.
class LimitEvents {
 public:
  // A table with less than 1/kLow free counts as full.
  static constexpr std::uint64_t kLow = 20;

  explicit LimitEvents(EventLog& log) : log_(log) {}
  // Called about once a second, with a whole reading.
  void look(const Reading& reading, Time now);

 private:
  struct Subject;
  void count(const Subject& subject, std::uint64_t counted, Time now);
  void tell(const Subject& subject, std::uint64_t n, bool happening, Time now);

  EventLog& log_;
  Episodes episodes_{std::chrono::seconds(30)};
  std::map<std::string, std::uint64_t> counted_;  // at the last look
};

// Violated contracts as events: promise_missed at the first violated second, promise_kept once the contract
// has conformed for kQuiet.

// One contract in one second; rates in bytes per second.
struct PromiseSecond {
  std::string_view customer, service, contract;
  double committed = 0, offered = 0, delivered_in = 0;
  std::optional<DropReason> reason{};
};

class PromiseEvents {
 public:
  // Time without a violated second after which an episode ends.
  static constexpr Duration kQuiet = std::chrono::seconds(5);

  explicit PromiseEvents(EventLog& log) : log_(log) {}
  // Takes the last second of a contract. Call once a second for each contract.
  void look(const PromiseSecond& second, bool violated, Time now);
  // A contract was removed.
  void forget(const PromiseSecond& contract);

 private:
  EventLog& log_;
  Episodes episodes_{kQuiet};
};

}  // namespace surety
