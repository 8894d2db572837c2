// SPDX-License-Identifier: BSD-3-Clause
// The times at which a TFRC sender's packets leave (RFC 5348 4.6), and what holds them back: the rate or the
// application (8.2.1).
//
// The next packet is due s / G after the one before was *due*, so that a rate is exact over any time,
// whenever the sender is polled; credit for time not used is bounded. An application with a rate of its own
// offers packets one by one, and keeps what it could not send yet.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "conditioners/units.h"
#include "endpoints/engine/engine.h"

namespace surety::endpoints {

// Moments at a fixed distance from one another, finer than a nanosecond: a million packets at a rate that
// does not divide the second add up to less than a nanosecond of error (of slow ones: 2 in 10^16). The next
// moment costs additions only.
inline constexpr int kFractionBits = 24;

// Time of `bytes` at `rate` (bytes/s, not zero): whole nanoseconds and 2^-24 of them, rounded down.
struct PacedGap {
  Duration whole{};
  std::uint32_t fraction = 0;

  static PacedGap of(double bytes, double rate) {
    const double ns = bytes * 1e9 / rate;
    const double whole = std::floor(ns);
    return {Duration(static_cast<std::int64_t>(whole)),
            static_cast<std::uint32_t>((ns - whole) * (1 << kFractionBits))};
  }
};

struct PacedTime {
  Time at;
  std::uint32_t fraction = 0;

  void advance(const PacedGap& gap) {
    fraction += gap.fraction;
    at += gap.whole + Duration(fraction >> kFractionBits);
    fraction &= (1u << kFractionBits) - 1;
  }
};

inline Duration from_seconds(double s) {
  return Duration(static_cast<std::int64_t>(s * 1e9));
}

class Pacer {
 public:
  static constexpr Duration kLeastCredit = std::chrono::milliseconds(1);
  static constexpr double kMostRate = 125e9;  // bytes/s: beyond any link

  // Packets of `segment` bytes; the application offers `application` bytes/s from `start` on; zero: as many
  // as may be sent. Call set_rate() before the first packet.
  Pacer(Bytes segment, Rate application, Time start)
      : due_{start},
        offered_{application == Rate{} ? kNow : start},
        application_(application.bytes_per_second()),
        segment_(segment) {
    if (application_ > 0) application_gap_ = PacedGap::of(bytes(), application_);
  }

  // The paced time of the next packet, the application's own rate included; in the past: now.
  Time next() const { return std::max(due_.at, offered_.at); }
  // A packet leaves. True: everything that the rate permits has been sent.
  bool on_sent(Time now) {
    if (now - due_.at > credit_ || !begun_) due_ = {begun_ ? now - credit_ : now};
    begun_ = true;
    due_.advance(gap_);
    offered_.advance(application_gap_);
    return offered_.at <= due_.at && due_.at > now;
  }
  bool begun() const { return begun_; }  // a packet was sent

  // Bytes/s, not zero. The rest of the wait for the next packet is scaled to the new rate.
  void set_rate(double rate, Time now) {
    if (rate == rate_) return;
    if (begun_ && due_.at > now) due_ = {now + from_seconds(seconds(due_.at - now) * rate_ / rate)};
    rate_ = rate;
    gap_ = PacedGap::of(bytes(), std::min(rate, kMostRate));
  }
  void set_rtt(Duration rtt) { credit_ = std::max(rtt / 2, kLeastCredit); }

  double rate() const { return rate_; }
  bool follows_application() const { return application_ > 0 && application_ < rate_; }
  Bytes segment() const { return segment_; }
  double bytes() const { return static_cast<double>(segment_.count()); }  // a packet's

 private:
  PacedTime due_;      // paced by the rate
  PacedTime offered_;  // paced by the application; kNow without one
  PacedGap gap_, application_gap_;
  Duration credit_ = kLeastCredit;  // lateness of a packet that does not delay the next one
  bool begun_ = false;
  double rate_ = 0, application_;
  Bytes segment_;
};

// The intervals in which the application, not the rate, held the sender back all the time (8.2.1).
class DataLimits {
 public:
  // `free`: the packet was the last one of everything permitted (Pacer::on_sent).
  void on_sent(bool free, Time now) {
    if (free && limited_) {
      from_ = last_free_;
      until_ = now;
    }
    limited_ = !free;
    if (free) last_free_ = now;
  }
  // Feedback acknowledges the packet sent at `sent`. True: the interval that it covers, which is from the one
  // before and at least `rtt` long, was limited by the application.
  bool on_feedback(Time sent, Duration rtt) {
    const Time end = std::max(sent, acknowledged_);
    const Time begin = std::min(acknowledged_, end - rtt);
    acknowledged_ = end;
    return (limited_ && last_free_ <= begin) || (from_ <= begin && end < until_);
  }

 private:
  bool limited_ = true;              // true: limited by the application since last_free_
  Time last_free_ = kNow;            // last time that everything permitted was sent
  Time acknowledged_ = kNow;         // t_new: when the newest packet that was acknowledged was sent
  Time from_ = kNow, until_ = kNow;  // the last completed data-limited stretch: excluding both ends
};

}  // namespace surety::endpoints
