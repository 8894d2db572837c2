// SPDX-License-Identifier: BSD-3-Clause
// Storage of the packets of all queues below a port: one pool of chunks, shared in parts.
//
// A chunk is a cache line with three packets and the number of the next one. Each queue has a part of the
// pool that no other can take (reserve()). The rest is common, and a queue may have one chunk more of it as
// long as it has less than kOfQueue times what is free: dynamic thresholds (Choudhury and Hahne 1998). So one
// queue alone gets eight ninths of it, and however many queues compete, some of it stays free for those that
// hold less. Packets beyond the limits (queue_measure.h: places for small packets) are bounded by kMostBeyond
// packets of all queues, by the same rule, so that they do not take the room of other queues' limits. No
// heap, and constant time, for each call.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "aqm/hierarchy/line_arena.h"
#include "aqm/params.h"
#include "conditioners/huge_memory.h"
#include "conditioners/packet.h"

namespace surety {

using ChunkNumber = std::uint32_t;  // 30 bits

struct alignas(64) Chunk {
  static constexpr std::uint32_t kPackets = 3;
  std::array<Packet, kPackets> packets;
  std::array<std::uint32_t, kPackets> enqueued;  // ticks of PooledQueue
  ChunkNumber next;                              // next chunk of the same queue
};
static_assert(sizeof(Chunk) == 64);

// Chunks of a queue: its part, and at most its limit; without a limit all chunks are within it.
struct PoolShare {
  PoolShare(std::uint32_t own, std::uint32_t most = ~0u) : part(own), limit(most) {}
  std::uint32_t part, limit;
};

class PacketPool {
 public:
  static constexpr std::int64_t kOfQueue = 8;

  explicit PacketPool(std::uint32_t chunks)
      : chunks_(chunks),
        free_(std::make_unique_for_overwrite<ChunkNumber[]>(chunks)),
        size_(chunks),
        common_free_(chunks) {}

  Chunk& operator[](ChunkNumber n) { return chunks_[n]; }
  const Chunk& operator[](ChunkNumber n) const { return chunks_[n]; }
  SURETY_PREFETCHES void prefetch(ChunkNumber n) const { prefetch_line(&chunks_[n]); }

  // Adds or removes the part of a queue, in chunks. Where parts exceed the pool, no queue has anything beyond
  // its part, and the last one finds less than its part.
  void reserve(std::uint32_t part) { common_free_ -= part; }
  void unreserve(std::uint32_t part) { common_free_ += part; }
  // The share of a queue that holds `held` chunks becomes another one.
  void change_share(std::uint32_t held, const PoolShare& before, const PoolShare& after) {
    common_free_ -= std::int64_t{std::max(held, after.part)} - std::int64_t{std::max(held, before.part)};
    const auto beyond = [held](const PoolShare& s) { return held - std::int64_t{std::min(held, s.limit)}; };
    beyond_free_ -= beyond(after) - beyond(before);
  }

  // True if a queue that holds `held` chunks, with such a share, may have one more.
  bool has_room(std::uint32_t held, const PoolShare& share) const {
    return in_use() < size_ &&
           (held < share.part || std::int64_t{held - share.part} < kOfQueue * common_free_) &&
           (held < share.limit || std::int64_t{held - share.limit} < kOfQueue * beyond_free_);
  }
  // Takes a chunk for a queue for which has_room() is true.
  ChunkNumber take(std::uint32_t held, const PoolShare& share) {
    common_free_ -= held >= share.part;
    beyond_free_ -= held >= share.limit;
    return free_count_ > 0 ? free_[--free_count_] : used_++;
  }
  // `held`: this chunk included.
  void give(ChunkNumber n, std::uint32_t held, const PoolShare& share) {
    common_free_ += held > share.part;
    beyond_free_ += held > share.limit;
    free_[free_count_++] = n;
  }

  // Changes the number of chunks that the queues may hold together, at most the constructor's. Chunks beyond
  // it stay until their packets leave.
  void resize(std::uint32_t chunks) {
    common_free_ += std::int64_t{chunks} - size_;
    size_ = chunks;
  }

  std::uint32_t size() const { return size_; }                  // chunks
  std::uint32_t in_use() const { return used_ - free_count_; }  // chunks
  std::int64_t common_free() const { return common_free_; }     // chunks outside all parts

 private:
  HugeArray<Chunk> chunks_;
  std::unique_ptr<ChunkNumber[]> free_;             // a stack: the last used one is in the cache
  std::uint32_t size_, used_ = 0, free_count_ = 0;  // chunks from used_ on have never been taken
  std::int64_t common_free_;
  std::int64_t beyond_free_ =
      kMostBeyond / Chunk::kPackets;  // chunks that queues may have beyond their limits
};

}  // namespace surety
