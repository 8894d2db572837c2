// SPDX-License-Identifier: BSD-3-Clause
// Chooses the worker of a frame's flow, for a port whose device cannot (router/pipeline/README.md, Workers).
//
// Reads headers without judging them: frames without an IP header have worker 0, malformed packets the worker
// of their addresses, which judges them. Both directions of a flow have the same worker; fragments are spread
// by addresses and protocol, as NICs do. Seeded, so that a sender cannot aim all flows at one worker.
#pragma once

#include <cstdint>
#include <span>

#include "router/pipeline/flows/flow_table.h"

namespace surety {

// The fields by which packets are spread over workers.
enum class Spread : std::uint8_t { none, flow, source, destination };

class Dispatch {
 public:
  Dispatch(Spread spread, std::size_t workers, std::uint64_t seed)
      : spread_(spread), workers_(static_cast<std::uint32_t>(workers)), hasher_(seed) {}

  // Returns an index below the number of workers.
  std::size_t operator()(std::span<const std::uint8_t> frame) const;

 private:
  Spread spread_;
  std::uint32_t workers_;
  FlowHasher hasher_;

  struct Ends;
  Ends ends(const std::uint8_t* ip, bool v6) const;
};

}  // namespace surety
