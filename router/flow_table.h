// The flows of one worker: exact match, bounded, aged, made at start (PERF.md, lessons).
//
// Memory per flow of capacity: a 64-byte record (key, conditioner state), 32 bytes for an IPv6 key, 16 bytes
// of counters and 12.8 bytes of index: below 128. Two-choice buckets of one cache line (10 x {16-bit tag,
// 32-bit record}), half full, with displacement of index entries when both are full: records never move, so a
// FlowId stays valid while the flow lives.
//
// Expiry: lookup() and find() do not see a flow that has been idle for longer than the timeout, and change
// nothing. Only insert(), age() and remove() take records out; the first two tell of it before they do.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "conditioners/enhanced_token_bucket.h"
#include "conditioners/packet.h"
#include "conditioners/token_bucket.h"
#include "conditioners/units.h"
#include "router/headers.h"

namespace surety {

inline constexpr std::size_t kVector = 64;  // packets a stage works on at once

// State of whatever conditions the flow; which member is live follows from the service.
union ConditionerState {
  EnhancedTokenBucketState csa;
  TokenBucket bucket;
  std::uint64_t meter[4];  // rte_meter's run-time state
  FlowId shared;  // of a flow whose contract covers more than itself (`per: source` ...): where the state is
  ConditionerState() : meter{} {}
};

struct alignas(64) FlowRecord {
  std::uint64_t rest = 0,
                address = 0;    // the key; IPv6: address is the key's hash, the exact one stands in keys6_
  ConditionerState state;       // 40 bytes
  std::uint32_t last_seen = 0;  // ticks of 2^20 ns
  std::uint16_t service = 0;    // what its rule gives it: index into Snapshot::services
  std::uint8_t dscp = 0;
  std::uint8_t flags = 0;
  enum Flag : std::uint8_t { live = 1, v6 = 2, redirect = 4, is_shared = 8, sticky = 16 };
};
static_assert(sizeof(FlowRecord) == 64);

struct FlowCounters {
  std::uint64_t in_bytes = 0, out_bytes = 0;
};

// 64-bit keyed hash of a flow key, in registers: multiply to 128 bits and fold, as wyhash does. Who does not
// know the seed cannot choose keys that collide.
class FlowHasher {
 public:
  explicit FlowHasher(std::uint64_t seed);

  std::uint64_t operator()(const FlowKey& key) const {
    return key.v6 ? v6(key) : v4(key.rest, key.address[0], key.dscp);
  }
  std::uint64_t v4(std::uint64_t rest, std::uint64_t address, std::uint8_t dscp) const {
    return fold(fold(rest ^ s_[0], address ^ s_[1]) ^ s_[2], spread(dscp) ^ s_[3]);
  }

 private:
  static std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  // One more multiplication is too few for six bits at the bottom of an operand.
  static std::uint64_t spread(std::uint8_t dscp) { return dscp * 0x9e3779b97f4a7c15u; }
  std::uint64_t v6(const FlowKey& key) const {
    const auto& a = key.address;
    const std::uint64_t most = fold(key.rest ^ s_[0], a[0] ^ s_[1]) ^ fold(a[1] ^ s_[4], a[2] ^ s_[5]);
    return fold(fold(most ^ s_[2], a[3] ^ s_[6]), spread(key.dscp) ^ s_[3]);
  }

  std::array<std::uint64_t, 7> s_;
};

// Where a flow may stand in an index of `buckets` buckets: two different ones (if there are two) and a tag
// other than 0.
struct FlowChoice {
  std::uint32_t first, second;
  static FlowChoice of(std::uint64_t hash, std::uint32_t buckets) {
    const auto scale = [](std::uint64_t half, std::uint32_t n) {
      return static_cast<std::uint32_t>((half * n) >> 32);
    };
    const std::uint32_t first = scale(hash >> 32, buckets);
    const std::uint32_t second = first + 1 + scale(hash & 0xffffffff, buckets - 1);
    return {first, second < buckets ? second : second - buckets};
  }
  static std::uint16_t tag(std::uint64_t hash) {
    const auto t = static_cast<std::uint16_t>(hash ^ (hash >> 32));
    return t == 0 ? 1 : t;
  }
};

class FlowTable {
 public:
  // The timeout is kept in ticks, rounded up, at most 2^30 - 1 of them (13 days). Throws std::bad_alloc.
  FlowTable(std::uint32_t capacity, Duration idle_timeout, std::uint64_t seed);
  FlowTable(const FlowTable&) = delete;
  FlowTable& operator=(const FlowTable&) = delete;

  std::uint64_t hash(const FlowKey& key) const { return hasher_(key); }

