// SPDX-License-Identifier: BSD-3-Clause
// Counters and controller state of a flow, in the same form for every protocol and both ends.
//
// Packets and bytes are whole IP packets (router/pipeline/README.md) unless a name says payload. Receivers
// fill `received_*`, senders `sent_*`; `payload_bytes` is what reached the receiving application, each byte
// once (a sender has it from acknowledgements or feedback).
#pragma once

#include <cstdint>
#include <limits>

#include "conditioners/units.h"

namespace surety::endpoints {

// The bound that holds a gTFRC sender's rate.
enum class LimitedBy : std::uint8_t {
  none,
  slow_start,
  equation,
  receive_rate,
  guarantee,
  application,
  no_feedback
};
constexpr const char* name(LimitedBy l) {
  constexpr const char* kNames[] = {"none",      "slow_start",  "equation",   "receive_rate",
                                    "guarantee", "application", "no_feedback"};
  return kNames[static_cast<std::size_t>(l)];
}

struct FlowReading {
  std::uint64_t sent_packets = 0, sent_bytes = 0, sent_in_packets = 0, retransmitted_packets = 0;
  std::uint64_t received_packets = 0, received_bytes = 0, received_in_packets = 0, received_in_bytes = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t carried_bytes = 0;  // a TCP sink's: payload that arrived, in order or not, each time it did
  // lost: not arrived although later ones were (a receiver's view; a sender's: declared lost). duplicate:
  // arrived before (a TCP sender's: from D-SACK)
  std::uint64_t lost_packets = 0, duplicate_packets = 0;
  std::uint64_t reordered_packets = 0;  // arrived after a later one, in time not to count as lost
  std::uint64_t loss_events = 0, timeouts = 0;
  std::uint64_t marks = 0;  // ECN: packets that a router had marked; a TCP sender's: reductions for them
  std::uint64_t mismatched_bytes = 0;  // a TCP sink's: of a stream that began as our pattern
  Duration rtt{}, min_rtt{};           // smoothed and least; zero: not known
  double one_way_delay_sum = 0;        // seconds, over received_packets; only between ends that share a clock
  // TFRC, gTFRC; rates of IP bytes. NaN: not of this protocol.
  double loss_event_rate = std::numeric_limits<double>::quiet_NaN();
  Rate x, x_recv, g, sending;  // X, X_recv, the guarantee, and G = the rate in force
  LimitedBy limited_by = LimitedBy::none;
  bool guarantee_broken = false;  // X < g / theta
  // TCP: bytes.
  std::uint64_t cwnd = 0, ssthresh = 0, cwnd_guaranteed = 0, in_flight = 0, peer_window = 0;
};

}  // namespace surety::endpoints
