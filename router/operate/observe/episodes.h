// SPDX-License-Identifier: BSD-3-Clause
// Reports the begin and the end of continuous or intermittent conditions, once each.
//
// Sampled about once a second. An episode begins with the first sample that has the condition, and ends when
// `quiet` has passed since the last one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "conditioners/units.h"

namespace surety {

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

}  // namespace surety
