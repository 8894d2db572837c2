// SPDX-License-Identifier: BSD-3-Clause
// The border's side: decides which signal packets are accepted.
//
// Each worker has one object; no I/O; bounded memory, nothing is allocated per packet after the first of a
// sender. The checks in their order; the first that fails gives the result: read_signal(); `reflected` (our
// own id); `unknown_key`, `forged`; `stale`; `senders` (no room for another queue of another router);
// `replayed` (sliding window of 1024 sequence numbers by router, port, queue: RFC 4303 3.4.3); `limited`
// (token bucket by the same). Only authentic signals make or change state: a forger, with any address, could
// use up a limit before the MAC, and the MAC costs less than a packet. The state of a sender is removed after
// silence for twice max_age, when any replay is stale (signal_history.h, also for clocks that step). State
// does not survive a restart; instead, signals sent before the start are `stale`. This rule ends max_age
// after the start: from then on the age is sufficient, and a clock that was ahead at the start and is then
// set back silences no sender for longer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "config/config.h"
#include "router/pipeline/signals/congestion_signal.h"
#include "router/pipeline/signals/signal_history.h"
#include "router/pipeline/signals/signal_message.h"

namespace surety {

class SignalGate {
 public:
  static constexpr std::size_t kMaxSenders = SignalHistory::kMax;

  struct Start {
    Time now;
    UnixTime wall;
  };

  // `keys` must outlive this object. `id`: this router's; 0: none. `start`: when the gate starts, without
  // state; nullopt: no signal was sent before.
  SignalGate(const config::Signalling& params, std::uint32_t id, const SignalKeys& keys,
             std::optional<Start> start = {});

  // `ip`: the whole IP packet, for which is_signal() is true. `applied`: accepted, `out` is complete (its
  // time is `now`).
  SignalResult judge(std::span<const std::uint8_t> ip, Time now, UnixTime wall, CongestionSignal& out);
  // Marks the number of a signal that another worker has accepted as used.
  void remember(const CongestionSignal& signal, Time now) { history_.remember(signal.number, now); }

  struct Sender {
    std::uint32_t router = 0;
    std::uint8_t port = 0, queue = 0;
    std::uint64_t accepted = 0;
    Time last{};
  };
  std::vector<Sender> senders() const;  // senders with state, silent for longest first
  // The senders of senders() by index, unordered, to be read a few at a time (SignalHistory::size()).
  std::size_t sender_count() const { return history_.size(); }
  Sender sender(std::size_t i) const { return reading_of(history_[i]); }

  // Replaces the keys; they must outlive this object.
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
