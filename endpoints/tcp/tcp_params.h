// SPDX-License-Identifier: BSD-3-Clause
// Parameters of a TCP sender; shared by the flows of one line of YAML and immutable.
#pragma once

#include <cstdint>

#include "conditioners/units.h"
#include "endpoints/engine/sender_params.h"

namespace surety::endpoints {

enum class TcpFlavour : std::uint8_t { gtcp, newreno, reno, cubic };  // in the order of kCongestionControls

struct TcpParams {
  SenderParams common;  // common.packet: the IP packet of a full segment; the peer's MSS may make it smaller
  TcpFlavour flavour = TcpFlavour::newreno;
  Rate reserved;            // reserved rate of a control that has one: IP bytes
  Bytes window{1'000'000};  // most bytes in flight, whatever the peer offers (`window: 1 MB`)
  // `window: 20 packets`: the most in flight in segments, as the papers count it; 0: `window` holds.
  std::uint32_t window_packets = 0;
  std::uint32_t initial_window = 0;    // segments; 0: the control's own
  std::uint64_t initial_ssthresh = 0;  // bytes; 0: as large as may be
  bool timestamps = true;              // RFC 7323, if the peer has them too
  bool window_scale = true;
  bool sack = true;  // RFC 2018, if the peer permits it; with it recovery is that of RFC 6675 and 6937
  bool ecn = true;   // RFC 3168, if the peer is capable of it
  Duration min_rto = std::chrono::seconds(1);   // RFC 6298 2.4
  Duration max_rto = std::chrono::seconds(60);  // RFC 6298 2.5
  Duration timer_granularity =
      std::chrono::milliseconds(1);  // G of RFC 6298; 500 ms: coarse BSD ticks, expiry on a tick
  std::uint32_t retries = 15;        // timeouts in a row before the flow has failed (RFC 9293 3.8.3); SYN: 6
};

}  // namespace surety::endpoints
