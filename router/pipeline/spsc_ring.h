// SPDX-License-Identifier: BSD-3-Clause
// A ring of values from one thread to one other, in order; neither side ever waits for the other.
#pragma once

#include <fmt/format.h>
#include <rte_errno.h>
#include <rte_ring_elem.h>

#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace surety {

// rte_ring_create_elem, which DPDK 24.11's header declares outside of extern "C".
extern "C" decltype(rte_ring_create_elem) ring_create_elem __asm__("rte_ring_create_elem");

template <typename T>
class SpscRing {
 public:
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 4 == 0, "rings copy words");

  // `size`: a power of two, of which one less fit. `name`: unique in the process, at most 28 characters.
  // Throws std::runtime_error when EAL has no memory.
  SpscRing(const std::string& name, unsigned size, int socket = SOCKET_ID_ANY)
      : ring_(ring_create_elem(name.c_str(), sizeof(T), size, socket, RING_F_SP_ENQ | RING_F_SC_DEQ)) {
    if (ring_ == nullptr)
      throw std::runtime_error(fmt::format("no memory for the ring {}: {}; raise `dpdk: {{memory: ...}}`",
                                           name, rte_strerror(rte_errno)));
  }
  ~SpscRing() { rte_ring_free(ring_); }
  SpscRing(const SpscRing&) = delete;
  SpscRing& operator=(const SpscRing&) = delete;

  // Adds the first values for which there is room, and returns their number; the others stay the caller's.
  std::size_t enqueue(std::span<const T> values) {
    return rte_ring_sp_enqueue_burst_elem(ring_, values.data(), sizeof(T),
                                          static_cast<unsigned>(values.size()), nullptr);
  }
  std::size_t dequeue(std::span<T> room) {
    return rte_ring_sc_dequeue_burst_elem(ring_, room.data(), sizeof(T), static_cast<unsigned>(room.size()),
                                          nullptr);
  }
  // The number of values not yet taken by the reader.
  std::size_t size() const { return rte_ring_count(ring_); }
  bool empty() const { return rte_ring_empty(ring_) != 0; }

 private:
  rte_ring* ring_;
};

}  // namespace surety
