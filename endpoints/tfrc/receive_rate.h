// SPDX-License-Identifier: BSD-3-Clause
// X_recv at both ends of a TFRC flow: how the receiver measures it (RFC 5348 6.2) and what the sender
// remembers of it (X_recv_set, 4.3). Bytes per second of whatever bytes the caller counts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "conditioners/units.h"

namespace surety::endpoints {

// The receiver's measurement: over the time since the last feedback; where that is less than a round-trip
// time (a new loss event triggers feedback at once) the window before is taken in, so that a burst is not a
// rate.
class ReceiveRate {
 public:
  void on_packet(std::uint32_t bytes, Time now) {
    if (!begun_) current_ = earlier_ = {now, 0};
    begun_ = true;
    current_.bytes += bytes;
  }
  // Bytes since the last feedback: without any, no feedback is due (6.2).
  std::uint64_t bytes() const { return current_.bytes; }

  // X_recv, at the sending of feedback: the present window ends and the next begins. 0 where no time has
  // passed, as for the very first packet (6.3). `rtt`: the receiver's idea of R_m; zero: not known, only the
  // window since the last feedback counts.
  double feedback(Time now, Duration rtt);

 private:
  struct Window {
    Time since{};
    std::uint64_t bytes = 0;
  };
  Window current_, earlier_;  // earlier: what came before, up to the beginning of current
  bool begun_ = false;
};

// X_recv_set: what the receiver has reported lately; twice its maximum bounds the sender (4.3).
class ReceiveRateSet {
 public:
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();

  // Begins with the single item "infinity", which leaves the set like any other.
  explicit ReceiveRateSet(Time now) { replace(kUnlimited, now); }

  // The usual case: adds `rate` and forgets what was reported before `now` - `keep` (two RTTs). Room for
  // kItems: with more reports than that in two RTTs the least of them makes room, so that max() is exact.
  void update(double rate, Time now, Duration keep);
  // After a data-limited interval: only the largest survives, and is as of now; infinity does not.
  void maximize(double rate, Time now);
  void halve();
  void replace(double rate, Time now) {
    items_[0] = {rate, now};
    size_ = 1;
  }
  double max() const;
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kItems = 4;
  struct Item {
    double rate;
    Time at;
  };
  std::array<Item, kItems> items_;
  std::size_t size_ = 0;
};

}  // namespace surety::endpoints
