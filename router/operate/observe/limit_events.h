// SPDX-License-Identifier: BSD-3-Clause
// Events for full tables and exceeded limits: one at the begin (episodes.h), derived from existing counters.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "router/operate/observe/episodes.h"
#include "router/operate/observe/events.h"
#include "router/operate/observe/reading.h"

namespace surety {

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

}  // namespace surety
