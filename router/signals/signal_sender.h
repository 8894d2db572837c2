// SPDX-License-Identifier: BSD-3-Clause
// The signalling side: makes packets of the signals that congested queues ask for.
//
// One per worker that owns ports; no I/O. Each queue of a port has, by its number, its own sequence, which
// starts at the time of day (seconds in the upper 32 bits, their fraction in the lower 32), so it goes on
// rising over restarts; and its own limit, a token bucket of `queue_limit` signals a second with a depth of a
// tenth of a second (at least 8). Signals come from an address of the router, one per family: the first of
// its core ports, else of any (no link-local one); they go to the source of the congested packet, or to its
// border where `borders` has one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "aqm/class_moves.h"
#include "aqm/params.h"
#include "config/config.h"
#include "router/signals/congestion_signal.h"
#include "router/signals/signal_limit.h"
#include "router/signals/signal_message.h"

namespace surety {

class SignalSender {
 public:
  // `keys` must outlive this.
  SignalSender(const config::Config& config, const SignalKeys& keys, Time now, UnixTime wall);

  // The IP packet of a signal, in `room` (at least kMaxSignalBytes); 0: not to be sent, counted below.
  std::size_t write(const CongestionSignal& signal, Time now, UnixTime wall, std::span<std::uint8_t> room);
  // A signal that was written found no way out of this router.
  void lost(const CongestionSignal& signal);

  struct QueueCounters {
    std::uint64_t sent = 0;     // written, and not lost since
    std::uint64_t limited = 0;  // beyond the queue's limit
    std::uint64_t lost = 0;     // no address of its family here, no key, or lost()
  };
  // The counters of a class's queue at a port; zeros where nothing was signalled yet.
  QueueCounters counters(std::uint8_t port, std::uint8_t class_index) const;

  // The classes of a port have moved, and their counters and limits with them; sequences stay with the
  // numbers, as those who hear them know no names.
  void move(std::uint8_t port, const ClassMoves& moves, Time now);
  // Keys changed; they must outlive this.
  void set_keys(const SignalKeys& keys) { keys_ = &keys; }

 private:
  struct Queue {
    std::uint64_t next = 0;  // sequence
    TokenBucket bucket;
    QueueCounters counters;
  };
  // Of each port as many as it may ever have.
  static constexpr std::size_t kQueues = kMaxClasses;
  Queue& queue_of(const CongestionSignal& s) { return queues_[s.port * kQueues + s.class_index]; }
  const IpAddress& destination_of(const IpAddress& source) const;

  const SignalKeys* keys_;
  std::uint32_t id_;
  std::array<std::optional<IpAddress>, 2> from_;     // IPv4, IPv6
  std::vector<config::Signalling::Border> borders_;  // longest prefix first
  SignalLimit limit_;
  std::vector<Queue> queues_;
};

}  // namespace surety
