// SPDX-License-Identifier: BSD-3-Clause
// What a border remembers of the queues that signal to it, so that nothing is believed twice.
// Only authentic signals come here.
//
// A sender is forgotten when it has been silent for twice `max_age`: by then all that it has sent is stale.
// That conclusion does not survive a wall clock that steps back; therefore a sender that is not remembered
// must signal something younger than everything that has been forgotten.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

#include "router/signals/congestion_signal.h"
#include "router/signals/replay_window.h"
#include "router/signals/signal_limit.h"

namespace surety {

class SignalHistory {
 public:
  static constexpr std::size_t kMax = 4096;
  // Of one router, so that whoever has its key does not use up the room of all (CONTRIBUTING.md rule 14): 16
  // classes at each of 32 ports.
  static constexpr std::size_t kMaxOfRouter = 512;

  // `limit`: signals a second of each sender.
  SignalHistory(Duration max_age, std::uint32_t limit) : memory_(2 * max_age), limit_(limit) {}

  // `applied`: new, and remembered from now on. Else `stale`, `senders`, `replayed` or `limited`.
  SignalResult accept(const SignalNumber& number, Time now);
  // It has been accepted elsewhere; not counted here.
  void remember(const SignalNumber& number, Time now);

  struct Sender {
    std::uint32_t router;
    std::uint8_t port, queue;
    std::uint64_t accepted;
    Time last;
    UnixTime sent;  // the latest one
    ReplayWindow window;
    TokenBucket bucket;
    std::size_t place;  // in the dense order
  };
  const std::list<Sender>& all() const { return senders_; }  // heard longest ago first
  // The senders of all(), in no order, by index, for who takes some at a time: from the last one to the
  // first, whatever comes and goes in between, each one that stays is met, some of them twice.
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
  std::unordered_map<std::uint32_t, std::size_t> queues_;  // of each router, of those in senders_
  UnixTime forgotten_ = UnixTime::min();                   // nothing that was forgotten was sent later
};

}  // namespace surety
