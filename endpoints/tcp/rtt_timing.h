// SPDX-License-Identifier: BSD-3-Clause
// Measures round-trip times: by the peer's echo of our timestamp (RFC 7323 4), else by one timed segment at a
// time (RFC 6298 3) whose ACK covers no retransmission: Karn's algorithm, and no sample of a segment that
// arrived long ago and waited for a hole before it. A retransmission spoils no other sample.
//
// An echo from before a timeout is Karn's case too: if the segment arrived and its ACK was lost, it measures
// our timeout, and would make the next one longer. SRTT takes one of many samples in a round trip (RFC 7323
// 4.2); the least round-trip time takes all.
#pragma once

#include <optional>

#include "endpoints/tcp/rto.h"

namespace surety::endpoints {

class RttTiming {
 public:
  // The timestamp clock: 1.024 us, within RFC 7323 5.4 (a lap takes longer than any packet lives), because
  // GTCP's cwnd_G is no better than its least round-trip time. A shift, not a division.
  static constexpr int kTickShift = 10;
  static constexpr Duration kTick{1 << kTickShift};

  // `offset` is added to our timestamps. Nothing is sent before `start`.
  RttTiming(std::uint32_t offset, Time start) : earliest_(start), offset_(offset) {}

  std::uint32_t timestamp(Time now) const {
    return offset_ + static_cast<std::uint32_t>(now.time_since_epoch().count() >> kTickShift);
  }
  const RttEstimator& estimate() const { return rtt_; }

  // A segment that ends at the position `end`; `again`: some of it was sent before.
  void on_sent(std::uint64_t end, bool again, Time now) {
    if (again) {
      again_end_ = std::max(again_end_, end);
    } else if (timed_end_ == 0) {
      timed_end_ = end;
      timed_at_ = now;
    }
  }
  void on_timeout(Time now) { earliest_ = now; }

  // True if an ACK up to `ack` acknowledges data that was sent once, among others.
  bool sent_once(std::uint64_t ack) const { return ack > again_end_; }

  // The ACK of new data up to `ack`, or of our SYN, with the timestamp that it echoes.
  // True: SRTT has a new sample.
  bool on_ack(std::uint64_t ack, std::optional<std::uint32_t> echo, Time now) {
    const bool timed = timed_end_ != 0 && ack >= timed_end_;
    const bool one_a_round = timed || timed_end_ == 0;
    const bool ambiguous = acked_ < again_end_;
    acked_ = ack;
    Duration r = now - timed_at_;
    if (echo) {
      r = Duration(std::int64_t{static_cast<std::int32_t>(timestamp(now) - *echo)} << kTickShift);
      if (r < Duration{} || r > now - earliest_ + kTick) return false;  // a timestamp that we never sent
    } else if (!timed || ambiguous) {
      if (timed) timed_end_ = 0;
      return false;
    }
    if (one_a_round) {
      rtt_.on_sample(r);
      timed_end_ = 0;
    } else {
      rtt_.on_further_sample(r);
    }
    return one_a_round;
  }

 private:
  std::uint64_t timed_end_ = 0;  // the ACK of this is a sample of SRTT; zero: the next new segment begins one
  Time timed_at_{};              // sending time of that segment
  std::uint64_t acked_ = 0;      // the last ACK
  std::uint64_t again_end_ = 0;  // end of the furthest retransmission
  Time earliest_;                // earliest timestamp that an echo may have
  RttEstimator rtt_;
  std::uint32_t offset_;
};

}  // namespace surety::endpoints
