// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/flows/flow_table.h"

#include <bit>
#include <cassert>
#include <cstddef>

#include "router/pipeline/wire/bytes.h"

namespace surety {

namespace {

constexpr std::int64_t kMostTicks = 4096;  // longest timeout; a contract's record has twice that
constexpr Duration kLongestTimeout{std::int64_t{1} << 50};
constexpr unsigned kShortestTick = 20;

std::size_t bytes_needed(std::uint32_t capacity, std::uint32_t buckets) {
  const std::size_t records = std::size_t{capacity} + 1;  // one more for nobody()
  return records * (sizeof(FlowRecord) + 32 + 12 + sizeof(FlowId)) + std::size_t{buckets} * 64;
}

std::uint32_t buckets_for(std::uint32_t capacity) {
  return std::max(1u, capacity / 5 + (capacity % 5 != 0));
}

std::int64_t in_ticks(Duration timeout, unsigned shift) {
  return (std::clamp(timeout, Duration::zero(), kLongestTimeout).count() + (std::int64_t{1} << shift) - 1) >>
         shift;
}

unsigned tick_for(Duration timeout) {
  unsigned shift = kShortestTick;
  while (in_ticks(timeout, shift) > kMostTicks) ++shift;
  return shift;
}

// Limits by the flags is_shared and embryonic.
std::array<std::int16_t, 4> limits(Duration idle, Duration embryonic, unsigned shift) {
  const auto t = static_cast<std::int16_t>(in_ticks(idle, shift));
  const auto e = static_cast<std::int16_t>(in_ticks(std::min(idle, embryonic), shift));
  return {t, static_cast<std::int16_t>(2 * t), e, static_cast<std::int16_t>(2 * e)};
}

}  // namespace

FlowTable::FlowTable(std::uint32_t capacity, Duration idle_timeout, std::uint64_t seed,
                     Duration embryonic_timeout)
    : hasher_(seed),
      capacity_(std::min(capacity, kNoFlow - 1)),
      bucket_count_(buckets_for(capacity_)),
      shift_(tick_for(idle_timeout)),
      limits_(limits(idle_timeout, embryonic_timeout, shift_)),
      memory_(bytes_needed(capacity_, bucket_count_)),
      marked_(capacity_) {
  lay_out();
}

std::size_t FlowTable::bytes(std::uint32_t capacity) {
  return bytes_needed(capacity, buckets_for(capacity));
}

// Writes to every page: now rather than when the packet comes that needs it.
void FlowTable::lay_out() {
  const std::size_t records = std::size_t{capacity_} + 1;
  std::byte* p = memory_.data();
  records_ = new (p) FlowRecord[records];
  p += records * sizeof(FlowRecord);
  index_ = new (p) FlowBucket[bucket_count_]{};
  p += std::size_t{bucket_count_} * sizeof(FlowBucket);
  keys6_ = new (p) Key6[records]{};
  p += records * sizeof(Key6);
  carried_ = new (p) Carried[records]{};
  p += records * sizeof(Carried);
  embryonic_ = new (p) FlowId[records]{};
  for (std::uint32_t i = 0; i < bucket_count_; ++i) index_[i].records[kSlots] = nobody();
  for (FlowId id = 0; id < capacity_; ++id) records_[id].rest = id + 1;  // the last one's next is nobody()
}

inline bool FlowTable::same(FlowId id, const FlowKey& key) const {
  // DSCP and flags of the record as one word, like DSCP and family of the key.
  static_assert(offsetof(FlowRecord, flags) == offsetof(FlowRecord, dscp) + 1 &&
                offsetof(FlowKey, v6) == offsetof(FlowKey, dscp) + 1 && FlowRecord::v6 == 1);
  constexpr std::uint32_t kKept = 0xff | (FlowRecord::live | FlowRecord::v6) << 8;
  const FlowRecord& r = records_[id];
  const std::uint32_t marks = load<std::uint16_t>(&r.dscp) & kKept;
  const std::uint32_t wanted = load<std::uint16_t>(&key.dscp) | FlowRecord::live << 8;
  if (((r.rest ^ key.rest) | (marks ^ wanted)) != 0) return false;
  return key.v6 ? same6(id, key) : r.address == key.address[0];
}

FlowId FlowTable::locate(const FlowKey& key, std::uint64_t hash) const {
  const FlowChoice choice = FlowChoice::of(hash, bucket_count_);
  for (const std::uint32_t i : {choice.first, choice.second}) {
    const FlowBucket& b = index_[i];
    for (std::uint32_t m = b.matches(FlowChoice::tag(hash)); m != 0; m &= m - 1)
      if (const FlowId id = b.records[FlowBucket::first(m)]; same(id, key)) return id;
  }
  return nobody();
}

FlowId FlowTable::find(const FlowKey& key, std::uint64_t hash, Time now) const {
  const FlowId id = locate(key, hash);
  return id == nobody() || expired(records_[id], tick(now)) ? kNoFlow : id;
}

// Members are copied before these loops, or the compiler would load them again behind each store.
void FlowTable::prefetch_buckets(std::span<const ParsedPacket> packets, std::uint64_t* hashes) const {
  const FlowHasher hasher = hasher_;
  const FlowBucket* const index = index_;
  const std::uint32_t buckets = bucket_count_;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const std::uint64_t hash = hasher(packets[i].key) | 1;
    hashes[i] = hash;
    __builtin_prefetch(&index[FlowChoice::first_of(hash, buckets)]);
  }
}

