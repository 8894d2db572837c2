// SPDX-License-Identifier: BSD-3-Clause
// A port's shaper: packets leave at most at `rate`, counted as the wire counts them.
//
// Rates count bytes of the IP packet (router/pipeline/README.md); `overhead` adds what the port's wire adds
// per packet. Guarantees, for a caller that sends only when ready(): in any interval T the wire carries at
// most rate * T + burst + one packet; and at least rate * T - one packet if there is always something to
// send and the caller looks at least every burst / rate. No rounding: the credit is exact
// (token_bucket.h). No division per packet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "aqm/params.h"
#include "conditioners/token_bucket.h"
#include "conditioners/units.h"

namespace surety {

// The bucket of a shaper or of a cap; `rate` none: it limits nothing.
TokenBucketParams bucket_params(std::optional<Rate> rate, Bytes burst);
// Gives a bucket other parameters. Credit and debt stay, credit beyond the new depth is lost. `limited`: it
// had a rate; else it begins full.
void change_bucket(TokenBucket& bucket, const TokenBucketParams& before, bool limited,
                   const TokenBucketParams& after, Time now);

class PortShaper {
 public:
  PortShaper(const PortShaperParams& params, Time now);  // the burst is available at `now`
  // Call once per turn; then ready() is true if one more packet may leave, and sent() charges for it.
  void advance(Time now) {
    if (limited_) bucket_.fill(params_, now);
  }
  // Takes over the parameters of `other`. Credit and debt stay, credit beyond the new burst is lost; a rate
  // where there was none begins with its burst. In an interval that has the change in it, the two rates give
  // their parts, and the larger burst counts.
  void adopt(const PortShaper& other, Time now);
  bool limited() const { return limited_; }
  // Credit > 0: the packet that leaves may overdraw, its debt delays the next one.
  bool ready() const { return !limited_ || bucket_.credit() > 0; }
  void sent(std::uint32_t ip_length) {
    if (limited_) bucket_.charge(params_.cost(overhead_.wire_bytes(ip_length)));
  }
  // True if several packets of `wire_bytes` on the wire in total may leave in any order. false: call ready()
  // for each packet. Up to 1 GB.
  bool affords(std::uint64_t wire_bytes) const {
    return !limited_ || bucket_.credit() >= params_.cost(static_cast<std::uint32_t>(wire_bytes));
  }
  // sent() for them.
  void sent_all(std::uint64_t wire_bytes) {
    if (limited_) bucket_.charge(params_.cost(static_cast<std::uint32_t>(wire_bytes)));
  }
  // Both in one.
  bool send_all(std::uint64_t wire_bytes) {
    const bool affordable = affords(wire_bytes);
    if (affordable) sent_all(wire_bytes);
    return affordable;
  }
  // The time when ready() becomes true if nothing is sent; `now` if it is, kNever at rate zero. Never too
  // early, at most 1 ns late (token_bucket.h).
  Time next_event(Time now) const;
  const WireOverhead& overhead() const { return overhead_; }

 private:
  TokenBucket bucket_;
  bool limited_;
  WireOverhead overhead_;
  TokenBucketParams params_;
};

}  // namespace surety
