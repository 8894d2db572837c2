// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/neighbor_resolver.h"

#include <algorithm>

namespace surety {
namespace {

// The time until the next try, after this many.
Duration pause_after(unsigned tries) {
  if (tries < NeighborResolver::kTries) return NeighborResolver::kRetry;
  return tries == NeighborResolver::kTries ? 2 * NeighborResolver::kRetry : NeighborResolver::kSlowest;
}

constexpr int kLooked = 64;  // addresses of a neighbour examined for an unwanted one

bool is_group(const MacAddress& mac) {
  return (mac[0] & 1) != 0;
}

}  // namespace

void NeighborResolver::set_due(const IpAddress& address, Entry& e, Time due) {
  schedule_.erase({e.due, address});
  e.due = due;
  schedule_.emplace(due, address);
}

// Makes a request due now, but not within kRetry after the last request or answer.
void NeighborResolver::hasten(const IpAddress& address, Entry& e, Time now) {
  if (e.mac && e.tries > 0) return;
  if (!e.mac) e.tries = std::min(e.tries, 1U);  // the neighbour exists
  const Time soon = std::max(now, e.last + kRetry);
  if (soon < e.due) set_due(address, e, soon);
}

void NeighborResolver::begin_asking(const IpAddress& address, Entry& e) {
  if (e.mac) stations_.remove(*e.mac, e.turn);
  e.mac.reset();
  e.turn = ++turns_;
  asking_.emplace(e.turn, address);
}

void NeighborResolver::remove(Entries::iterator it) {
  const Entry& e = it->second;
  if (e.mac || e.tries <= kTries)
    changes_.push_back({.address = it->first, .mac = {}, .unreachable = !e.mac});
  if (e.mac)
    stations_.remove(*e.mac, e.turn);
  else
    asking_.erase(e.turn);
  schedule_.erase({e.due, it->first});
  entries_.erase(it);
}

// If a MAC address has more than its part, entries with waiting packets are evicted last: a new neighbour
// needs time to answer while that one announces more addresses.
bool NeighborResolver::make_room() {
  const bool enough = asking_.size() < most_asking_;
  if (enough && entries_.size() < capacity_) return true;
  const auto* const many = enough ? stations_.beyond_part() : nullptr;
  if (many == nullptr) {
    if (asking_.empty()) return false;
    remove(entries_.find(asking_.begin()->second));
    return true;
  }
  auto gone = entries_.find(many->begin()->second);
  int looked = 0;
  for (auto a = many->begin(); a != many->end() && looked < kLooked && gone->second.wanted; ++a, ++looked)
    if (const auto e = entries_.find(a->second); !e->second.wanted) gone = e;
  remove(gone);
  return true;
}

NeighborResolver::Entry* NeighborResolver::add(const IpAddress& address, Time now) {
  if (!make_room()) return nullptr;
  Entry& e = entries_[address];
  set_due(address, e, now);
  begin_asking(address, e);
  return &e;
}

bool NeighborResolver::want(const IpAddress& address, Time now) {
  const auto it = entries_.find(address);
  Entry* const e = it != entries_.end() ? &it->second : add(address, now);
  if (e != nullptr) e->wanted = true;
  return e != nullptr;
}

NeighborResolver::Learned NeighborResolver::learn(const IpAddress& address, const MacAddress& mac,
                                                  bool answer, Time now) {
  const auto it = entries_.find(address);
  if (it == entries_.end() || is_group(mac)) return Learned::unasked;
  Entry& e = it->second;
  const bool known = e.mac.has_value();
  const bool asked = answer && e.tries > 0;
  if (known && e.mac == mac && !asked) return Learned::learned;
  if (!asked || (known && e.mac != mac)) {
    hasten(address, e, now);
    return known ? Learned::contested : Learned::unasked;
  }
  this->known(address, e, mac, now);
  return Learned::learned;
}

void NeighborResolver::known(const IpAddress& address, Entry& e, const MacAddress& mac, Time now) {
  if (!e.mac) {
    asking_.erase(e.turn);
    e.mac = mac;
    e.turn = ++turns_;
    stations_.add(mac, e.turn, address);
    changes_.push_back({.address = address, .mac = mac});
  }
  e.tries = 0;
  e.last = now;
  set_due(address, e, now + kReachable);
}

bool NeighborResolver::believe(const IpAddress& address, const MacAddress& mac, Time now) {
  if (is_group(mac) || !meet(address, mac, now)) return false;
  const auto it = entries_.find(address);
  if (!it->second.mac) known(address, it->second, mac, now);
  return true;
}

bool NeighborResolver::meet(const IpAddress& address, const MacAddress& mac, Time now) {
  if (!contains(address)) return !is_group(mac) && add(address, now) != nullptr;
  learn(address, mac, false, now);
  return true;
}

void NeighborResolver::doubt(const IpAddress& address, Time now) {
  const auto it = entries_.find(address);
  if (it != entries_.end() && it->second.mac) hasten(address, it->second, now);
}

void NeighborResolver::forget(const IpAddress& address, Time now) {
  const auto it = entries_.find(address);
  if (it == entries_.end() || !it->second.mac) return;
  restart(address, it->second, now + kForgotten);
  it->second.last = now;
}

void NeighborResolver::restart(Time now) {
  for (auto& [address, e] : entries_) restart(address, e, now);
}

void NeighborResolver::restart(const IpAddress& address, Entry& e, Time due) {
  if (e.mac) {
    changes_.push_back({.address = address, .mac = {}});
    begin_asking(address, e);
  }
  e.tries = 0;
  set_due(address, e, due);
}

// Handles an address without an answer after enough requests. True: requests continue all the same.
bool NeighborResolver::give_up(Entries::iterator it) {
  Entry& e = it->second;
  if (!e.wanted) {
    remove(it);
    return false;
  }
  if (e.mac || e.tries == kTries)
    changes_.push_back({.address = it->first, .mac = {}, .unreachable = !e.mac});
  if (e.mac) {
    e.tries = 0;  // was known: maybe another neighbour has its address now
    begin_asking(it->first, e);
  }
  return true;
}

std::optional<NeighborResolver::Request> NeighborResolver::next_request(Time now) {
  while (next_event() <= now) {
    const auto it = entries_.find(schedule_.begin()->second);
    Entry& e = it->second;
    if (e.tries >= kTries && !give_up(it)) continue;
    ++e.tries;
    e.last = now;
    // Requests stop after this unless the neighbour is wanted again.
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
