// SPDX-License-Identifier: BSD-3-Clause
// A receiver's own data in its sequence space: SYN, perhaps a few bytes, FIN.
//
// Go-back-N on a timer without an estimator: 1 s (RFC 6298 2.1), doubled by each repetition. Nothing but the
// SYN is sent before that is acknowledged. Positions count from the initial sequence number: SYN is 0, byte i
// is i + 1, FIN comes last.
#pragma once

#include <cstdint>
#include <span>

#include "conditioners/units.h"

namespace surety::endpoints {

class TcpOutput {
 public:
  static constexpr unsigned kRepetitions = 5;  // repetitions until the peer counts as gone, 63 s in all
  static constexpr Duration kFirstTimeout = std::chrono::seconds(1);

  explicit TcpOutput(std::uint32_t initial) : initial_(initial) {}

  // The whole of what is to be sent: each time what was there before, and more behind it. The bytes stay
  // where they are until they are acknowledged.
  void set_bytes(std::span<const std::uint8_t> all) { bytes_ = all; }
  void finish() { fin_ = true; }

  // SND.UNA and SND.MAX.
  std::uint32_t unacknowledged() const { return initial_ + acknowledged_; }
  std::uint32_t highest() const { return initial_ + highest_; }
  bool finishing() const { return fin_; }
  bool syn_acknowledged() const { return acknowledged_ > 0; }
  bool fin_acknowledged() const { return fin_ && acknowledged_ == end(); }

  struct Piece {
    std::uint32_t sequence = 0;
    std::uint8_t flags = 0;  // SYN, FIN, PSH
    std::span<const std::uint8_t> bytes;
  };
  bool due() const { return next_ < sendable(); }
  // The next piece, at most `segment` > 0 bytes; due() holds. It counts as sent.
  Piece take(std::size_t segment, Time now);

  // SEG.ACK, SND.UNA =< SEG.ACK =< SND.MAX, and the window that came with it.
  void acknowledge(std::uint32_t ack, std::uint32_t window, Time now);
  void repeat() { next_ = acknowledged_; }  // the SYN came again: answer at once

  Time timer() const { return timer_; }
  // The timer, when `now` has reached it; false: the last repetition had no answer either.
  bool expire(Time now);

 private:
  std::uint32_t end() const { return static_cast<std::uint32_t>(bytes_.size()) + 1 + (fin_ ? 1 : 0); }
  // The first position that may not be sent yet. A FIN needs no window: it takes no room there.
  std::uint32_t sendable() const;
  void arm(Time now) { timer_ = now + kFirstTimeout * (1 << repetitions_); }

  std::uint32_t initial_, acknowledged_ = 0, next_ = 0, highest_ = 0;
  std::uint32_t window_ = 0;
  bool fin_ = false;
  std::uint8_t repetitions_ = 0;
  Time timer_ = kNever;
  std::span<const std::uint8_t> bytes_;
};

}  // namespace surety::endpoints
