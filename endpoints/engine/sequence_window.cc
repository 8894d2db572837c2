// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/engine/sequence_window.h"

namespace surety::endpoints {

void SequenceWindow::restart() {
  earlier_ = lost_in_all();
  expected_ = arrived_ = 0;
}

void SequenceWindow::begin(std::uint32_t sequence) {
  highest_ = sequence;
  suspect_ = 0;
  arrived_ = 1;
  expected_ = sequence < kSize ? std::uint64_t{sequence} + 1 : 1;
  // Numbers before the beginning are not lost, so they must not arrive either.
  bits_.fill(~std::uint64_t{0});
  for (std::uint32_t s = 0; s + 1 < expected_; ++s) clear(s);
}

void SequenceWindow::advance(std::uint32_t sequence, std::uint32_t by) {
  if (by >= kSize) {
    bits_.fill(0);
  } else {
    for (std::uint32_t s = highest_ + 1; s != sequence; ++s) clear(s);
  }
  highest_ = sequence;
  expected_ += by;
  ++arrived_;
  mark(sequence);
}

SequenceWindow::Arrival SequenceWindow::on_other(std::uint32_t sequence) {
  if (!started()) {
    begin(sequence);
    return sequence == 0 || expected_ == 1 ? Arrival::in_order : Arrival::after_gap;
  }
  const std::uint32_t ahead = sequence - highest_, behind = highest_ - sequence;
  if (ahead < 0x8000'0000 && ahead != 0) {
    advance(sequence, ahead);
    return Arrival::after_gap;
  }
  if (behind < kSize) {
    const bool here = (word(sequence) >> sequence % 64 & 1) != 0;
    mark(sequence);
    arrived_ += here ? 0 : 1;
    return here ? Arrival::duplicate : Arrival::reordered;
  }
  const bool again = sequence != 0 && sequence < kSize && sequence == suspect_;
  suspect_ = sequence + 1;
  if (!again) return Arrival::duplicate;
  restart();
  begin(sequence - 1);
  advance(sequence, 1);
  return Arrival::restart;
}

}  // namespace surety::endpoints
