// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/signals/signal_gate.h"

#include <algorithm>

namespace surety {

SignalGate::SignalGate(const config::Signalling& params, std::uint32_t id, const SignalKeys& keys,
                       std::optional<Start> start)
    : keys_(&keys),
      id_(id),
      start_(start),
      max_age_(std::chrono::duration_cast<std::chrono::milliseconds>(params.max_age)),
      history_(params.max_age, params.source_limit) {}

SignalResult SignalGate::judge(std::span<const std::uint8_t> ip, Time now, UnixTime wall,
                               CongestionSignal& out) {
  SignalMessage m;
  if (const auto result = read_signal(ip, m); result != SignalResult::applied) return result;
  if (id_ != 0 && m.router == id_) return SignalResult::reflected;
  const SignalKey* const key = keys_->find(m.router, m.key_id);
  if (!key) return SignalResult::unknown_key;
  if (!is_authentic(ip, m, *key)) return SignalResult::forged;
  if (m.sent < wall - max_age_ || m.sent > wall + max_age_) return SignalResult::stale;
  if (is_from_before(m.sent, now)) return SignalResult::stale;
  const SignalNumber number{m.router, m.port, m.queue, m.sequence, m.sent};
  const auto result = history_.accept(number, now);
  if (result == SignalResult::applied)
    out = {m.source, m.destination, m.port, m.queue, m.dscp, now, {}, m.kind, number};
  return result;
}

std::vector<SignalGate::Sender> SignalGate::senders() const {
  std::vector<Sender> out;
  for (const auto& s : history_.all()) out.push_back(reading_of(s));
  return out;
}

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
