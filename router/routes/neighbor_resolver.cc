// SPDX-License-Identifier: BSD-3-Clause
#include "router/routes/neighbor_resolver.h"

#include <algorithm>

namespace surety {
namespace {

// Until the next try, after so many of them.
Duration pause_after(unsigned tries) {
  if (tries < NeighborResolver::kTries) return NeighborResolver::kRetry;
  const unsigned doublings = std::min(tries - NeighborResolver::kTries + 1, 5U);
  return std::min<Duration>(NeighborResolver::kRetry * (1 << doublings), NeighborResolver::kSlowest);
}

bool is_group(const MacAddress& mac) {
  return (mac[0] & 1) != 0;
}

}  // namespace

void NeighborResolver::set_due(const IpAddress& address, Entry& e, Time due) {
  schedule_.erase({e.due, address});
  e.due = due;
  schedule_.emplace(due, address);
}

void NeighborResolver::forget(Entries::iterator it) {
  const Entry& e = it->second;
  if (e.mac || e.tries <= kTries)
    changes_.push_back({.address = it->first, .mac = {}, .unreachable = !e.mac});
  schedule_.erase({e.due, it->first});
  entries_.erase(it);
}

// Of those that will be asked next: who has not been heard of for the longest time.
bool NeighborResolver::make_room() {
  constexpr int kLooks = 32;
  auto next = schedule_.begin();
  for (int i = 0; i < kLooks && next != schedule_.end(); ++i, ++next) {
    const auto it = entries_.find(next->second);
    if (it->second.wanted) continue;
    forget(it);
    return true;
  }
  return false;
}

NeighborResolver::Entry* NeighborResolver::add(const IpAddress& address, bool wanted, Time now) {
  if (entries_.size() >= capacity_ && !(wanted && make_room())) return nullptr;
  Entry& e = entries_[address];
  set_due(address, e, now);
  return &e;
}

bool NeighborResolver::want(const IpAddress& address, Time now) {
  const auto it = entries_.find(address);
  Entry* const e = it != entries_.end() ? &it->second : add(address, true, now);
  if (e != nullptr) e->wanted = true;
  return e != nullptr;
}

bool NeighborResolver::learn(const IpAddress& address, const MacAddress& mac, bool override_known,
                             bool confirms, Time now) {
  const auto it = entries_.find(address);
  if (it == entries_.end() || is_group(mac)) return false;
  Entry& e = it->second;
  const bool changed = e.mac != mac;
  if (changed && e.mac && !override_known) return false;
  e.mac = mac;
  if (changed) changes_.push_back({.address = address, .mac = mac});
  if (!changed && !confirms) return true;
  e.tries = 0;
  set_due(address, e, now + kReachable);
  return true;
}

bool NeighborResolver::meet(const IpAddress& address, const MacAddress& mac, Time now) {
  if (!entries_.contains(address) && (is_group(mac) || add(address, false, now) == nullptr)) return false;
  return learn(address, mac, true, true, now);
}

void NeighborResolver::restart(Time now) {
  for (auto& [address, e] : entries_) {
    if (e.mac) changes_.push_back({.address = address, .mac = {}});
    e.mac.reset();
    e.tries = 0;
    set_due(address, e, now);
  }
}

// Asked often enough without an answer. True: it is to be asked all the same.
bool NeighborResolver::give_up(Entries::iterator it) {
  Entry& e = it->second;
  if (!e.wanted) {
    forget(it);
    return false;
  }
  if (e.mac || e.tries == kTries)
    changes_.push_back({.address = it->first, .mac = {}, .unreachable = !e.mac});
  if (e.mac) e.tries = 0;  // it was there: maybe another station has its address now
  e.mac.reset();
  return true;
}

std::optional<NeighborResolver::Request> NeighborResolver::next_request(Time now) {
  while (next_event() <= now) {
    const auto it = entries_.find(schedule_.begin()->second);
    Entry& e = it->second;
    if (e.tries >= kTries && !give_up(it)) continue;
    ++e.tries;
    // From here on it has to be wanted anew, or it is asked for in vain.
    if (e.tries >= kTries && !e.mac) e.wanted = false;
    set_due(it->first, e, now + (e.mac ? kRetry : pause_after(e.tries)));
    return Request{it->first, e.mac};
  }
  return {};
}

std::optional<NeighborResolver::Change> NeighborResolver::next_change() {
  if (changes_.empty()) return {};
  const Change c = changes_.front();
  changes_.pop_front();
  return c;
}

bool NeighborResolver::unreachable(const IpAddress& address) const {
  const auto it = entries_.find(address);
  return it != entries_.end() && !it->second.mac && it->second.tries > kTries;
}

const MacAddress* NeighborResolver::find(const IpAddress& address) const {
  const auto it = entries_.find(address);
  return it != entries_.end() && it->second.mac ? &*it->second.mac : nullptr;
}

}  // namespace surety
