// SPDX-License-Identifier: BSD-3-Clause
// Contracts whose rate is not delivered while it is asked for, as events: promise_missed when that begins,
// promise_kept once it is over.
#pragma once

#include <string_view>

#include "router/observe/episodes.h"
#include "router/observe/events.h"

namespace surety {

// One contract in one second; rates in bytes per second.
struct PromiseSecond {
  std::string_view customer, service, contract;
  double committed = 0, offered = 0, delivered_in = 0;
};

class PromiseEvents {
 public:
  // A promise is kept again after so long without a second that missed it.
  static constexpr Duration kQuiet = std::chrono::seconds(5);

  explicit PromiseEvents(EventLog& log) : log_(log) {}
  // Once a second, for each contract that there is: whether its rate was asked for and not delivered.
  void look(const PromiseSecond& second, bool missed, Time now);
  // A contract is gone.
  void forget(const PromiseSecond& contract);

 private:
  EventLog& log_;
  Episodes episodes_{kQuiet};
};

}  // namespace surety
