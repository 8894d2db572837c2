// SPDX-License-Identifier: BSD-3-Clause
// Frames out of a ring and into one, while the peer may do with the memory what it likes.
//
// Each descriptor is read once and its buffer looked up in the regions; what has been copied is ours. A peer
// that breaks the rules loses its connection: the queue has a fault, and moves nothing any more.
#pragma once

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <cstdint>
#include <span>
#include <utility>

#include "router/dpdk/memif/memory.h"
#include "router/dpdk/memif/ring.h"

namespace surety::memif {

using Fault = const char*;  // what the peer did, of static life; null: nothing

// A ring in some memory, and the buffers of its slots: the client's in region 0, one behind the other; the
// server finds them by descriptors.
struct Lane {
  Ring ring{};
  std::uint32_t buffers = 0, buffer_size = 0;  // of a client

  Descriptor own_buffer(std::uint16_t slot) const {
    return {.length = buffer_size, .offset = buffers + (slot & (ring.size() - 1)) * buffer_size};
  }
};

class ReceiveQueue {
 public:
  // Of one frame, of 9216 bytes in buffers of 128 and more: each costs the worker a look.
  static constexpr std::uint32_t kMostSlots = 128;

  ReceiveQueue() = default;  // without a ring: nothing comes
  // `pool`: of buffers that hold a frame each.
  ReceiveQueue(const Memory& memory, const Lane& lane, rte_mempool& pool);

  // Into the front of `room`. A frame that no buffer of the pool holds is left out and counted.
  std::size_t receive(std::span<rte_mbuf*> room);
  bool waits() const { return ring() && fault_ == nullptr && ring().peer() != next_; }
  const Ring& ring() const { return lane_.ring; }
  Fault fault() const { return fault_; }
  std::uint64_t take_oversized() { return std::exchange(oversized_, 0); }

 private:
  std::uint32_t take(rte_mbuf& into, std::uint32_t slots);
  void give_back();
  std::uint32_t fail(Fault fault) {
    fault_ = fault;
    return 0;
  }

  const Memory* memory_ = nullptr;
  Lane lane_;
  rte_mempool* pool_ = nullptr;
  std::uint32_t room_ = 0;  // bytes in a buffer of the pool
  std::uint16_t next_ = 0, given_back_ = 0;
  Fault fault_ = nullptr;
  std::uint64_t oversized_ = 0;
};

class TransmitQueue {
 public:
  static constexpr std::uint32_t kMostSlots = 64;  // of one frame

  TransmitQueue() = default;  // without a ring: nothing leaves
  TransmitQueue(const Memory& memory, const Lane& lane) : memory_(&memory), lane_(lane) { ring().publish(0); }

  // Takes the first n of the burst over and returns n.
  std::size_t transmit(std::span<rte_mbuf*> burst);
  const Ring& ring() const { return lane_.ring; }
  Fault fault() const { return fault_; }

 private:
  std::uint32_t put(const rte_mbuf& frame, std::uint32_t slots);
  std::uint32_t fail(Fault fault) {
    fault_ = fault;
    return 0;
  }

  const Memory* memory_ = nullptr;
  Lane lane_;
  std::uint16_t next_ = 0;
  Fault fault_ = nullptr;
};

}  // namespace surety::memif
