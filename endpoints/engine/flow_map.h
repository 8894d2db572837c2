// SPDX-License-Identifier: BSD-3-Clause
// The directory of a host's flows: from addresses, ports and transport to a small number, and back.
//
// Fixed capacity, nothing moves: a FlowIndex stays valid until it is erased, and is then the last to be used
// again. One cache line of directory per packet (15 entries of tag and index, half full) and the line of the
// flow's record; both can be prefetched. The hash is keyed: without the seed a peer cannot choose tuples that
// collide. 64 bytes of record and 8 to 16 of directory per flow.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "conditioners/huge_memory.h"
#include "conditioners/units.h"
#include "endpoints/engine/engine.h"
#include "router/pipeline/wire/ip.h"

namespace surety::endpoints {

using FlowIndex = std::uint32_t;  // 1 .. max_flows
inline constexpr FlowIndex kNoFlowIndex = 0;
inline constexpr std::uint32_t kMostFlows = (1u << 22) - 1;

struct alignas(64) FlowRecord {
  Tuple tuple;
  Transport transport = Transport::tcp;
  // The host's.
  bool live = false;
  bool accepted = false;  // begun by the peer
  bool over = false;      // closed, and kept until `forget`
  FlowIndex next_free = kNoFlowIndex;
  Time forget{};
};
static_assert(sizeof(FlowRecord) == 64);

class FlowMap {
 public:
  // `max_flows` 1 .. kMostFlows; throws std::bad_alloc.
  FlowMap(std::uint32_t max_flows, std::uint64_t seed);

  std::uint64_t hash(const Tuple& t, Transport transport) const {
    const std::uint64_t ports = std::uint64_t{t.local_port} << 32 | std::uint64_t{t.remote_port} << 16 |
                                static_cast<std::uint64_t>(transport);
    return fold(fold(t.local.low ^ key_[0], t.remote.low ^ key_[1]) ^
                    fold(t.local.high ^ key_[2], t.remote.high ^ key_[3]),
                ports ^ key_[4]);
  }
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&buckets_[home(hash)]); }

  // The flow whose tag is that of `hash`, if there is one: its record is being
  // fetched, and its tuple has not been compared.
  FlowIndex candidate(std::uint64_t hash) const;
  FlowIndex find(const Tuple& tuple, Transport transport, std::uint64_t hash) const;

  // kNoFlowIndex: full. The tuple must not be in.
  FlowIndex insert(const Tuple& tuple, Transport transport, std::uint64_t hash);
  void erase(FlowIndex f);

  FlowRecord& operator[](FlowIndex f) { return records_[f]; }
  const FlowRecord& operator[](FlowIndex f) const { return records_[f]; }
  std::uint32_t size() const { return size_; }
  std::uint32_t capacity() const { return capacity_; }
  std::size_t memory_bytes() const;

 private:
  // An entry is tag << kIndexBits | index; 0: free.
  static constexpr int kIndexBits = 22;
  static constexpr std::uint32_t kIndexMask = (1u << kIndexBits) - 1, kSlots = 15;
  struct alignas(64) Bucket {
    std::uint32_t entry[kSlots];
    std::uint32_t displaced;  // flows that found this bucket full and are in a later one
  };
  static_assert(sizeof(Bucket) == 64);

  static std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  std::uint32_t home(std::uint64_t hash) const { return static_cast<std::uint32_t>(hash) & mask_; }
  // Never zero, so that no tag is that of a free entry.
  static std::uint32_t tag(std::uint64_t hash) {
    return (static_cast<std::uint32_t>(hash >> 54) | (hash >> 54 == 0)) << kIndexBits;
  }
  static std::uint32_t matches(const Bucket& b, std::uint32_t tag);  // bit i: entry i has the tag
  static std::uint32_t free_slots(const Bucket& b);

  std::uint32_t capacity_, mask_;
  std::uint32_t size_ = 0;
  FlowIndex first_free_ = 1, last_free_;
  std::array<std::uint64_t, 5> key_;
  HugeArray<Bucket> buckets_;
  HugeArray<FlowRecord> records_;
};

}  // namespace surety::endpoints
