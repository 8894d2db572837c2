// SPDX-License-Identifier: BSD-3-Clause
// Where the packets of all queues below a port stand: one pool of chunks, shared in parts.
//
// A chunk is a cache line with three packets and the number of the next one. Each queue has a part of the
// pool that nobody else can take (reserve()). The rest is common, and a queue may have one chunk more of it
// as long as it has less than kOfQueue times what is free: dynamic thresholds (Choudhury and Hahne 1998). So
// one queue alone gets eight ninths of it, and however many want more than there is, some of it stays free
// for who has less. No heap, and constant time, for each call.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "aqm/hierarchy/large_memory.h"
#include "aqm/hierarchy/prefetch.h"
#include "conditioners/packet.h"

namespace surety {

using ChunkNumber = std::uint32_t;  // 30 bits

struct alignas(64) Chunk {
  static constexpr std::uint32_t kPackets = 3;
  std::array<Packet, kPackets> packets;
  std::array<std::uint32_t, kPackets> enqueued;  // ticks of PooledQueue
  ChunkNumber next;                              // of the same queue
};
static_assert(sizeof(Chunk) == 64);

class PacketPool {
 public:
  static constexpr std::int64_t kOfQueue = 8;

  explicit PacketPool(std::uint32_t chunks)
      : chunks_(large_memory<Chunk>(chunks)),
        free_(std::make_unique_for_overwrite<ChunkNumber[]>(chunks)),
        size_(chunks),
        common_free_(chunks) {}

  Chunk& operator[](ChunkNumber n) { return chunks_.get()[n]; }
  const Chunk& operator[](ChunkNumber n) const { return chunks_.get()[n]; }
  SURETY_PREFETCHES void prefetch(ChunkNumber n) const { prefetch_line(&chunks_.get()[n]); }

  // Of a queue that is new, or goes: a part of so many chunks. Where parts are more than there is, nobody has
  // anything beyond his part, and who comes last finds less than his part.
  void reserve(std::uint32_t part) { common_free_ -= part; }
  void unreserve(std::uint32_t part) { common_free_ += part; }
  // The part of a queue that holds `held` chunks becomes another one.
  void change_part(std::uint32_t held, std::uint32_t before, std::uint32_t after) {
    common_free_ -= std::int64_t{std::max(held, after)} - std::int64_t{std::max(held, before)};
  }

  // Whether a queue that holds `held` chunks, with such a part, may have one more.
  bool has_room(std::uint32_t held, std::uint32_t part) const {
    return in_use() < size_ && (held < part || std::int64_t{held - part} < kOfQueue * common_free_);
  }
  // For such a queue, that has_room().
  ChunkNumber take(std::uint32_t held, std::uint32_t part) {
    common_free_ -= held >= part;
    return free_count_ > 0 ? free_[--free_count_] : used_++;
  }
  // `held`: with this one.
  void give(ChunkNumber n, std::uint32_t held, std::uint32_t part) {
    common_free_ += held > part;
    free_[free_count_++] = n;
  }

  // From now on the queues may hold so many together, at most what there was room for at the start; what they
  // hold beyond that leaves as ever.
  void resize(std::uint32_t chunks) {
    common_free_ += std::int64_t{chunks} - size_;
    size_ = chunks;
  }

  std::uint32_t size() const { return size_; }                  // chunks
  std::uint32_t in_use() const { return used_ - free_count_; }  // chunks
  std::int64_t common_free() const { return common_free_; }     // chunks that belong to nobody's part

 private:
  LargeMemory<Chunk> chunks_;
  std::unique_ptr<ChunkNumber[]> free_;             // a stack: what was used last is in the cache
  std::uint32_t size_, used_ = 0, free_count_ = 0;  // chunks from used_ on have never been taken
  std::int64_t common_free_;
};

}  // namespace surety
