// SPDX-License-Identifier: BSD-3-Clause
// Which worker a frame's flow belongs to, for a port whose device cannot tell (router/README.md, Workers).
//
// A look at the headers, not a judgement of them: what is malformed or not IP goes somewhere, always the same
// way, and is judged there. Both directions of a flow come to the same worker; fragments go by addresses and
// protocol, as NICs have it. Seeded, so that nobody can aim all flows at one worker.
#pragma once

#include <cstdint>
#include <span>

#include "router/flows/flow_table.h"

namespace surety {

// What packets are spread over workers by.
enum class Spread : std::uint8_t { none, flow, source, destination };

class Dispatch {
 public:
  Dispatch(Spread spread, std::size_t workers, std::uint64_t seed)
      : spread_(spread), workers_(static_cast<std::uint32_t>(workers)), hasher_(seed) {}

  // Below the number of workers.
  std::size_t operator()(std::span<const std::uint8_t> frame) const;

 private:
  Spread spread_;
  std::uint32_t workers_;
  FlowHasher hasher_;

  struct Ends;
  Ends ends(const std::uint8_t* ip, bool v6) const;
};

}  // namespace surety
