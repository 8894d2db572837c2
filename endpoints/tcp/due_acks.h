// SPDX-License-Identifier: BSD-3-Clause
// The acknowledgements that a receiver owes (RFC 5681 4.2, RFC 9293 3.8.6.3), in the order in which they
// became due: a duplicate ACK per segment, and no false duplicates, however many packets are received between
// two polls.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "conditioners/units.h"
#include "endpoints/tcp/wire_tcp.h"

namespace surety::endpoints {

class DueAcks {
 public:
  static constexpr Duration kDelay = std::chrono::milliseconds(40);
  static constexpr std::size_t kMost = 16;  // beyond it the newest takes the place of the one before

  struct Due {
    std::uint32_t ack, cause;  // cause: where the segment begins that is beyond RCV.NXT, or the same as `ack`
    tcp::Block twice;          // range received twice
  };

  // `next`: RCV.NXT, which the SYN's answer acknowledges.
  explicit DueAcks(std::uint32_t next) : last_(next) {}

  bool empty() const { return count_ == 0; }
  Time delayed() const { return delayed_; }     // expiry of a delayed one; kNever: there is none
  std::uint32_t last() const { return last_; }  // Last.ACK.sent

  void add(const Due& due) {
    if (count_ == kMost) --count_;
    due_[count_++] = due;
    on_sent(due.ack);
  }
  // The first one, which is sent now; there is one.
  Due take() {
    const Due due = due_[0];
    std::copy(due_.begin() + 1, due_.begin() + count_, due_.begin());
    --count_;
    return due;
  }
  // A segment with the acknowledgement `ack` is sent or due: that ends the delay.
  void on_sent(std::uint32_t ack) {
    last_ = ack;
    unacknowledged_ = 0;
    delayed_ = kNever;
  }
  // A segment arrived in order. True: it is to be acknowledged now, since `at_once` or since it is the second
  // one; else after kDelay.
  bool on_segment(bool at_once, Time now) {
    if (at_once || ++unacknowledged_ >= 2) return true;
    delayed_ = now + kDelay;
    return false;
  }

 private:
  std::uint32_t last_;
  std::uint8_t unacknowledged_ = 0, count_ = 0;  // segments; due ones
  Time delayed_ = kNever;
  std::array<Due, kMost> due_;
};

}  // namespace surety::endpoints
