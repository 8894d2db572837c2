// SPDX-License-Identifier: BSD-3-Clause
// Decides when a worker without work sleeps, and for how long at most.
//
// A worker whose every source of packets has a descriptor is woken by the first packet: it sleeps until the
// next timer. If a source has none (vhost, pcap), or a device accepts no packets (a full ring, a link that is
// down), nothing wakes the worker: it must poll often enough.
#pragma once

#include <algorithm>
#include <cstdint>

#include "conditioners/units.h"

namespace surety {

struct IdleParams {
  std::uint32_t turns = 64;                        // turns without a packet before the first sleep, and ...
  Duration after = std::chrono::microseconds(20);  // ... no packet for so long: a sleep costs about 5 us
  // Interval of polls, if a source has no descriptor. By tests/bench/idle_latency.py, two routers joined by
  // the memif of DPDK: intervals of 25, 50, 100, 200 us cost 22, 16, 11, 6 % of a core, and the first packet
  // took 74, 91, 118, 140 us (median) and 181, 206 to 467, 260, 344 (p99); 10 us cost 50 % and a thread slept
  // no less than at 25.
  Duration look = std::chrono::microseconds(25);
  Duration longest = std::chrono::milliseconds(10);  // heartbeat, and latency of requests without a wake-up
  Duration least = std::chrono::microseconds(5);     // shorter sleeps cost more than they save
};

class IdlePolicy {
 public:
  // `all_wake`: every receive queue of this worker has a descriptor.
  IdlePolicy(const IdleParams& params, bool all_wake) : params_(params), all_wake_(all_wake) {}

  // Called after each turn; `busy`: it moved packets.
  void turn(bool busy, Time now) {
    if (!busy && turns_ > 0) {
      turns_ += turns_ < params_.turns ? 1 : 0;
      return;
    }
    turns_ = busy ? 0 : 1;
    idle_since_ = now;
  }

  // The longest permitted sleep; 0: none. `next`: the next timer, kNever: none. `blocked`: packets wait for a
  // device that accepts none.
  Duration sleep(Time now, Time next, bool blocked = false) const {
    if (next <= now || turns_ < params_.turns || now - idle_since_ < params_.after) return Duration{0};
    const Duration limit = all_wake_ && !blocked ? params_.longest : params_.look;
    const Duration left = next > now + limit ? limit : next - now;
    return left < params_.least ? Duration{0} : left;
  }

 private:
  IdleParams params_;
  bool all_wake_;
  std::uint32_t turns_ = 0;  // idle turns, saturated at params_.turns
  Time idle_since_{};
};

}  // namespace surety
