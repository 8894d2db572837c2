// SPDX-License-Identifier: BSD-3-Clause
// The marks of an IP packet at an end host: its precedence, and the two bits of congestion notification.
#pragma once

#include "conditioners/token_bucket.h"
#include "endpoints/engine/engine.h"
#include "endpoints/engine/sender_params.h"
#include "router/pipeline/wire/bytes.h"
#include "router/pipeline/wire/ip.h"

namespace surety::endpoints {

// The host marker of the ARD paper: a sender's own token bucket decides the precedence of each of its
// packets, which are counted by it.
//
// Without `mark` every packet is IN with the flow's DSCP.
class HostMarker {
 public:
  HostMarker(const SenderParams& params, Time now) {
    if (params.mark) bucket_.reset(*params.mark, now);
  }

  // DSCP of a packet of `length` bytes, which leaves at `now`.
  std::uint8_t mark(const SenderParams& params, std::uint32_t length, Time now) {
    ++packets_;
    bytes_ += length;
    if (params.mark) {
      bucket_.fill(*params.mark, now);
      if (!bucket_.take(*params.mark, params.mark->cost(length))) return params.dscp_out;
    }
    ++in_packets_;
    return params.dscp;
  }

  std::uint64_t packets() const { return packets_; }
  std::uint64_t bytes() const { return bytes_; }
  void read(FlowReading& out) const {  // sent_*
    out.sent_packets = packets_;
    out.sent_bytes = bytes_;
    out.sent_in_packets = in_packets_;
  }

 private:
  TokenBucket bucket_;
  std::uint64_t packets_ = 0, bytes_ = 0, in_packets_ = 0;
};

// Sets ECT(0) (RFC 3168 5) in a packet that IpWriter wrote, whatever protocol is in it: both ends understand
// congestion marks.
inline void set_ect(Slot& slot) {
  std::uint8_t* const ip = slot.data;
  if (ip[0] >> 4 == 6) {
    ip[1] |= 0x20;
    return;
  }
  ip[1] |= 0x02;
  const std::uint32_t sum = load_be16(ip + 10) + 0xffffu - 0x02;  // RFC 1624: the complement of a sum
  store(ip + 10, __builtin_bswap16(static_cast<std::uint16_t>((sum & 0xffff) + (sum >> 16))));
}
// True if a router has marked the received packet CE.
inline bool marked(const IpPacket& packet) {
  return (packet.traffic_class & 3) == 3;
}

}  // namespace surety::endpoints
