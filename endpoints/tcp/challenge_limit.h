// SPDX-License-Identifier: BSD-3-Clause
// Limit of a connection's answers to refused segments: challenge ACKs and resets, at most ten in any second
// that begins with one (RFC 5961 7). Without it two ends that refuse each other's ACKs would answer for ever.
#pragma once

#include "conditioners/units.h"

namespace surety::endpoints {

class ChallengeLimit {
 public:
  static constexpr std::uint32_t kPerSecond = 10;

  bool permit(Time now) {
    if (now >= until_) {
      until_ = now + std::chrono::seconds(1);
      left_ = kPerSecond;
    }
    if (left_ == 0) return false;
    --left_;
    return true;
  }

 private:
  Time until_ = Time::min();
  std::uint32_t left_ = 0;
};

}  // namespace surety::endpoints
