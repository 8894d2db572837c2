// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/port_shaper.h"

namespace surety {

// A bucket without depth could never hold the credit that lets one packet go.
TokenBucketParams bucket_params(std::optional<Rate> rate, Bytes burst) {
  return {rate.value_or(Rate{}), Depth::bytes(std::max<std::uint64_t>(burst.count(), 1))};
}

void change_bucket(TokenBucket& bucket, const TokenBucketParams& before, bool limited,
                   const TokenBucketParams& after, Time now) {
  bucket.fill(before, now);  // up to here at the old rate
  if (!limited) bucket.reset(after, now);
  bucket.charge(std::max<Credit>(bucket.credit() - after.depth(), 0));
}

PortShaper::PortShaper(const PortShaperParams& params, Time now)
    : limited_(params.rate.has_value()),
      overhead_(params.overhead),
      params_(bucket_params(params.rate, params.burst)) {
  bucket_.reset(params_, now);
}

void PortShaper::adopt(const PortShaper& other, Time now) {
  change_bucket(bucket_, params_, limited_, other.params_, now);
  limited_ = other.limited_;
  overhead_ = other.overhead_;
  params_ = other.params_;
}

Time PortShaper::next_event(Time now) const {
  if (!limited_) return now;
  return std::max(now, bucket_.ready(params_, 1));
}

}  // namespace surety
