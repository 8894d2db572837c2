// SPDX-License-Identifier: BSD-3-Clause
// Parameters of a UDP sender: a constant bit rate, always or on and off.
//
// The sender's payload begins with wire_udp.h's 16-byte header (sequence number, sending time), from which
// the sink computes loss, duplicates, reordering and one-way delay. Once a second, and when a flow stops, the
// sink reports to the sender what it received (one small packet, never more than it gets).
#pragma once

#include "conditioners/units.h"
#include "endpoints/engine/sender_params.h"

namespace surety::endpoints {

struct UdpParams {
  SenderParams common;
  Rate rate;             // IP bytes, while on; not zero
  Duration on{}, off{};  // alternating, beginning with on; off zero: always on
};

}  // namespace surety::endpoints
