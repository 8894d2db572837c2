// SPDX-License-Identifier: BSD-3-Clause
// Parameters of queues, schedulers and shapers: what the configuration sets.
//
// Plain data without the algorithms, so that a change of an algorithm does not compile what only configures
// it. The header of each algorithm defines what its parameters mean.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "conditioners/units.h"

namespace surety {

// Parameters of RedCurve (rio.h).
struct RedParams {
  double min = 0, max = 0;  // packets
  Probability pmax;
  friend bool operator==(const RedParams&, const RedParams&) = default;
};

// Parameters of RioRules (rio.h).
struct RioParams {
  double weight = 0.002;  // w_q
  RedParams in, out;
  std::optional<RedParams> red{};  // none: red packets are judged as OUT ones
  bool ecn = false;                // mark ECN-capable packets where an early drop would fall
  // Options of the simulators that the papers used, off by default (aqm/README.md).
  bool count_arriving = false;  // the averages count the packet that arrives, too
  bool idle_decay = true;       // false: the averages stay as they are while the queue is idle
  bool decoupled = false;       // OUT and red are refused by `max` packets that are not IN (weight 1 only)
  Rate capacity = Rate::bits_per_second(10'000'000'000);  // drains the averages while idle
  Bytes mean_packet{500};
  friend bool operator==(const RioParams&, const RioParams&) = default;
};

// Places beyond the limits that the classes of a port have together, in parts of their limits.
inline constexpr std::uint32_t kMostBeyond = 2048;

// Parameters of active_queue.h.
struct ActiveQueueParams {
  std::uint32_t limit = 1000;    // packets
  std::optional<RioParams> rio;  // none: tail drop
  // Places beyond `limit` for small packets: both it and the thresholds count 1500 bytes as one packet
  // (queue_measure.h). None: they count packets of any size.
  std::uint32_t beyond = 0;
  std::uint32_t reserved =
      0;  // packets of `limit` whose room OUT packets leave to IN ones; less than `limit`
  friend bool operator==(const ActiveQueueParams&, const ActiveQueueParams&) = default;
};

// The bytes that the wire adds to an IP packet.
struct WireOverhead {
  enum class Kind : std::uint8_t { bytes, atm };
  Kind kind = Kind::bytes;
  std::uint32_t per_packet = 0;  // for Kind::bytes; `ethernet` is 38: header 14, FCS 4, preamble 8, gap 12
  // ATM as the CSA paper counts: 53 bytes for each started 48.
  std::uint32_t wire_bytes(std::uint32_t ip_length) const {
    return kind == Kind::atm ? (ip_length + 47) / 48 * 53 : ip_length + per_packet;
  }
  friend bool operator==(const WireOverhead&, const WireOverhead&) = default;
};

// Two full-size packets, or what `rate` sends in 100 us where that is more:
// a busy worker's turn must not cost rate.
constexpr Bytes default_burst(Rate rate) {
  return std::max(Bytes(3000), Bytes(rate.bits_per_second() / 80'000));
}

// Parameters of port_shaper.h.
struct PortShaperParams {
  std::optional<Rate> rate;  // none: the link's own speed limits
  Bytes burst{3000};         // bytes that the shaper may run ahead after a pause; at least one packet passes
  WireOverhead overhead;
  friend bool operator==(const PortShaperParams&, const PortShaperParams&) = default;
};

inline constexpr std::size_t kMaxClasses = 64;  // per port or interface; as many as there are DSCPs

// Parameters of class_scheduler.h, one class.
struct ClassParams {
  std::string name;
  bool strict = false;
  std::optional<Rate> cap;   // rate on the wire, as the port shaper counts; none: no limit
  std::uint32_t weight = 1;  // weighted classes only; not 0
  ActiveQueueParams queue;
  friend bool operator==(const ClassParams&, const ClassParams&) = default;
};

}  // namespace surety
