// SPDX-License-Identifier: BSD-3-Clause
// Which of the latest sequence numbers of a sender have been seen (RFC 4303 3.4.3, anti-replay).
#pragma once

#include <bitset>
#include <cstdint>

namespace surety {

class ReplayWindow {
 public:
  static constexpr std::uint64_t kSize = 1024;

  // Starts with one number seen.
  explicit ReplayWindow(std::uint64_t first) : highest_(first) { seen_.set(0); }

  // Whether it is new; if so, it is seen from now on. What lies kSize or more behind the
  // highest one counts as seen.
  bool accept(std::uint64_t sequence) {
    if (sequence > highest_) {
      const std::uint64_t step = sequence - highest_;
      seen_ = step < kSize ? seen_ << step : std::bitset<kSize>();
      highest_ = sequence;
    }
    const std::uint64_t behind = highest_ - sequence;
    if (behind >= kSize || seen_[behind]) return false;
    seen_.set(behind);
    return true;
  }

 private:
  std::uint64_t highest_;
  std::bitset<kSize> seen_;  // by distance from the highest one
};

}  // namespace surety
