// SPDX-License-Identifier: BSD-3-Clause
// A border's state of the queues that signal to it, so that no signal is accepted twice. Only authentic
// signals are passed here.
//
// A sender is removed after silence for twice `max_age`: by then all its signals are stale. This fails when
// the wall clock steps back; therefore the first signal of an unknown sender must be younger than all signals
// of removed ones.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

#include "router/pipeline/signals/congestion_signal.h"
#include "router/pipeline/signals/signal_limit.h"

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

}  // namespace surety
