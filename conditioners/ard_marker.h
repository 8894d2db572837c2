// SPDX-License-Identifier: BSD-3-Clause
// The ARD and ARM aggregate markers (Hur, section II, equations 1-4; conditioners/README.md).
//
// Two meters count IN and OUT bytes over n*tau. At the end of each interval
//   TPR = TPR_max * lambda_in / (lambda_in + lambda_out)                    (2)
// (no traffic keeps the last TPR; before the first interval ends it is TPR_max), but not less than lambda_in:
// section 2.2 wants it larger, and it is by itself as long as both together are less than TPR_max. A leaky
// bucket of b tokens is filled at TPR; an IN packet that leaves takes its tokens. Below T_rd tokens an
// arriving IN packet is dropped with P_drop (ARD; ARM has P_drop = 0), else remarked OUT with P_rem = (T_rd -
// tokens) MAX_rem / T_rd (1); without tokens for it it is always remarked (or dropped with P_drop). Remarked
// and dropped packets take no token.
#pragma once

#include <cstdint>

#include "conditioners/packet.h"
#include "conditioners/params.h"
#include "conditioners/rng.h"
#include "conditioners/token_bucket.h"
#include "conditioners/units.h"

namespace surety {

// An interval meter: the mean rate over the last whole interval (the ARD paper's input meters over n*tau).
//
// Guarantees: count() is one addition; close() ends the interval and rate() is then exactly the bytes counted
// in it over its length (0 before the first one ended).
class RateMeter {
 public:
  void count(std::uint32_t length) { bytes_ += length; }
  std::uint64_t bytes() const { return bytes_; }  // in the running interval

  // The running interval was `interval` long; the next one begins.
  void close(Duration interval) {
    rate_ = static_cast<double>(bytes_) / seconds(interval);
    bytes_ = 0;
  }
  void restart() { bytes_ = 0; }         // restarts the running interval
  double rate() const { return rate_; }  // bytes per second

 private:
  std::uint64_t bytes_ = 0;
  double rate_ = 0;
};

enum class ArdVerdict : std::uint8_t { pass, remark, drop };

// Packets of one precedence in a burst.
struct BurstTally {
  std::uint32_t packets = 0, bytes = 0;
};

class ArdMarker {
 public:
  // Intervals end at `now` + k * interval.
  ArdMarker(const ArdParams& params, Time now, std::uint64_t seed);

  // One packet of the aggregate. OUT packets are only metered (always `pass`); `remark` means: becomes OUT.
  ArdVerdict offer(Precedence precedence, std::uint32_t length, Time now);

  // Offers a whole burst at once. true: the tokens are enough for each packet to pass, in
  // whatever order, with T_rd left over, and all are counted. false: offer() them one by one;
  // nothing has been counted or taken.
  bool pass(const BurstTally& in, const BurstTally& out, Time now);

  // Ends the intervals that are over; offer() does it too, this is for times without traffic and for meters.
  void advance(Time now) {
    if (now >= interval_end_) [[unlikely]]
      end_intervals(now);
  }

  // Takes over the parameters of `other`. The TPR is equation 2 with the new TPR_max and the rates that the
  // meters had; tokens stay, but for those beyond the new b. A changed interval begins at `now`; else the
  // running one continues.
  void adopt(const ArdMarker& other, Time now);

  // P_rem of equation 1, for an IN packet that finds `tokens` (and enough of them for itself).
  Probability remark_probability(Credit tokens) const {
    return Probability(static_cast<double>(threshold_ - tokens) * remark_slope_);
  }

  Rate tpr() const { return bucket_params_.rate(); }
  Credit tokens() const { return bucket_.credit(); }  // at the last IN packet or interval end
  // TK_num at `now` with the current TPR, if nothing comes until then: for observers.
  Credit tokens(Time now) const {
    TokenBucket bucket = bucket_;
    bucket.fill(bucket_params_, now);
    return bucket.credit();
  }
  Credit threshold() const { return threshold_; }  // T_rd
  double lambda_in() const { return in_.rate(); }  // bytes per second over the last whole interval
  double lambda_out() const { return out_.rate(); }
  Time next_event() const { return interval_end_; }  // end of the running interval

 private:
  void end_intervals(Time now);
  void set_tpr(Rate tpr);
  Rate measured(std::uint64_t bytes) const;

  ArdParams params_;
  TokenBucketParams bucket_params_;  // filled at TPR
  TokenBucket bucket_;
  Credit threshold_;     // T_rd
  double remark_slope_;  // MAX_rem / T_rd
  double drop_;          // P_drop
  RateMeter in_, out_;
  Time interval_end_;
  Rng rng_;
};

}  // namespace surety
