// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/port_shaper.h"

namespace surety {

PortShaper::PortShaper(const PortShaperParams& params, Time now)
    : limited_(params.rate.has_value()),
      overhead_(params.overhead),
      // A bucket without depth could never hold the credit that lets one packet go.
      params_(params.rate.value_or(Rate{}), Depth::bytes(std::max<std::uint64_t>(params.burst.count(), 1))) {
  bucket_.reset(params_, now);
}

void PortShaper::adopt(const PortShaper& other, Time now) {
  advance(now);  // up to here at the old rate
  if (!limited_) bucket_.reset(other.params_, now);
  limited_ = other.limited_;
  overhead_ = other.overhead_;
  params_ = other.params_;
  bucket_.charge(std::max<Credit>(bucket_.credit() - params_.depth(), 0));
}

Time PortShaper::next_event(Time now) const {
  if (!limited_) return now;
  return std::max(now, bucket_.ready(params_, 1));
}

}  // namespace surety
