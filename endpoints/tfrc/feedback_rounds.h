// SPDX-License-Identifier: BSD-3-Clause
// The rounds of a CCID 3 receiver: feedback is due once per round-trip time of the sender's window counter
// (RFC 4342 6, 8.1), by which the receiver measures the round-trip time, too.
#pragma once

#include <cstdint>

#include "conditioners/units.h"

namespace surety::endpoints {

class FeedbackRounds {
 public:
  Duration rtt() const { return rtt_; }  // zero: not known
  void on_handshake(Duration sample) { rtt_ = sample; }
  void on_feedback(Time now) { feedback_at_ = now; }

  // The newest data packet has this value of the window counter; `asks`: its sender has got no feedback
  // (DataAck). True: feedback is due, and a round begins: at the first packet, and where the counter has gone
  // a round-trip time beyond the one that began the last round.
  bool on_data(std::uint8_t counter, bool asks, Time now) {
    if (begun_ && !over(counter, asks, now)) return false;
    begun_ = true;
    counter_ = counter;
    at_ = now;
    return true;
  }

 private:
  static constexpr unsigned kRoundTrip = 4;  // quarters of the counter

  bool over(std::uint8_t counter, bool asks, Time now) {
    const unsigned quarters = (counter - counter_) & 15u;
    if (quarters < kRoundTrip) {
      whole_ = whole_ && !asks;
      return asks && now - feedback_at_ >= rtt_;
    }
    // More than four: the sender paused, or packets were lost, and the time is no sample.
    if (quarters == kRoundTrip && whole_) {
      const Duration sample = now - at_;
      rtt_ = rtt_ == Duration{} ? sample : (rtt_ * 7 + sample) / 8;
    }
    whole_ = true;
    return true;
  }

  Time at_{}, feedback_at_{};  // beginning of the round; the last feedback
  Duration rtt_{};
  bool begun_ = false, whole_ = false;  // whole: the round began with a value of the counter
  std::uint8_t counter_ = 0;            // the first value of the round
};

}  // namespace surety::endpoints
