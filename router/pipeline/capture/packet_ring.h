// SPDX-License-Identifier: BSD-3-Clause
// Copies of packets' first bytes, from the worker to one reading thread; neither waits.
//
// All slots have one size, chosen when a capture begins: their memory is not EAL's, and is allocated and
// touched before the writer uses it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "router/pipeline/capture/pcapng.h"

namespace surety {

struct CapturedPacket {
  std::int64_t time = 0;       // router's clock, ns
  std::uint32_t length = 0;    // bytes of the frame
  std::uint32_t captured = 0;  // bytes of the frame that follow
  std::uint8_t port = 0;
  pcapng::Direction direction = pcapng::Direction::unknown;
  std::uint8_t reason = 0;  // DropReason; none: it was not dropped
  std::array<std::uint8_t, 5> pad{};
};
static_assert(sizeof(CapturedPacket) == 24);

class PacketRing {
 public:
  // `packets`: a power of two, of at most `snap` bytes each.
  PacketRing(std::uint32_t packets, std::uint32_t snap)
      : snap_(snap),
        slot_((sizeof(CapturedPacket) + snap + 7) / 8),
        mask_(packets - 1),
        words_(packets * slot_) {}

  std::uint32_t snap() const { return snap_; }

  // The writer's next slot, a header with room for `snap` bytes behind it; nullptr: the ring is full.
  CapturedPacket* claim() {
    const std::uint32_t head = head_.load(std::memory_order_relaxed);
    if (head - tail_.load(std::memory_order_acquire) > mask_) return nullptr;
    return at(head);
  }
  void commit() { head_.store(head_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

  // The oldest packet, for the reader; nullptr: the ring is empty.
  const CapturedPacket* front() const {
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
    return head_.load(std::memory_order_acquire) == tail ? nullptr : at(tail);
  }
  void pop() { tail_.store(tail_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

  static std::uint8_t* bytes(CapturedPacket* p) { return reinterpret_cast<std::uint8_t*>(p + 1); }
  static std::span<const std::uint8_t> bytes(const CapturedPacket* p) {
    return {reinterpret_cast<const std::uint8_t*>(p + 1), p->captured};
  }

 private:
  CapturedPacket* at(std::uint32_t n) const {
    return reinterpret_cast<CapturedPacket*>(const_cast<std::uint64_t*>(&words_[(n & mask_) * slot_]));
  }

  const std::uint32_t snap_;
  const std::size_t slot_;  // words
  const std::uint32_t mask_;
  std::vector<std::uint64_t> words_;
  alignas(64) std::atomic<std::uint32_t> head_{0};
  alignas(64) std::atomic<std::uint32_t> tail_{0};
};

}  // namespace surety
