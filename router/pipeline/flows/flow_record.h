// SPDX-License-Identifier: BSD-3-Clause
// The record of a flow: one cache line, all that a packet of a known flow touches.
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
  FlowId
      shared;  // record with the state, if the flow's contract covers more than the flow (`per: source` ...)
  ConditionerState() : csa{} {}
};

struct alignas(64) FlowRecord {
  // The key. IPv6 addresses are stored elsewhere; `address` then holds a cached value (FlowTable::recall()).
  std::uint64_t rest = 0, address = 0;
  ConditionerState state;
  std::uint16_t last_seen = 0;  // ticks of the table
  std::uint16_t in_bytes = 0;   // passed IN, modulo 2^16; FlowTable::counters() has the totals
  std::uint16_t service = 0;    // service of the flow's rule: index into Snapshot::services
  std::uint8_t dscp = 0;
  std::uint8_t flags = 0;
  // embryonic: has had one packet; wide: its bytes do not fit into the record alone; stale: its service may
  // be from a former configuration's rules.
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

  std::uint16_t& out_bytes() { return state.csa.note; }  // passed OUT, modulo 2^16
  const std::uint16_t& out_bytes() const { return state.csa.note; }
  // If `redirect` and `stale`: nonzero once the flow has requested the release of its contract's held
  // packets.
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
