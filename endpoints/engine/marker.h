// SPDX-License-Identifier: BSD-3-Clause
// The host marker of the ARD paper:
// a sender's own token bucket decides the precedence of each of its packets.
//
// Without `mark` every packet is IN with the flow's DSCP. 16 bytes of state.
#pragma once

#include "conditioners/packet.h"
#include "conditioners/token_bucket.h"
#include "endpoints/engine/sender_params.h"

namespace surety::endpoints {

class HostMarker {
 public:
  HostMarker(const SenderParams& params, Time now) {
    if (params.mark) bucket_.reset(*params.mark, now);
  }

  // Precedence of a packet of `length` bytes that leaves at `now`.
  Precedence mark(const SenderParams& params, std::uint32_t length, Time now) {
    if (!params.mark) return Precedence::in;
    bucket_.fill(*params.mark, now);
    return bucket_.take(*params.mark, params.mark->cost(length)) ? Precedence::in : Precedence::out;
  }

  static std::uint8_t dscp(const SenderParams& params, Precedence p) {
    return p == Precedence::in ? params.dscp : params.dscp_out;
  }

 private:
  TokenBucket bucket_;
};

}  // namespace surety::endpoints
