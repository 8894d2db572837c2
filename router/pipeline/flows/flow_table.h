// SPDX-License-Identifier: BSD-3-Clause
// The flows of one worker: exact match, bounded, aged, allocated at start (tests/bench/README.md).
//
// Memory per flow of capacity: a 64-byte record (key, conditioner state, the low bits of its counters), 32
// bytes for an IPv6 key, 12 for the rest of the counters, 4 for the queue of the embryonic and 12.8 of index:
// below 128. Two-choice buckets of one cache line (10 x {16-bit tag, 32-bit record}), half full, with
// displacement of index entries when both are full: records never move, so a FlowId stays valid while the
// flow exists. A packet of a known flow touches two lines, its bucket and its record; for IPv6 its key as
// well. The constructor writes to all memory: if the worker's thread runs it, the memory is on that thread's
// NUMA node.
//
// Expiry: a lookup ignores a flow that has been idle for longer than the timeout, and removes nothing. A flow
// is embryonic until its second packet, and has a timeout of its own, so that a flood of new flows does not
// fill the table. Only insert(), age(), age_embryonic() and remove() remove records; all but the last call
// on_remove() before.
//
// Time is kept in ticks: of 2^20 ns, or longer ones so that the timeout has 4096 at most (of 8 ms for 30 s).
// They are 16 bits wide, which is sufficient because age() visits the whole table in time; if it does not
// (the worker was delayed), time stops for the table, and flows stay longer. In a turn, age() comes first.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "conditioners/huge_memory.h"
#include "conditioners/packet.h"
#include "conditioners/units.h"
#include "router/pipeline/flows/flow_hash.h"
#include "router/pipeline/flows/flow_record.h"
#include "router/pipeline/wire/bytes.h"
#include "router/pipeline/wire/headers.h"

namespace surety {

// One cache line of the flow table's index: ten tags, and the record of each.

// Tag 0: free. The 11th record is that of no flow, the result without a matching tag: it saves a branch.
struct alignas(64) FlowBucket {
  static constexpr std::uint32_t kSlots = 10;

  std::array<std::uint16_t, kSlots> tags;
  std::array<FlowId, kSlots + 1> records;

  // Bit 2i says that slot i has the tag.
  std::uint32_t matches(std::uint16_t tag) const {
    constexpr std::uint32_t kSlotBits = 0x55555;  // one of the two bits that a 16-bit comparison gives
    return compare(tag) & kSlotBits;
  }
  // The first slot of those, kSlots if there is none.
  static std::uint32_t first(std::uint32_t matched) {
    return static_cast<std::uint32_t>(std::countr_zero(matched | 1u << (2 * kSlots))) / 2;
  }
  std::uint32_t free_slot() const { return first(matches(0)); }
  // The record of the first slot with that tag. (The comparison covers bytes behind the tags, too.)
  FlowId candidate(std::uint16_t tag) const { return records[first(compare(tag))]; }

 private:
  std::uint32_t compare(std::uint16_t tag) const {
    const __m256i line = _mm256_load_si256(reinterpret_cast<const __m256i*>(this));
    const __m256i equal = _mm256_cmpeq_epi16(line, _mm256_set1_epi16(static_cast<std::int16_t>(tag)));
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(equal));
  }
};
static_assert(sizeof(FlowBucket) == 64);

inline constexpr std::size_t kBurst = 64;  // packets a stage works on at once

class FlowTable {
 public:
  using Tick = std::uint16_t;

  // The timeouts are rounded up to a tick; the longest is 13 days. Throws std::bad_alloc.
  FlowTable(std::uint32_t capacity, Duration idle_timeout, std::uint64_t seed,
            Duration embryonic_timeout = Duration::max());
  FlowTable(const FlowTable&) = delete;
  FlowTable& operator=(const FlowTable&) = delete;

  // Odd, so that its tag is not 0.
  std::uint64_t hash(const FlowKey& key) const { return hasher_(key) | 1; }
  Tick tick(Time now) const { return static_cast<Tick>(ticks(now)); }

  // The lookup of several packets, at most kBurst, has these steps, so that no cache line is waited for. 1.
  // Computes their hashes, and prefetches their buckets.
  void prefetch_buckets(std::span<const ParsedPacket> packets, std::uint64_t* hashes) const;
  // 2. Finds the candidates in the buckets, which may be other flows, or none, and prefetches their records.
  void prefetch_records(std::span<const ParsedPacket> packets, const std::uint64_t* hashes,
                        FlowId* ids) const;
  // 3. Compares: most packets belong to their candidate, and it is ordinary: not idle, not stale, with a
  // second packet. These are touch()ed, and `services` gets their service. One bit each in `others`: packets
  // that are not; in `redirected`: packets whose contract has another record.
  struct Found {
    std::uint64_t others = 0, redirected = 0;
  };
  Found look_up(std::span<const ParsedPacket> packets, const FlowId* ids, std::uint16_t* services, Tick t);
  // 4. For each of the others: the flow; kNoFlow: there is none, or it has been idle for longer than the
  // timeout. Does not touch last_seen: the caller does, with touch().
  FlowId verify(FlowId id, const FlowKey& key, std::uint64_t hash, Tick t) const;
  // The whole lookup for one key: before insert(), since a burst may have several packets of a new flow.
  FlowId find(const FlowKey& key, std::uint64_t hash, Time now) const;

