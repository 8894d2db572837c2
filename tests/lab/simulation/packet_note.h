// SPDX-License-Identifier: BSD-3-Clause
// What the lab knows of a packet beside its bytes, kept in the private area of its buffer.
#pragma once

#include <rte_mbuf.h>

#include <cstdint>

#include "conditioners/units.h"

namespace surety::lab {

inline constexpr std::uint32_t kNoLabFlow = ~0u;

struct PacketNote {
  std::uint32_t flow = kNoLabFlow;  // index into the run's flows; of packets of neither direction: none
  bool data = false;                // of the sender, and carrying payload
  bool on_the_way = false;  // from leaving a host to arriving at one: freed in between, it was dropped
  bool contracted = false;  // it has met a router that has a contract for it
  bool signal = false;      // a congestion signal of a router; on the way until it is freed
  Time sent{};
  std::uint32_t number = 0;  // of the flow's data packets, from 1 on, as they were sent
  std::uint16_t router = 0;  // which it is in, from 1 on; 0: on a link
};
inline constexpr std::uint16_t kNoteBytes = 24;
static_assert(sizeof(PacketNote) <= kNoteBytes);

inline PacketNote& note_of(rte_mbuf* m) {
  return *static_cast<PacketNote*>(rte_mbuf_to_priv(m));
}

// Told of every packet that is freed on its way.
struct DropObserver {
  virtual ~DropObserver() = default;
  virtual void on_drop(const PacketNote& note, const rte_mbuf* m) = 0;
};

}  // namespace surety::lab
