// SPDX-License-Identifier: BSD-3-Clause
// Tables that are full and limits that refuse somebody, as events: one when it begins (episodes.h), from what
// is counted anyway.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "router/observe/episodes.h"
#include "router/observe/events.h"
#include "router/observe/reading.h"

namespace surety {

class LimitEvents {
 public:
  // A table with so little of it free is as good as full: 1 of so many.
  static constexpr std::uint64_t kLow = 20;

  explicit LimitEvents(EventLog& log) : log_(log) {}
  // About once a second, with a whole reading.
  void look(const Reading& reading, Time now);

 private:
  struct Subject;
  void count(const Subject& subject, std::uint64_t counted, Time now);
  void tell(const Subject& subject, std::uint64_t n, bool happening, Time now);

  EventLog& log_;
  Episodes episodes_{std::chrono::seconds(30)};
  std::map<std::string, std::uint64_t> counted_;  // at the last look
};

}  // namespace surety
