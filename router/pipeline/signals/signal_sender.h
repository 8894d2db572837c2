// SPDX-License-Identifier: BSD-3-Clause
// The signalling side: makes packets of the signals of congested queues.
//
// Each worker that owns ports has one object; no I/O. Each queue number of a port has its own sequence, which
// starts at the time of day (seconds in the upper 32 bits, their fraction in the lower 32) and so keeps
// rising over restarts; and its own limit, a token bucket of `queue_limit` signals per second with a depth of
// a tenth of a second (at least 8). Signals come from an address of the router, one per family: the first of
// its core ports, else of any (no link-local one). They are sent to the source of the congested packet, or to
// its border if `borders` has one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "aqm/class_moves.h"
#include "aqm/params.h"
#include "config/config.h"
#include "router/pipeline/signals/congestion_signal.h"
#include "router/pipeline/signals/signal_limit.h"
#include "router/pipeline/signals/signal_message.h"

namespace surety {

class SignalSender {
 public:
  // `keys` must outlive this object.
  SignalSender(const config::Config& config, const SignalKeys& keys, Time now, UnixTime wall);

  // Writes the IP packet of a signal into `room` (at least kMaxSignalBytes); returns its length, 0: not sent,
  // counted below.
  std::size_t write(const CongestionSignal& signal, Time now, UnixTime wall, std::span<std::uint8_t> room);
  // Counts a written signal that had no route.
  void lost(const CongestionSignal& signal);

  struct QueueCounters {
    std::uint64_t sent = 0;     // written, and not lost afterwards
    std::uint64_t limited = 0;  // beyond the queue's limit
    std::uint64_t lost = 0;     // no address of its family, no key, or lost()
  };
  // The counters of a class's queue at a port; zeros before its first signal.
  QueueCounters counters(std::uint8_t port, std::uint8_t class_index) const;

  // Moves the counters and limits with the classes of a port; sequences stay with the queue numbers, since
  // receivers have no names.
  void move(std::uint8_t port, const ClassMoves& moves, Time now);
  // Replaces the keys; they must outlive this object.
  void set_keys(const SignalKeys& keys) { keys_ = &keys; }

 private:
  struct Queue {
    std::uint64_t next = 0;  // sequence
    TokenBucket bucket;
    QueueCounters counters;
  };
  // The most queues of a port.
  static constexpr std::size_t kQueues = kMaxClasses;
  Queue& queue_of(const CongestionSignal& s) { return queues_[s.port * kQueues + s.class_index]; }
  const IpAddress& destination_of(const IpAddress& source) const;

  const SignalKeys* keys_;
  std::uint32_t id_;
  std::uint8_t dscp_;
  std::array<std::optional<IpAddress>, 2> from_;     // IPv4, IPv6
  std::vector<config::Signalling::Border> borders_;  // longest prefix first
  SignalLimit limit_;
  std::vector<Queue> queues_;
};

}  // namespace surety
