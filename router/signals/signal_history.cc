// SPDX-License-Identifier: BSD-3-Clause
#include "router/signals/signal_history.h"

#include <algorithm>

namespace surety {

namespace {
std::uint64_t id_of(std::uint32_t router, std::uint8_t port, std::uint8_t queue) {
  return std::uint64_t{router} << 16 | std::uint64_t{port} << 8 | queue;
}
}  // namespace

SignalResult SignalHistory::accept(const SignalMessage& m, Time now) {
  forget_silent(now);
  const auto it = places_.find(id_of(m.router, m.port, m.queue));
  if (it == places_.end()) return add(m, now);
  Sender& sender = *it->second;
  if (!sender.window.accept(m.sequence)) return SignalResult::replayed;
  ++sender.accepted;
  sender.last = now;
  sender.sent = std::max(sender.sent, m.sent);
  senders_.splice(senders_.end(), senders_, it->second);
  return SignalResult::applied;
}

SignalResult SignalHistory::add(const SignalMessage& m, Time now) {
  if (m.sent <= forgotten_) return SignalResult::stale;
  if (senders_.size() == kMax) return SignalResult::senders;
  senders_.push_back({m.router, m.port, m.queue, 1, now, m.sent, ReplayWindow(m.sequence), dense_.size()});
  dense_.push_back(std::prev(senders_.end()));
  places_.emplace(id_of(m.router, m.port, m.queue), std::prev(senders_.end()));
  return SignalResult::applied;
}

void SignalHistory::forget_silent(Time now) {
  while (!senders_.empty() && now - senders_.front().last > memory_) {
    const Sender& s = senders_.front();
    forgotten_ = std::max(forgotten_, s.sent);
    places_.erase(id_of(s.router, s.port, s.queue));
    dense_.back()->place = s.place;
    dense_[s.place] = dense_.back();
    dense_.pop_back();
    senders_.pop_front();
  }
}

}  // namespace surety
