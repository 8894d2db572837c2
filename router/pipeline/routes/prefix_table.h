// SPDX-License-Identifier: BSD-3-Clause
// Prefixes in the tables of the control plane: their order and ends, and a hash table of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "config/address.h"

namespace surety {

inline Prefix host_prefix(const IpAddress& a) {
  return {a, a.bits()};
}
inline bool is_host(const Prefix& p) {
  return p.length == p.address.bits();
}

// The last address of a prefix; the first is masked().address.
inline IpAddress last_address(const Prefix& p) {
  const IpAddress mask = p.mask();
  return {p.address.high | ~mask.high, p.address.low | ~mask.low};
}

// True if packets to it can be forwarded. Link-local scope of IPv6 and multicast never reach the FIB, since
// parse() punts them; nor do reserved IPv4 addresses (240.0.0.0/4), which it drops.
inline bool is_forwardable(const Prefix& p) {
  if (!p.address.is_v6()) return p.address.data()[0] < 224;
  return !(p.length >= 8 && is_multicast(p.address)) && !(p.length >= 10 && is_link_local_v6(p.address));
}

inline std::uint32_t hash_of(const Prefix& p) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  std::uint64_t h = (p.address.high ^ p.length) * kOdd;
  h = (h ^ h >> 32 ^ p.address.low) * kOdd;
  return static_cast<std::uint32_t>((h ^ h >> 29) * kOdd >> 32);
}

// A hash table for millions of prefixes, which can be walked a little at a time.
//
// An entry keeps its address and its place until it is erased, whatever else is added or erased. Beside the
// entries the table takes 8 bytes per bucket, at most 3/4 of them used. (A node of std::unordered_map takes
// 40 bytes more, and its walk does not survive a rehash.)
//
// Keys are masked prefixes.
template <class Value>
class PrefixTable {
 public:
  struct Entry {
    Prefix prefix;
    bool used = false;
    Value value{};
  };

  Entry* find(const Prefix& prefix) {
    const auto at = bucket_of(prefix);
    return at ? &entries_[buckets_[*at].place] : nullptr;
  }
  const Entry* find(const Prefix& prefix) const { return const_cast<PrefixTable*>(this)->find(prefix); }

  // The entry of the prefix, added if there is none.
  Entry& add(const Prefix& prefix) {
    if (Entry* known = find(prefix)) return *known;
    if ((size_ + 1) * 4 > buckets_.size() * 3) grow();
    const std::uint32_t place = take_place();
    Entry& e = entries_[place];
    e.prefix = prefix;
    e.used = true;
    insert({hash_of(prefix), place});
    ++size_;
    return e;
  }

  // Takes no memory and cannot fail.
  void erase(const Prefix& prefix) {
    const auto at = bucket_of(prefix);
    if (!at) return;
    const std::uint32_t place = buckets_[*at].place;
    entries_[place] = {};
    entries_[place].prefix.address.low = free_;
    free_ = place;
    --size_;
    close_gap(*at);
  }

  std::size_t size() const { return size_; }
  // Every entry has a place below places(); at() returns nullptr for an unused place.
  std::size_t places() const { return entries_.size(); }
  Entry* at(std::size_t place) { return entries_[place].used ? &entries_[place] : nullptr; }
  const Entry* at(std::size_t place) const { return entries_[place].used ? &entries_[place] : nullptr; }

 private:
  static constexpr std::uint32_t kEmpty = UINT32_MAX;
  struct Bucket {
    std::uint32_t hash = 0;
    std::uint32_t place = kEmpty;
  };

  std::size_t next(std::size_t bucket) const { return (bucket + 1) & (buckets_.size() - 1); }
  std::size_t home(std::uint32_t hash) const { return hash & (buckets_.size() - 1); }

  std::optional<std::size_t> bucket_of(const Prefix& prefix) const {
    if (buckets_.empty()) return {};
    const std::uint32_t hash = hash_of(prefix);
    for (std::size_t b = home(hash); buckets_[b].place != kEmpty; b = next(b))
      if (buckets_[b].hash == hash && entries_[buckets_[b].place].prefix == prefix) return b;
    return {};
  }
  void insert(const Bucket& bucket) {
    std::size_t b = home(bucket.hash);
    while (buckets_[b].place != kEmpty) b = next(b);
    buckets_[b] = bucket;
  }
  void grow() {
    std::vector<Bucket> old(buckets_.empty() ? 16 : buckets_.size() * 2);
    old.swap(buckets_);
    for (const Bucket& b : old)
      if (b.place != kEmpty) insert(b);
  }
  std::uint32_t take_place() {
    if (free_ == kEmpty) {
      entries_.emplace_back();
      return static_cast<std::uint32_t>(entries_.size() - 1);
    }
    return std::exchange(free_, static_cast<std::uint32_t>(entries_[free_].prefix.address.low));
  }
  // Linear probing must not meet a hole before its goal: entries behind the hole move up, unless their home
  // bucket lies behind the hole.
  void close_gap(std::size_t hole) {
    for (std::size_t b = next(hole); buckets_[b].place != kEmpty; b = next(b)) {
      const std::size_t mask = buckets_.size() - 1;
      if (((b - home(buckets_[b].hash)) & mask) < ((b - hole) & mask)) continue;
      buckets_[hole] = buckets_[b];
      hole = b;
    }
    buckets_[hole] = {};
  }

  std::vector<Bucket> buckets_;  // a power of two
  std::deque<Entry> entries_;
  std::uint32_t free_ = kEmpty;  // a free place; its prefix holds the number of the next one
  std::size_t size_ = 0;
};

}  // namespace surety
