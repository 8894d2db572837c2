// How often a connection answers what it refuses: at most so many in any second that begins with one (TCP:
// RFC 5961 7, DCCP: RFC 4340 7.5.4). Without it two ends that refuse each other's answers would answer for
// ever.
#pragma once

#include "conditioners/units.h"

namespace surety::endpoints {

class ChallengeLimit {
 public:
  static constexpr std::uint32_t kPerSecond = 10;

  explicit constexpr ChallengeLimit(std::uint32_t per_second = kPerSecond) : per_second_(per_second) {}

  bool permit(Time now) {
    if (now >= until_) {
      until_ = now + std::chrono::seconds(1);
      left_ = per_second_;
    }
    if (left_ == 0) return false;
    --left_;
    return true;
  }

 private:
  Time until_ = Time::min();
  std::uint32_t per_second_, left_ = 0;
};

}  // namespace surety::endpoints