// 98.6 % of the entries of a full table are in their first bucket (first-fit, Poisson of mean 5); the others
// are searched one by one.
void FlowTable::prefetch_records(std::span<const ParsedPacket> packets, const std::uint64_t* hashes,
                                 FlowId* ids) const {
  const FlowBucket* const index = index_;
  const FlowRecord* const records = records_;
  const Key6* const keys6 = keys6_;
  const std::uint32_t buckets = bucket_count_;
  const FlowId none = nobody();
  std::array<std::uint8_t, kBurst> missing;
  std::array<std::uint32_t, kBurst> second;
  std::size_t n = 0;
  const auto look = [&](std::size_t i, std::uint32_t bucket) {
    const FlowId id = index[bucket].candidate(FlowChoice::tag(hashes[i]));
    ids[i] = id;
    __builtin_prefetch(&records[id]);
    if (packets[i].v6) __builtin_prefetch(&keys6[id]);
    return id;
  };
  for (std::size_t i = 0; i < packets.size(); ++i)
    if (look(i, FlowChoice::first_of(hashes[i], buckets)) == none) [[unlikely]]
      missing[n++] = static_cast<std::uint8_t>(i);
  for (std::size_t k = 0; k < n; ++k) {
    second[k] = FlowChoice::of(hashes[missing[k]], buckets).second;
    __builtin_prefetch(&index[second[k]]);
  }
  for (std::size_t k = 0; k < n; ++k) look(missing[k], second[k]);
}

FlowTable::Found FlowTable::look_up(std::span<const ParsedPacket> packets, const FlowId* ids,
                                    std::uint16_t* services, Tick t) {
  // Service, DSCP and flags of a record as one word.
  static_assert(offsetof(FlowRecord, dscp) == offsetof(FlowRecord, service) + 2);
  constexpr std::uint32_t kFlags =
      FlowRecord::v6 | FlowRecord::live | FlowRecord::is_shared | FlowRecord::embryonic | FlowRecord::stale;
  constexpr std::uint32_t kLooked = (0xff | kFlags << 8) << 16;
  FlowRecord* const records = records_;
  const Key6* const keys6 = keys6_;
  const int limit = limits_[0];
  Found found;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const FlowKey& key = packets[i].key;
    FlowRecord& r = records[ids[i]];
    const auto word = load<std::uint32_t>(reinterpret_cast<const std::uint8_t*>(&r.service));
    constexpr std::uint32_t kLive = FlowRecord::live << 24;
    const std::uint32_t wanted = std::uint32_t{load<std::uint16_t>(&key.dscp)} << 16 | kLive;
    std::uint64_t difference = (r.rest ^ key.rest) | ((word ^ wanted) & kLooked);
    if (key.v6) {
      const Key6& a = keys6[ids[i]];
      const Key6& b = key.address;
      difference |= (a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]);
    } else {
      difference |= r.address ^ key.address[0];
    }
    const std::uint64_t bit = std::uint64_t{1} << i;
    if (difference != 0 || static_cast<std::int16_t>(t - r.last_seen) > limit) [[unlikely]] {
      found.others |= bit;
      continue;
    }
    r.last_seen = t;
    services[i] = static_cast<std::uint16_t>(word);
    if ((word & FlowRecord::redirect << 24) != 0) [[unlikely]]
      found.redirected |= bit;
  }
  return found;
}

