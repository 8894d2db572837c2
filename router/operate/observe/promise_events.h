// SPDX-License-Identifier: BSD-3-Clause
// Violated contracts as events: promise_missed at the first violated second, promise_kept once the contract
// has conformed for kQuiet.
#pragma once

#include <optional>
#include <string_view>

#include "conditioners/drop_reason.h"
#include "router/operate/observe/episodes.h"
#include "router/operate/observe/events.h"

namespace surety {

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