  // Adds an embryonic record for a key that find() does not find; kNoFlow at capacity (or if none of 220
  // index entries can move: never with a secret seed). An expired record of the same key is removed first,
  // after on_remove(FlowId). `shared` marks a contract's record that others redirect to: it has twice the
  // timeout, so it exists for every redirecting flow that is found, if both are touched together.
  template <class F>
  FlowId insert(const FlowKey& key, std::uint64_t hash, bool shared, Time now, F&& on_remove) {
    if (const FlowId old = locate(key, hash); old != nobody()) {
      on_remove(old);
      remove(old);
    }
    return add(key, hash, shared, now);
  }
  // Removes a flow, with any flags.
  void remove(FlowId id);

  FlowRecord& operator[](FlowId id) { return records_[id]; }
  const FlowRecord& operator[](FlowId id) const { return records_[id]; }
  FlowKey key(FlowId id) const;
  // Marks a packet of the flow that is not its first. All packets of a burst have one tick, computed once.
  void touch(FlowRecord& r, Tick t) const {
    r.last_seen = t;
    r.flags &= static_cast<std::uint8_t>(~FlowRecord::embryonic);
  }
  void touch(FlowRecord& r, Time now) const { touch(r, tick(now)); }

  // A number stored with an IPv6 flow while it exists, for data that follow from its key. 0: none; flows of
  // IPv4, contracts' records and kNoFlow store none.
  std::uint64_t recall(FlowId id) const {
    const FlowRecord& r = records_[std::min(id, nobody())];
    return remembers(r) ? r.address : 0;
  }
  void remember(FlowId id, std::uint64_t number) {
    FlowRecord& r = records_[std::min(id, nobody())];
    if (remembers(r)) r.address = number;
  }

  // Counts a passed packet of the flow, of at most 65535 bytes.
  void count(FlowId id, Precedence precedence, std::uint32_t bytes) {
    count(records_[id], id, precedence, bytes);
  }
  // count() for a record already found.
  void count(FlowRecord& r, FlowId id, Precedence precedence, std::uint32_t bytes) {
    std::uint16_t& low = precedence == Precedence::in ? r.in_bytes : r.out_bytes();
    const std::uint32_t sum = low + bytes;
    low = static_cast<std::uint16_t>(sum);
    if (sum > 0xffff) [[unlikely]]
      carry(id, precedence);
  }
  // The counters of a flow; on other threads than the worker's they may be 64 kB off for a moment.
  FlowCounters counters(FlowId id) const;

  static constexpr std::uint32_t kRemovals = 64;  // the most removals of one age() or age_embryonic()

  // Removes idle flows, at most kRemovals, visiting up to `records` records, in rounds. Returns the number
  // visited. on_remove(FlowId) is called before each removal; it must not insert or remove. Records with the
  // flag `sticky` (packets are held) stay, and never count as idle.
  template <class F>
  std::uint32_t age(Time now, std::uint32_t records, F&& on_remove) {
    records = std::min(records, capacity_);
    round_began_ = size_ == 0 ? ticks(now) : std::min(round_began_, ticks(now));
    if (size_ == 0) return records;
    keep_up(now);
    const Tick t = tick(now);
    Batch idle;
    std::uint32_t looked = 0;
    for (; looked < records && !idle.full(); ++looked) {
      const FlowRecord& r = records_[hand_];
      if ((r.flags & FlowRecord::live) != 0 && expired(r, t)) add_to(idle, hand_);
      if (++hand_ == capacity_) {
        hand_ = 0;
        round_began_ = ticks(now);
      }
    }
    remove_all(idle, on_remove);
    return looked;
  }

  // Removes flows that have been embryonic for too long, at most kRemovals, the oldest first; on_remove as
  // for age(). Costs next to nothing while there are none.
  template <class F>
  void age_embryonic(Time now, F&& on_remove) {
    const Tick t = tick(now);
    if (embryonic_count_ == 0 || t == embryonic_looked_) return;
    Batch due;
    if (!collect_embryonic(due, t)) embryonic_looked_ = t;
    remove_all(due, on_remove);
  }