FlowId FlowTable::verify(FlowId id, const FlowKey& key, std::uint64_t hash, Tick t) const {
  if (id == nobody()) return kNoFlow;
  if (!same(id, key)) id = locate(key, hash);  // another flow's tag
  return id == nobody() || expired(records_[id], t) ? kNoFlow : id;
}

FlowId FlowTable::add(const FlowKey& key, std::uint64_t hash, bool shared, Time now) {
  if (free_ == nobody()) return kNoFlow;
  const std::uint32_t where = bucket_with_room(FlowChoice::of(hash, bucket_count_));
  if (where == bucket_count_) return kNoFlow;
  const FlowId id = free_;
  FlowRecord& r = records_[id];
  free_ = static_cast<FlowId>(r.rest);
  __builtin_prefetch(&records_[free_], 1);
  r = FlowRecord{};
  r.rest = key.rest;
  if (!key.v6) r.address = key.address[0];
  r.dscp = key.dscp;
  r.flags = static_cast<std::uint8_t>(FlowRecord::live | FlowRecord::embryonic |
                                      (key.v6 ? FlowRecord::v6 : 0) | (shared ? FlowRecord::is_shared : 0));
  r.last_seen = tick(now);
  if (key.v6) keys6_[id] = key.address;
  FlowBucket& b = index_[where];
  const std::uint32_t slot = b.free_slot();
  b.tags[slot] = FlowChoice::tag(hash);
  b.records[slot] = id;
  ++size_;
  push_embryonic(id);
  return id;
}

void FlowTable::carry(FlowId id, Precedence precedence) {
  FlowRecord& r = records_[id];
  Carried& c = carried_[id];
  if ((r.flags & FlowRecord::wide) == 0) c = {};
  r.flags |= FlowRecord::wide;
  if (++c.low[index(precedence)] == 0) ++c.high[index(precedence)];
}

FlowCounters FlowTable::counters(FlowId id) const {
  const auto relaxed = [](const auto& x) { return std::uint64_t{__atomic_load_n(&x, __ATOMIC_RELAXED)}; };
  const FlowRecord& r = records_[id];
  FlowCounters n{relaxed(r.in_bytes), relaxed(r.out_bytes())};
  if ((relaxed(r.flags) & FlowRecord::wide) == 0) return n;
  const Carried& c = carried_[id];
  const auto carried = [&](std::size_t p) { return relaxed(c.high[p]) << 48 | relaxed(c.low[p]) << 16; };
  n.in_bytes += carried(index(Precedence::in));
  n.out_bytes += carried(index(Precedence::out));
  return n;
}

void FlowTable::add_to(Batch& batch, FlowId id) const {
  batch.ids[batch.size++] = id;
  if ((records_[id].flags & FlowRecord::v6) != 0) __builtin_prefetch(&keys6_[id]);
}

void FlowTable::fetch_index(const Batch& batch) const {
  for (std::uint32_t i = 0; i < batch.size; ++i)
    __builtin_prefetch(&index_[FlowChoice::of(hash_of(batch.ids[i]), bucket_count_).first], 1);
}

void FlowTable::push_embryonic(FlowId id) {
  if (embryonic_count_ == capacity_) return;  // the sweep finds it
  const std::uint32_t last = embryonic_first_ + embryonic_count_++;
  embryonic_[last < capacity_ ? last : last - capacity_] = id;
}

FlowId FlowTable::pop_embryonic() {
  const FlowId id = embryonic_[embryonic_first_];
  if (++embryonic_first_ == capacity_) embryonic_first_ = 0;
  --embryonic_count_;
  return id;
}

