// SPDX-License-Identifier: BSD-3-Clause
// The border's side: decides which signal packets are accepted.
//
// Each worker has one object; no I/O; bounded memory, nothing is allocated per packet after the first of a
// sender. The checks in their order; the first that fails gives the result: read_signal(); `reflected` (our
// own id); `unknown_key`, `forged`; `stale`; `senders` (no room for another queue of another router);
// `replayed` (sliding window of 1024 sequence numbers by router, port, queue: RFC 4303 3.4.3); `limited`
// (token bucket by the same). Only authentic signals make or change state: a forger, with any address, could
// use up a limit before the MAC, and the MAC costs less than a packet. The state of a sender is removed after
// silence for twice max_age, when any replay is stale (SignalHistory, also for clocks that step). State
// does not survive a restart; instead, signals sent before the start are `stale`. This rule ends max_age
// after the start: from then on the age is sufficient, and a clock that was ahead at the start and is then
// set back silences no sender for longer.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "config/config.h"
#include "router/pipeline/signals/congestion_signal.h"
#include "router/pipeline/signals/signal_limit.h"
#include "router/pipeline/signals/signal_message.h"

namespace surety {

// The latest sequence numbers received from a sender (RFC 4303 3.4.3, anti-replay).
class ReplayWindow {
 public:
  static constexpr std::uint64_t kSize = 1024;

  // Starts with one number received.
  explicit ReplayWindow(std::uint64_t first) : highest_(first) { seen_.set(0); }

  // True if the number is new; marks it as received. Numbers kSize or more behind the highest one count as
  // received.
  bool accept(std::uint64_t sequence) {
    if (sequence > highest_) {
      const std::uint64_t step = sequence - highest_;
      seen_ = step < kSize ? seen_ << step : std::bitset<kSize>();
      highest_ = sequence;
    }
    const std::uint64_t behind = highest_ - sequence;
    if (behind >= kSize || seen_[behind]) return false;
    seen_.set(behind);
    return true;
  }

 private:
  std::uint64_t highest_;
  std::bitset<kSize> seen_;  // indexed by distance from the highest one
};

// A border's state of the queues that signal to it, so that no signal is accepted twice. Only authentic
// signals are passed here.
//
// A sender is removed after silence for twice `max_age`: by then all its signals are stale. This fails when
// the wall clock steps back; therefore the first signal of an unknown sender must be younger than all signals
// of removed ones.
class SignalHistory {
 public:
  static constexpr std::size_t kMax = 4096;
  // The most senders of one router, so that a leaked key cannot use up all room (CONTRIBUTING.md rule 14): 16
  // classes at each of 32 ports.
  static constexpr std::size_t kMaxOfRouter = 512;

  // `limit`: signals per second of each sender.
  SignalHistory(Duration max_age, std::uint32_t limit) : memory_(2 * max_age), limit_(limit) {}

  // `applied`: new, and stored. Else `stale`, `senders`, `replayed` or `limited`.
  SignalResult accept(const SignalNumber& number, Time now);
  // Stores a signal that was accepted elsewhere, without counting it.
  void remember(const SignalNumber& number, Time now);

  struct Sender {
    std::uint32_t router;
    std::uint8_t port, queue;
    std::uint64_t accepted;
    Time last;
    UnixTime sent;  // the latest one
    ReplayWindow window;
    TokenBucket bucket;
    std::size_t place;  // index in the dense order
  };
  const std::list<Sender>& all() const { return senders_; }  // silent for longest first
  // The senders of all() by index, unordered. A caller that reads a few per call from the last index to the
  // first reads each sender that stays at least once, whatever is added or removed in between.
  std::size_t size() const { return dense_.size(); }
  const Sender& operator[](std::size_t i) const { return *dense_[i]; }

 private:
  using Place = std::list<Sender>::iterator;
  void forget_silent(Time now);
  SignalResult take(const SignalNumber& number, Time now, Place& place);
  SignalResult add(const SignalNumber& number, Time now, Place& place);

  Duration memory_;
  SignalLimit limit_;
  std::list<Sender> senders_;
  std::unordered_map<std::uint64_t, Place> places_;
  std::vector<Place> dense_;
  std::unordered_map<std::uint32_t, std::size_t> queues_;  // senders of each router
  UnixTime forgotten_ = UnixTime::min();                   // send time of the latest removed signal
};

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
