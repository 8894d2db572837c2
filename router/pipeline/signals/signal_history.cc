// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/signals/signal_history.h"

#include <algorithm>

namespace surety {

namespace {
std::uint64_t id_of(std::uint32_t router, std::uint8_t port, std::uint8_t queue) {
  return std::uint64_t{router} << 16 | std::uint64_t{port} << 8 | queue;
}
}  // namespace

SignalResult SignalHistory::accept(const SignalNumber& n, Time now) {
  Place place;
  if (const auto result = take(n, now, place); result != SignalResult::applied) return result;
  if (!limit_.permit(place->bucket, now)) return SignalResult::limited;
  ++place->accepted;
  return SignalResult::applied;
}

void SignalHistory::remember(const SignalNumber& n, Time now) {
  Place place;
  take(n, now, place);
}

// The number, so that it cannot be taken again.
SignalResult SignalHistory::take(const SignalNumber& n, Time now, Place& place) {
  forget_silent(now);
  const auto it = places_.find(id_of(n.router, n.port, n.queue));
  if (it == places_.end()) return add(n, now, place);
  place = it->second;
  if (!place->window.accept(n.sequence)) return SignalResult::replayed;
  place->last = now;
  place->sent = std::max(place->sent, n.sent);
  senders_.splice(senders_.end(), senders_, place);
  return SignalResult::applied;
}

SignalResult SignalHistory::add(const SignalNumber& n, Time now, Place& place) {
  if (n.sent <= forgotten_) return SignalResult::stale;
  if (senders_.size() == kMax || queues_[n.router] == kMaxOfRouter) return SignalResult::senders;
  ++queues_[n.router];
  senders_.push_back(
      {n.router, n.port, n.queue, 0, now, n.sent, ReplayWindow(n.sequence), {}, dense_.size()});
  place = std::prev(senders_.end());
  limit_.reset(place->bucket, now);
  dense_.push_back(place);
  places_.emplace(id_of(n.router, n.port, n.queue), place);
  return SignalResult::applied;
}

void SignalHistory::forget_silent(Time now) {
  while (!senders_.empty() && now - senders_.front().last > memory_) {
    const Sender& s = senders_.front();
    forgotten_ = std::max(forgotten_, s.sent);
    places_.erase(id_of(s.router, s.port, s.queue));
    if (--queues_[s.router] == 0) queues_.erase(s.router);
    dense_.back()->place = s.place;
    dense_[s.place] = dense_.back();
    dense_.pop_back();
    senders_.pop_front();
  }
}

}  // namespace surety
