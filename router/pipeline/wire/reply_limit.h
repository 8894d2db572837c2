// SPDX-License-Identifier: BSD-3-Clause
// Limits answers to unsolicited requests: a burst, then a rate per second.
#pragma once

#include "conditioners/token_bucket.h"

namespace surety {

class ReplyLimit {
 public:
  ReplyLimit(std::uint32_t per_second, std::uint32_t at_once, Time now)
      : params_(Rate::bytes_per_second(per_second * kDefaultNominalPacket.count()), Depth::packets(at_once),
                TokenUnit::packets) {
    bucket_.reset(params_, now);
  }

  bool permit(Time now) {
    bucket_.fill(params_, now);
    return bucket_.take(params_, params_.cost(0));
  }

 private:
  TokenBucketParams params_;
  TokenBucket bucket_;
};

}  // namespace surety
