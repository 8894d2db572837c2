// A ring that hands packets from one thread to one other, in order: to the worker that owns a port, or that
// has a flow, or from the control thread to a port.
//
// Single producer, single consumer; bounded; neither side ever waits for the other. What is in it at the end
// of the process is freed.
#pragma once

#include <rte_mbuf.h>
#include <rte_ring.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace surety {

class Handover {
 public:
  static constexpr unsigned kSize = 2048;

  // `size`: a power of two, of which one less fit. `name`: unique in the process, at most 28 characters.
  // Throws std::runtime_error when EAL has no memory.
  explicit Handover(const std::string& name, unsigned size = kSize, int socket = SOCKET_ID_ANY);
  ~Handover();
  Handover(const Handover&) = delete;
  Handover& operator=(const Handover&) = delete;

  // How many of the first ones it took; the others are still the caller's.
  std::size_t give(std::span<rte_mbuf* const> burst) {
    return rte_ring_sp_enqueue_burst(ring_, reinterpret_cast<void* const*>(burst.data()),
                                     static_cast<unsigned>(burst.size()), nullptr);
  }
  std::size_t take(std::span<rte_mbuf*> room) {
    return rte_ring_sc_dequeue_burst(ring_, reinterpret_cast<void**>(room.data()),
                                     static_cast<unsigned>(room.size()), nullptr);
  }
  bool empty() const { return rte_ring_empty(ring_) != 0; }

 private:
  rte_ring* ring_;
};

}  // namespace surety
