// SPDX-License-Identifier: BSD-3-Clause
// Rings that hand packets from one thread to one other, in order (spsc_ring.h): to the worker that has a
// flow, to the worker that owns a port, or from the control thread to a port.
//
// Bounded. Packets left at the end of the process are freed.
#pragma once

#include <rte_mbuf.h>

#include <cstdint>

#include "conditioners/packet.h"
#include "router/pipeline/spsc_ring.h"

namespace surety {

inline constexpr unsigned kHandoverSize = 2048;

// Frames that have not been parsed.
class Handover : public SpscRing<rte_mbuf*> {
 public:
  explicit Handover(const std::string& name, unsigned size = kHandoverSize, int socket = SOCKET_ID_ANY)
      : SpscRing(name, size, socket) {}
  ~Handover();
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
  ~EgressHandover();
};

}  // namespace surety
