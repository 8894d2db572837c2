// SPDX-License-Identifier: BSD-3-Clause
// The border's side: which signal packets are to be believed.
//
// One per worker; no I/O; bounded memory, nothing is allocated per packet after the first of a sender. The
// checks in their order; the first that fails gives the result: read_signal(); `reflected` (our own id);
// `unknown_key`, `forged`; `stale`; `senders` (no room for another queue of another router); `replayed`
// (sliding window of 1024 sequence numbers by router, port, queue: RFC 4303 3.4.3); `limited` (token bucket
// by the same). Only authentic signals make or change state: a limit before the MAC would be the forger's to
// use up, who chooses his address, and the MAC costs less than a packet does. That state is forgotten when it
// has been silent for twice max_age, since by then what could be replayed is stale (signal_history.h, also
// for clocks that step). What is remembered does not survive a restart; instead, what was sent before the
// start is `stale`. That rule ends max_age after the start: by then the age alone says so, and a clock that
// was ahead at the start and is then set back silences nobody for longer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "config/config.h"
#include "router/signals/congestion_signal.h"
#include "router/signals/signal_history.h"
#include "router/signals/signal_message.h"

namespace surety {

class SignalGate {
 public:
  static constexpr std::size_t kMaxSenders = SignalHistory::kMax;

  struct Start {
    Time now;
    UnixTime wall;
  };

  // `keys` must outlive this. `id`: of this router; 0: none. `start`: when this begins to listen, with
  // nothing remembered; none: nothing was ever sent before.
  SignalGate(const config::Signalling& params, std::uint32_t id, const SignalKeys& keys,
             std::optional<Start> start = {});

  // `ip`: the IP packet, whole, of which is_signal() is true. `applied`: believe it,
  // `out` is complete (its time is `now`).
  SignalResult judge(std::span<const std::uint8_t> ip, Time now, UnixTime wall, CongestionSignal& out);
  // Another worker has believed it: its number is used up here too.
  void remember(const CongestionSignal& signal, Time now) { history_.remember(signal.number, now); }

  struct Sender {
    std::uint32_t router = 0;
    std::uint8_t port = 0, queue = 0;
    std::uint64_t accepted = 0;
    Time last{};
  };
  std::vector<Sender> senders() const;  // that are remembered, heard longest ago first
  // The senders of senders() in no order, by index, to be taken some at a time (SignalHistory::size()).
  std::size_t sender_count() const { return history_.size(); }
  Sender sender(std::size_t i) const { return reading_of(history_[i]); }

  // Keys changed; they must outlive this.
  void set_keys(const SignalKeys& keys) { keys_ = &keys; }

 private:
  static Sender reading_of(const SignalHistory::Sender& s) {
    return {s.router, s.port, s.queue, s.accepted, s.last};
  }

  bool is_from_before(UnixTime sent, Time now) const {
    return start_ && sent < start_->wall && now - start_->now <= max_age_;
  }

  const SignalKeys* keys_;
  std::uint32_t id_;
  std::optional<Start> start_;
  std::chrono::milliseconds max_age_;
  SignalHistory history_;
};

}  // namespace surety
