// SPDX-License-Identifier: BSD-3-Clause
// One direction of a link in real time: loss, a rate with a queue, a delay.
// Frames leave in the order they came.
//
// Means the same as a link of a scenario does in virtual time (LinkDirection), over Ethernet frames; a rate
// counts the bytes of the IP packet. Time is an argument; nothing here does I/O. Neighbour discovery is no
// part of a scenario: is_discovery() tells the frames that are to pass by.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "conditioners/rng.h"
#include "conditioners/units.h"

namespace surety::lab {

struct Impairment {
  Duration delay{};
  Probability loss{};                    // of each frame by itself
  std::optional<Rate> rate{};            // none: infinitely fast
  std::optional<std::uint32_t> queue{};  // frames that may wait to be sent, drop-tail; none: any number
};

struct DelayLineCounters {
  std::uint64_t received = 0, lost = 0, overflowed = 0;
};

class DelayLine {
 public:
  using Frame = std::vector<std::uint8_t>;

  DelayLine(const Impairment& impairment, std::uint64_t seed) : impairment_(impairment), rng_(seed) {}

  void offer(std::span<const std::uint8_t> frame, Time now);
  Time next_arrival() const { return line_.empty() ? kNever : line_.front().arrives; }
  const Frame& front() const {
    return line_.front().bytes;
  }  // the one that arrives first; not when there is none
  void pop() { line_.pop_front(); }

  std::size_t in_flight() const { return line_.size(); }
  const DelayLineCounters& counters() const { return counters_; }

 private:
  struct Flight {
    Time starts, arrives;  // leaves the queue; arrives at the other end
    Frame bytes;
  };
  bool full(Time now) const;

  Impairment impairment_;
  Rng rng_;
  Time free_at_{};
  std::deque<Flight> line_;
  DelayLineCounters counters_;
};

// ARP, and the ICMPv6 messages of neighbour discovery (RFC 4861).
bool is_discovery(std::span<const std::uint8_t> frame);

}  // namespace surety::lab
