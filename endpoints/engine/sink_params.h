// SPDX-License-Identifier: BSD-3-Clause
// Parameters of a sink: shared by all flows that one `sinks` line accepts, immutable, outlives them.
#pragma once

#include <cstdint>

#include "conditioners/units.h"

namespace surety::endpoints {

// Acknowledgement rule of a TCP receiver: each data packet at once (the papers), or every second one or after
// 40 ms (RFC 9293 3.8.6.3). Out-of-order data is always acknowledged at once (RFC 5681 4.2).
enum class AckPolicy : std::uint8_t { every, delayed };

// AF11, AF21, AF31, AF41, EF and the class selectors but CS0.
inline constexpr std::uint64_t kInByDefault = 0x0101'4105'0505'0500;

struct SinkParams {
  AckPolicy ack = AckPolicy::delayed;
  Bytes window{4'000'000};                // TCP receive window
  std::uint16_t mtu = 1500;               // MTU of the port: a TCP receiver offers the MSS that fits
  std::uint64_t in_dscps = kInByDefault;  // DSCPs that count as IN: bit d of the mask
  bool counts_as_in(std::uint8_t dscp) const { return (in_dscps >> (dscp & 63) & 1) != 0; }
};

}  // namespace surety::endpoints
