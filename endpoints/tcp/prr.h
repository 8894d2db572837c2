// SPDX-License-Identifier: BSD-3-Clause
// Proportional Rate Reduction (RFC 6937): while a loss is recovered from, how much may leave for what an ACK
// says has arrived, so that what is in flight comes down to the target over a round trip and not at once; or,
// when more was lost than that, grows back to it as in slow start (PRR-SSRB). No memory of ACKs: the same
// whether they come one by one, late or together.
#pragma once

#include <algorithm>
#include <cstdint>

namespace surety::endpoints {

class Prr {
 public:
  // The loss is noticed with `flight` bytes outstanding (RecoverFS). ACKs that came together with the first
  // sign of the loss, and before it, have acknowledged `answered` more, for which nothing could leave yet.
  void begin(std::uint64_t flight, std::uint64_t answered = 0) {
    flight_ = std::max<std::uint64_t>(flight + answered, 1);
    delivered_ = answered;
    out_ = 0;
  }
  void on_sent(std::uint64_t bytes) { out_ += bytes; }

  // An ACK reports `delivered` more bytes, `pipe` are in flight. Returns how many may leave.
  std::uint64_t on_ack(std::uint64_t delivered, std::uint64_t pipe, std::uint64_t target,
                       std::uint32_t smss) {
    delivered_ += delivered;
    if (pipe > target) {
      const std::uint64_t due = (delivered_ * target + flight_ - 1) / flight_;
      return due > out_ ? due - out_ : 0;
    }
    const std::uint64_t owed = delivered_ > out_ ? delivered_ - out_ : 0;
    return std::min(target - pipe, std::max(owed, delivered) + smss);
  }

 private:
  std::uint64_t flight_ = 1, delivered_ = 0, out_ = 0;
};

}  // namespace surety::endpoints
