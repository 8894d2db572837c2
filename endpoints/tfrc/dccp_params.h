// SPDX-License-Identifier: BSD-3-Clause
// Parameters of a DCCP CCID 3 sender: TFRC or gTFRC; shared by the flows of one line of YAML and immutable.
#pragma once

#include "endpoints/engine/sender_params.h"
#include "endpoints/tfrc/tfrc.h"

namespace surety::endpoints {

inline constexpr std::uint32_t kServiceCode = 0x53555245;  // "SURE" (RFC 5595)
inline constexpr std::uint16_t kDccpUdpPort = 6511;        // RFC 6773

struct DccpParams {
  SenderParams common;
  TfrcParams tfrc;   // segment = common.packet
  bool ecn = true;   // data packets may be marked (RFC 4340 12), unless the peer does not look at marks
  bool udp = false;  // in UDP (RFC 6773)
  std::uint16_t udp_local_port = kDccpUdpPort, udp_remote_port = kDccpUdpPort;
  std::uint32_t service_code = kServiceCode;
};

}  // namespace surety::endpoints