  // Looks up keys.size() <= kVector keys at once, prefetching: ids[i] is kNoFlow where there is none, or
  // where it has been idle for longer than the timeout. `hashes` are hash() of the keys. Does not touch
  // last_seen: the caller does, with touch(). Records and counters of the flows found are in cache or on
  // their way.
  void lookup(std::span<const FlowKey* const> keys, std::span<const std::uint64_t> hashes,
              std::span<FlowId> ids, Time now) const;
  // The same for one key: before insert(), since a vector may hold several packets of a new flow.
  FlowId find(const FlowKey& key, std::uint64_t hash, Time now) const;

  // A record for a key that find() does not see; kNoFlow at the ceiling (or when 220 entries that could make
  // room for it by moving cannot: never with an unknown seed). A record of the same key that has expired is
  // removed first, after on_remove(FlowId). `shared` marks a contract's record that others redirect to: it
  // lives twice the timeout, so it is still there for every redirecting flow that lookup() sees, if both are
  // touched together.
  template <class F>
  FlowId insert(const FlowKey& key, std::uint64_t hash, bool shared, Time now, F&& on_remove) {
    if (const FlowId old = locate(key, hash); old != nobody()) {
      on_remove(old);
      remove(old);
    }
    return add(key, hash, shared, now);
  }
  // Takes out a flow that is in, whatever its flags.
  void remove(FlowId id);

  FlowRecord& operator[](FlowId id) { return records_[id]; }
  const FlowRecord& operator[](FlowId id) const { return records_[id]; }
  FlowCounters& counters(FlowId id) { return counters_[id]; }
  const FlowCounters& counters(FlowId id) const { return counters_[id]; }
  FlowKey key(FlowId id) const;
  void touch(FlowRecord& r, Time now) const { r.last_seen = tick(now); }

  // Removes idle flows, looking at up to `records` of them; sweeps round. on_remove(FlowId) is called before
  // each removal; it must not insert or remove. Records with the flag `sticky` (packets are held) stay, and
  // are never idle to lookup().
  template <class F>
  void age(Time now, std::uint32_t records, F&& on_remove) {
    if (size_ == 0) return;
    const std::uint32_t t = tick(now);
    for (std::uint32_t n = std::min(records, capacity_); n > 0; --n) {
      if (++hand_ >= capacity_) hand_ = 0;
      const FlowRecord& r = records_[hand_];
      if ((r.flags & FlowRecord::live) == 0 || !expired(r, t)) continue;
      on_remove(FlowId{hand_});
      remove(hand_);
    }
  }

  // How long nothing has come, to about a millisecond.
  Duration idle(FlowId id, Time now) const {
    return Duration(std::int64_t{static_cast<std::int32_t>(tick(now) - records_[id].last_seen)} << 20);
  }

  std::uint32_t size() const { return size_; }
  std::uint32_t capacity() const { return capacity_; }
  std::uint32_t buckets() const { return bucket_count_; }
  std::size_t memory_bytes() const { return memory_.get_deleter().bytes; }  // everything allocated

  static constexpr std::uint32_t kSlots = 10;  // of a bucket

 private:
  // A line of the index. Tag 0: free. The 11th entry is nobody(), for who finds no tag: no branch on the way.
  struct alignas(64) Bucket {
    std::array<std::uint16_t, kSlots> tags;
    std::array<FlowId, kSlots + 1> records;
  };
  static_assert(sizeof(Bucket) == 64);
  using Key6 = std::array<std::uint64_t, 4>;
  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* p) const;
  };

  static std::uint32_t tick(Time now) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(now.time_since_epoch().count()) >> 20);
  }
  // Ticks wrap after 52 days: only their differences mean anything.
  bool expired(const FlowRecord& r, std::uint32_t t) const {
    const std::int32_t limit = timeout_ << ((r.flags & FlowRecord::is_shared) != 0);
    return static_cast<std::int32_t>(t - r.last_seen) > limit && (r.flags & FlowRecord::sticky) == 0;
  }
  // The record behind the last one: belongs to no flow, equals no key.
  FlowId nobody() const { return capacity_; }

  bool same(FlowId id, const FlowKey& key, std::uint64_t hash) const;
  FlowId locate(const FlowKey& key, std::uint64_t hash) const;
  FlowId add(const FlowKey& key, std::uint64_t hash, bool shared, Time now);
  std::uint64_t hash_of(FlowId id) const;
  bool make_room(std::uint32_t bucket, int depth);
  std::uint32_t bucket_with_room(const FlowChoice& choice);
  void lay_out();

  const FlowHasher hasher_;
  const std::uint32_t capacity_, bucket_count_;
  const std::int32_t timeout_;  // ticks
  std::unique_ptr<std::byte, Unmap> memory_;
  FlowRecord* records_ = nullptr;  // the four arrays in memory_
  Bucket* index_ = nullptr;
  Key6* keys6_ = nullptr;
  FlowCounters* counters_ = nullptr;
  FlowId free_ = 0;  // list of free records, through FlowRecord::rest; nobody() ends it
  std::uint32_t size_ = 0;
  std::uint32_t hand_ = 0;  // where age() is
};

}  // namespace surety
