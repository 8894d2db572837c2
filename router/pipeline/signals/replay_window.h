// SPDX-License-Identifier: BSD-3-Clause
// The latest sequence numbers received from a sender (RFC 4303 3.4.3, anti-replay).
#pragma once

#include <bitset>
#include <cstdint>

namespace surety {

class ReplayWindow {
 public:
  static constexpr std::uint64_t kSize = 1024;

  // Starts with one number received.
  explicit ReplayWindow(std::uint64_t first) : highest_(first) { seen_.set(0); }

  // True if the number is new; marks it as received. Numbers kSize or more behind the highest one count as
  // received.
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
  std::bitset<kSize> seen_;  // indexed by distance from the highest one
};

}  // namespace surety
