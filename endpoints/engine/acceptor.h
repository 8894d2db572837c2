// SPDX-License-Identifier: BSD-3-Clause
// Creates engines for flows that peers begin.
#pragma once

#include "endpoints/engine/engine.h"

namespace surety::endpoints {

inline constexpr std::size_t kEngineBytes = 1024;  // the most that one engine may take

// Makes the receiving engine for the first packet of a new flow, in the room given (engine_bytes(), aligned
// to 64), where it begins at the very start; null and a refusal when that packet cannot start a flow. The
// caller then gives the engine that packet to receive(). Bound to its SinkParams when the sink is made.
struct Acceptor {
  virtual ~Acceptor() = default;
  virtual Engine* accept(void* room, const Tuple& tuple, const IpPacket& first, Time now,
                         Refusal& refusal) = 0;
  // The most that one of its engines takes; a host with smaller slots refuses to listen.
  virtual std::size_t engine_bytes() const { return kEngineBytes; }
};

}  // namespace surety::endpoints
