// SPDX-License-Identifier: BSD-3-Clause
// Parameters of the conditioners: what the configuration sets.
//
// Plain data without the algorithms, so that a change of an algorithm does not compile what only configures
// it. The header of each algorithm defines what its parameters mean.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "conditioners/units.h"

namespace surety {

// Units of token_bucket.h: 10^-9 bit.
using Credit = std::int64_t;
inline constexpr Credit kCreditPerBit = 1'000'000'000;
inline constexpr Credit kCreditPerByte = 8 * kCreditPerBit;
inline constexpr Bytes kMaxBucketDepth{1'000'000'000};
inline constexpr Bytes kDefaultNominalPacket{1500};

// Parameters of token_bucket.h. Immutable; all buckets of a service share them.
class TokenBucketParams {
 public:
  TokenBucketParams() = default;
  // `nominal` is the packet length of a depth in packets, and of a token that is a packet.
  TokenBucketParams(Rate rate, Depth depth, TokenUnit unit = TokenUnit::bytes,
                    Bytes nominal = kDefaultNominalPacket)
      : per_ns_(static_cast<Credit>(rate.bits_per_second())),
        depth_(static_cast<Credit>(std::min(depth.bytes(nominal), kMaxBucketDepth).count()) * kCreditPerByte),
        per_byte_(unit == TokenUnit::bytes ? kCreditPerByte : 0),
        per_packet_(unit == TokenUnit::bytes
                        ? 0
                        : static_cast<Credit>(std::min(nominal, kMaxBucketDepth).count()) * kCreditPerByte),
        ns_per_credit_(per_ns_ > 0 ? 1.0 / static_cast<double>(per_ns_) : 0) {
    if (unit != TokenUnit::ticks) return;
    tick_ = per_packet_;
    if (tick_ == 0) return;
    special_ = kInTicks;
    depth_ = std::max(depth_ / tick_, Credit{1}) * tick_;  // whole tokens
  }

  Rate rate() const { return Rate::bits_per_second(static_cast<std::uint64_t>(per_ns_)); }
  Credit depth() const { return depth_; }
  // The time in which the rate brings `credit`; 0 without a rate. To about one part in 10^15.
  Duration time_of(Credit credit) const {
    return Duration(static_cast<std::int64_t>(static_cast<double>(credit) * ns_per_credit_));
  }
  Credit cost(std::uint32_t length) const { return per_byte_ * length + per_packet_; }
  // Cost of `packets` packets with `bytes` bytes in all, at most 1 GB; saturates beyond 64 bits.
  Credit cost(std::uint32_t bytes, std::uint32_t packets) const {
    Credit of_packets;
    const bool beyond = __builtin_mul_overflow(per_packet_, Credit{packets}, &of_packets);
    return beyond ? std::numeric_limits<Credit>::max() : per_byte_ * bytes + of_packets;
  }
  bool in_ticks() const { return (special_ & kInTicks) != 0; }  // TokenUnit::ticks
  // The owner of the buckets counts TokenBucket::surplus() before it fills them. Initially off.
  bool counts_surplus() const { return (special_ & kCountsSurplus) != 0; }
  void count_surplus(bool on) {
    special_ = static_cast<std::uint8_t>((special_ & kInTicks) | (on ? kCountsSurplus : 0));
  }
  // False: add() fills a bucket, which spares each packet the question why not.
  bool special() const { return special_ != 0; }
  // Credit that the rate has brought since the last tick; TokenUnit::ticks only.
  Credit since_tick(Time now) const {
    return static_cast<Credit>(static_cast<__int128>(now.time_since_epoch().count()) * per_ns_ % tick_);
  }

 private:
  friend class TokenBucket;
  Credit tick_ = 0;    // a token of TokenUnit::ticks; else 0
  Credit per_ns_ = 0;  // credit gained per nanosecond: numerically the rate in bit/s
  Credit depth_ = 0;
  Credit per_byte_ = 0;  // cost of a packet = per_byte * length + per_packet; one of them is zero
  Credit per_packet_ = 0;
  double ns_per_credit_ = 0;  // only to *predict* waiting times, never to count
  static constexpr std::uint8_t kInTicks = 1, kCountsSurplus = 2;
  std::uint8_t special_ = 0;
};

// Parameters of enhanced_token_bucket.h.
struct EnhancedTokenBucketParams {
  TokenBucketParams in;        // r, b1
  TokenBucketParams out;       // r (it lives in AlphaClock time, hence alpha*r), b2
  std::uint32_t buffer = 100;  // B, packets
  // The bytes that r brings in the time that the buffer may delay a packet. 0: only B limits the buffer.
  std::uint32_t buffer_bytes = 0;
  // While something is congested, OUT packets need a backlog once the flow has left tokens unused
  // (enhanced_token_bucket.h). Initially off.
  bool out_from_backlog() const { return in.counts_surplus(); }
  void set_out_from_backlog(bool on) { in.count_surplus(on); }
};

// Rule by which alpha goes up after congestion. It goes down as in the CSA paper.
//   paper     one step whenever T2 expires without congestion, which restarts T2. Where T2 expires in
//             congestion, it stays stopped until the next onset or step down, and alpha stays with it
//             (section III, to the letter). For remote paths: if the signalling router reports events, else
//             as in `periodic`.
//   periodic  T2 restarts whenever it expires.
//   search    AlphaSearch (csa_controller.h); T2 as in `periodic`.
enum class AlphaControl : std::uint8_t { paper, periodic, search };

// Parameters of csa_controller.h.
struct CsaParams {
  Ratio min = Ratio::of(0.04);
  Ratio max = Ratio::of(0.4);  // unlimited: OUT packets leave without tokens while nothing is congested
  Ratio step = Ratio::of(0.02);
  AlphaControl control = AlphaControl::periodic;
  Duration t1 = std::chrono::milliseconds(30);
  Duration t2 = std::chrono::milliseconds(90);
  bool auto_max = false;  // `max` is derived from the committed rates: a reload may change it
  friend bool operator==(const CsaParams&, const CsaParams&) = default;
  // True if flows may keep their alpha: equal, but for a derived `max`.
  bool continues(CsaParams before) const {
    if (auto_max && before.auto_max) before.max = max;
    return *this == before;
  }
};

// Parameters of ard_marker.h.
struct ArdParams {
  Rate tpr_max;
  Depth bucket = Depth::packets(60);              // b
  Depth threshold = Depth::packets(15);           // T_rd
  Probability remark{0.5};                        // MAX_rem
  Probability drop{0.02};                         // P_drop; 0 makes it ARM
  Duration interval = std::chrono::seconds(100);  // n * tau
  TokenUnit tokens = TokenUnit::bytes;
  Bytes nominal_packet = kDefaultNominalPacket;
};

}  // namespace surety
