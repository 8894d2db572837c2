// SPDX-License-Identifier: BSD-3-Clause
// One direction of a link: a transmitter with a queue, then a delay;
// packets arrive in the order they were sent.
//
// One event per packet, its arrival: when a packet is offered, its departure is already known.
#pragma once

#include <rte_mbuf.h>

#include <vector>

#include "conditioners/rng.h"
#include "tests/lab/scenario/scenario.h"

namespace surety::lab {

struct LineCounters {
  std::uint64_t packets = 0, bytes = 0;  // offered and sent; of IP packets
  std::uint64_t lost = 0, overflow = 0;
};

class Line {
 public:
  Line(const LinkDirection& direction, std::uint64_t seed, Time now);

  // Takes a packet of `length` IP bytes over. false: it is lost (drawn),
  // or there is no room for it: the caller frees it.
  bool send(rte_mbuf* m, std::uint32_t length, Time now);
  // The transmitter is idle from here on.
  Time free_at() const { return free_at_; }
  // A port that feeds this line holds its packets back until the transmitter is idle:
  // the line has no queue of its own.
  bool holds_back() const { return !limit_; }

  Time next_arrival() const { return head_ == tail_ ? kNever : ring_[head_ & mask_].arrives; }
  rte_mbuf* take() {
    return ring_[head_++ & mask_].mbuf;
  }  // the one that arrives first; not when there is none
  std::size_t in_flight() const { return tail_ - head_; }

  const LineCounters& counters() const { return counters_; }
  double rate_bps() const { return rate_bps_; }  // 0: infinitely fast
  void discard();                                // frees what is on the way

 private:
  struct Flight {
    rte_mbuf* mbuf;
    Time starts, arrives;  // leaves the queue; arrives at the other end
  };
  Duration transmission(std::uint32_t length);
  bool full(Time now);
  void grow();

  std::vector<Flight> ring_;
  std::uint64_t head_ = 0, tail_ = 0, mask_;
  std::uint64_t waiting_ = 0;  // the first one that has not begun to leave the queue
  Time free_at_;
  Duration delay_;
  std::optional<Rate> rate_;
  std::optional<std::uint32_t> limit_;
  double loss_, rate_bps_;
  struct Known {
    std::uint32_t length = 0;
    Duration time{};
  };
  std::array<Known, 2> known_;  // of the last two lengths: a division is dear
  Rng rng_;
  LineCounters counters_;
};

}  // namespace surety::lab
