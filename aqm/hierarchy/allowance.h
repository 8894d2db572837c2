// SPDX-License-Identifier: BSD-3-Clause
// Amount that one level lets a run of packets of one queue spend: the rest of the child's round, and its
// shaper's credit. In registers while the run lasts.
#pragma once

#include <cstdint>
#include <limits>

#include "aqm/hierarchy/share_node.h"
#include "aqm/hierarchy/sibling_wheel.h"

namespace surety {

// A shaper's or a cap's.
class CreditAllowance {
 public:
  // `limited`: else there is no end of it.
  CreditAllowance(TokenBucket& bucket, const TokenBucketParams& params, bool limited, WireOverhead overhead,
                  Time now)
      : params_(params), overhead_(overhead), limited_(limited) {
    if (!limited) return;
    bucket.fill(params, now);
    before_ = left_ = bucket.credit();
  }
  // A packet leaves, whether it is all there or not; whether one more may.
  bool spend(std::uint32_t length) {
    if (!limited_) return true;
    left_ -= params_.cost(overhead_.wire_bytes(length));
    return left_ > 0;
  }
  bool spent() const { return limited_ && left_ <= 0; }
  void settle(TokenBucket& bucket) const {
    if (limited_) bucket.charge(before_ - left_);
  }

 private:
  const TokenBucketParams& params_;
  WireOverhead overhead_;
  bool limited_;
  Credit before_ = 0, left_ = 0;
};

// A place among siblings.
class TurnAllowance {
 public:
  TurnAllowance(const Turn& turn, const SiblingWheel& wheel, std::uint32_t inverse,
                const SiblingWeights& weights)
      : tag_(turn.tag), end_(wheel.end_of_turn()), price_(SiblingWheel::price(inverse, weights)) {}
  // See CreditAllowance::spend(); `bytes` of the port's wire.
  bool spend(std::uint32_t bytes) {
    tag_ += bytes * price_ >> SiblingWheel::kPriceShift;
    return tag_ < end_;
  }
  std::uint64_t tag() const { return tag_; }

 private:
  std::uint64_t tag_, end_, price_;
};

}  // namespace surety
