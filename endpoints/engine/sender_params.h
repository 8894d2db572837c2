// SPDX-License-Identifier: BSD-3-Clause
// Parameters common to all senders. Shared by the flows of one line of YAML and immutable; must outlive them.
#pragma once

#include <optional>

#include "conditioners/token_bucket.h"
#include "conditioners/units.h"

namespace surety::endpoints {

inline constexpr std::uint32_t kMaxPacket = 9216;  // bytes of an IP packet

struct SenderParams {
  Bytes packet{1500};                     // a full packet, IP header included
  std::uint8_t dscp = 0;                  // DSCP of IN packets, and of all without `mark`
  std::uint8_t dscp_out = 0;              // DSCP of OUT packets, with `mark`
  std::optional<TokenBucketParams> mark;  // the host marker of the ARD paper: conforming packets are IN
  std::uint64_t total_payload = 0;        // bytes to deliver, then close; 0: until `stop`
};

// Start and stop of one flow, drawn by its creator.
struct Schedule {
  Time start{};
  Time stop = kNever;
};

}  // namespace surety::endpoints
