// SPDX-License-Identifier: BSD-3-Clause
// Rings that hand packets from one thread to one other, in order: to the worker that has a flow, to the
// worker that owns a port, or from the control thread to a port.
//
// Bounded. Packets left at the end of the process are freed.
#pragma once

#include <fmt/format.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_ring_elem.h>

#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "conditioners/packet.h"

namespace surety {

class Egress;

// rte_ring_create_elem, which DPDK 24.11's header declares outside of extern "C".
extern "C" decltype(rte_ring_create_elem) ring_create_elem __asm__("rte_ring_create_elem");

// A ring of values from one thread to one other, in order; neither side ever waits for the other.
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

inline constexpr unsigned kHandoverSize = 2048;

// Frames that have not been parsed.
class Handover : public SpscRing<rte_mbuf*> {
 public:
  explicit Handover(const std::string& name, unsigned size = kHandoverSize, int socket = SOCKET_ID_ANY)
      : SpscRing(name, size, socket) {}
  ~Handover() {
    std::array<rte_mbuf*, 64> burst;
    while (const std::size_t n = dequeue(burst))
      rte_pktmbuf_free_bulk(burst.data(), static_cast<unsigned>(n));
  }
};

// A packet on its way to the worker that owns its port, with the fields that its egress would read in the
// frame, which is in the other core's cache.
class alignas(16) HandedPacket {  // rings copy 16 bytes
 public:
  HandedPacket() {}  // uninitialised: initialising room would cost time
  // `length`: bytes of the IP packet; `layout`: of the classes that `class_index` is one of (snapshot.h).
  HandedPacket(rte_mbuf* m, std::uint16_t length, std::uint8_t class_index, Precedence precedence,
               bool ecn_capable, std::uint16_t layout = 0)
      : mbuf_(m),
        about_(length | std::uint64_t{class_index} << 16 | std::uint64_t{ecn_capable} << 24 |
               static_cast<std::uint64_t>(precedence) << 32 | std::uint64_t{layout} << 48) {}
  rte_mbuf* mbuf() const { return mbuf_; }
  std::uint16_t length() const { return static_cast<std::uint16_t>(about_); }
  std::uint8_t class_index() const { return static_cast<std::uint8_t>(about_ >> 16); }
  bool ecn_capable() const { return (about_ >> 24 & 1) != 0; }
  Precedence precedence() const { return static_cast<Precedence>(about_ >> 32 & 0xff); }
  std::uint16_t layout() const { return static_cast<std::uint16_t>(about_ >> 48); }

 private:
  rte_mbuf* mbuf_;
  std::uint64_t about_;  // one word: rings copy words, which wait for narrower stores
};
static_assert(sizeof(HandedPacket) == 16);

class EgressHandover : public SpscRing<HandedPacket> {
 public:
  explicit EgressHandover(const std::string& name) : SpscRing(name, kHandoverSize) {}
  ~EgressHandover() {
    std::array<HandedPacket, 64> burst;
    while (const std::size_t n = dequeue(burst))
      for (const auto& p : std::span(burst).first(n)) rte_pktmbuf_free(p.mbuf());
  }
};

// The egress of a port for the packets of one worker: the worker's own Egress, or the worker that owns it.
struct PortEgress {
  // The port's Egress. If another worker owns it, only alpha() and describe() may be called.
  Egress* egress = nullptr;
  // Ring to the worker that owns the port; nullptr: this worker does.
  EgressHandover* owner = nullptr;
};

}  // namespace surety
