// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/host/neighbor_cache.h"

#include <algorithm>
#include <bit>

namespace surety::endpoints {

NeighborCache::NeighborCache(std::uint32_t capacity)
    : entries_(capacity), heads_(std::bit_ceil(capacity), kNone) {
  for (std::uint32_t i = capacity; i > 0; --i) free_.push_back(i - 1);
}

std::uint32_t NeighborCache::find(const IpAddress& a) const {
  std::uint32_t i = const_cast<NeighborCache*>(this)->head(a);
  while (i != kNone && entries_[i].address != a) i = entries_[i].next;
  return i;
}

void NeighborCache::check_at(Entry& e, Time when) {
  e.check = when;
  next_event_ = std::min(next_event_, when);
}

// A full cache drops entries that were not used since their last check: unused ones must not keep others out.
bool NeighborCache::reclaim() {
  constexpr std::size_t kLooks = 32;
  for (std::size_t n = 0; n < kLooks; ++n) {
    hand_ = (hand_ + 1) % static_cast<std::uint32_t>(entries_.size());
    const Entry& e = entries_[hand_];
    if (!e.live || e.kept || e.used) continue;
    forget(hand_);
    return true;
  }
  return false;
}

NeighborCache::Entry* NeighborCache::find_or_add(const IpAddress& a, Time now) {
  if (const std::uint32_t i = find(a); i != kNone) return &entries_[i];
  if (free_.empty() && !reclaim()) return nullptr;
  const std::uint32_t i = free_.back();
  free_.pop_back();
  Entry& e = entries_[i];
  e = Entry{.address = a, .live = true, .next = head(a)};
  head(a) = i;
  ++size_;
  check_at(e, now);
  return &e;
}

const MacAddress* NeighborCache::look_up(const IpAddress& address, Time now) {
  Entry* const e = find_or_add(address, now);
  if (e == nullptr) return nullptr;
  e->used = true;
  return e->known ? &e->mac : nullptr;
}

void NeighborCache::keep(const IpAddress& address, Time now) {
  if (Entry* const e = find_or_add(address, now)) e->kept = true;
}

const MacAddress* NeighborCache::peek(const IpAddress& address) const {
  const std::uint32_t i = find(address);
  return i != kNone && entries_[i].known ? &entries_[i].mac : nullptr;
}

void NeighborCache::learn(const IpAddress& address, const MacAddress& mac, bool override_known, bool confirms,
                          Time now) {
  const std::uint32_t i = find(address);
  const bool group = (mac[0] & 1) != 0;
  if (i == kNone || group) return;
  Entry& e = entries_[i];
  if (e.known && e.mac != mac && !override_known) return;
  const bool changed = !e.known || e.mac != mac;
  e.known = true;
  e.mac = mac;
  if (changed) ++version_;
  if (!changed && !confirms) return;
  e.tries = 0;
  e.confirmed = now;
  check_at(e, now + kRefresh);
}

void NeighborCache::meet(const IpAddress& address, const MacAddress& mac, Time now) {
  if ((mac[0] & 1) != 0 || find_or_add(address, now) == nullptr) return;
  learn(address, mac, true, true, now);
}

void NeighborCache::forget(std::uint32_t i) {
  std::uint32_t* link = &head(entries_[i].address);
  while (*link != i) link = &entries_[*link].next;
  *link = entries_[i].next;
  entries_[i] = Entry{};
  free_.push_back(i);
  --size_;
  ++version_;
}

// Checks entry i, which is due; true: `out` is the request to send for it.
bool NeighborCache::examine(std::uint32_t i, Time now, Request& out) {
  Entry& e = entries_[i];
  const bool wanted = e.used || e.kept, outdated = e.known && now - e.confirmed >= kForget;
  e.used = false;
  e.check = now + kRetry;
  ++version_;
  if (outdated) {
    e.known = false;
    e.tries = 0;
  }
  if (!wanted) {
    if (e.known) return false;
    if (outdated || e.tries == kTries) {
      forget(i);
      return false;
    }
  }
  if (e.tries < kTries) ++e.tries;
  out = {e.address, e.known, e.mac};
  return true;
}

bool NeighborCache::next_request(Time now, Request& out) {
  if (now < next_event_) return false;
  for (; cursor_ < entries_.size(); ++cursor_) {
    if (!entries_[cursor_].live || entries_[cursor_].check > now) continue;
    if (examine(cursor_, now, out)) {
      ++cursor_;
      return true;
    }
  }
  cursor_ = 0;
  next_event_ = kNever;
  for (const Entry& e : entries_) next_event_ = std::min(next_event_, e.check);
  return false;
}

}  // namespace surety::endpoints
