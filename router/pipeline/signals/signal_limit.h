// SPDX-License-Identifier: BSD-3-Clause
// Limits signals per second, with a tenth of a second's worth at once (at least 8).
#pragma once

#include <algorithm>
#include <cstdint>

#include "conditioners/token_bucket.h"

namespace surety {

class SignalLimit {
 public:
  explicit SignalLimit(std::uint32_t per_second)
      : params_(Rate::bytes_per_second(per_second * kDefaultNominalPacket.count()),
                Depth::packets(std::max(8u, per_second / 10)), TokenUnit::packets) {}

  void reset(TokenBucket& bucket, Time now) const { bucket.reset(params_, now); }
  bool permit(TokenBucket& bucket, Time now) const {
    bucket.fill(params_, now);
    return bucket.take(params_, params_.cost(0));
  }
  // True if it is as reset() leaves it.
  bool is_full(TokenBucket& bucket, Time now) const {
    bucket.fill(params_, now);
    return bucket.credit() == params_.depth();
  }

 private:
  TokenBucketParams params_;
};

}  // namespace surety