// Takes those out of the ring that are due, up to a batch, and those that are embryonic no more or that the
// sweep must wait for. A contract's record, which has twice the time, passes through the ring twice. Returns
// whether there may be more.
bool FlowTable::collect_embryonic(Batch& due, Tick t) {
  const std::uint32_t n = std::min(embryonic_count_, 2 * kRemovals);
  for (std::uint32_t i = 0, at = embryonic_first_; i < n; ++i) {
    __builtin_prefetch(&records_[embryonic_[at]], 1);
    if (++at == capacity_) at = 0;
  }
  for (std::uint32_t i = 0; i < n && !due.full(); ++i) {
    const FlowId id = embryonic_[embryonic_first_];
    FlowRecord& r = records_[id];
    const bool waits = (r.flags & (FlowRecord::live | FlowRecord::embryonic | FlowRecord::sticky)) ==
                       (FlowRecord::live | FlowRecord::embryonic);
    if (waits && static_cast<std::int16_t>(t - r.last_seen) <= limits_[FlowRecord::embryonic >> 2])
      return false;
    pop_embryonic();
    if (!waits) continue;
    if (!expired(r, t)) {
      push_embryonic(id);
      continue;
    }
    r.flags &= static_cast<std::uint8_t>(~FlowRecord::embryonic);  // the ring may have it twice
    add_to(due, id);
  }
  return embryonic_count_ > 0;
}

// A round that takes too long: the ticks that are too many have not passed.
void FlowTable::keep_up(Time now) {
  const std::int64_t over = ticks(now) - round_began_ - kLongestRound;
  if (over > 0) lag_ += Duration(over << shift_);
}

void FlowTable::mark(std::uint32_t places, std::uint32_t flows) {
  const std::uint32_t end = size_ == 0 ? capacity_ : marked_ + std::min(places, capacity_ - marked_);
  if (size_ == 0) marked_ = capacity_;
  for (; marked_ < end && flows > 0; ++marked_) {
    FlowRecord& r = records_[marked_];
    constexpr std::uint8_t kLooked = FlowRecord::live | FlowRecord::is_shared | FlowRecord::stale;
    if ((r.flags & kLooked) != FlowRecord::live) continue;
    r.flags |= FlowRecord::stale;
    --flows;
  }
}

void FlowTable::remove(FlowId id) {
  const std::uint64_t hash = hash_of(id);
  const FlowChoice choice = FlowChoice::of(hash, bucket_count_);
  for (const std::uint32_t i : {choice.first, choice.second})
    for (std::uint32_t m = index_[i].matches(FlowChoice::tag(hash)); m != 0; m &= m - 1)
      if (const std::uint32_t slot = FlowBucket::first(m); index_[i].records[slot] == id)
        index_[i].tags[slot] = 0;
  records_[id].flags = 0;
  records_[id].rest = free_;
  free_ = id;
  --size_;
}

std::uint64_t FlowTable::hash_of(FlowId id) const {
  const FlowRecord& r = records_[id];
  return (r.flags & FlowRecord::v6) != 0 ? hash(key(id)) : hasher_.v4(r.rest, r.address, r.dscp) | 1;
}

// Index of a bucket that may take an entry with this choice, bucket_count_ if there is none.
std::uint32_t FlowTable::bucket_with_room(const FlowChoice& choice) {
  for (const std::uint32_t i : {choice.first, choice.second})
    if (index_[i].free_slot() != kSlots) return i;
  for (const std::uint32_t i : {choice.first, choice.second})
    if (make_room(i, 0) || make_room(i, 1)) return i;
  return bucket_count_;
}

// Moves an entry of a full bucket to its other bucket; when those are full as well, makes room in one of them
// first (depth 1). Depth 1 is the limit: one level more could move the very entry it makes room for.
bool FlowTable::make_room(std::uint32_t bucket, int depth) {
  FlowBucket& from = index_[bucket];
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    const FlowChoice choice = FlowChoice::of(hash_of(from.records[slot]), bucket_count_);
    const std::uint32_t other = choice.first == bucket ? choice.second : choice.first;
    FlowBucket& to = index_[other];
    if (to.free_slot() == kSlots && (depth == 0 || !make_room(other, depth - 1))) continue;
    const std::uint32_t free = to.free_slot();
    to.tags[free] = from.tags[slot];
    to.records[free] = from.records[slot];
    from.tags[slot] = 0;
    return true;
  }
  return false;
}

FlowKey FlowTable::key(FlowId id) const {
  const FlowRecord& r = records_[id];
  FlowKey key;
  key.rest = r.rest;
  key.dscp = r.dscp;
  key.v6 = (r.flags & FlowRecord::v6) != 0;
  if (key.v6)
    key.address = keys6_[id];
  else
    key.address[0] = r.address;
  return key;
}

}  // namespace surety