  // Sets the flag `stale` of all flows in the table, except contracts' records: begin_marking(), which may
  // also restart, then mark() while marking(), a slice of the table at a time.
  void begin_marking() { marked_ = 0; }
  bool marking() const { return marked_ < capacity_; }
  // Visits up to `places` of the table, and marks up to `flows`.
  void mark(std::uint32_t places, std::uint32_t flows);

  // Time since the last packet, to a tick.
  Duration idle(FlowId id, Time now) const {
    const auto t = static_cast<std::int16_t>(tick(now) - records_[id].last_seen);
    return Duration(std::int64_t{t} << shift_);
  }

  std::uint32_t size() const { return size_; }
  std::uint32_t capacity() const { return capacity_; }
  std::uint32_t buckets() const { return bucket_count_; }
  // Bytes of a table of that capacity.
  static std::size_t bytes(std::uint32_t capacity);
  std::size_t memory_bytes() const { return memory_.bytes(); }  // everything allocated

  static constexpr std::uint32_t kSlots = FlowBucket::kSlots;

 private:
  using Key6 = std::array<std::uint64_t, 4>;
  // Carries out of a record's 16-bit counters, by precedence: 48 bits each.
  struct Carried {
    std::array<std::uint32_t, kPrecedences> low;
    std::array<std::uint16_t, kPrecedences> high;
  };
  static_assert(sizeof(Carried) == 12);
  // Records to be removed: their keys are fetched together, and then their lines of the index.
  struct Batch {
    std::array<FlowId, kRemovals> ids;
    std::uint32_t size = 0;
    bool full() const { return size == kRemovals; }
  };

  // A round of age() may take this many ticks, and the longest timeout is as long. Between two visits a
  // record ages by two rounds at most: three times this number is still a positive 16-bit one.
  static constexpr std::int64_t kLongestRound = 8192;

  std::int64_t ticks(Time now) const { return (now - lag_).time_since_epoch().count() >> shift_; }
  // Times wrap: only their differences are used.
  bool expired(const FlowRecord& r, Tick t) const {
    static_assert(FlowRecord::is_shared == 4 && FlowRecord::embryonic == 8);
    return static_cast<std::int16_t>(t - r.last_seen) > limits_[r.flags >> 2 & 3] &&
           (r.flags & FlowRecord::sticky) == 0;
  }
  // The record behind the last one: belongs to no flow, equals no key.
  FlowId nobody() const { return capacity_; }

  static bool remembers(const FlowRecord& r) {
    return (r.flags & (FlowRecord::v6 | FlowRecord::is_shared)) == FlowRecord::v6;
  }

  template <class F>
  void remove_all(const Batch& batch, F&& on_remove) {
    fetch_index(batch);
    for (std::uint32_t i = 0; i < batch.size; ++i) {
      on_remove(batch.ids[i]);
      remove(batch.ids[i]);
    }
  }
  void add_to(Batch& batch, FlowId id) const;
  void fetch_index(const Batch& batch) const;
  void push_embryonic(FlowId id);
  FlowId pop_embryonic();
  bool collect_embryonic(Batch& due, Tick t);
  void keep_up(Time now);
  bool same(FlowId id, const FlowKey& key) const;
  bool same6(FlowId id, const FlowKey& key) const {
    const Key6& a = keys6_[id];
    const Key6& b = key.address;
    return ((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3])) == 0;
  }
  FlowId locate(const FlowKey& key, std::uint64_t hash) const;
  FlowId add(const FlowKey& key, std::uint64_t hash, bool shared, Time now);
  void carry(FlowId id, Precedence precedence);
  std::uint64_t hash_of(FlowId id) const;
  bool make_room(std::uint32_t bucket, int depth);
  std::uint32_t bucket_with_room(const FlowChoice& choice);
  void lay_out();

  const FlowHasher hasher_;
  const std::uint32_t capacity_, bucket_count_;
  const unsigned shift_;                      // a tick is 2^shift_ ns
  const std::array<std::int16_t, 4> limits_;  // ticks; + 1: is_shared, + 2: embryonic
  HugeMemory memory_;
  FlowRecord* records_ = nullptr;  // the five arrays in memory_
  FlowBucket* index_ = nullptr;
  Key6* keys6_ = nullptr;
  Carried* carried_ = nullptr;
  FlowId* embryonic_ = nullptr;  // a ring, oldest first; the records have their current state
  std::uint32_t embryonic_first_ = 0, embryonic_count_ = 0;
  std::int32_t embryonic_looked_ = -1;  // tick at which none was due
  FlowId free_ = 0;                     // list of free records, through FlowRecord::rest; nobody() ends it
  std::uint32_t size_ = 0;
  std::uint32_t hand_ = 0;                                               // position of age()
  std::uint32_t marked_;                                                 // position of mark()
  std::int64_t round_began_ = std::numeric_limits<std::int64_t>::max();  // ticks
  Duration lag_{};  // total time for which the table's time was stopped
};

}  // namespace surety
