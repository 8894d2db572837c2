// SPDX-License-Identifier: BSD-3-Clause
// What is known of a flow: one cache line, all that a packet of a known flow touches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "conditioners/enhanced_token_bucket.h"
#include "conditioners/packet.h"

namespace surety {

// State of whatever conditions the flow; which member is live follows from the service.
union ConditionerState {
  EnhancedTokenBucketState csa;  // the longest; its note is the flow's, whatever conditions it
  std::uint64_t meter[4];        // Meter::State
  FlowId shared;  // of a flow whose contract covers more than itself (`per: source` ...): where the state is
  ConditionerState() : csa{} {}
};

struct alignas(64) FlowRecord {
  // The key. The addresses of IPv6 stand elsewhere, and here what follows from them (FlowTable::recall()).
  std::uint64_t rest = 0, address = 0;
  ConditionerState state;
  std::uint16_t last_seen = 0;  // ticks of the table
  std::uint16_t in_bytes = 0;   // let go IN, modulo 2^16; FlowTable::counters() has all of them
  std::uint16_t service = 0;    // what its rule gives it: index into Snapshot::services
  std::uint8_t dscp = 0;
  std::uint8_t flags = 0;
  // embryonic: of one packet only; wide: its bytes do not fit into the record alone; stale: its service was
  // found by a former configuration's rules, perhaps.
  enum Flag : std::uint8_t {
    v6 = 1,
    live = 2,
    is_shared = 4,
    embryonic = 8,
    redirect = 16,
    sticky = 32,
    wide = 64,
    stale = 128
  };

  std::uint16_t& out_bytes() { return state.csa.note; }  // as in_bytes
  const std::uint16_t& out_bytes() const { return state.csa.note; }
  // With `redirect` and `stale`: whether it has asked for what its contract holds to be let go.
  std::uint16_t& flush_asked() { return state.csa.domain; }
  const std::uint16_t& flush_asked() const { return state.csa.domain; }
};
static_assert(sizeof(FlowRecord) == 64);
static_assert(offsetof(EnhancedTokenBucketState, note) >= sizeof(ConditionerState::meter) &&
              offsetof(EnhancedTokenBucketState, domain) >= sizeof(FlowId));

struct FlowCounters {
  std::uint64_t in_bytes = 0, out_bytes = 0;
};

}  // namespace surety
