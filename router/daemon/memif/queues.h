// SPDX-License-Identifier: BSD-3-Clause
// Reads frames from a ring and writes them to one, while the peer may change the memory at any time.
//
// Each descriptor is read once, its buffer looked up in the regions, and the data copied before use. A peer
// that breaks the rules loses its connection: the queue sets a fault and stops.
#pragma once

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <cstdint>
#include <span>
#include <utility>

#include "router/daemon/memif/memory.h"
#include "router/daemon/memif/ring.h"

namespace surety::memif {

using Fault = const char*;  // error of the peer, a string literal; nullptr: none

// A ring in some memory, and the buffers of its slots: the client's are consecutive in region 0; the server
// finds them by descriptors.
struct Lane {
  Ring ring{};
  std::uint32_t buffers = 0,
                buffer_size = 0;  // a client's, in bytes

  Descriptor own_buffer(std::uint16_t slot) const {
    return {.length = buffer_size, .offset = buffers + (slot & (ring.size() - 1)) * buffer_size};
  }
};

// One direction of a link: its ring, and the peer's fault, after which the queue does nothing.
class Queue {
 public:
  const Ring& ring() const { return lane_.ring; }
  Fault fault() const { return fault_; }

 protected:
  Queue() = default;  // without a ring
  Queue(const Memory& memory, const Lane& lane) : memory_(&memory), lane_(lane) {}
  std::uint32_t fail(Fault fault) {
    fault_ = fault;
    return 0;
  }

  const Memory* memory_ = nullptr;
  Lane lane_;
  std::uint16_t next_ = 0;
  Fault fault_ = nullptr;
};

class ReceiveQueue : public Queue {
 public:
  // Slots of one frame, for 9216 bytes in buffers of 128 or more: the worker reads each slot.
  static constexpr std::uint32_t kMostSlots = 128;

  ReceiveQueue() = default;  // without a ring: receives nothing
  // `pool`: its buffers hold a frame each.
  ReceiveQueue(const Memory& memory, const Lane& lane, rte_mempool& pool);

  // Receives into the front of `room`. Frames too long for the pool's buffers are skipped and counted.
  std::size_t receive(std::span<rte_mbuf*> room);
  bool waits() const { return ring() && fault_ == nullptr && ring().peer() != next_; }
  std::uint64_t take_oversized() { return std::exchange(oversized_, 0); }

 private:
  std::uint32_t take(rte_mbuf& into, std::uint32_t slots);
  void give_back();

  rte_mempool* pool_ = nullptr;
  std::uint32_t room_ = 0;  // bytes per buffer of the pool
  std::uint16_t given_back_ = 0;
  std::uint64_t oversized_ = 0;
};

class TransmitQueue : public Queue {
 public:
  static constexpr std::uint32_t kMostSlots = 64;  // slots of one frame

  TransmitQueue() = default;  // without a ring: transmits nothing
  TransmitQueue(const Memory& memory, const Lane& lane) : Queue(memory, lane) { ring().publish(0); }

  // Takes over the first n packets of the burst and returns n.
  std::size_t transmit(std::span<rte_mbuf*> burst);

 private:
  std::uint32_t put(const rte_mbuf& frame, std::uint32_t slots);
};

}  // namespace surety::memif
